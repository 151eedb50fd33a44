//! Stop words in English and French.

use crate::hasher::BuildWordHasher;
use std::collections::HashSet;
use std::sync::LazyLock;

pub fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST && ALL.contains(word)
}

/// Both lists, hashed, because every word of every skill is looked up.
static ALL: LazyLock<HashSet<&str, BuildWordHasher>> =
    LazyLock::new(|| ENGLISH.iter().chain(FRENCH).copied().collect());

const LONGEST: usize = 8;

pub fn is_english(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok()
}

pub fn is_french(word: &str) -> bool {
    FRENCH.binary_search(&word).is_ok()
}

/// Sorted. `s`, `t`, `ll`, `re`, `ve`, `don` and the like remain after splitting at an apostrophe.
const ENGLISH: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "but", "by", "can", "cannot", "could", "couldn", "did", "didn", "do", "does", "doesn",
    "doing", "don", "each", "every", "few", "for", "from", "had", "has", "hasn", "have", "haven", "having", "he",
    "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "just", "ll", "me",
    "more", "most", "much", "my", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our",
    "ours", "out", "over", "own", "please", "re", "s", "same", "she", "should", "shouldn", "so", "some", "still",
    "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through",
    "to", "too", "under", "until", "up", "us", "ve", "very", "was", "wasn", "we", "were", "what", "when", "where",
    "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "won", "would", "wouldn", "you",
    "your", "yours",
];

/// Sorted, without accents. Single letters are elisions. `c` and `ai` are omitted: they are also a language and a
/// subject.
const FRENCH: &[&str] = &[
    "a", "afin", "ainsi", "alors", "apres", "au", "aucun", "aucune", "aussi", "autre", "autres", "aux", "avant",
    "avec", "avoir", "avons", "bien", "ca", "ce", "cela", "celle", "celui", "ces", "cet", "cette", "chez", "comme",
    "comment", "d", "dans", "de", "depuis", "des", "deux", "doit", "donc", "dont", "du", "elle", "elles", "en",
    "encore", "entre", "est", "et", "ete", "etre", "eux", "faire", "fait", "faut", "il", "ils", "j", "je", "l", "la",
    "le", "les", "leur", "leurs", "lorsque", "lui", "m", "ma", "mais", "me", "meme", "mes", "moi", "mon", "n", "ne",
    "ni", "nos", "notre", "nous", "on", "ont", "ou", "par", "parce", "pas", "pendant", "peu", "peut", "peux", "plus",
    "pour", "pourquoi", "puis", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa",
    "sans", "se", "ses", "si", "son", "sont", "sous", "suis", "sur", "ta", "te", "tes", "toi", "ton", "tous", "tout",
    "toute", "toutes", "tres", "tu", "un", "une", "vos", "votre", "vous", "y",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(ENGLISH.is_sorted());
        assert!(FRENCH.is_sorted());
        assert_eq!(ENGLISH.iter().chain(FRENCH).map(|word| word.len()).max(), Some(LONGEST));
    }

    #[test]
    fn words_are_normalized() {
        for listed in ENGLISH.iter().chain(FRENCH) {
            let mut words = Vec::new();
            crate::words::each_compound(listed, |word| words.push(word.to_owned()));
            assert_eq!(words, [*listed]);
        }
    }
}
