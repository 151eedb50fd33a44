//! English words for words of other languages.

use crate::languages::Language;
use crate::stem::stem;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const FRENCH: &str = include_str!("../data/french.txt");
const OTHERS: &str = include_str!("../data/glossary.txt");

/// Shorter beginnings of a word are not taken for a word in another form, or for a part of a compound.
const MIN_PART: usize = 4;

/// The longest ending that only inflects a word.
const MAX_ENDING: usize = 3;

/// The longest word in a script without spaces, in characters.
const MAX_SIGNS: usize = 12;

type Words = BTreeMap<&'static str, Vec<&'static str>>;

/// The stems of English words by a word, or by its stem in French.
pub struct Glossary {
    french: Words,
    german: Words,
    spanish: Words,
    /// Chinese and Japanese.
    signs: Words,
}

pub static GLOSSARY: LazyLock<Glossary> = LazyLock::new(Glossary::read);

impl Glossary {
    fn read() -> Self {
        let mut glossary =
            Self { french: Words::new(), german: Words::new(), spanish: Words::new(), signs: Words::new() };
        for (french, english) in lines(FRENCH).filter_map(|line| line.split_once(':')) {
            add(&mut glossary.french, french.split_whitespace().map(stem), english);
        }
        for line in lines(OTHERS) {
            let columns: Vec<&'static str> = line.split('|').collect();
            let [english, german, spanish, japanese, chinese] = columns[..] else { continue };
            add(&mut glossary.german, german.split_whitespace(), english);
            add(&mut glossary.spanish, spanish.split_whitespace(), english);
            add(&mut glossary.signs, japanese.split_whitespace().chain(chinese.split_whitespace()), english);
        }
        glossary
    }

    /// Returns the stems of English words for a folded word.
    pub fn translations(&self, word: &str, language: Language) -> Vec<&'static str> {
        match language {
            Language::English => Vec::new(),
            Language::French => self.french.get(stem(word)).cloned().unwrap_or_default(),
            Language::German => parts(&self.german, word),
            Language::Spanish => parts(&self.spanish, word),
        }
    }

    /// Visits the longest known words in a text without spaces, with the stems of English words.
    pub fn each_sign(&self, text: &str, mut visit: impl FnMut(&str, &[&'static str])) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let ends = rest.char_indices().map(|(at, sign)| at + sign.len_utf8()).take(MAX_SIGNS);
            let ends: Vec<usize> = if first.is_ascii() { Vec::new() } else { ends.collect() };
            let known = ends.iter().rev().find_map(|end| Some((*end, self.signs.get(&rest[..*end])?)));
            let length = known.map_or(first.len_utf8(), |(end, _)| end);
            if let Some((end, english)) = known {
                visit(&rest[..end], english);
            }
            rest = &rest[length..];
        }
    }
}

/// Looks up a word, else its longest known beginning and what follows it: `Rechnungsnummer`, `facturas`.
fn parts(words: &Words, word: &str) -> Vec<&'static str> {
    if let Some(english) = words.get(word) {
        return english.clone();
    }
    let beginnings = (MIN_PART..word.len()).rev().filter(|end| word.is_char_boundary(*end));
    let Some((english, rest)) =
        beginnings.map(|end| word.split_at(end)).find_map(|(part, rest)| Some((words.get(part)?, rest)))
    else {
        return ending(words, word);
    };
    let mut english = english.clone();
    if rest.len() > MAX_ENDING {
        let rest = rest.strip_prefix('s').filter(|rest| !parts(words, rest).is_empty()).unwrap_or(rest);
        english.extend(parts(words, rest));
    }
    english
}

/// Looks up the longest known end of a compound, which says what it is: `Quartalsbericht`.
fn ending(words: &Words, word: &str) -> Vec<&'static str> {
    let starts = (1..word.len().saturating_sub(MIN_PART)).filter(|start| word.is_char_boundary(*start));
    starts.into_iter().find_map(|start| words.get(&word[start..])).cloned().unwrap_or_default()
}

fn add(words: &mut Words, keys: impl Iterator<Item = &'static str>, english: &'static str) {
    for key in keys {
        let known = words.entry(key).or_default();
        for stem in english.split_whitespace().map(stem) {
            if !known.contains(&stem) {
                known.push(stem);
            }
        }
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_complete_and_words_are_normalized() {
        assert_eq!(lines(FRENCH).filter(|line| line.contains(':')).count(), lines(FRENCH).count());
        for line in lines(OTHERS) {
            let columns: Vec<&str> = line.split('|').collect();
            assert_eq!(columns.len(), 5, "{line}");
            let plain = columns[..3].iter().flat_map(|column| column.split_whitespace());
            assert!(plain.into_iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())), "{line}");
        }
    }

    #[test]
    fn words_are_found_in_other_forms_and_in_compounds() {
        for (language, word, english) in [
            (Language::French, "factures", "invoice"),
            (Language::German, "rechnungen", "invoice"),
            (Language::German, "rechnungsprufung", "review"),
            (Language::German, "quartalsbericht", "report"),
            (Language::Spanish, "facturas", "invoice"),
            (Language::Spanish, "diapositivas", "slides"),
        ] {
            assert!(GLOSSARY.translations(word, language).contains(&stem(english)), "{word}");
        }
        assert!(GLOSSARY.translations("rechnung", Language::English).is_empty());
        assert!(GLOSSARY.translations("xylophon", Language::German).is_empty());
    }

    #[test]
    fn words_are_found_in_text_without_spaces() {
        let mut found = Vec::new();
        GLOSSARY.each_sign("四半期のプレゼンテーションとPDFの請求書", |word, _| {
            found.push(word.to_owned());
        });
        assert_eq!(found, ["プレゼンテーション", "請求書"]);
    }
}
