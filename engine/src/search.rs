//! Full-text search: every word of the query, and an excerpt.

mod words;

pub use words::Words;

use crate::text::{fold, fold_letter};
use memchr::memmem::Finder;
use std::collections::BTreeSet;

/// Characters shown on either side of a match.
const CONTEXT_CHARS: usize = 80;

/// The distinct words of a query, case-folded.
pub struct Query {
    words: Vec<String>,
}

/// A query that many texts are compared with.
pub struct Matcher<'query> {
    finders: Vec<Finder<'query>>,
}

impl Matcher<'_> {
    /// Whether every word is in one of the names or in the body, which is only asked for if it matters.
    pub fn matches<'text>(&self, names: impl Iterator<Item = &'text str>, body: impl FnOnce() -> String) -> bool {
        let names: Vec<String> = names.map(fold).collect();
        let is_named = |finder: &&Finder<'_>| names.iter().any(|name| finder.find(name.as_bytes()).is_some());
        let mut missing = self.finders.iter().filter(|finder| !is_named(finder)).peekable();
        if missing.peek().is_none() {
            return !self.finders.is_empty();
        }
        let body = fold(&body());
        missing.all(|finder| finder.find(body.as_bytes()).is_some())
    }
}

impl Query {
    pub fn new(text: &str) -> Self {
        let mut seen = BTreeSet::new();
        Self { words: text.split_ascii_whitespace().map(fold).filter(|word| seen.insert(word.clone())).collect() }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn matcher(&self) -> Matcher<'_> {
        Matcher { finders: self.words.iter().map(|word| Finder::new(word.as_bytes())).collect() }
    }

    /// Returns the text around the earliest match in the body, else in the description, on one line.
    pub fn excerpt(&self, body: &str, description: &str) -> String {
        let found = self.earliest(body).map(|range| window(body, range));
        let found = found.or_else(|| self.earliest(description).map(|range| window(description, range)));
        found.unwrap_or_else(|| on_one_line(description.chars().take(2 * CONTEXT_CHARS)))
    }

    /// Returns the range of the first match of any word.
    fn earliest(&self, text: &str) -> Option<std::ops::Range<usize>> {
        let (folded, origin) = fold_with_origin(text);
        let found =
            self.words.iter().filter_map(|word| folded.find(word.as_str()).map(|at| (at, at + word.len()))).min();
        found.map(|(start, end)| match origin {
            None => start..end,
            Some(origin) => origin[start]..origin[end],
        })
    }
}

/// Returns the folded text and, for each of its bytes, where its character starts in the original. `None` for ASCII,
/// where both are the same.
fn fold_with_origin(text: &str) -> (String, Option<Vec<usize>>) {
    let folded = fold(text);
    if text.is_ascii() {
        return (folded, None);
    }
    let mut origin = Vec::with_capacity(folded.len() + 1);
    for (at, letter) in text.char_indices() {
        origin.extend(std::iter::repeat_n(at, fold_letter(letter).len_utf8()));
    }
    origin.push(text.len());
    (folded, Some(origin))
}

/// Returns the text around a range on character boundaries, with line ends as spaces.
fn window(text: &str, range: std::ops::Range<usize>) -> String {
    let range = range.start
        ..text[range.clone()].char_indices().nth(2 * CONTEXT_CHARS).map_or(range.end, |(at, _)| range.start + at);
    let before = text[..range.start].char_indices().rev().take(CONTEXT_CHARS).last();
    let start = before.map_or(range.start, |(at, _)| at);
    let after = text[range.end..].char_indices().nth(CONTEXT_CHARS);
    let end = after.map_or(text.len(), |(at, _)| range.end + at);
    on_one_line(text[start..end].chars())
}

fn on_one_line(letters: impl Iterator<Item = char>) -> String {
    letters.collect::<String>().replace("\r\n", " ").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_window_is_cut_on_characters() {
        let body = format!("{}NEEDLE{}", "é".repeat(200), "文".repeat(200));
        let excerpt = Query::new("needle").excerpt(&body, "");
        assert_eq!(excerpt, format!("{}NEEDLE{}", "é".repeat(80), "文".repeat(80)));
    }

    #[test]
    fn the_description_is_the_fallback_and_line_ends_become_spaces() {
        let query = Query::new("needle");
        assert_eq!(query.excerpt("a\r\nneedle\nb", "needle in description"), "a needle b");
        assert_eq!(query.excerpt("body", "a needle"), "a needle");
        assert_eq!(query.excerpt("body", "only the name has it"), "only the name has it");
    }

    #[test]
    fn a_letter_that_grows_when_folded_is_not_cut() {
        assert_eq!(Query::new("\u{130}STANBUL").excerpt("in \u{130}stanbul now", ""), "in \u{130}stanbul now");
        assert_eq!(Query::new("i").excerpt("\u{130}", ""), "\u{130}");
    }

    proptest! {
        #[test]
        fn an_excerpt_is_part_of_its_text(body in "\\PC{0,300}", query in "\\PC{1,5}") {
            let excerpt = Query::new(&query).excerpt(&body, "");
            prop_assert!(excerpt.is_empty() || body.contains(&excerpt));
            prop_assert!(excerpt.chars().count() <= 2 * CONTEXT_CHARS + query.chars().count() * 3);
        }
    }
}
