//! The check that a GraphQL request only reads.

use sandbox::gate::graphql::check_query;
use serde_json::{Value, json};

pub fn graphql(bytes: &[u8]) {
    check(bytes);
    check(json!({ "query": String::from_utf8_lossy(bytes) }).to_string().as_bytes());
}

fn check(body: &[u8]) {
    let Ok(passed) = check_query(body) else { return };
    assert_eq!(check_query(&passed).as_ref(), Ok(&passed), "what passed does not pass again as it is");
    let (before, after): (Value, Value) =
        (serde_json::from_slice(body).expect("JSON"), serde_json::from_slice(&passed).expect("JSON"));
    let keys = after.as_object().expect("an object").keys();
    assert!(keys.into_iter().all(|key| ["query", "variables", "operationName"].contains(&key.as_str())));
    for key in ["variables", "operationName"] {
        assert_eq!(before.get(key).filter(|value| !value.is_null()), after.get(key), "{key}");
    }
    let (before, after) = (before["query"].as_str().expect("text"), after["query"].as_str().expect("text"));
    let [strict, ..] = READERS;
    assert_eq!(tokens(before, strict), tokens(after, strict), "another document passes than was sent");
    for reader in READERS {
        let operations = operations(&tokens(after, reader));
        let writes = operations.iter().any(|operation| matches!(*operation, "mutation" | "subscription"));
        assert!(!writes && !operations.is_empty(), "{operations:?} in {after:?}");
    }
}

/// How services differ in reading a document.
#[derive(Clone, Copy)]
struct Reader {
    /// The characters that end a comment.
    line_ends: &'static [char],
    /// Whether three quotes start a block string.
    blocks: bool,
    /// Whether a backslash escapes the quotes that end a block string.
    block_escapes: bool,
}

/// The first is the specification's.
const READERS: [Reader; 5] = [
    Reader { line_ends: &['\n', '\r'], blocks: true, block_escapes: true },
    Reader { line_ends: &['\n'], blocks: true, block_escapes: true },
    Reader {
        line_ends: &['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'],
        blocks: true,
        block_escapes: true,
    },
    Reader { line_ends: &['\n', '\r'], blocks: true, block_escapes: false },
    Reader { line_ends: &['\n', '\r'], blocks: false, block_escapes: false },
];

/// Splits a document into names, strings, numbers and single characters.
fn tokens(document: &str, reader: Reader) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = document;
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = match first {
            '#' => rest.find(reader.line_ends).unwrap_or(rest.len()),
            '"' if reader.blocks && rest.starts_with("\"\"\"") => block_length(&rest[3..], reader) + 3,
            '"' => string_length(rest),
            _ if is_word(first) => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if !matches!(first, '#' | ',' | '\u{feff}') && !first.is_whitespace() {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn block_length(text: &str, reader: Reader) -> usize {
    let ends = text.match_indices("\"\"\"").map(|(at, _)| at);
    let mut ends = ends.filter(|at| !reader.block_escapes || !text[..*at].ends_with('\\'));
    ends.next().map_or(text.len(), |at| at + 3)
}

/// The first word of each definition; `{` for a query without one. Brackets of every kind are counted together.
fn operations<'text>(tokens: &[&'text str]) -> Vec<&'text str> {
    let mut operations = Vec::new();
    let mut depth = 0_usize;
    let mut is_start = true;
    for token in tokens {
        if is_start {
            operations.push(*token);
            is_start = false;
        }
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                is_start = depth == 0 && *token == "}";
            }
            _ => {}
        }
    }
    operations
}
