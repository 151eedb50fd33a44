//! Finds words with a similar spelling.

use scorer_bm25::vocabulary::Term;

/// Shorter words are too similar: `car` and `cat`.
const MIN_LENGTH: usize = 4;

/// From this length on, two mistakes are tolerated.
const LONG: usize = 8;

/// A signature per word, which rules out nearly all candidates cheaply.
#[derive(Default)]
pub struct Spellings {
    signatures: Vec<Signature>,
}

/// The length and letters of a word. A length of 0 marks an unused entry.
#[derive(Clone, Copy, Default)]
struct Signature {
    letters: u32,
    length: u32,
}

impl Signature {
    fn of(word: &str) -> Self {
        let letters = word.bytes().fold(0, |letters, byte| letters | 1 << (byte % 32));
        Self { letters, length: u32::try_from(word.len()).unwrap_or(u32::MAX) }
    }

    /// Whether the words may differ by this many mistakes. A mistake changes at most two letters.
    fn may_match(self, other: Self, mistakes: u32) -> bool {
        (self.letters ^ other.letters).count_ones() <= 2 * mistakes && self.length.abs_diff(other.length) <= mistakes
    }
}

impl Spellings {
    pub fn add(&mut self, term: Term, word: &str) {
        let place = term as usize;
        if self.signatures.len() <= place {
            self.signatures.resize(place + 1, Signature::default());
        }
        let can_be_meant = word.len() >= MIN_LENGTH - 1 && is_plain(word);
        self.signatures[place] = if can_be_meant { Signature::of(word) } else { Signature::default() };
    }

    pub fn remove(&mut self, term: Term) {
        self.signatures[term as usize] = Signature::default();
    }

    /// Returns the words closest to a misspelled one, with the number of mistakes.
    pub fn near<'word>(&self, word: &str, text: impl Fn(Term) -> &'word str) -> (Vec<Term>, usize) {
        if word.len() < MIN_LENGTH || !is_plain(word) {
            return (Vec::new(), 0);
        }
        let max = if word.len() >= LONG { 2 } else { 1 };
        let signature = Signature::of(word);
        let (mut near, mut best) = (Vec::new(), max);
        for (term, other) in (0..).zip(&self.signatures) {
            if other.length == 0 || !signature.may_match(*other, if best == 1 { 1 } else { 2 }) {
                continue;
            }
            let other = text(term);
            if !starts_alike(word, other) {
                continue;
            }
            let Some(mistakes) = mistakes(word, other, best) else { continue };
            if mistakes < best {
                near.clear();
                best = mistakes;
            }
            near.push(term);
        }
        (near, best)
    }
}

/// The first letter is rarely wrong, except when swapped with the second.
fn starts_alike(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left[0] == right[0] || left[0] == right[1] && left[1] == right[0]
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the Damerau-Levenshtein distance, if it is at most `max`.
fn mistakes(left: &str, right: &str, max: usize) -> Option<usize> {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let prefix = left.iter().zip(right).take_while(|(one, other)| one == other).count();
    let (left, right) = (&left[prefix..], &right[prefix..]);
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(one, other)| one == other).count();
    let (left, right) = (&left[..left.len() - suffix], &right[..right.len() - suffix]);
    if left.len().abs_diff(right.len()) > max {
        return None;
    }
    let width = right.len() + 1;
    let mut rows = vec![0; (left.len() + 1) * width];
    for line in 0..=left.len() {
        for column in 0..width {
            rows[line * width + column] = if line == 0 || column == 0 {
                line + column
            } else {
                let at = |up: usize, back: usize| rows[(line - up) * width + column - back];
                let replaced = at(1, 1) + usize::from(left[line - 1] != right[column - 1]);
                let best = replaced.min(at(1, 0) + 1).min(at(0, 1) + 1);
                let swapped = line > 1
                    && column > 1
                    && left[line - 1] == right[column - 2]
                    && left[line - 2] == right[column - 1];
                if swapped { best.min(at(2, 2) + 1) } else { best }
            };
        }
    }
    let mistakes = rows[rows.len() - 1];
    (mistakes <= max).then_some(mistakes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mistakes_are_counted() {
        for (left, right, expected) in [
            ("invoice", "invioce", Some(1)),
            ("invoice", "invoic", Some(1)),
            ("kubernetes", "kubernets", Some(1)),
            ("presentation", "presntaion", Some(2)),
            ("kitten", "sitting", None),
            ("same", "same", Some(0)),
        ] {
            assert_eq!(mistakes(left, right, 2), expected, "{left} {right}");
        }
    }

    #[test]
    fn the_nearest_words_win() {
        let words = ["invoice", "invoke", "voice", "inv", "café"];
        let mut spellings = Spellings::default();
        for (term, word) in (0..).zip(words) {
            spellings.add(term, word);
        }
        let near = |word: &str| spellings.near(word, |term| words[term as usize]);
        assert_eq!(near("invocie"), (vec![0], 1));
        assert_eq!(near("invoie"), (vec![0, 1], 1));
        assert_eq!(near("zzzz"), (vec![], 1));
        assert_eq!(near("iv").0, [0; 0]);
        spellings.remove(0);
        let near = |word: &str| spellings.near(word, |term| words[term as usize]);
        assert_eq!(near("invocie").0, [0; 0]);
    }

    proptest! {
        #[test]
        fn signatures_never_rule_out_a_similar_word(left in "[a-f]{4,10}", right in "[a-f]{4,10}") {
            if let Some(count) = mistakes(&left, &right, 2) {
                prop_assert!(Signature::of(&left).may_match(Signature::of(&right), u32::try_from(count).unwrap()));
            }
        }
    }
}
