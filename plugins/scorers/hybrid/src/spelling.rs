//! Words that are written nearly alike.

use scorer_bm25::vocabulary::Term;

/// Shorter words are too like each other: `car` and `cat`.
const SHORTEST: usize = 4;

/// From this length on, two mistakes are forgiven.
const LONG: usize = 8;

/// All words in which mistakes are looked for, so arranged that nearly all are ruled out at a glance.
#[derive(Default)]
pub struct Spellings {
    looks: Vec<Look>,
}

/// How many letters a word has and which. Zero letters stand for no word.
#[derive(Clone, Copy, Default)]
struct Look {
    letters: u32,
    length: u32,
}

impl Look {
    fn of(word: &str) -> Self {
        let letters = word.bytes().fold(0, |letters, byte| letters | 1 << (byte % 32));
        Self { letters, length: u32::try_from(word.len()).unwrap_or(u32::MAX) }
    }

    /// Whether the words may be this many mistakes apart. A mistake changes at most two letters.
    fn may_be(self, other: Self, mistakes: u32) -> bool {
        (self.letters ^ other.letters).count_ones() <= 2 * mistakes && self.length.abs_diff(other.length) <= mistakes
    }
}

impl Spellings {
    pub fn add(&mut self, term: Term, word: &str) {
        let place = term as usize;
        if self.looks.len() <= place {
            self.looks.resize(place + 1, Look::default());
        }
        let can_be_meant = word.len() >= SHORTEST - 1 && is_plain(word);
        self.looks[place] = if can_be_meant { Look::of(word) } else { Look::default() };
    }

    pub fn remove(&mut self, term: Term) {
        self.looks[term as usize] = Look::default();
    }

    /// The words that a misspelt one may stand for, all with the same least number of mistakes.
    pub fn near<'word>(&self, word: &str, text: impl Fn(Term) -> &'word str) -> (Vec<Term>, usize) {
        if word.len() < SHORTEST || !is_plain(word) {
            return (Vec::new(), 0);
        }
        let most = if word.len() >= LONG { 2 } else { 1 };
        let look = Look::of(word);
        let (mut near, mut least) = (Vec::new(), most);
        for (term, other) in (0..).zip(&self.looks) {
            if other.length == 0 || !look.may_be(*other, if least == 1 { 1 } else { 2 }) {
                continue;
            }
            let other = text(term);
            if !begins_alike(word, other) {
                continue;
            }
            let Some(mistakes) = mistakes(word, other, least) else { continue };
            if mistakes < least {
                near.clear();
                least = mistakes;
            }
            near.push(term);
        }
        (near, least)
    }
}

/// Hardly anybody misses the first letter, except by swapping it with the second.
fn begins_alike(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left[0] == right[0] || left[0] == right[1] && left[1] == right[0]
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// How many letters are wrong, missing, too many or swapped with their neighbour, if not more than `most`.
fn mistakes(left: &str, right: &str, most: usize) -> Option<usize> {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let prefix = left.iter().zip(right).take_while(|(one, other)| one == other).count();
    let (left, right) = (&left[prefix..], &right[prefix..]);
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(one, other)| one == other).count();
    let (left, right) = (&left[..left.len() - suffix], &right[..right.len() - suffix]);
    if left.len().abs_diff(right.len()) > most {
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
    (mistakes <= most).then_some(mistakes)
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
        fn no_near_word_is_ruled_out_at_a_glance(left in "[a-f]{4,10}", right in "[a-f]{4,10}") {
            if let Some(count) = mistakes(&left, &right, 2) {
                prop_assert!(Look::of(&left).may_be(Look::of(&right), u32::try_from(count).unwrap()));
            }
        }
    }
}
