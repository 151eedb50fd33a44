//! What the operator's file says, before it means anything.

use crate::bindings::catalog::Duplicates;
use crate::mcp::surface::{CatalogFormat, CatalogPlace, Profile};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The whole file. Every key is optional, and one that is not here is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawConfig {
    pub profile: Option<Profile>,
    pub tools: Option<Vec<String>>,
    /// Where the catalog is written, how, and how long it may be.
    pub catalog: Option<CatalogPlace>,
    pub catalog_format: Option<CatalogFormat>,
    pub catalog_max_chars: Option<usize>,
    pub duplicates: Option<RawDuplicates>,
    pub roots: RawRoots,
    pub matching: RawMatching,
    /// Known from other servers' files; nothing refreshes or reports by itself yet.
    pub refresh: RawRefresh,
    pub scripts: RawScripts,
    pub assets: RawAssets,
    pub analytics: RawAnalytics,
    /// By root, then by `skill_path`.
    pub grants: BTreeMap<String, BTreeMap<String, RawGrant>>,
}

/// What happens when several folder skills have one name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RawDuplicates {
    Error,
    First,
}

impl From<RawDuplicates> for Duplicates {
    fn from(said: RawDuplicates) -> Self {
        match said {
            RawDuplicates::Error => Self::Refuse,
            RawDuplicates::First => Self::First,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawRoots {
    pub user: bool,
    pub plugins: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawMatching {
    pub min_score: Option<f64>,
    pub max_results: Option<u32>,
    pub ambiguity_threshold: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawRefresh {
    pub enabled: Option<bool>,
    pub interval_minutes: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawScripts {
    pub enabled: Option<bool>,
    pub timeout_seconds: Option<u64>,
    pub max_output_bytes: Option<usize>,
    pub memory_bytes: Option<usize>,
    pub fuel: Option<u64>,
    pub scratch_bytes: Option<u64>,
    pub scratch_files: Option<u64>,
    pub runs_at_once: Option<usize>,
    pub deterministic: Option<bool>,
    pub allowed_extensions: Option<Vec<String>>,
    /// By extension: the name of a runtime, or the path of a component.
    pub runners: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawAssets {
    pub max_size_bytes: Option<u64>,
    pub inline_text_max_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawAnalytics {
    pub enabled: Option<bool>,
    pub endpoint: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawGrant {
    pub read: Vec<String>,
    pub write: Vec<String>,
    pub env: Vec<String>,
    pub hosts: Vec<String>,
    pub digest: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    #[error(
        "cannot read the configuration {path}: {reason}\nhint: name another with --config FILE, or unset SKILLCELL_CONFIG"
    )]
    Unreadable { path: PathBuf, reason: std::io::Error },
    #[error("{path}{place}: {message}\nhint: docs/scripts.md and docs/serving.md list every key", path = path.display())]
    Wrong { path: PathBuf, place: String, message: String },
}

/// Reads the file. An empty one says nothing.
pub fn read(path: &Path) -> Result<RawConfig, FileProblem> {
    let text =
        std::fs::read_to_string(path).map_err(|reason| FileProblem::Unreadable { path: path.to_owned(), reason })?;
    parse(&text).map_err(|(place, message)| FileProblem::Wrong { path: path.to_owned(), place, message })
}

/// Where the key stands that a message begins with, such as `matching.min_score`, as `:3`; empty if it cannot be told.
pub fn line_of(path: &Path, message: &str) -> String {
    let key = message.split([' ', ':']).next().unwrap_or_default();
    let key = key.rsplit('.').next().unwrap_or_default();
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_key =
        |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let found = text.lines().position(is_key).filter(|_| !key.is_empty());
    found.map(|line| format!(":{}", line + 1)).unwrap_or_default()
}

fn parse(text: &str) -> Result<RawConfig, (String, String)> {
    let parsed: Result<Option<RawConfig>, serde_yaml::Error> = serde_yaml::from_str(text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let place = error.location().map_or(String::new(), |at| format!(":{}:{}", at.line(), at.column()));
        // The place is told in front.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        (place, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_says_nothing() {
        for text in ["", "# nothing yet\n", "{}", "scripts: {}\n"] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_told_with_their_line() {
        for (text, line, part) in [
            ("scripts:\n  enabled: true\n  time: 3\n", ":3:", "unknown field `time`"),
            ("roots:\n  users: true\n", ":2:", "unknown field `users`"),
            ("roots:\n  plugins: 1\n", ":2:", "invalid type"),
            ("script:\n  enabled: true\n", ":1:", "unknown field `script`"),
            ("scripts:\n  timeout_seconds: soon\n", ":2:", "invalid type"),
            ("grants:\n  /a:\n    skill:\n      reed: [x]\n", ":4:", "unknown field `reed`"),
        ] {
            let (place, message) = parse(text).unwrap_err();
            assert!(place.starts_with(line), "{text}: {place}");
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
