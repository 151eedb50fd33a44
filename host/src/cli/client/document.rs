//! Settings files as text: reads them, and changes one key without touching anything else.

use super::{json, toml};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The syntax that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    /// JSON with comments.
    Jsonc,
    /// JSON with comments and trailing commas.
    JsoncTrailingCommas,
    Toml,
}

/// An object that keeps its order.
pub struct Members(pub Vec<(&'static str, Value)>);

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Why a text cannot be parsed. Contains nothing of the text, which may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    pub line: usize,
    pub what: String,
}

impl ParseError {
    pub fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let line = text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        Self { line, what: what.into() }
    }
}

impl Format {
    /// Parses a text. An empty one is an empty object.
    pub fn read(self, text: &str) -> Result<Value, ParseError> {
        match self {
            Self::Toml => toml::read(text),
            _ => json::read(text, self),
        }
    }

    /// Returns the text with `key` set in the object at `path`, which is created if missing. Without a value the key is
    /// removed.
    pub fn edit(
        self,
        text: &str,
        path: &[&str],
        key: &str,
        value: Option<&impl Serialize>,
    ) -> Result<String, ParseError> {
        match self {
            Self::Toml => toml::edit(text, path, key, value),
            _ => json::edit(text, self, path, key, value),
        }
    }
}
