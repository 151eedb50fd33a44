//! Related English words: kinds of files by their product, synonyms, and words of the same topic.

use crate::stem::stem;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The format is described in each file.
const PRODUCTS: &str = include_str!("../data/products.txt");
const SYNONYMS: &str = include_str!("../data/synonyms.txt");
const CONCEPTS: &str = include_str!("../data/glossary.txt");
const TOPICS: &str = include_str!("../data/topics.txt");

/// Stems of related words by stem.
type Links = BTreeMap<&'static str, Vec<&'static str>>;

pub static THESAURUS: LazyLock<Thesaurus> = LazyLock::new(Thesaurus::read);

pub struct Thesaurus {
    products: Links,
    synonyms: Links,
    related: Links,
}

impl Thesaurus {
    fn read() -> Self {
        let (mut products, mut synonyms, mut related) = (Links::new(), Links::new(), Links::new());
        for (product, words) in pairs(PRODUCTS) {
            link(&mut products, product, words);
        }
        for group in lines(SYNONYMS) {
            link(&mut synonyms, group, group);
        }
        // A concept of the glossary is a group of synonyms, too.
        for (concept, _) in lines(CONCEPTS).filter_map(|line| line.split_once('|')) {
            link(&mut synonyms, concept, concept);
        }
        for (topic, words) in pairs(TOPICS) {
            link(&mut related, topic, words);
            link(&mut related, words, topic);
        }
        Self { products, synonyms, related }
    }

    /// Returns the stems of what skills call the files of a product.
    pub fn files_of(&self, stem: &str) -> &[&'static str] {
        self.products.get(stem).map_or(&[], Vec::as_slice)
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
        for file in [PRODUCTS, TOPICS] {
            assert_eq!(pairs(file).count(), lines(file).count());
        }
        for word in [PRODUCTS, SYNONYMS, TOPICS].into_iter().flat_map(lines).flat_map(str::split_whitespace) {
            let word = word.trim_end_matches(':');
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{word}");
        }
    }

    #[test]
    fn related_words_are_found_in_any_form() {
        let thesaurus = &THESAURUS;
        assert!(thesaurus.files_of(stem("powerpoint")).contains(&"pptx"));
        assert!(thesaurus.synonyms(stem("bills")).contains(&stem("invoices")));
        assert!(thesaurus.related(stem("hotels")).contains(&stem("travel")));
        assert!(thesaurus.related(stem("travel")).contains(&stem("hotel")));
        assert!(!thesaurus.related(stem("hotel")).contains(&stem("airport")));
    }
}
