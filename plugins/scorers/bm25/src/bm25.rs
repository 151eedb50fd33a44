//! The score of each skill by BM25 over weighted fields, as a share of what a perfect skill would get.

use crate::bindings::skillcell::plugin::types::{Scored, SkillText};
use crate::component::Scorer;
use crate::index::Index;
use crate::reason::{Reason, with_reasons};
use crate::vocabulary::Term;
use crate::words::{each_word, opening};
use crate::worth::{Worth, count, rarity};
use std::collections::BTreeSet;

/// What words are worth here.
const WORTH: Worth =
    Worth { fields: [4.0, 3.0, 2.0, 1.0, 1.0, 0.5], length_matters: [0.2, 0.4, 0.5, 0.0, 0.5, 0.7], half_effect: 1.2 };

/// Most distinct words of a task that are looked up, the rarest first, and most skills that all of them together may name.
/// More would take longer than a call may, and tell nothing more.
const MOST_WORDS: usize = 64;
const MOST_POSTINGS: usize = 300_000;

/// Most distinct words that are taken from a task.
const MOST_READ: usize = 2_000;

/// A skill that covers this many words that only it has is a perfect match, however long the task is.
const ENOUGH_WORDS: f64 = 3.0;

/// Skills, arranged by their words.
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
        let known = self.most_telling(known);
        let by_slot = self.evidence(&known);
        let all = self.index.len();
        let perfect = known.iter().map(|term| rarity(all, self.index.postings(*term).len())).sum::<f64>()
            + rarity(all, 0) * count(unknown.min(MOST_WORDS));
        let perfect = perfect.min(ENOUGH_WORDS * rarity(all, 1)).max(f64::MIN_POSITIVE);
        let slots: Vec<u32> = self.index.skills().map(|(_, slot)| slot).collect();
        let score = |slot: &u32| (by_slot[*slot as usize] / perfect).min(1.0);
        with_reasons(slots.iter().map(score), |place| self.reason(&known, slots[place]))
    }
}

impl Bm25 {
    /// The words that fewest skills have, as far as there is time for them.
    fn most_telling(&self, mut known: Vec<Term>) -> Vec<Term> {
        let holders = |term: &Term| self.index.postings(*term).len();
        known.sort_by_key(|term| holders(term));
        let mut visited = 0;
        known.retain(|term| {
            visited += holders(term);
            visited <= MOST_POSTINGS
        });
        known.truncate(MOST_WORDS);
        known
    }

    /// The sum of what each word says for each slot.
    fn evidence(&self, known: &[Term]) -> Vec<f64> {
        let all = self.index.len();
        let factors = WORTH.by_slot(&self.index);
        let mut by_slot = vec![0.0; self.index.most_slots()];
        for term in known {
            let postings = self.index.postings(*term);
            let rarity = rarity(all, postings.len());
            for posting in postings {
                let slot = posting.slot as usize;
                by_slot[slot] += rarity * WORTH.effect(posting, &factors[slot]);
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

/// The distinct words of a task in order of appearance.
fn distinct_words(task: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut seen = BTreeSet::new();
    each_word(opening(task), |word| {
        if words.len() < MOST_READ && !seen.contains(word) {
            seen.insert(word.to_owned());
            words.push(word.to_owned());
        }
    });
    words
}
