//! BM25 over weighted fields, as a share of the score of an ideal skill.

use crate::bindings::skillcell::plugin::types::{Scored, SkillText};
use crate::component::Scorer;
use crate::index::Index;
use crate::reason::{Reason, with_reasons};
use crate::vocabulary::Term;
use crate::weighting::{FieldWeights, count, idf};
use crate::words::{each_word, task_prefix};
use std::collections::BTreeSet;

const WEIGHTS: FieldWeights = FieldWeights {
    fields: [4.0, 3.0, 2.0, 1.0, 1.0, 0.5],
    length_normalization: [0.2, 0.4, 0.5, 0.0, 0.5, 0.7],
    saturation: 1.2,
};

/// Maximum number of distinct words looked up, rarest first, and of postings visited for them. More would exceed the
/// time limit of a call and add little.
const MAX_WORDS: usize = 64;
const MAX_POSTINGS: usize = 300_000;

/// Maximum number of distinct words read from a task.
const MAX_READ: usize = 2_000;

/// A skill with this many words that only it has is a perfect match, however long the task is.
const ENOUGH_WORDS: f64 = 3.0;

/// Skills, indexed by their words.
#[derive(Default)]
pub struct Bm25 {
    index: Index,
}

impl Scorer for Bm25 {
    fn put(&mut self, skill: &SkillText) {
        self.index.put(skill);
    }

    fn gone(&mut self, number: u32) {
        self.index.gone(number);
    }

    fn score(&self, task: &str) -> Vec<Scored> {
        let words = distinct_words(task);
        let known: Vec<Term> = words.iter().filter_map(|word| self.index.vocabulary.find(word)).collect();
        let unknown = words.len() - known.len();
        let known = self.select_terms(known);
        let by_slot = self.evidence(&known);
        let all = self.index.len();
        let perfect = known.iter().map(|term| idf(all, self.index.postings(*term).len())).sum::<f64>()
            + idf(all, 0) * count(unknown.min(MAX_WORDS));
        let perfect = perfect.min(ENOUGH_WORDS * idf(all, 1)).max(f64::MIN_POSITIVE);
        let slots: Vec<u32> = self.index.skills().map(|(_, slot)| slot).collect();
        let score = |slot: &u32| (by_slot[*slot as usize] / perfect).min(1.0);
        with_reasons(slots.iter().map(score), |place| self.reason(&known, slots[place]))
    }
}

impl Bm25 {
    /// Selects the rarest words, within the limits.
    fn select_terms(&self, mut known: Vec<Term>) -> Vec<Term> {
        let holders = |term: &Term| self.index.postings(*term).len();
        known.sort_by_key(|term| holders(term));
        let mut visited = 0;
        known.retain(|term| {
            visited += holders(term);
            visited <= MAX_POSTINGS
        });
        known.truncate(MAX_WORDS);
        known
    }

    /// Sums up the evidence of each word for each slot.
    fn evidence(&self, known: &[Term]) -> Vec<f64> {
        let all = self.index.len();
        let factors = WEIGHTS.by_slot(&self.index);
        let mut by_slot = vec![0.0; self.index.slot_count()];
        for term in known {
            let postings = self.index.postings(*term);
            let idf = idf(all, postings.len());
            for posting in postings {
                let slot = posting.slot as usize;
                by_slot[slot] += idf * WEIGHTS.effect(posting, &factors[slot]);
            }
        }
        by_slot
    }

    fn reason(&self, known: &[Term], slot: u32) -> String {
        let mut reason = Reason::default();
        for term in known {
            if let Some(posting) = self.index.posting(*term, slot) {
                reason.add(posting.best_field(), self.index.vocabulary.text(*term));
            }
        }
        reason.to_string()
    }
}

/// Returns the distinct words of a task in order of appearance.
fn distinct_words(task: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut seen = BTreeSet::new();
    each_word(task_prefix(task), |word| {
        if words.len() < MAX_READ && !seen.contains(word) {
            seen.insert(word.to_owned());
            words.push(word.to_owned());
        }
    });
    words
}
