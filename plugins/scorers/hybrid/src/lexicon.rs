//! The index with what is needed to find words that are written otherwise.

use crate::spelling::Spellings;
use crate::stem::stem;
use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::index::{Index, Turnover};
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
    /// Takes in a skill and returns its slot.
    pub fn put(&mut self, skill: &SkillText) -> u32 {
        let turnover = self.index.put(skill);
        self.follow(&turnover);
        self.index.slot(skill.number).expect("it was just put")
    }

    /// Forgets a skill and returns the slot it had.
    pub fn gone(&mut self, number: u32) -> Option<u32> {
        let slot = self.index.slot(number)?;
        let turnover = self.index.gone(number);
        self.follow(&turnover);
        Some(slot)
    }

    fn follow(&mut self, turnover: &Turnover) {
        for (term, word) in &turnover.lost {
            let stem = stem(word);
            if let Some(terms) = self.stems.get_mut(stem) {
                terms.retain(|other| other != term);
                if terms.is_empty() {
                    self.stems.remove(stem);
                }
            }
            self.spellings.remove(*term);
        }
        for term in &turnover.new {
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

    /// The words whose stem begins with these letters, by stem.
    pub fn beginning(&self, letters: &str) -> impl Iterator<Item = (&str, &[Term])> {
        let from = self.stems.range::<str, _>((Bound::Included(letters), Bound::Unbounded));
        from.take_while(move |(stem, _)| stem.starts_with(letters))
            .map(|(stem, terms)| (stem.as_ref(), terms.as_slice()))
    }

    /// The words that a misspelt one may stand for, with the number of mistakes.
    pub fn near(&self, word: &str) -> (Vec<Term>, usize) {
        self.spellings.near(word, |term| self.index.vocabulary.text(term))
    }
}
