//! Lines: each carries the code of the previous line and its own.

use base::digest::hex;
use base::user_files::Key;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// One line and its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// The code of the previous line.
    pub before: String,
    pub code: String,
    pub entry: Map<String, Value>,
    /// Without the line break.
    pub text: String,
}

impl Line {
    pub fn new(key: &Key, number: u64, before: &str, mut entry: Map<String, Value>) -> Self {
        entry.insert("number".to_owned(), json!(number));
        entry.insert("before".to_owned(), json!(before));
        let code = code_of(key, &text_of(&entry));
        entry.insert("code".to_owned(), json!(code));
        let text = text_of(&entry);
        Self { number, before: before.to_owned(), code, entry, text }
    }

    /// Parses a line without checking its code; [`Line::is_genuine`] does that.
    pub fn read(text: &str) -> Option<Self> {
        let entry: Map<String, Value> = serde_json::from_str(text).ok()?;
        let field = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = entry.get("number").and_then(Value::as_u64)?;
        Some(Self { number, before: field("before")?, code: field("code")?, text: text.to_owned(), entry })
    }

    pub fn number_in(&self, field: &str) -> Option<u64> {
        self.entry.get(field).and_then(Value::as_u64)
    }

    pub fn text_in(&self, field: &str) -> &str {
        self.entry.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether this is a genuine line that directly follows the one with this number and code.
    pub fn follows(&self, key: &Key, number: u64, code: &str) -> bool {
        Some(self.number) == number.checked_add(1) && self.before == code && self.is_genuine(key)
    }

    /// Whether the line is unchanged since it was written with this key.
    pub fn is_genuine(&self, key: &Key) -> bool {
        // Compared as text, so that formatting and duplicate keys cannot hide a change.
        let is_verbatim = self.text == text_of(&self.entry);
        let mut entry = self.entry.clone();
        entry.remove("code");
        is_verbatim && code_of(key, &text_of(&entry)) == self.code
    }
}

fn code_of(key: &Key, text: &str) -> String {
    hex(&key.sign(&[b"line", text.as_bytes()]))
}

pub fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("everything in it has a form in JSON")
}
