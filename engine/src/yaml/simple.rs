//! The YAML that most front matter consists of, parsed in one pass: lines of `key: value` with plain values, or with lists of
//! plain words in brackets.

use super::{Entry, Node, Value};
use crate::place::Place;

/// A longer text may exceed a limit, which the complete parser checks.
const MAX_BYTES: usize = 8_000;

/// Parses a text as the complete parser would. `None` if anything in it is not as simple.
pub fn parse(text: &str) -> Option<Node> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let lines = text.strip_suffix('\n')?.split('\n');
    let entries: Option<Vec<Entry>> = (1..).zip(lines).map(|(number, line)| entry(number, line)).collect();
    Some(Node { place: Place::START, value: Value::Map(entries?) })
}

fn entry(line_number: u32, line: &str) -> Option<Entry> {
    let (key, value) = line.split_once(':')?;
    let value = value.strip_prefix(' ')?;
    let is_key = key.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if !is_key {
        return None;
    }
    let place = |at: usize| Some(Place { line: line_number, column: u32::try_from(at + 1).ok()? });
    let start = key.len() + 2;
    let value = match value.strip_prefix('[') {
        Some(items) => list(items.strip_suffix(']')?, start + 1, place)?,
        None => plain(value, is_plain)?,
    };
    Some(Entry { key: key.to_owned(), place: place(0)?, node: Node { place: place(start)?, value } })
}

/// Parses the items of a list that starts at this column.
fn list(items: &str, mut start: usize, place: impl Fn(usize) -> Option<Place>) -> Option<Value> {
    let mut nodes = Vec::new();
    for item in items.split(',') {
        let word = item.trim_start_matches(' ');
        let at = start + item.len() - word.len();
        nodes.push(Node { place: place(at)?, value: plain(word, is_plain_in_list)? });
        start += item.len() + 1;
    }
    Some(Value::List(nodes))
}

fn plain(text: &str, is_plain: fn(char) -> bool) -> Option<Value> {
    if !text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) || text.ends_with([' ', ':']) {
        return None;
    }
    let mut before = ' ';
    for letter in text.chars() {
        // These end a plain value.
        let is_end = matches!((before, letter), (':', ' ') | (' ', '#'));
        if is_end || !is_plain(letter) {
            return None;
        }
        before = letter;
    }
    Some(Value::Scalar { text: text.to_owned(), plain: true })
}

/// Letters of any language, and punctuation; no control characters, line ends or byte order marks.
fn is_plain(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{2030}'..='\u{d7ff}')
}

fn is_plain_in_list(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse_completely;
    use proptest::prelude::*;

    #[test]
    fn ordinary_front_matter_is_simple() {
        for text in [
            "name: pdf\ndescription: Use it, e.g. for forms (and more); it's \"good\" c#1 — é\nlicense: MIT\n",
            "keywords: [auth, log-in, a b]\npriority: 1\ninherit: true\n",
        ] {
            assert_eq!(parse(text), parse_completely(text).ok(), "{text}");
            assert!(parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "a:\n",
            "a: 'b'\n",
            "a: b: c\n",
            "a: b #c\n",
            "a: [b, ]\n",
            "a: []\n",
            "a: b\n  c\n",
            "a: é\n",
            "a: b\u{2028}\n",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_simple_is_parsed_as_by_the_complete_parser(
            text in "([ab][a-z_-]{0,2}:? {0,2}(\\[?[a-c1.' #:,-]{0,8}\\]?|[ -~é—文\u{a0}]{0,12})\n?){1,4}\n"
        ) {
            if let Some(node) = parse(&text) {
                prop_assert_eq!(Some(node), parse_completely(&text).ok(), "{}", text);
            }
        }

        #[test]
        fn most_simple_lines_are_simple(
            lines in prop::collection::vec(("[a-z]{1,4}", "[a-z0-9][a-z,.'()/ -]{0,10}[a-z]", prop::bool::ANY), 1..4)
        ) {
            let line = |(key, value, is_list): &(String, String, bool)| {
                let words = value.replace(|letter: char| !letter.is_ascii_alphanumeric(), "");
                if *is_list { format!("{key}: [{words}, {words} x]\n") } else { format!("{key}: {value}\n") }
            };
            let text: String = lines.iter().map(line).collect();
            prop_assert!(parse(&text).is_some(), "{}", text);
            prop_assert_eq!(parse(&text), parse_completely(&text).ok(), "{}", text);
        }
    }
}
