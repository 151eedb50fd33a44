//! Selects the topic of a question.

use super::fillers::FILLERS;
use super::{Words, is_word};
use std::collections::BTreeSet;

/// Maps words to concepts.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    /// A concept, and its words and phrases in lower case and in the singular. A phrase may have several concepts.
    pub concepts: &'static [(&'static str, &'static [&'static str])],
    /// Words without meaning here, in addition to [`FILLERS`].
    pub fillers: &'static [&'static str],
}

/// A question as a set of concepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    pub concepts: BTreeSet<&'static str>,
    /// Words that are not in the vocabulary.
    pub unknown: Vec<String>,
}

/// The concepts that select a topic.
#[derive(Debug, Clone, Copy)]
pub struct Rule<Topic: 'static> {
    pub topic: Topic,
    /// Required concepts, separated by spaces, with `|` between alternatives.
    pub needs: &'static str,
    /// Optional concepts. With any other concept, the rule does not match.
    pub may: &'static str,
}

impl Vocabulary {
    /// Maps the remaining words of a question to concepts. The longest phrase wins.
    pub fn parse(&self, words: &Words) -> Parsed {
        let words = words.remaining();
        let mut parsed = Parsed::default();
        let mut rest = &words[..];
        while let Some(first) = rest.first() {
            let (concepts, length) = self.concepts(rest);
            if !concepts.is_empty() {
                parsed.concepts.extend(concepts);
                rest = &rest[length..];
                continue;
            }
            let means_nothing = |fillers: &[&str]| fillers.contains(&first.as_str());
            if !means_nothing(FILLERS) && !means_nothing(self.fillers) {
                parsed.unknown.push(first.clone());
            }
            rest = &rest[1..];
        }
        parsed
    }

    /// Returns the concepts of the phrase that the words start with, and its length.
    fn concepts(&self, words: &[String]) -> (Vec<&'static str>, usize) {
        let mut concepts = Vec::new();
        let mut best = (0, false);
        for (concept, phrase) in
            self.concepts.iter().flat_map(|(concept, phrases)| phrases.iter().map(move |phrase| (*concept, *phrase)))
        {
            let length = phrase.split(' ').count();
            let Some(candidate) = words.get(..length) else { continue };
            let fits = |equal: fn(&str, &str) -> bool| {
                candidate.iter().zip(phrase.split(' ')).all(|(word, part)| equal(word, part))
            };
            // An exact word takes precedence over its plural.
            let quality = (length, fits(|word, part| word == part));
            if quality < best || !fits(is_word) {
                continue;
            }
            if quality > best {
                concepts.clear();
                best = quality;
            }
            concepts.push(concept);
        }
        (concepts, best.0)
    }
}

impl Parsed {
    pub fn has(&self, concept: &str) -> bool {
        self.concepts.contains(concept)
    }

    /// Returns a sentence about the ignored words, if there are any.
    pub fn note(&self) -> Option<String> {
        let quoted: Vec<_> = self.unknown.iter().map(|word| format!("`{}`", crate::text::cut(word, 40))).collect();
        (!quoted.is_empty()).then(|| format!("Not understood, so ignored: {}.", quoted.join(", ")))
    }

    /// A few unknown words are tolerated if most of the question is understood.
    fn is_mostly_understood(&self) -> bool {
        self.unknown.len() <= 2 && self.unknown.len() <= self.concepts.len()
    }
}

/// Returns the topic of the matching rule with the most requirements; of several the first.
pub fn choose<Topic: Copy>(rules: &[Rule<Topic>], parsed: &Parsed) -> Option<Topic> {
    if !parsed.is_mostly_understood() {
        return None;
    }
    let fitting = rules.iter().filter(|rule| fits(rule, parsed));
    let best = fitting.reduce(|best, next| if needed(next) > needed(best) { next } else { best });
    best.map(|rule| rule.topic)
}

fn fits<Topic>(rule: &Rule<Topic>, parsed: &Parsed) -> bool {
    let mut needs = rule.needs.split_whitespace();
    let known = |concept: &str| rule.needs.split([' ', '|']).chain(rule.may.split(' ')).any(|known| known == concept);
    needs.all(|need| need.split('|').any(|concept| parsed.has(concept)))
        && parsed.concepts.iter().all(|concept| known(concept))
}

fn needed<Topic>(rule: &Rule<Topic>) -> usize {
    rule.needs.split_whitespace().count()
}
