//! Splits a task into the words that can match.

use crate::text::fold;
use std::collections::BTreeSet;

/// Maximum number of distinct words. A task has dozens; each is compared with every keyword.
const MAX_TOKENS: usize = 1_000;

/// Splits a text into distinct case-folded words without stop words, in order of appearance.
///
/// Any character other than letters, numbers and hyphens separates words.
pub fn tokenize(context: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let distinct = words(context).filter(|word| !is_stop_word(word) && seen.insert(word.clone()));
    distinct.take(MAX_TOKENS).collect()
}

/// Returns all words, case-folded, including stop words and duplicates.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    words_as_written(text).map(fold)
}

/// Returns all words as they are written.
pub fn words_as_written(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter| !is_part_of_word(letter));
    words.filter(|word| word.contains(|letter: char| letter != '-'))
}

fn is_part_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter.is_alphanumeric() || letter == '-'
}

/// Whether any word of a task could match this keyword.
pub fn can_match(keyword: &str) -> bool {
    let long = |word: &str| word.chars().nth(2).is_some();
    let whole = keyword.chars().all(is_part_of_word);
    if whole { long(keyword) || !is_stop_word(&fold(keyword)) } else { words(keyword).any(|word| long(&word)) }
}

pub fn is_stop_word(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok() || FRENCH.binary_search(&word).is_ok()
}

/// Sorted. Kept short: a missing stop word costs a little precision, a wrong one makes a skill unreachable. `s`, `t`,
/// `ll`, `re` and `ve` remain after splitting at an apostrophe.
const ENGLISH: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but",
    "by", "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having", "he", "her",
    "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "ll", "me", "more", "most", "my",
    "no", "nor", "not", "of", "off", "on", "only", "or", "other", "our", "out", "over", "own", "please", "re", "s",
    "same", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "ve", "very", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "you", "your",
];

/// Sorted. `d`, `j`, `l`, `m`, `n`, `qu` and `s` are elisions. `c` and `ai` are omitted: they are also a language and a
/// subject.
const FRENCH: &[&str] = &[
    "au", "aux", "avec", "ce", "ces", "cet", "cette", "comme", "d", "dans", "de", "des", "du", "elle", "elles", "en",
    "est", "et", "eux", "il", "ils", "j", "je", "l", "la", "le", "les", "leur", "leurs", "lui", "m", "ma", "mais",
    "me", "mes", "moi", "mon", "même", "n", "ne", "nos", "notre", "nous", "on", "ont", "ou", "où", "par", "pas",
    "pour", "qu", "que", "qui", "s", "sa", "sans", "se", "ses", "son", "sont", "suis", "sur", "ta", "te", "tes", "toi",
    "ton", "tu", "un", "une", "vos", "votre", "vous", "y", "à", "été", "être",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(ENGLISH.is_sorted());
        assert!(FRENCH.is_sorted());
    }

    #[test]
    fn the_documentation_lists_every_stop_word() {
        let page = include_str!("../../docs/matching.md");
        let listed: Vec<Vec<&str>> =
            page.split("```").skip(1).step_by(2).map(|block| block.split_whitespace().skip(1).collect()).collect();
        assert_eq!(listed, [ENGLISH.to_vec(), FRENCH.to_vec()]);
    }

    #[test]
    fn the_example_of_the_specification() {
        let tokens = tokenize("Create a React component for the authentication");
        assert_eq!(tokens, ["create", "react", "component", "authentication"]);
    }

    #[test]
    fn french_elisions_leave_the_word() {
        assert_eq!(tokenize("Ajoute l'auth à l’écran d'accueil"), ["ajoute", "auth", "écran", "accueil"]);
    }

    #[test]
    fn some_keywords_can_never_match() {
        for (keyword, expected) in [
            ("go", true),
            ("c", true),
            ("the", true),
            ("it", false),
            ("c++", false),
            ("ci/cd", false),
            ("node.js", true),
        ] {
            assert_eq!(can_match(keyword), expected, "{keyword}");
        }
    }

    #[test]
    fn hyphens_stay_and_dashes_go() {
        assert_eq!(tokenize("end-to-end -- tests - now"), ["end-to-end", "tests", "now"]);
    }

    proptest! {
        #[test]
        fn tokens_are_distinct_folded_words(context in "\\PC*") {
            let tokens = tokenize(&context);
            for (at, token) in tokens.iter().enumerate() {
                prop_assert!(token.chars().all(|letter| letter.is_alphanumeric() || letter == '-'));
                prop_assert!(!token.is_empty() && !is_stop_word(token));
                prop_assert!(!tokens[..at].contains(token));
            }
        }

        #[test]
        fn tokenizing_is_idempotent(context in "\\PC*") {
            let tokens = tokenize(&context);
            prop_assert_eq!(tokenize(&tokens.join(" ")), tokens);
        }
    }
}
