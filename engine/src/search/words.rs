//! An index of the words in texts: which texts have a word that contains this?
//!
//! A query has no white space in a word, so a text contains it if one of the text's words does. Only distinct words are
//! compared, of which a larger library has hardly more, and nothing of a text is kept but its words.

use crate::index::as_u32;
use crate::text::fold_letter;
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of all words and lists together. Texts beyond that are not indexed.
const MAX_BYTES: usize = 512 << 20;

/// How many words with the same hash are told apart. A text with more of them is not indexed.
const MAX_SAME_HASH: u64 = 16;

/// Classes of sizes of lists, each twice as large as the one before.
const SIZES: usize = 24;

/// Words, and for each the texts that have it. Texts are numbered in the order in which they were added.
#[derive(Default)]
pub struct Words {
    /// The distinct words, case-folded, each followed by a newline.
    distinct: Vec<u8>,
    starts: Vec<u32>,
    lists: Vec<List>,
    /// The positions in these lists by the hash of the word, or a little more.
    by_hash: HashMap<u64, u32, BuildHasherDefault<IsHash>>,
    texts: u32,
    list_bytes: usize,
    scratch: Vec<u8>,
}

/// Numbers of texts in ascending order: the last one, and before it the differences, seven bits to a byte, the least
/// significant first.
#[derive(Default)]
struct List {
    last: u32,
    differences: Vec<u8>,
}

impl Words {
    /// Adds a text in parts that share no word, and returns its number. `None` if it is too unusual to be indexed.
    pub fn add<'text>(&mut self, parts: impl Iterator<Item = &'text str>) -> Option<u32> {
        let text = self.texts;
        let mut is_complete = true;
        for word in parts.flat_map(str::split_ascii_whitespace) {
            is_complete &= self.add_word(word, text);
        }
        self.texts += 1;
        is_complete.then_some(text)
    }

    fn add_word(&mut self, word: &str, text: u32) -> bool {
        let mut folded = std::mem::take(&mut self.scratch);
        folded.clear();
        fold_into(word, &mut folded);
        let position = self.position_of(&folded);
        self.scratch = folded;
        let Some(position) = position else { return false };
        let list = &mut self.lists[position as usize];
        if list.last != text {
            self.list_bytes += list.push(text);
        }
        true
    }

    /// Finds a word, or adds it with a list that is empty until a text is pushed.
    fn position_of(&mut self, word: &[u8]) -> Option<u32> {
        let hash = hash(word);
        for hash in (0..MAX_SAME_HASH).map(|more| hash.wrapping_add(more)) {
            let Some(position) = self.by_hash.get(&hash) else {
                let is_full = self.distinct.len() + self.list_bytes + word.len() > MAX_BYTES;
                return (!is_full).then(|| self.insert(hash, word));
            };
            if self.word(*position) == word {
                return Some(*position);
            }
        }
        None
    }

    fn insert(&mut self, hash: u64, word: &[u8]) -> u32 {
        let position = as_u32(self.starts.len());
        self.starts.push(as_u32(self.distinct.len()));
        self.distinct.extend_from_slice(word);
        self.distinct.push(b'\n');
        self.lists.push(List { last: self.texts, differences: Vec::new() });
        self.by_hash.insert(hash, position);
        position
    }

    fn word(&self, position: u32) -> &[u8] {
        let end = self.starts.get(position as usize + 1).map_or(self.distinct.len(), |next| *next as usize);
        &self.distinct[self.starts[position as usize] as usize..end - 1]
    }

    /// Returns the texts that contain all of these case-folded words.
    pub fn texts_with(&self, wanted: &[String]) -> Texts {
        let mut lists: Vec<(usize, Vec<u32>)> = wanted.iter().map(|word| self.lists_with(word)).collect();
        // Rare words first, so that little is left to compare with frequent ones.
        lists.sort_unstable_by_key(|(size, _)| *size);
        let mut found: Option<Texts> = None;
        for (_, positions) in lists {
            let mut with_word = Texts::none(self.texts);
            let wanted = found.as_ref().map_or(self.texts as usize, Texts::count);
            let mut missing = wanted;
            // Frequent words first: a few of them may be in all texts.
            let by_size: [Vec<u32>; SIZES] = positions.into_iter().fold(Default::default(), |mut by_size, position| {
                let size = self.lists[position as usize].differences.len();
                by_size[size.checked_ilog2().map_or(0, |size| size as usize + 1).min(SIZES - 1)].push(position);
                by_size
            });
            for position in by_size.into_iter().rev().flatten() {
                if missing == 0 {
                    break;
                }
                self.lists[position as usize].for_each(|text| {
                    let is_wanted = found.as_ref().is_none_or(|found| found.contains(text));
                    missing -= usize::from(is_wanted && with_word.insert(text));
                });
            }
            found = Some(with_word);
        }
        found.unwrap_or_else(|| Texts::none(0))
    }

    /// Returns the positions of the words that contain another, and the size of their lists.
    fn lists_with(&self, part: &str) -> (usize, Vec<u32>) {
        let finder = Finder::new(part.as_bytes());
        let (mut size, mut positions, mut from) = (0, Vec::new(), 0);
        while let Some(at) = finder.find(&self.distinct[from..]) {
            let position = self.starts.partition_point(|start| *start as usize <= from + at) - 1;
            size += 1 + self.lists[position].differences.len();
            positions.push(as_u32(position));
            let Some(next) = self.starts.get(position + 1) else { break };
            from = *next as usize;
        }
        (size, positions)
    }
}

impl List {
    /// Returns how many bytes it takes.
    fn push(&mut self, text: u32) -> usize {
        let mut difference = text - std::mem::replace(&mut self.last, text);
        let before = self.differences.len();
        while difference >= 0x80 {
            self.differences.push(difference.to_le_bytes()[0] | 0x80);
            difference >>= 7;
        }
        self.differences.push(difference.to_le_bytes()[0]);
        self.differences.len() - before
    }

    /// Calls a function with each text, the last one first.
    fn for_each(&self, mut function: impl FnMut(u32)) {
        function(self.last);
        let mut text = self.last;
        let mut end = self.differences.len();
        while end > 0 {
            // The last byte of a difference is the only one below 0x80.
            let mut start = end - 1;
            while start > 0 && self.differences[start - 1] >= 0x80 {
                start -= 1;
            }
            let difference =
                self.differences[start..end].iter().rev().fold(0, |sum, byte| sum << 7 | u32::from(byte & 0x7f));
            text -= difference;
            function(text);
            end = start;
        }
    }
}

/// A set of texts.
pub struct Texts {
    bits: Vec<u64>,
}

impl Texts {
    fn none(limit: u32) -> Self {
        Self { bits: vec![0; limit.div_ceil(64) as usize] }
    }

    fn insert(&mut self, text: u32) -> bool {
        let (at, bit) = ((text / 64) as usize, 1 << (text % 64));
        let is_new = self.bits[at] & bit == 0;
        self.bits[at] |= bit;
        is_new
    }

    /// Returns the texts in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.bits).flat_map(|(at, bits)| {
            (0..u64::BITS).filter(move |bit| bits & 1 << bit != 0).map(move |bit| at * u64::BITS + bit)
        })
    }

    fn contains(&self, text: u32) -> bool {
        self.bits.get((text / 64) as usize).is_some_and(|bits| bits & 1 << (text % 64) != 0)
    }

    fn count(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }
}

fn fold_into(word: &str, folded: &mut Vec<u8>) {
    if word.is_ascii() {
        folded.extend(word.bytes().map(|byte| byte.to_ascii_lowercase()));
        return;
    }
    for letter in word.chars().map(fold_letter) {
        folded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn hash(word: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, bytes: u64| {
        let mixed = (hash ^ bytes).wrapping_mul(FACTOR);
        mixed ^ mixed >> 29
    };
    let (chunks, rest) = word.as_chunks::<8>();
    let hash = chunks.iter().fold(word.len() as u64, |hash, chunk| mix(hash, u64::from_le_bytes(*chunk)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), FACTOR)
}

/// Keys that are hashes already.
#[derive(Default)]
struct IsHash(u64);

impl Hasher for IsHash {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_are_found_by_parts_of_their_words(
            texts in prop::collection::vec("[aAbÉé\u{130} \n\t-]{0,12}", 0..200),
            query in "[aAbÉé -]{1,6}",
        ) {
            let mut words = Words::default();
            for (number, text) in (0..).zip(&texts) {
                prop_assert_eq!(words.add(text.split('-')), Some(number));
            }
            let query: Vec<String> = query.replace('-', "b").split_ascii_whitespace().map(fold).collect();
            let found = words.texts_with(&query);
            for (number, text) in (0..).zip(&texts) {
                let parts: Vec<String> = text.split('-').map(fold).collect();
                let expected = !query.is_empty() && query.iter().all(|word| parts.iter().any(|part| part.contains(word)));
                prop_assert_eq!(found.contains(number), expected, "{} {:?}", text, query);
            }
        }

        #[test]
        fn a_list_returns_what_was_pushed(mut texts in prop::collection::btree_set(any::<u32>(), 1..20)) {
            let first = texts.pop_first().unwrap();
            let mut list = List { last: first, differences: Vec::new() };
            for text in &texts {
                list.push(*text);
            }
            let mut found = Vec::new();
            list.for_each(|text| found.push(text));
            found.reverse();
            prop_assert_eq!(found, std::iter::once(first).chain(texts).collect::<Vec<_>>());
        }
    }
}
