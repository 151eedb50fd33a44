//! A file of settings as text: what it says, and how to change one thing in it and nothing else.

use super::setting::Setting;
use super::{json, toml};
use serde_json::Value;

/// What a client understands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    Json,
    /// JSON with comments.
    Commented,
    /// JSON with comments, and with commas after the last of several.
    Loose,
    Toml,
}

/// Why a text cannot be understood. Nothing of the text is in here, which may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Malformed {
    pub line: usize,
    pub what: String,
}

impl Malformed {
    /// Something wrong at a place in a text.
    pub fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let line = text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        Self { line, what: what.into() }
    }
}

impl Format {
    /// All that a text says. Nothing at all says as much as an empty group.
    pub fn read(self, text: &str) -> Result<Value, Malformed> {
        match self {
            Self::Toml => toml::read(text),
            _ => json::read(text, self),
        }
    }

    /// The text with a key in the group that a path leads to. Groups on the way are made as needed.
    pub fn set(self, text: &str, path: &[&str], key: &str, setting: &Setting) -> Result<String, Malformed> {
        match self {
            Self::Toml => toml::set(text, path, key, setting),
            _ => json::set(text, self, path, key, setting),
        }
    }

    /// The text without a key in the group that a path leads to.
    pub fn remove(self, text: &str, path: &[&str], key: &str) -> Result<String, Malformed> {
        match self {
            Self::Toml => toml::remove(text, path, key),
            _ => json::remove(text, self, path, key),
        }
    }

    /// A whole file that says only this.
    pub fn alone(self, path: &[&str], key: &str, setting: &Setting) -> String {
        self.set("", path, key, setting).expect("an empty file can be written to")
    }
}
