//! Whether a question in GraphQL only reads. What is not understood does not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most of a document, in bytes. Long questions have a few thousand.
const LONGEST: usize = 100_000;

/// Deepest nesting. Services refuse less.
const DEEPEST: usize = 64;

/// Why a body is not sent on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("its body is no question in GraphQL")]
    NoQuestion,
    #[error("it has a `{0}`, and only a `query` reads")]
    Operation(String),
    #[error("its question in GraphQL is not understood")]
    NotUnderstood,
}

/// The body of a request. Other keys could name an operation that is not in it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Body {
    query: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variables: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operation_name: Option<String>,
}

/// A body that asks and changes nothing, written anew: a service that reads JSON or GraphQL in another way than we do reads
/// what we understood.
pub fn question(body: &[u8]) -> Result<Vec<u8>, Refused> {
    let mut body: Body = serde_json::from_slice(body).map_err(|_| Refused::NoQuestion)?;
    body.query = only_queries(&body.query)?;
    Ok(serde_json::to_vec(&body).expect("a body is plain data"))
}

/// Looks at every definition of a document. Returns it without comments, with one space between any two of its parts.
fn only_queries(document: &str) -> Result<String, Refused> {
    if document.len() > LONGEST {
        return Err(Refused::NotUnderstood);
    }
    let mut tokens = Tokens { left: document, written: String::new() };
    let mut queries = 0;
    while let Some(token) = tokens.next()? {
        match token {
            Token::Open('{') => {
                tokens.skip_to_end_of('{')?;
                queries += 1;
            }
            Token::Name("query") => {
                tokens.skip_definition()?;
                queries += 1;
            }
            Token::Name("fragment") => tokens.skip_definition()?,
            Token::Name(other @ ("mutation" | "subscription")) => return Err(Refused::Operation(other.to_owned())),
            _ => return Err(Refused::NotUnderstood),
        }
    }
    if queries == 0 { Err(Refused::NoQuestion) } else { Ok(tokens.written) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'text> {
    Name(&'text str),
    Open(char),
    Close(char),
    /// A value or a sign, which says nothing about what an operation is.
    Other,
}

/// What is left of a document, and what was read of it.
struct Tokens<'text> {
    left: &'text str,
    written: String,
}

impl<'text> Tokens<'text> {
    /// The rest of a definition: what stands before its selection, and the selection.
    fn skip_definition(&mut self) -> Result<(), Refused> {
        loop {
            match self.next()?.ok_or(Refused::NotUnderstood)? {
                Token::Open('{') => return self.skip_to_end_of('{'),
                Token::Open(bracket) => self.skip_to_end_of(bracket)?,
                Token::Close(_) => return Err(Refused::NotUnderstood),
                Token::Name(_) | Token::Other => {}
            }
        }
    }

    /// To the bracket that closes this one.
    fn skip_to_end_of(&mut self, bracket: char) -> Result<(), Refused> {
        let mut open = vec![bracket];
        while let Some(&last) = open.last() {
            match self.next()?.ok_or(Refused::NotUnderstood)? {
                Token::Open(bracket) if open.len() < DEEPEST => open.push(bracket),
                Token::Close(bracket) if closing(last) == bracket => _ = open.pop(),
                Token::Open(_) | Token::Close(_) => return Err(Refused::NotUnderstood),
                Token::Name(_) | Token::Other => {}
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Token<'text>>, Refused> {
        self.skip_ignored()?;
        let text = self.left;
        let Some(first) = text.chars().next() else { return Ok(None) };
        let (token, length) = match first {
            '{' | '(' | '[' => (Token::Open(first), 1),
            '}' | ')' | ']' => (Token::Close(first), 1),
            '!' | '$' | ':' | '=' | '@' => (Token::Other, 1),
            '.' if text.starts_with("...") => (Token::Other, 3),
            '_' | 'a'..='z' | 'A'..='Z' => {
                let length = span(text, |letter| letter == '_' || letter.is_ascii_alphanumeric());
                (Token::Name(&text[..length]), length)
            }
            '-' | '0'..='9' => {
                let is_number = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '+');
                (Token::Other, span(text, is_number))
            }
            '"' => (Token::Other, string(text).ok_or(Refused::NotUnderstood)?),
            _ => return Err(Refused::NotUnderstood),
        };
        self.left = &text[length..];
        if !self.written.is_empty() {
            self.written.push(' ');
        }
        self.written.push_str(&text[..length]);
        Ok(Some(token))
    }

    /// Spaces, commas and comments. A comment ends with its line; a letter that somebody might take for the end of a line is
    /// not understood.
    fn skip_ignored(&mut self) -> Result<(), Refused> {
        loop {
            self.left = self.left.trim_start_matches([' ', '\t', '\n', '\r', ',', '\u{feff}']);
            let Some(comment) = self.left.strip_prefix('#') else { return Ok(()) };
            let end = span(comment, |letter| letter != '\n' && letter != '\r');
            if comment[..end].chars().any(is_odd) {
                return Err(Refused::NotUnderstood);
            }
            self.left = &comment[end..];
        }
    }
}

fn closing(bracket: char) -> char {
    match bracket {
        '{' => '}',
        '(' => ')',
        _ => ']',
    }
}

/// The length of the beginning that consists of such letters, in bytes.
fn span(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_part(letter)).unwrap_or(text.len())
}

fn is_odd(letter: char) -> bool {
    letter.is_control() && letter != '\t' || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// The length of the string that a text begins with, in bytes. Nothing if it does not end, and for a block string: services do
/// not agree where one ends.
fn string(text: &str) -> Option<usize> {
    if text.starts_with("\"\"\"") {
        return None;
    }
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some(at + 1),
            '\\' => {
                let (_, escaped) = letters.next()?;
                let digits = match escaped {
                    '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => 0,
                    'u' => 4,
                    _ => return None,
                };
                for _ in 0..digits {
                    letters.next().filter(|(_, digit)| digit.is_ascii_hexdigit())?;
                }
            }
            letter if is_odd(letter) => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(document: &str) -> Result<(), Refused> {
        question(json!({"query": document}).to_string().as_bytes()).map(drop)
    }

    #[test]
    fn queries_are_sent_on() {
        for document in [
            "{ viewer { name } }",
            "query { viewer { name } }",
            "query Mine($first: Int = 20, $filter: F = {state: {name: {eq: \"mutation\"}}}) @cached(for: [1]) { a }",
            "\u{feff}# mutation { a }\nquery {\r\n a # }\n}",
            "query A { ...F } fragment F on User { name } query B { b }",
            "fragment F on Mutation { name } { ...F ... on User { mutation subscription } }",
            "{ mutation: field(text: \"} mutation { a\", other: \"\\\"} mutation {\") }",
            "{ a(text: \"\", other: \"\") }",
            "{ a(text: \"\\u00E9\\u0022 } mutation { b\") }",
            "{ a(number: -1.5e+10, list: [1, 2], enum: mutation, none: null) }",
            "query mutation { a }",
        ] {
            assert_eq!(told(document), Ok(()), "{document}");
        }
    }

    #[test]
    fn whatever_else_is_not() {
        let mutation = || Refused::Operation("mutation".to_owned());
        for (document, refused) in [
            ("mutation { a }", mutation()),
            ("mutation M($id: ID!) { a(id: $id) { id } }", mutation()),
            ("\u{feff},, \t# query {\nmutation{a}", mutation()),
            ("query A { a } mutation B { b }", mutation()),
            ("{ a }mutation{ b }", mutation()),
            ("fragment F on User { a } mutation B { b }", mutation()),
            ("{ a(text: \"\"\"\\\"\"\"\"\"\") } mutation { b }", Refused::NotUnderstood),
            ("{ a(text: \"\\\\\") } mutation { b(text: \"\") }", mutation()),
            ("{ a } # \r mutation { b }", mutation()),
            ("subscription { a }", Refused::Operation("subscription".to_owned())),
            ("query A { a } subscription { b }", Refused::Operation("subscription".to_owned())),
            ("Mutation { a }", Refused::NotUnderstood),
            ("query", Refused::NotUnderstood),
            ("query A", Refused::NotUnderstood),
            ("query { a ", Refused::NotUnderstood),
            ("query { a ) }", Refused::NotUnderstood),
            ("query ( { a }", Refused::NotUnderstood),
            ("{ a } }", Refused::NotUnderstood),
            ("{ a(text: \"", Refused::NotUnderstood),
            ("{ a(text: \"\n\") }", Refused::NotUnderstood),
            ("{ a(text: \"\\x\") }", Refused::NotUnderstood),
            ("{ a(text: \"\\u00e\") } mutation { b }", Refused::NotUnderstood),
            ("{ a(text: \"\\u{7d}\") }", Refused::NotUnderstood),
            ("{ a(text: \"\\u+123\") }", Refused::NotUnderstood),
            ("{ a(text: \"\\u00e9\") } mutation { b }", mutation()),
            ("{ a(text: \"\"\"\\\"\"\") } mutation { b }", Refused::NotUnderstood),
            ("{ a } # \u{2028} mutation { b }", Refused::NotUnderstood),
            ("{ a } # \u{b} mutation { b }", Refused::NotUnderstood),
            ("type A { a: Int }", Refused::NotUnderstood),
            ("\"about\" query { a }", Refused::NotUnderstood),
            ("extend type A { a: Int }", Refused::NotUnderstood),
            ("{ a.b }", Refused::NotUnderstood),
            ("{ a } é", Refused::NotUnderstood),
            ("{ a } \u{a0} mutation { b }", Refused::NotUnderstood),
            ("{ a } \0 mutation { b }", Refused::NotUnderstood),
            ("fragment F on User { a }", Refused::NoQuestion),
            ("", Refused::NoQuestion),
            ("# { a }", Refused::NoQuestion),
        ] {
            assert_eq!(told(document), Err(refused), "{document:?}");
        }
        assert_eq!(told(&"{ a ".repeat(DEEPEST + 1)), Err(Refused::NotUnderstood));
        assert_eq!(told(&format!("{{ a(text: \"{}\") }}", "x".repeat(LONGEST))), Err(Refused::NotUnderstood));
    }

    /// Some services end a comment only at a line feed, and a block string at other quotes than the specification.
    #[test]
    fn what_others_read_differently_is_refused_or_written_anew() {
        for document in [
            "query Q { nodes(ids: [\"\"\"\\\"\"\"\" \"]) { id } } mutation M { b } #\"\"\"]){id}}",
            "query Q { a(x: \"\"\"a\"\"\"\") } mutation M { b } #\")}",
        ] {
            assert_eq!(told(document), Err(Refused::NotUnderstood), "{document:?}");
        }
        let hidden = "query Q { viewer { login # \r { \n } } mutation M { x } # \r }";
        // To everybody the rest are now fields of the one query.
        assert_eq!(only_queries(hidden).as_deref(), Ok("query Q { viewer { login { } } mutation M { x } }"));
        assert_eq!(only_queries("{a(b:\"#\")#c\n,d}").as_deref(), Ok("{ a ( b : \"#\" ) d }"));
    }

    #[test]
    fn a_body_that_could_be_read_in_two_ways_is_refused() {
        for body in [
            "",
            "null",
            "\"{ a }\"",
            "{ a }",
            "query=mutation{a}",
            "[]",
            r#"[{"query": "{ a }"}]"#,
            r#"[{"query": "{ a }"}, {"query": "mutation { b }"}]"#,
            r#"{"query": ["{ a }"]}"#,
            r#"{"query": null}"#,
            r#"{"variables": {}}"#,
            r#"{"query": "{ a }", "query": "mutation { b }"}"#,
            r#"{"query": "{ a }", "Query": "mutation { b }"}"#,
            r#"{"query": "{ a }", "id": "abc"}"#,
            r#"{"query": "{ a }", "doc_id": "abc"}"#,
            r#"{"query": "{ a }", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": "abc"}}}"#,
            r#"{"query": "{ a }"}{"query": "mutation { b }"}"#,
            r#"{"query": "{ a }", "variables": "{}"}"#,
        ] {
            assert_eq!(question(body.as_bytes()), Err(Refused::NoQuestion), "{body}");
        }
        let escaped = r#"{"query": "\u006dutation { a }"}"#;
        assert_eq!(question(escaped.as_bytes()), Err(Refused::Operation("mutation".to_owned())));
        assert_eq!(question(&[b'{', 0xff, b'}']), Err(Refused::NoQuestion));
    }

    #[test]
    fn a_question_is_sent_on_with_what_belongs_to_it() {
        let body = r#"{"operationName":"A", "variables":{"n":1, "n":2}, "query":"query A { a } query B { b }"}"#;
        let sent: Value = serde_json::from_slice(&question(body.as_bytes()).unwrap()).unwrap();
        let expected = json!({"operationName": "A", "variables": {"n": 2}, "query": "query A { a } query B { b }"});
        assert_eq!(sent, expected);
    }
}
