//! Maps the words of a task to words of the skills.

use crate::common_words::{is_common, is_vague};
use crate::lexicon::Lexicon;
use crate::stem::stem;
use crate::thesaurus::THESAURUS;
use crate::weights;
use scorer_bm25::stop_words;
use scorer_bm25::vocabulary::Term;
use scorer_bm25::words::{each_compound, is_word_part, task_prefix};
use std::collections::BTreeSet;

/// Maximum number of distinct words of a task. A long ticket has two hundred.
const MAX_WORDS: usize = 256;

/// Maximum number of words for which similar spellings are searched, which is the slowest step.
const MAX_UNKNOWN: usize = 24;

/// Minimum length of a shared prefix.
const MIN_SHARED_PREFIX: usize = 5;

/// One word of the task.
#[derive(Debug)]
pub struct Meaning {
    pub word: String,
    /// Its weight relative to other words of the same rarity.
    pub weight: f64,
    /// Evidence required if no skill has the word, relative to a word that one skill has.
    pub unknown: f64,
    /// What it may mean, most likely first. Empty if no skill has a similar word.
    pub senses: Vec<Sense>,
}

/// Words of skills with the same meaning.
#[derive(Debug)]
pub struct Sense {
    pub terms: Vec<Term>,
    /// The certainty that they are meant.
    pub certainty: f64,
    /// Whether it is the word itself in some form, not a related one.
    pub is_same_word: bool,
}

/// Returns the distinct words of a task in order of appearance, with their meanings.
pub fn meanings(task: &str, lexicon: &Lexicon) -> Vec<Meaning> {
    let task = task_prefix(task);
    let is_french = looks_french(task);
    let mut searches = 0;
    let meaning = |word: String| {
        let is_common = is_common(&word);
        let stem = stem(&word);
        let mut senses = Senses { lexicon, found: Vec::new() };
        senses.found.extend(lexicon.exact(&word).map(|term| Sense::same(vec![term], 1.0)));
        senses.add(stem, weights::INFLECTED, true);
        if is_french || senses.found.is_empty() {
            THESAURUS.translations(stem).iter().for_each(|other| senses.add(other, weights::TRANSLATED, true));
        }
        if senses.found.is_empty() && searches < MAX_UNKNOWN {
            searches += 1;
            senses.found.extend(near(lexicon, &word));
        }
        if !is_common {
            THESAURUS.synonyms(stem).iter().for_each(|other| senses.add(other, weights::SYNONYM, false));
            THESAURUS.related(stem).iter().for_each(|other| senses.add(other, weights::RELATED, false));
        }
        Meaning {
            weight: if is_common { weights::COMMON } else { 1.0 },
            unknown: unknown(&word, is_french),
            senses: senses.found,
            word,
        }
    };
    words_of(task, lexicon).into_iter().map(meaning).collect()
}

/// Returns the evidence that a missing word requires. Numbers, vague words and French words need not indicate another
/// topic.
fn unknown(word: &str, is_french: bool) -> f64 {
    if word.starts_with(|letter: char| letter.is_ascii_digit()) || is_vague(word) {
        weights::UNKNOWN_VAGUE
    } else if is_french {
        weights::UNKNOWN_FRENCH
    } else {
        weights::UNKNOWN
    }
}

impl Sense {
    fn same(terms: Vec<Term>, certainty: f64) -> Self {
        Self { terms, certainty, is_same_word: true }
    }
}

struct Senses<'lexicon> {
    lexicon: &'lexicon Lexicon,
    found: Vec<Sense>,
}

impl Senses<'_> {
    /// Adds the words with this stem, if any skill has one and they are not listed yet.
    fn add(&mut self, stem: &str, certainty: f64, is_same_word: bool) {
        let terms = self.lexicon.with_stem(stem);
        if !terms.is_empty() && self.found.iter().all(|sense| sense.terms != terms) {
            self.found.push(Sense { terms: terms.to_vec(), certainty, is_same_word });
        }
    }
}

/// Finds words that differ by a typing mistake, or else share a prefix.
fn near(lexicon: &Lexicon, word: &str) -> Option<Sense> {
    let (terms, mistakes) = lexicon.near(word);
    if !terms.is_empty() {
        return Some(Sense::same(terms, if mistakes < 2 { weights::MISSPELT } else { weights::TWICE_MISSPELT }));
    }
    let start = stem(word);
    let letters = start.get(..MIN_SHARED_PREFIX)?;
    let alike = |other: &str| {
        let shared = start.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count();
        4 * shared >= 3 * start.len().max(other.len())
    };
    let terms: Vec<Term> =
        lexicon.with_prefix(letters).filter(|(other, _)| alike(other)).flat_map(|(_, terms)| terms).copied().collect();
    (!terms.is_empty()).then(|| Sense::same(terms, weights::SAME_PREFIX))
}

/// Returns each word of a task once. Compounds are split, and joined where a skill has the joined form: `roll back`,
/// `roll-back` and `rollback` are equal.
fn words_of(task: &str, lexicon: &Lexicon) -> Vec<String> {
    let mut words = Vec::new();
    let mut seen = BTreeSet::new();
    let mut visit = |word: &str| {
        if words.len() < MAX_WORDS && !seen.contains(word) {
            seen.insert(word.to_owned());
            words.push(word.to_owned());
        }
    };
    let mut before = String::new();
    each_compound(task, |compound| {
        let is_compound = compound.contains('-');
        if is_compound {
            compound.split('-').filter(|part| is_word_part(part)).for_each(&mut visit);
        } else if !stop_words::is_stop_word(compound) {
            visit(compound);
        }
        let joined = if is_compound { compound.replace('-', "") } else { before.clone() + compound };
        if (is_compound || !before.is_empty()) && lexicon.exact(&joined).is_some() {
            visit(&joined);
        }
        compound.clone_into(&mut before);
    });
    words
}

/// Whether the stop words of a task are rather French than English.
fn looks_french(task: &str) -> bool {
    let (mut french, mut english) = (0_u32, 0_u32);
    each_compound(task, |word| {
        french += u32::from(stop_words::is_french(word));
        english += u32::from(stop_words::is_english(word));
    });
    french > english
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorer_bm25::bindings::skillcell::plugin::types::SkillText;

    fn lexicon(text: &str) -> Lexicon {
        let mut lexicon = Lexicon::default();
        lexicon.put(&SkillText {
            number: 1,
            name: "x".into(),
            path: "x".into(),
            description: text.into(),
            keywords: Vec::new(),
            aliases: Vec::new(),
            body: String::new(),
        });
        lexicon
    }

    /// Each word of the task with the first word of a skill that it may mean.
    fn first_meanings(task: &str, text: &str) -> Vec<String> {
        let lexicon = lexicon(text);
        let text_of = |sense: &Sense| lexicon.index.vocabulary.text(sense.terms[0]).to_owned();
        let meanings = meanings(task, &lexicon);
        meanings.iter().filter_map(|meaning| meaning.senses.first().map(text_of)).collect()
    }

    #[test]
    fn words_are_found_in_other_forms() {
        for (task, text, expected) in [
            ("Deployments!", "deploy", "deploy"),
            ("roll back", "rollback", "rollback"),
            ("roll-back", "rollback", "rollback"),
            ("une facture", "invoices", "invoices"),
            ("kuberntes", "kubernetes", "kubernetes"),
            ("reconciliation", "reconciling", "reconciling"),
            ("hotel", "travel", "travel"),
        ] {
            assert_eq!(first_meanings(task, text), [expected], "{task}");
        }
    }

    #[test]
    fn unrelated_words_are_not_found() {
        for (task, text) in [("offer", "order"), ("knit", "unit"), ("go", "golang"), ("the", "the"), ("cat", "car")] {
            assert_eq!(first_meanings(task, text), [""; 0], "{task}");
        }
    }

    #[test]
    fn stop_words_reveal_the_language() {
        assert!(looks_french("Comment faire une sauvegarde de la base ?"));
        assert!(!looks_french("How do I make a backup of the base?"));
        assert!(!looks_french(""));
    }
}
