//! Parses questions by keywords.
//!
//! First, names are taken out of the question: a number, a branch, a repository. A [`Vocabulary`] maps the remaining
//! words to concepts, and the concepts select a [`Rule`].

pub mod fillers;
pub mod rules;

pub use fillers::asks_for_a_change;
pub use rules::{Parsed, Rule, Vocabulary, choose};

/// Maximum number of words that are read. Longer texts are not supported questions.
const MAX_WORDS: usize = 400;

/// A question, split at white space.
#[derive(Debug, Clone)]
pub struct Words<'a> {
    pieces: Vec<Piece<'a>>,
}

#[derive(Debug, Clone)]
struct Piece<'a> {
    /// As written, without surrounding punctuation. Shorter, or empty, once something was taken.
    text: &'a str,
}

impl<'a> Words<'a> {
    pub fn of(question: &'a str) -> Self {
        let pieces = question.split_whitespace().take(MAX_WORDS);
        Self { pieces: pieces.map(|piece| Piece { text: trim_punctuation(piece) }).collect() }
    }

    /// Takes a number: `#12`, or `12` after one of these words, as in `PR 12`, `PR#12` and `issue number 12`.
    pub fn take_number(&mut self, after: &[&str]) -> Option<u64> {
        let is_named = |text: &str| after.iter().any(|word| is_word(text, word));
        for at in 0..self.pieces.len() {
            let text = self.pieces[at].text;
            let digits = text.len() - text.bytes().rev().take_while(u8::is_ascii_digit).count();
            let (front, number) = text.split_at(digits);
            let Ok(number) = number.parse() else { continue };
            let before = self.before(at);
            let name = match front.strip_suffix('#') {
                Some(name) if name.is_empty() || is_named(name) => name,
                None if front.is_empty() && before.is_some_and(|word| is_named(word) || is_numbering(word)) => front,
                None if is_named(front.trim_end_matches('-')) => front,
                _ => continue,
            };
            self.pieces[at].text = name;
            return Some(number);
        }
        None
    }

    /// Takes the word after one of these, as in `on branch main`, if it passes `accept`.
    pub fn take_after(&mut self, names: &[&str], accept: impl Fn(&str) -> bool) -> Option<&'a str> {
        let at = (1..self.pieces.len()).find(|at| {
            let text = self.pieces[*at].text;
            let follows = self.before(*at).is_some_and(|word| names.iter().any(|name| is_word(word, name)));
            follows && !text.is_empty() && accept(text)
        })?;
        Some(std::mem::take(&mut self.pieces[at].text))
    }

    /// Takes the word before one of these, as in `the main branch`, if it passes `accept`.
    pub fn take_before(&mut self, names: &[&str], accept: impl Fn(&str) -> bool) -> Option<&'a str> {
        let at = (1..self.pieces.len()).find(|at| {
            let text = self.pieces[*at].text;
            names.iter().any(|name| is_word(text, name)) && self.before(*at).is_some_and(&accept)
        })?;
        Some(std::mem::take(&mut self.pieces[at - 1].text))
    }

    /// Takes the first word that passes `accept`, which also gets the word before it.
    pub fn take(&mut self, accept: impl Fn(&str, Option<&str>) -> bool) -> Option<&'a str> {
        let at = (0..self.pieces.len()).find(|at| {
            let text = self.pieces[*at].text;
            !text.is_empty() && accept(text, self.before(*at))
        })?;
        Some(std::mem::take(&mut self.pieces[at].text))
    }

    /// Takes everything after the first of these phrases, as in `issues related to single sign-on`.
    pub fn take_rest(&mut self, phrases: &[&str]) -> Option<String> {
        let starts = |at: usize, phrase: &str| {
            phrase
                .split(' ')
                .enumerate()
                .all(|(step, word)| self.pieces.get(at + step).is_some_and(|piece| is_word(piece.text, word)))
        };
        let (at, words) = (0..self.pieces.len()).find_map(|at| {
            let phrase = phrases.iter().find(|phrase| starts(at, phrase))?;
            Some((at, phrase.split(' ').count()))
        })?;
        let rest = self.pieces.split_off(at + words);
        self.pieces.truncate(at);
        let rest: Vec<_> = rest.iter().map(|piece| piece.text).filter(|text| !text.is_empty()).collect();
        (!rest.is_empty()).then(|| rest.join(" "))
    }

    /// Returns the remaining words in lower case, split at all other characters than letters and digits.
    pub fn remaining(&self) -> Vec<String> {
        let without_s = |text: &str| text.to_lowercase().replace('’', "'").replace("'s", "").replace("n't", " not");
        let texts = self.pieces.iter().map(|piece| without_s(piece.text));
        texts.flat_map(|text| split(&text)).collect()
    }

    fn before(&self, at: usize) -> Option<&'a str> {
        self.pieces.get(at.checked_sub(1)?).map(|piece| piece.text)
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Removes surrounding punctuation.
fn trim_punctuation(piece: &str) -> &str {
    piece.trim_matches(|char: char| "?!.,;:\"'`()[]{}<>“”‘’„*".contains(char))
}

/// Whether a text is this word, ignoring case, in the singular or plural.
pub(crate) fn is_word(text: &str, word: &str) -> bool {
    let matches = |text: &str| text.eq_ignore_ascii_case(word);
    matches(text) || text.strip_suffix(['s', 'S']).is_some_and(matches)
}

fn is_numbering(word: &str) -> bool {
    ["number", "no", "nr", "num", "#"].iter().any(|numbering| word.eq_ignore_ascii_case(numbering))
}

#[cfg(test)]
mod tests;
