//! Checks that a GraphQL request only reads. Documents that cannot be parsed are refused.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Of a document, in bytes. Long queries have a few thousand.
const MAX_LENGTH: usize = 100_000;

/// Of nesting. Services refuse much less.
const MAX_DEPTH: usize = 64;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("its body is not a GraphQL query")]
    NotAQuery,
    #[error("it contains a `{0}`, and only a `query` is allowed")]
    Operation(String),
    #[error("its GraphQL query cannot be parsed")]
    Unparsable,
}

/// The body of a request. Other keys are refused, because they could name an operation that is not in the body.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Body {
    query: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variables: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operation_name: Option<String>,
}

/// Checks that a body contains only queries. Returns it in normalized form, so that a service whose parser differs still
/// reads what was checked.
pub fn check_query(body: &[u8]) -> Result<Vec<u8>, QueryError> {
    // A list of the values would be taken for the body as well.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(QueryError::NotAQuery);
    }
    let mut body: Body = serde_json::from_slice(body).map_err(|_| QueryError::NotAQuery)?;
    body.query = check_document(&body.query)?;
    Ok(serde_json::to_vec(&body).expect("a body is plain data"))
}

/// Checks every definition of a document. Returns it without comments, with one space between tokens.
fn check_document(document: &str) -> Result<String, QueryError> {
    if document.len() > MAX_LENGTH {
        return Err(QueryError::Unparsable);
    }
    let mut tokens = Tokens { rest: document, normalized: String::new() };
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
            Token::Name(other @ ("mutation" | "subscription")) => return Err(QueryError::Operation(other.to_owned())),
            _ => return Err(QueryError::Unparsable),
        }
    }
    if queries == 0 { Err(QueryError::NotAQuery) } else { Ok(tokens.normalized) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'text> {
    Name(&'text str),
    Open(char),
    Close(char),
    /// A value or a punctuator, which does not affect the kind of operation.
    Other,
}

/// The unread rest of a document, and the normalized form of what was read.
struct Tokens<'text> {
    rest: &'text str,
    normalized: String,
}

impl<'text> Tokens<'text> {
    /// Skips the rest of a definition, up to the end of its selection set.
    fn skip_definition(&mut self) -> Result<(), QueryError> {
        loop {
            match self.next()?.ok_or(QueryError::Unparsable)? {
                Token::Open('{') => return self.skip_to_end_of('{'),
                Token::Open(bracket) => self.skip_to_end_of(bracket)?,
                Token::Close(_) => return Err(QueryError::Unparsable),
                Token::Name(_) | Token::Other => {}
            }
        }
    }

    /// Skips to the matching closing bracket.
    fn skip_to_end_of(&mut self, bracket: char) -> Result<(), QueryError> {
        let mut open = vec![bracket];
        while let Some(&last) = open.last() {
            match self.next()?.ok_or(QueryError::Unparsable)? {
                Token::Open(bracket) if open.len() < MAX_DEPTH => open.push(bracket),
                Token::Close(bracket) if closing(last) == bracket => _ = open.pop(),
                Token::Open(_) | Token::Close(_) => return Err(QueryError::Unparsable),
                Token::Name(_) | Token::Other => {}
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Token<'text>>, QueryError> {
        self.skip_ignored()?;
        let text = self.rest;
        let Some(first) = text.chars().next() else { return Ok(None) };
        let (token, length) = match first {
            '{' | '(' | '[' => (Token::Open(first), 1),
            '}' | ')' | ']' => (Token::Close(first), 1),
            '!' | '$' | ':' | '=' | '@' => (Token::Other, 1),
            '.' if text.starts_with("...") => (Token::Other, 3),
            '_' | 'a'..='z' | 'A'..='Z' => {
                let length = span(text, |character| character == '_' || character.is_ascii_alphanumeric());
                (Token::Name(&text[..length]), length)
            }
            '-' | '0'..='9' => {
                // With everything that cannot follow a number directly, so that no space comes between the two.
                let is_number =
                    |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '+' | '_');
                (Token::Other, span(text, is_number))
            }
            '"' => (Token::Other, string_length(text).ok_or(QueryError::Unparsable)?),
            _ => return Err(QueryError::Unparsable),
        };
        self.rest = &text[length..];
        if !self.normalized.is_empty() {
            self.normalized.push(' ');
        }
        self.normalized.push_str(&text[..length]);
        Ok(Some(token))
    }

    /// Skips spaces, commas and comments. A comment with a character that some parsers treat as a line break is refused.
    fn skip_ignored(&mut self) -> Result<(), QueryError> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',', '\u{feff}']);
            let Some(comment) = self.rest.strip_prefix('#') else { return Ok(()) };
            let end = span(comment, |character| character != '\n' && character != '\r');
            if comment[..end].chars().any(is_ambiguous) {
                return Err(QueryError::Unparsable);
            }
            self.rest = &comment[end..];
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

/// The length of the prefix that consists of such characters, in bytes.
fn span(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|character| !is_part(character)).unwrap_or(text.len())
}

fn is_ambiguous(character: char) -> bool {
    character.is_control() && character != '\t' || matches!(character, '\u{2028}' | '\u{2029}')
}

/// The length of the string at the start of a text, in bytes. `None` if it is unterminated or a block string, because
/// services disagree about where those end.
fn string_length(text: &str) -> Option<usize> {
    if text.starts_with("\"\"\"") {
        return None;
    }
    let mut characters = text.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some(index + 1),
            '\\' => {
                let (_, escaped) = characters.next()?;
                let digits = match escaped {
                    '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => 0,
                    'u' => 4,
                    _ => return None,
                };
                for _ in 0..digits {
                    characters.next().filter(|(_, digit)| digit.is_ascii_hexdigit())?;
                }
            }
            character if is_ambiguous(character) => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(document: &str) -> Result<(), QueryError> {
        check_query(json!({"query": document}).to_string().as_bytes()).map(drop)
    }

    #[test]
    fn queries_are_allowed() {
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
            assert_eq!(check(document), Ok(()), "{document}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let mutation = || QueryError::Operation("mutation".to_owned());
        for (document, error) in [
            ("mutation { a }", mutation()),
            ("mutation M($id: ID!) { a(id: $id) { id } }", mutation()),
            ("\u{feff},, \t# query {\nmutation{a}", mutation()),
            ("query A { a } mutation B { b }", mutation()),
            ("{ a }mutation{ b }", mutation()),
            ("fragment F on User { a } mutation B { b }", mutation()),
            ("{ a(text: \"\"\"\\\"\"\"\"\"\") } mutation { b }", QueryError::Unparsable),
            ("{ a(text: \"\\\\\") } mutation { b(text: \"\") }", mutation()),
            ("{ a } # \r mutation { b }", mutation()),
            ("subscription { a }", QueryError::Operation("subscription".to_owned())),
            ("query A { a } subscription { b }", QueryError::Operation("subscription".to_owned())),
            ("Mutation { a }", QueryError::Unparsable),
            ("query", QueryError::Unparsable),
            ("query A", QueryError::Unparsable),
            ("query { a ", QueryError::Unparsable),
            ("query { a ) }", QueryError::Unparsable),
            ("query ( { a }", QueryError::Unparsable),
            ("{ a } }", QueryError::Unparsable),
            ("{ a(text: \"", QueryError::Unparsable),
            ("{ a(text: \"\n\") }", QueryError::Unparsable),
            ("{ a(text: \"\\x\") }", QueryError::Unparsable),
            ("{ a(text: \"\\u00e\") } mutation { b }", QueryError::Unparsable),
            ("{ a(text: \"\\u{7d}\") }", QueryError::Unparsable),
            ("{ a(text: \"\\u+123\") }", QueryError::Unparsable),
            ("{ a(text: \"\\u00e9\") } mutation { b }", mutation()),
            ("{ a(text: \"\"\"\\\"\"\") } mutation { b }", QueryError::Unparsable),
            ("{ a } # \u{2028} mutation { b }", QueryError::Unparsable),
            ("{ a } # \u{b} mutation { b }", QueryError::Unparsable),
            ("type A { a: Int }", QueryError::Unparsable),
            ("\"about\" query { a }", QueryError::Unparsable),
            ("extend type A { a: Int }", QueryError::Unparsable),
            ("{ a.b }", QueryError::Unparsable),
            ("{ a } é", QueryError::Unparsable),
            ("{ a } \u{a0} mutation { b }", QueryError::Unparsable),
            ("{ a } \0 mutation { b }", QueryError::Unparsable),
            ("fragment F on User { a }", QueryError::NotAQuery),
            ("", QueryError::NotAQuery),
            ("# { a }", QueryError::NotAQuery),
        ] {
            assert_eq!(check(document), Err(error), "{document:?}");
        }
        assert_eq!(check(&"{ a ".repeat(MAX_DEPTH + 1)), Err(QueryError::Unparsable));
        assert_eq!(check(&format!("{{ a(text: \"{}\") }}", "x".repeat(MAX_LENGTH))), Err(QueryError::Unparsable));
    }

    /// Some services end comments only at a line feed, and block strings at other quotes than the specification.
    #[test]
    fn documents_that_parsers_read_differently_are_refused_or_normalized() {
        for document in [
            "query Q { nodes(ids: [\"\"\"\\\"\"\"\" \"]) { id } } mutation M { b } #\"\"\"]){id}}",
            "query Q { a(x: \"\"\"a\"\"\"\") } mutation M { b } #\")}",
        ] {
            assert_eq!(check(document), Err(QueryError::Unparsable), "{document:?}");
        }
        let hidden = "query Q { viewer { login # \r { \n } } mutation M { x } # \r }";
        // Now every parser reads the rest as fields of the one query.
        assert_eq!(check_document(hidden).as_deref(), Ok("query Q { viewer { login { } } mutation M { x } }"));
        assert_eq!(check_document("{a(b:1_c:-2)}").as_deref(), Ok("{ a ( b : 1_c : -2 ) }"));
        assert_eq!(check_document("{a(b:\"#\")#c\n,d}").as_deref(), Ok("{ a ( b : \"#\" ) d }"));
    }

    #[test]
    fn an_ambiguous_body_is_refused() {
        for body in [
            "",
            "null",
            "\"{ a }\"",
            "{ a }",
            "query=mutation{a}",
            "[]",
            r#"["{ a }"]"#,
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
            assert_eq!(check_query(body.as_bytes()), Err(QueryError::NotAQuery), "{body}");
        }
        let escaped = r#"{"query": "\u006dutation { a }"}"#;
        assert_eq!(check_query(escaped.as_bytes()), Err(QueryError::Operation("mutation".to_owned())));
        assert_eq!(check_query(&[b'{', 0xff, b'}']), Err(QueryError::NotAQuery));
    }

    #[test]
    fn a_query_keeps_its_variables_and_operation_name() {
        let body = r#"{"operationName":"A", "variables":{"n":1, "n":2}, "query":"query A { a } query B { b }"}"#;
        let sent: Value = serde_json::from_slice(&check_query(body.as_bytes()).unwrap()).unwrap();
        let expected = json!({"operationName": "A", "variables": {"n": 2}, "query": "query A { a } query B { b }"});
        assert_eq!(sent, expected);
    }
}
