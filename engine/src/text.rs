//! Case-insensitive comparison.

/// Lower-cases character by character, so that folding preserves substrings.
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(fold_letter).collect() }
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

/// Returns the Levenshtein distance between two words.
pub fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
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
