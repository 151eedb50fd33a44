//! Combines names, words and folders into a score per skill.

use crate::confidence::Confidence;
use crate::evidence::{Evidence, evidence, max_idf};
use crate::folders::Folders;
use crate::lexicon::Lexicon;
use crate::meanings::{Meaning, meanings};
use crate::names::Names;
use crate::weights::Weights;
use scorer_bm25::bindings::skillcell::plugin::types::{Scored, SkillText};
use scorer_bm25::component::Scorer;
use scorer_bm25::reason::{Reason, with_reasons};

/// All indexes over the skills.
#[derive(Default)]
pub struct Hybrid {
    pub weights: Weights,
    lexicon: Lexicon,
    folders: Folders,
    names: Names,
}

impl Scorer for Hybrid {
    fn put(&mut self, skill: &SkillText) {
        self.gone(skill.number);
        let slot = self.lexicon.put(skill);
        self.folders.put(slot, skill);
        self.names.put(slot, skill);
    }

    fn gone(&mut self, number: u32) {
        if let Some(slot) = self.lexicon.gone(number) {
            self.folders.gone(slot);
            self.names.gone(slot);
        }
    }

    fn score(&self, task: &str) -> Vec<Scored> {
        self.rank(task, None)
    }
}

impl Hybrid {
    pub fn new(weights: Weights) -> Self {
        Self { weights, ..Self::default() }
    }

    /// Scores every skill, in ascending order of their numbers. `similarities` are the cosines of each with the task, if a
    /// model is there.
    pub fn rank(&self, task: &str, similarities: Option<&[f64]>) -> Vec<Scored> {
        let Self { weights, lexicon, .. } = self;
        let index = &lexicon.index;
        let meanings = meanings(task, lexicon, weights);
        let Evidence { mut by_slot, ideal } = evidence(index, &meanings, &self.names, weights);
        let slots: Vec<u32> = index.skills().map(|(_, slot)| slot).collect();
        self.folders.share_evidence(&slots, &mut by_slot, weights.neighbours);
        let mut of_skills: Vec<f64> = slots.iter().map(|slot| by_slot[*slot as usize]).collect();
        if let Some(similarities) = similarities {
            let required = weights.required(ideal, max_idf(index));
            for (evidence, similarity) in of_skills.iter_mut().zip(similarities) {
                *evidence += weights.meaning * required * (similarity - weights.unlike).max(0.0);
            }
        }
        let confidence = Confidence::new(&of_skills, ideal, max_idf(index), weights);
        let named = self.names.in_task(task);
        let score = |(slot, evidence): (&u32, &f64)| {
            let score = confidence.score(*evidence);
            match (named.is_empty(), named.contains(slot)) {
                (true, _) => score,
                (false, true) => weights.named + (1.0 - weights.named) * score,
                (false, false) => weights.not_named * score,
            }
        };
        with_reasons(slots.iter().zip(&of_skills).map(score), |place| {
            let reason = self.reason(&meanings, slots[place]);
            if named.contains(&slots[place]) { format!("called by its name; {reason}") } else { reason }
        })
    }

    /// Lists, for every word of the task, the matching word of the skill.
    fn reason(&self, meanings: &[Meaning], slot: u32) -> String {
        let index = &self.lexicon.index;
        let mut reason = Reason::default();
        for meaning in meanings {
            let found = meaning.senses.iter().find_map(|sense| {
                let terms = sense.terms.iter();
                let postings = terms.filter_map(|term| index.posting(*term, slot).map(|posting| (term, posting)));
                postings.map(|(term, posting)| (posting.best_field(), index.vocabulary.text(*term))).min()
            });
            if let Some((field, word)) = found {
                reason.add(field, word);
            }
        }
        reason.to_string()
    }
}
