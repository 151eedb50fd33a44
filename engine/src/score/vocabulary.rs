//! The distinct keywords of all skills, found by their parts.

use super::{MIN_PART, matches};
use memchr::memmem::Finder;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;
use std::rc::Rc;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Of a longer word, not every part is looked up; it is compared with every keyword instead. In bytes.
const MAX_WORD_IN_PARTS: usize = 64;

/// How many of the shortest lists are compared before the keywords themselves.
const COMPARED_LISTS: usize = 3;

/// Three bytes in a row.
type Trigram = [u8; 3];

/// Keywords, each with a number that it keeps until it is removed.
#[derive(Default)]
pub struct Vocabulary {
    keywords: Vec<Option<Rc<str>>>,
    free: Vec<u32>,
    numbers: Map<Rc<str>, u32>,
    /// The keywords that contain three bytes in a row, in ascending order.
    by_trigram: Map<Trigram, Vec<u32>>,
}

impl Vocabulary {
    pub fn number_of(&self, keyword: &str) -> Option<u32> {
        self.numbers.get(keyword).copied()
    }

    /// Adds a keyword that is not there yet.
    pub fn insert(&mut self, keyword: &str) -> u32 {
        let shared = Rc::<str>::from(keyword);
        let number = self.free.pop().unwrap_or_else(|| {
            self.keywords.push(None);
            crate::index::as_u32(self.keywords.len() - 1)
        });
        for trigram in trigrams(keyword) {
            let holders = self.by_trigram.entry(trigram).or_default();
            holders.insert(holders.partition_point(|other| *other < number), number);
        }
        self.keywords[number as usize] = Some(Rc::clone(&shared));
        self.numbers.insert(shared, number);
        number
    }

    pub fn remove(&mut self, number: u32) {
        let Some(keyword) = self.keywords[number as usize].take() else { return };
        self.numbers.remove(&keyword);
        for trigram in trigrams(&keyword) {
            let Some(holders) = self.by_trigram.get_mut(&trigram) else { continue };
            holders.retain(|other| *other != number);
            if holders.is_empty() {
                self.by_trigram.remove(&trigram);
            }
        }
        self.free.push(number);
    }

    /// Adds the keywords that match a word of a task.
    pub fn add_matching(&self, word: &str, found: &mut BTreeSet<u32>) {
        if word.len() > MAX_WORD_IN_PARTS {
            let is_match = |keyword: &Option<Rc<str>>| keyword.as_ref().is_some_and(|keyword| matches(word, keyword));
            found.extend((0..).zip(&self.keywords).filter(|(_, keyword)| is_match(keyword)).map(|(number, _)| number));
            return;
        }
        found.extend(self.number_of(word));
        if word.chars().nth(MIN_PART - 1).is_none() {
            return;
        }
        self.add_parts(word, found);
        let holders: Option<Vec<&Vec<u32>>> =
            trigrams(word).into_iter().map(|trigram| self.by_trigram.get(&trigram)).collect();
        // A keyword without one of the trigrams does not contain the word.
        let Some(mut holders) = holders else { return };
        holders.sort_unstable_by_key(|holders| holders.len());
        let shortest = holders.first().map(|list| (*list).clone()).unwrap_or_default();
        let others = holders.iter().take(COMPARED_LISTS).skip(1);
        let possible = others.fold(shortest, |possible, list| in_both(&possible, list));
        let finder = Finder::new(word.as_bytes());
        let contains = |number: &u32| {
            let keyword = self.keywords[*number as usize].as_ref();
            keyword.is_some_and(|keyword| finder.find(keyword.as_bytes()).is_some())
        };
        found.extend(possible.into_iter().filter(contains));
    }

    /// Adds the keywords that are a part of a word.
    fn add_parts(&self, word: &str, found: &mut BTreeSet<u32>) {
        let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
        for (first, start) in ends.iter().enumerate() {
            for end in ends.iter().skip(first + MIN_PART) {
                found.extend(self.number_of(&word[*start..*end]));
            }
        }
    }
}

/// Returns the numbers that are in both of two ascending lists.
fn in_both(one: &[u32], other: &[u32]) -> Vec<u32> {
    let (mut both, mut rest) = (Vec::new(), other.iter().peekable());
    for number in one {
        while rest.next_if(|other| *other < number).is_some() {}
        both.extend(rest.next_if_eq(&number));
    }
    both
}

/// The distinct trigrams of a word.
fn trigrams(word: &str) -> BTreeSet<Trigram> {
    word.as_bytes().array_windows().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_keywords_that_match_are_found(
            keywords in prop::collection::vec(("[ab\u{e9}\u{4e2d}-]{1,5}", any::<bool>()), 0..30),
            words in prop::collection::vec("[ab\u{e9}\u{4e2d}-]{1,7}", 1..5),
            long in "[ab]{65,70}",
        ) {
            let mut vocabulary = Vocabulary::default();
            let mut there = BTreeSet::new();
            for (keyword, stays) in keywords {
                match vocabulary.number_of(&keyword) {
                    None => drop(vocabulary.insert(&keyword)),
                    Some(number) if !stays => vocabulary.remove(number),
                    Some(_) => {}
                }
                if vocabulary.number_of(&keyword).is_some() { there.insert(keyword) } else { there.remove(&keyword) };
            }
            for word in words.iter().chain([&long]) {
                let mut found = BTreeSet::new();
                vocabulary.add_matching(word, &mut found);
                let found: BTreeSet<&str> = found.into_iter().filter_map(|number| vocabulary.keywords[number as usize].as_deref()).collect();
                let expected: BTreeSet<&str> = there.iter().map(String::as_str).filter(|keyword| matches(word, keyword)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
