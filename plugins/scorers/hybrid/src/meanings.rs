//! Maps the words of a task to words of the skills.

use crate::common_words::{is_common, is_vague};
use crate::glossary::GLOSSARY;
use crate::languages::Language;
use crate::lexicon::Lexicon;
use crate::stem::stem;
use crate::thesaurus::THESAURUS;
use crate::weights::Weights;
use scorer_bm25::stop_words;
use scorer_bm25::vocabulary::Term;
use scorer_bm25::words::{each_compound, is_cjk, is_word_part, task_prefix};
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
pub fn meanings(task: &str, lexicon: &Lexicon, weights: &Weights) -> Vec<Meaning> {
    let task = task_prefix(task);
    let reader = Reader { lexicon, weights, language: Language::of(task), names_word: names_word(task) };
    let mut searches = 0;
    let mut meanings: Vec<Meaning> =
        words_of(task, lexicon, reader.language).into_iter().map(|word| reader.meaning(word, &mut searches)).collect();
    let mut seen = BTreeSet::new();
    GLOSSARY.each_sign(task, |word, english| {
        if meanings.len() < MAX_WORDS && seen.insert(word.to_owned()) {
            meanings.push(reader.meaning_of_sign(word, english));
        }
    });
    meanings
}

/// What is known about a task before its words are looked up.
struct Reader<'task> {
    lexicon: &'task Lexicon,
    weights: &'task Weights,
    language: Language,
    names_word: bool,
}

impl Reader<'_> {
    fn meaning(&self, word: String, searches: &mut usize) -> Meaning {
        let (lexicon, weights) = (self.lexicon, self.weights);
        let is_common = is_common(&word);
        let stem = stem(&word);
        let mut senses = Senses { lexicon, found: Vec::new() };
        senses.found.extend(lexicon.exact(&word).map(|term| Sense::same(vec![term], 1.0)));
        senses.add(stem, weights.inflected, true);
        for english in GLOSSARY.translations(&word, self.language) {
            senses.add(english, weights.translated, true);
        }
        if word != "word" || self.names_word {
            THESAURUS.files_of(stem).iter().for_each(|other| senses.add(other, weights.product, true));
        }
        if senses.found.is_empty() && *searches < MAX_UNKNOWN {
            *searches += 1;
            senses.found.extend(near(lexicon, &word, weights));
        }
        if !is_common && self.language == Language::English {
            THESAURUS.synonyms(stem).iter().for_each(|other| senses.add(other, weights.synonym, false));
            THESAURUS.related(stem).iter().for_each(|other| senses.add(other, weights.related, false));
        }
        Meaning {
            weight: if is_common { weights.common } else { 1.0 },
            unknown: self.unknown(&word),
            senses: senses.found,
            word,
        }
    }

    fn meaning_of_sign(&self, word: &str, english: &[&'static str]) -> Meaning {
        let mut senses = Senses { lexicon: self.lexicon, found: Vec::new() };
        for other in english {
            senses.add(other, self.weights.translated, true);
        }
        Meaning { word: word.to_owned(), weight: 1.0, unknown: self.weights.unknown_foreign, senses: senses.found }
    }

    /// Returns the evidence that a missing word requires. Numbers, vague words and words of another language need not indicate
    /// another topic.
    fn unknown(&self, word: &str) -> f64 {
        if word.contains(|letter: char| letter.is_ascii_digit()) || is_vague(word) {
            self.weights.unknown_vague
        } else if self.language == Language::English {
            self.weights.unknown
        } else {
            self.weights.unknown_foreign
        }
    }
}

/// Whether a task means the product when it says `Word`.
fn names_word(task: &str) -> bool {
    let mut words = task.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let is_file = |next: &&str| {
            matches!(next.to_lowercase().as_str(), "document" | "file" | "doc" | "template" | "documents" | "files")
        };
        if word == "Word" || word == "word" && words.peek().is_some_and(is_file) {
            return true;
        }
    }
    false
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
        if certainty > 0.0 && !terms.is_empty() && self.found.iter().all(|sense| sense.terms != terms) {
            self.found.push(Sense { terms: terms.to_vec(), certainty, is_same_word });
        }
    }
}

/// Finds words that differ by a typing mistake, or else share a prefix.
fn near(lexicon: &Lexicon, word: &str, weights: &Weights) -> Option<Sense> {
    let (terms, mistakes) = lexicon.near(word);
    if !terms.is_empty() {
        return Some(Sense::same(terms, if mistakes < 2 { weights.misspelt } else { weights.twice_misspelt }));
    }
    let start = stem(word);
    let letters = start.get(..MIN_SHARED_PREFIX)?;
    let alike = |other: &str| {
        let shared = start.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count();
        4 * shared >= 3 * start.len().max(other.len())
    };
    let terms: Vec<Term> =
        lexicon.with_prefix(letters).filter(|(other, _)| alike(other)).flat_map(|(_, terms)| terms).copied().collect();
    (!terms.is_empty()).then(|| Sense::same(terms, weights.same_prefix))
}

/// Returns each word of a task once. Compounds are split, and joined where a skill has the joined form: `roll back`,
/// `roll-back` and `rollback` are equal.
fn words_of(task: &str, lexicon: &Lexicon, language: Language) -> Vec<String> {
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
        let is_sign = compound.chars().all(is_cjk);
        if is_compound {
            compound.split('-').filter(|part| is_word_part(part)).for_each(&mut visit);
        } else if is_sign && lexicon.exact(compound).is_none() {
            // Single signs of words that only the glossary knows.
        } else if !stop_words::is_stop_word(compound) && !language.has(compound) {
            visit(compound);
        }
        let joined = if is_compound { compound.replace('-', "") } else { before.clone() + compound };
        if (is_compound || !before.is_empty()) && !is_sign && lexicon.exact(&joined).is_some() {
            visit(&joined);
        }
        compound.clone_into(&mut before);
    });
    words
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
        let meanings = meanings(task, &lexicon, &Weights::default());
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
}
