//! Comparing text without regard to case, the same way everywhere.

/// Lower-cases letter by letter, so that a part of a text folds to the same part of the folded text.
///
/// `str::to_lowercase` looks at the neighbours of a final sigma and would break that.
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().flat_map(char::to_lowercase).collect() }
}

/// Number of single-letter changes between two words.
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

    proptest! {
        #[test]
        fn a_part_folds_to_a_part(before in "\\PC{0,12}", part in "\\PC{0,12}", after in "\\PC{0,12}") {
            let whole = [before, part.clone(), after].concat();
            prop_assert!(fold(&whole).contains(&fold(&part)));
        }

        #[test]
        fn distance_is_symmetric(left in "\\PC{0,12}", right in "\\PC{0,12}") {
            prop_assert_eq!(edit_distance(&left, &right), edit_distance(&right, &left));
        }
    }
}
