//! Which question it is.

use super::fillers::FILLERS;
use super::{Words, same};
use std::collections::BTreeSet;

/// Which words mean what.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    /// A concept, and the words and phrases for it in lower case and in the singular. A phrase may stand for several concepts.
    pub concepts: &'static [(&'static str, &'static [&'static str])],
    /// Words that mean nothing here, besides [`FILLERS`].
    pub fillers: &'static [&'static str],
}

/// A question as concepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    pub concepts: BTreeSet<&'static str>,
    /// Words that mean nothing to the vocabulary.
    pub unknown: Vec<String>,
}

/// When a question is about a topic.
#[derive(Debug, Clone, Copy)]
pub struct Rule<Topic: 'static> {
    pub topic: Topic,
    /// The concepts that must be there, with spaces between them and `|` between those of which one is enough.
    pub needs: &'static str,
    /// The concepts that may be there as well. With any other, the question is another one.
    pub may: &'static str,
}

impl Vocabulary {
    /// Reads what was not taken from a question. Of several phrases the longest counts.
    pub fn read(&self, words: &Words) -> Read {
        let words = words.left();
        let mut read = Read::default();
        let mut rest = &words[..];
        while let Some(first) = rest.first() {
            let (concepts, length) = self.concepts(rest);
            if !concepts.is_empty() {
                read.concepts.extend(concepts);
                rest = &rest[length..];
                continue;
            }
            let means_nothing = |fillers: &[&str]| fillers.contains(&first.as_str());
            if !means_nothing(FILLERS) && !means_nothing(self.fillers) {
                read.unknown.push(first.clone());
            }
            rest = &rest[1..];
        }
        read
    }

    /// What the words begin with means, and how many of them say it.
    fn concepts(&self, words: &[String]) -> (Vec<&'static str>, usize) {
        let mut concepts = Vec::new();
        let mut best = (0, false);
        for (concept, phrase) in
            self.concepts.iter().flat_map(|(concept, phrases)| phrases.iter().map(move |phrase| (*concept, *phrase)))
        {
            let length = phrase.split(' ').count();
            let Some(said) = words.get(..length) else { continue };
            let fits = |equal: fn(&str, &str) -> bool| {
                said.iter().zip(phrase.split(' ')).all(|(word, part)| equal(word, part))
            };
            // A word as it is written counts before the same word in the plural.
            let quality = (length, fits(|word, part| word == part));
            if quality < best || !fits(same) {
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

impl Read {
    pub fn has(&self, concept: &str) -> bool {
        self.concepts.contains(concept)
    }

    /// A sentence on the words that play no part in the answer, if there are any.
    pub fn note(&self) -> Option<String> {
        let quoted: Vec<_> = self.unknown.iter().map(|word| format!("`{}`", crate::text::cut(word, 40))).collect();
        (!quoted.is_empty())
            .then(|| format!("Not understood, so it plays no part in this answer: {}.", quoted.join(", ")))
    }

    /// A few strange words are forgiven as long as more is understood than not.
    fn is_mostly_understood(&self) -> bool {
        self.unknown.len() <= 2 && self.unknown.len() <= self.concepts.len()
    }
}

/// The topic of the rule that fits and needs the most. Of several the first.
pub fn choose<Topic: Copy>(rules: &[Rule<Topic>], read: &Read) -> Option<Topic> {
    if !read.is_mostly_understood() {
        return None;
    }
    let fitting = rules.iter().filter(|rule| fits(rule, read));
    let best = fitting.reduce(|best, next| if needed(next) > needed(best) { next } else { best });
    best.map(|rule| rule.topic)
}

fn fits<Topic>(rule: &Rule<Topic>, read: &Read) -> bool {
    let mut needs = rule.needs.split_whitespace();
    let known = |concept: &str| rule.needs.split([' ', '|']).chain(rule.may.split(' ')).any(|known| known == concept);
    needs.all(|need| need.split('|').any(|concept| read.has(concept)))
        && read.concepts.iter().all(|concept| known(concept))
}

fn needed<Topic>(rule: &Rule<Topic>) -> usize {
    rule.needs.split_whitespace().count()
}
