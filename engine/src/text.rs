//! Case-insensitive comparison.

use std::borrow::Cow;

/// Lower-cases character by character, so that folding preserves substrings.
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(fold_letter).collect() }
}

/// Like [`fold`], without a copy of what is folded already.
pub fn folded(text: &str) -> Cow<'_, str> {
    let is_folded = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_folded { Cow::Borrowed(text) } else { Cow::Owned(fold(text)) }
}

/// Maps one character to one character.
///
/// The two exceptions are characters that Unicode lower-cases to two, or depending on context.
pub fn fold_letter(letter: char) -> char {
    match letter {
        '\u{130}' => 'i',
        'ς' => 'σ',
        _ => letter.to_lowercase().next().unwrap_or(letter),
    }
}

/// The letters of a word, one bit per class of bytes: a cheap test that neither word contains the other.
#[derive(Clone, Copy)]
pub struct Letters(u64);

impl Letters {
    pub fn of(word: &str) -> Self {
        Self(word.bytes().fold(0, |letters, byte| letters | 1 << (byte % 64)))
    }

    pub fn may_match(self, other: Self) -> bool {
        let shared = self.0 & other.0;
        shared == self.0 || shared == other.0
    }

    /// Returns how many classes only one of the two has.
    pub fn differences(self, other: Self) -> usize {
        (self.0 ^ other.0).count_ones() as usize
    }
}

/// Returns how many letters have to be added, removed, replaced or swapped with their neighbor to make one word of the other:
/// the distance called optimal string alignment.
pub fn edit_distance(left: &str, right: &str) -> usize {
    let [left, right]: [Vec<char>; 2] = [left, right].map(|word| word.chars().collect());
    let first: Vec<usize> = (0..=right.len()).collect();
    let [mut before_last, mut last, mut row] = [first.clone(), first.clone(), first];
    for line in 1..=left.len() {
        row[0] = line;
        for column in 1..=right.len() {
            let is_other = left[line - 1] != right[column - 1];
            let mut distance =
                (last[column - 1] + usize::from(is_other)).min(last[column] + 1).min(row[column - 1] + 1);
            let is_swapped =
                line > 1 && column > 1 && left[line - 1] == right[column - 2] && left[line - 2] == right[column - 1];
            if is_swapped {
                distance = distance.min(before_last[column - 2] + 1);
            }
            row[column] = distance;
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distance_counts_single_letters() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("été", "ete"), 2);
        assert_eq!(edit_distance("pfd", "pdf"), 1);
        assert_eq!(edit_distance("ca", "abc"), 3);
    }

    #[test]
    fn only_one_letter_folds_to_two_in_unicode() {
        let growing: Vec<char> = (0..=u32::from(char::MAX))
            .filter_map(char::from_u32)
            .filter(|letter| letter.to_lowercase().count() > 1)
            .collect();
        assert_eq!(growing, ['\u{130}']);
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
    }

    proptest! {
        #[test]
        fn folding_preserves_substrings(before in "\\PC{0,12}", part in "\\PC{0,12}", after in "\\PC{0,12}") {
            let whole = [before, part.clone(), after].concat();
            prop_assert!(fold(&whole).contains(&fold(&part)));
        }

        #[test]
        fn distance_is_symmetric(left in "\\PC{0,12}", right in "\\PC{0,12}") {
            prop_assert_eq!(edit_distance(&left, &right), edit_distance(&right, &left));
        }
    }
}
