//! Assigns a number to every word of every skill.

use crate::hasher::BuildWordHasher;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of a word, valid until no skill has the word.
pub type Term = u32;

#[derive(Default)]
pub struct Vocabulary {
    terms: HashMap<Rc<str>, Term, BuildWordHasher>,
    texts: Vec<Rc<str>>,
    unused: Vec<Term>,
}

impl Vocabulary {
    pub fn find(&self, word: &str) -> Option<Term> {
        self.terms.get(word).copied()
    }

    pub fn text(&self, term: Term) -> &str {
        &self.texts[term as usize]
    }

    /// Returns the number of a word, and whether it is new.
    pub fn add(&mut self, word: &str) -> (Term, bool) {
        if let Some(term) = self.find(word) {
            return (term, false);
        }
        let text = Rc::<str>::from(word);
        let term = if let Some(term) = self.unused.pop() {
            self.texts[term as usize] = Rc::clone(&text);
            term
        } else {
            self.texts.push(Rc::clone(&text));
            Term::try_from(self.texts.len() - 1).expect("words of four billion do not fit into memory")
        };
        self.terms.insert(text, term);
        (term, true)
    }

    /// Removes a word and returns it; its number may be reused.
    pub fn remove(&mut self, term: Term) -> Rc<str> {
        let text = std::mem::take(&mut self.texts[term as usize]);
        self.terms.remove(&text);
        self.unused.push(term);
        text
    }
}
