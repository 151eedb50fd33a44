//! The index, with what is needed to find other forms of a word.

use crate::spelling::Spellings;
use crate::stem::stem;
use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::index::{Index, TermDelta};
use scorer_bm25::vocabulary::Term;
use std::collections::BTreeMap;
use std::ops::Bound;

#[derive(Default)]
pub struct Lexicon {
    pub index: Index,
    /// The words with each stem.
    stems: BTreeMap<Box<str>, Vec<Term>>,
    spellings: Spellings,
}

impl Lexicon {
    /// Adds or replaces a skill and returns its slot.
    pub fn put(&mut self, skill: &SkillText) -> u32 {
        let delta = self.index.put(skill);
        self.apply(&delta);
        self.index.slot(skill.number).expect("it was just put")
    }

    /// Removes a skill and returns its former slot.
    pub fn gone(&mut self, number: u32) -> Option<u32> {
        let slot = self.index.slot(number)?;
        let delta = self.index.gone(number);
        self.apply(&delta);
        Some(slot)
    }

    fn apply(&mut self, delta: &TermDelta) {
        for (term, word) in &delta.removed {
            let stem = stem(word);
            if let Some(terms) = self.stems.get_mut(stem) {
                terms.retain(|other| other != term);
                if terms.is_empty() {
                    self.stems.remove(stem);
                }
            }
            self.spellings.remove(*term);
        }
        for term in &delta.added {
            let word = self.index.vocabulary.text(*term);
            self.stems.entry(stem(word).into()).or_default().push(*term);
            self.spellings.add(*term, word);
        }
    }

    pub fn exact(&self, word: &str) -> Option<Term> {
        self.index.vocabulary.find(word)
    }

    pub fn with_stem(&self, stem: &str) -> &[Term] {
        self.stems.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Returns the words whose stem starts with these letters, by stem.
    pub fn with_prefix(&self, letters: &str) -> impl Iterator<Item = (&str, &[Term])> {
        let from = self.stems.range::<str, _>((Bound::Included(letters), Bound::Unbounded));
        from.take_while(move |(stem, _)| stem.starts_with(letters))
            .map(|(stem, terms)| (stem.as_ref(), terms.as_slice()))
    }

    /// Returns the words closest to a misspelled one, with the number of mistakes.
    pub fn near(&self, word: &str) -> (Vec<Term>, usize) {
        self.spellings.near(word, |term| self.index.vocabulary.text(term))
    }
}
