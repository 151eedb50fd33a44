//! The keyword score of the engine: the share of a skill's keywords that match a word of the task.

use crate::meanings::Meaning;
use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::weighting::count;
use scorer_bm25::words::each_compound;
use std::collections::{BTreeMap, BTreeSet};

/// Shorter words match only themselves: `go` does not match `golang`.
const MIN_PART: usize = 3;

/// Maximum number of words of a task that are compared with every keyword.
const MAX_WORDS: usize = 16;

#[derive(Default)]
pub struct Keywords {
    /// Every distinct folded keyword; the next two vectors are parallel to it.
    distinct: Vec<Box<str>>,
    letters: Vec<Letters>,
    holders: Vec<Vec<u32>>,
    /// Position of each keyword in these vectors.
    position: BTreeMap<Box<str>, usize>,
    /// The keywords of each slot.
    of_slots: BTreeMap<u32, Vec<Box<str>>>,
}

impl Keywords {
    pub fn put(&mut self, slot: u32, skill: &SkillText) {
        self.gone(slot);
        let keywords: BTreeSet<Box<str>> =
            skill.keywords.iter().chain(&skill.aliases).map(|word| folded(word)).collect();
        for keyword in &keywords {
            let at = self.position.get(keyword).copied().unwrap_or_else(|| self.add_keyword(keyword));
            self.holders[at].push(slot);
        }
        self.of_slots.insert(slot, keywords.into_iter().collect());
    }

    pub fn gone(&mut self, slot: u32) {
        for keyword in self.of_slots.remove(&slot).unwrap_or_default() {
            let Some(at) = self.position.get(&keyword).copied() else { continue };
            self.holders[at].retain(|other| *other != slot);
            if self.holders[at].is_empty() {
                self.remove_keyword(at);
            }
        }
    }

    fn add_keyword(&mut self, keyword: &str) -> usize {
        let at = self.distinct.len();
        self.distinct.push(keyword.into());
        self.letters.push(Letters::of(keyword));
        self.holders.push(Vec::new());
        self.position.insert(keyword.into(), at);
        at
    }

    fn remove_keyword(&mut self, at: usize) {
        self.position.remove(&self.distinct[at]);
        self.distinct.swap_remove(at);
        self.letters.swap_remove(at);
        self.holders.swap_remove(at);
        if let Some(moved) = self.distinct.get(at) {
            self.position.insert(moved.clone(), at);
        }
    }

    /// Adds `all` to a skill whose keywords all match, or the matching share of it.
    pub fn add(&self, meanings: &[Meaning], all: f64, by_slot: &mut [f64]) {
        let words = meanings.iter().filter(|meaning| meaning.weight >= 1.0).take(MAX_WORDS);
        let words: Vec<(&str, Letters)> =
            words.map(|meaning| (meaning.word.as_str(), Letters::of(&meaning.word))).collect();
        let matched = self.letters.iter().enumerate().filter(|(at, letters)| {
            words.iter().any(|(word, of_word)| of_word.may_match(**letters) && matches(word, &self.distinct[*at]))
        });
        for slot in matched.flat_map(|(at, _)| &self.holders[at]) {
            let keywords = self.of_slots.get(slot).map_or(1, Vec::len);
            by_slot[*slot as usize] += all / count(keywords);
        }
    }
}

fn folded(keyword: &str) -> Box<str> {
    let mut words = Vec::new();
    each_compound(keyword, |word| words.push(word.to_owned()));
    words.join(" ").into()
}

/// Whether a word of the task matches a keyword.
fn matches(word: &str, keyword: &str) -> bool {
    let long = |word: &str| word.chars().nth(MIN_PART - 1).is_some();
    word == keyword || long(word) && long(keyword) && (word.contains(keyword) || keyword.contains(word))
}

/// The letters of a word, one bit per class of bytes: a cheap test that neither word contains the other.
#[derive(Clone, Copy)]
struct Letters(u64);

impl Letters {
    fn of(word: &str) -> Self {
        Self(word.bytes().fold(0, |letters, byte| letters | 1 << (byte % 64)))
    }

    fn may_match(self, other: Self) -> bool {
        let shared = self.0 & other.0;
        shared == self.0 || shared == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_keywords_match_as_in_the_engine() {
        for (word, keyword, expected) in [
            ("react", "react", true),
            ("authentication", "auth", true),
            ("auth", "authentication", true),
            ("level", "log level", true),
            ("go", "golang", false),
            ("golang", "go", false),
            ("js", "json", false),
            ("ts", "ts", true),
        ] {
            assert_eq!(matches(word, keyword), expected, "{word} {keyword}");
            assert!(!expected || Letters::of(word).may_match(Letters::of(keyword)));
        }
    }
}
