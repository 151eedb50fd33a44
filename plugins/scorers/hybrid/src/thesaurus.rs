//! Related words: English translations of French words, synonyms, and words of the same topic.

use crate::stem::stem;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The format is described in each file.
const FRENCH: &str = include_str!("../data/french.txt");
const SYNONYMS: &str = include_str!("../data/synonyms.txt");
const TOPICS: &str = include_str!("../data/topics.txt");

/// Stems of related words by stem.
type Links = BTreeMap<&'static str, Vec<&'static str>>;

pub static THESAURUS: LazyLock<Thesaurus> = LazyLock::new(Thesaurus::read);

pub struct Thesaurus {
    translations: Links,
    synonyms: Links,
    related: Links,
}

impl Thesaurus {
    fn read() -> Self {
        let (mut translations, mut synonyms, mut related) = (Links::new(), Links::new(), Links::new());
        for (french, english) in pairs(FRENCH) {
            link(&mut translations, french, english);
        }
        for group in lines(SYNONYMS) {
            link(&mut synonyms, group, group);
        }
        for (topic, words) in pairs(TOPICS) {
            link(&mut related, topic, words);
            link(&mut related, words, topic);
        }
        Self { translations, synonyms, related }
    }

    /// Returns the stems of English words for a French one.
    pub fn translations(&self, stem: &str) -> &[&'static str] {
        self.translations.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Returns the stems of synonyms.
    pub fn synonyms(&self, stem: &str) -> &[&'static str] {
        self.synonyms.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Returns the stems of words of the same topic.
    pub fn related(&self, stem: &str) -> &[&'static str] {
        self.related.get(stem).map_or(&[], Vec::as_slice)
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn pairs(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(text).filter_map(|line| line.split_once(':'))
}

fn link(links: &mut Links, from: &'static str, to: &'static str) {
    for word in from.split_whitespace().map(stem) {
        let others = links.entry(word).or_default();
        for other in to.split_whitespace().map(stem) {
            if other != word && !others.contains(&other) {
                others.push(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_contain_normalized_words() {
        for line in lines(SYNONYMS) {
            assert!(line.split_whitespace().count() > 1, "{line}");
        }
        for file in [FRENCH, TOPICS] {
            assert_eq!(pairs(file).count(), lines(file).count());
        }
        for word in [FRENCH, SYNONYMS, TOPICS].into_iter().flat_map(lines).flat_map(str::split_whitespace) {
            let word = word.trim_end_matches(':');
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{word}");
        }
    }

    #[test]
    fn related_words_are_found_in_any_form() {
        let thesaurus = &THESAURUS;
        assert!(thesaurus.translations(stem("factures")).contains(&stem("invoice")));
        assert!(thesaurus.synonyms(stem("bills")).contains(&stem("invoices")));
        assert!(thesaurus.related(stem("hotels")).contains(&stem("travel")));
        assert!(thesaurus.related(stem("travel")).contains(&stem("hotel")));
        assert!(!thesaurus.related(stem("hotel")).contains(&stem("airport")));
    }
}
