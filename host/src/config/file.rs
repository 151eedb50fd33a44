//! What the operator's file says, before it means anything.

mod placed;
mod strict;

pub use strict::{TextOr, Unique};

use crate::bindings::catalog::Duplicates;
use crate::config::git::is_branch;
use crate::config::integrations::RawIntegrations;
use crate::git::address::{Address, WrongAddress};
use crate::mcp::surface::{CatalogFormat, CatalogPlace, Profile};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The whole file. Every key is optional, and one that is not here is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawConfig {
    pub profile: Option<Profile>,
    pub tools: Option<Vec<String>>,
    /// Where the catalog is written, how, and how long it may be.
    pub catalog: Option<CatalogPlace>,
    pub catalog_format: Option<CatalogFormat>,
    pub catalog_max_chars: Option<usize>,
    pub duplicates: Option<RawDuplicates>,
    #[serde(deserialize_with = "strict::section")]
    pub roots: RawRoots,
    #[serde(deserialize_with = "strict::section")]
    pub matching: RawMatching,
    /// By name.
    #[serde(deserialize_with = "strict::section")]
    pub scorers: Unique<TextOr<RawInstalledScorer>>,
    /// Repositories that skills come from, and how they are reached.
    #[serde(deserialize_with = "strict::section")]
    pub repos: Vec<RawRepository>,
    #[serde(deserialize_with = "strict::section")]
    pub git: RawGit,
    #[serde(deserialize_with = "strict::section")]
    pub refresh: RawRefresh,
    #[serde(deserialize_with = "strict::section")]
    pub scripts: RawScripts,
    #[serde(deserialize_with = "strict::section")]
    pub assets: RawAssets,
    #[serde(deserialize_with = "strict::section")]
    pub analytics: RawAnalytics,
    #[serde(deserialize_with = "strict::section")]
    pub integrations: RawIntegrations,
    /// By root, then by `skill_path`.
    #[serde(deserialize_with = "strict::section")]
    pub grants: Unique<Unique<RawGrant>>,
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
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawRoots {
    pub user: bool,
    pub plugins: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawMatching {
    pub min_score: Option<f64>,
    pub max_results: Option<u32>,
    pub ambiguity_threshold: Option<f64>,
    /// A name, a path, or what is in a map.
    pub scorer: Option<TextOr<RawScorer>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a name, a path, or a map of both")]
pub struct RawScorer {
    pub name: Option<String>,
    pub file: Option<String>,
    pub sha256: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a path, or a map with `file`")]
pub struct RawInstalledScorer {
    pub file: String,
    #[serde(default)]
    pub sha256: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawRefresh {
    pub enabled: Option<bool>,
    pub interval_minutes: Option<u32>,
}

/// A repository. Its address may hold a password, so it is never shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `url`")]
pub struct RawRepository {
    #[serde(deserialize_with = "address")]
    pub url: String,
    #[serde(default, deserialize_with = "branch")]
    pub branch: Option<String>,
    /// The variable that holds the token for it.
    pub token_env: Option<String>,
}

impl std::fmt::Debug for RawRepository {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("RawRepository(…)")
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let check = |text: &str| match Address::parse(text, |path| PathBuf::from(path)) {
        // Whether there is such a folder is known when it is known where this file is.
        Ok(_) | Err(WrongAddress::Secret { .. }) => Ok(text.to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    };
    strict::text(deserializer, check)?.ok_or_else(|| D::Error::custom("`url` has no value"))
}

fn branch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let check = |name: &str| match name.trim() {
        name if name.is_empty() || is_branch(name) => Ok(name.to_owned()),
        name => Err(format!("`{name}` is no name of a branch")),
    };
    Ok(strict::text(deserializer, check)?.filter(|name| !name.is_empty()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawGit {
    pub credential_helper: bool,
    pub ca_file: Option<String>,
    pub timeout_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
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
    #[serde(deserialize_with = "strict::section")]
    pub runners: Unique<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawAssets {
    pub max_size_bytes: Option<u64>,
    pub inline_text_max_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawAnalytics {
    pub enabled: Option<bool>,
    pub endpoint: Option<String>,
    pub interval_seconds: Option<f64>,
    pub timeout_seconds: Option<f64>,
    pub include_text: Option<bool>,
    pub buffer_max_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
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
        "cannot read the configuration {path}: {reason}\nhint: make it readable or remove it, or name another with --config FILE or SKILLCELL_CONFIG"
    )]
    Unreadable { path: PathBuf, reason: std::io::Error },
    #[error("{path}{place}: {message}\nhint: docs/configuration.md lists every key", path = path.display())]
    Wrong { path: PathBuf, place: String, message: String },
}

/// Reads the file. An empty one says nothing.
pub fn read(path: &Path) -> Result<RawConfig, FileProblem> {
    let bytes = std::fs::read(path).map_err(|reason| {
        let leads_nowhere = reason.kind() == ErrorKind::NotFound && !is_absent(path);
        let reason = if leads_nowhere { std::io::Error::other("a link on the way leads nowhere") } else { reason };
        FileProblem::Unreadable { path: path.to_owned(), reason }
    })?;
    let wrong = |(place, message)| FileProblem::Wrong { path: path.to_owned(), place, message };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        wrong((format!(":{line}"), "there are bytes that are no UTF-8".to_owned()))
    })?;
    parse(text).map_err(wrong)
}

/// Whether there is nothing at this place. What cannot be reached, and a link that leads nowhere, are something.
pub fn is_absent(path: &Path) -> bool {
    let missing = |error: &std::io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    if !std::fs::symlink_metadata(path).is_err_and(|error| missing(&error)) {
        return false;
    }
    let nearest = path.ancestors().find(|above| std::fs::symlink_metadata(above).is_ok());
    nearest.is_none_or(|above| above.metadata().is_ok())
}

/// Where the key stands that a message begins with, such as `matching.min_score`, as `:3`; empty if it cannot be told.
pub fn line_of(path: &Path, message: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = placed::tree(without_mark(&text)).and_then(|tree| tree.line_of(message));
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn parse(text: &str) -> Result<RawConfig, (String, String)> {
    let text = without_mark(text);
    let parsed: Result<Option<RawConfig>, serde_yaml::Error> = serde_yaml::from_str(text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        // The place is told in front.
        let message = without_values(&error.to_string());
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        let place = match error.location() {
            Some(at) => Some(second_place(text, &message).unwrap_or((at.line(), at.column()))),
            None => placed::second_document(text),
        };
        (place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default(), message)
    })
}

/// A message without the texts of the file that are in the wrong place: one may be an address with a password.
fn without_values(message: &str) -> String {
    let (mut shown, mut rest) = (String::new(), message);
    while let Some((before, text)) = rest.split_once("string \"") {
        let mut escaped = false;
        let end = text.find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        shown.extend([before, "string"]);
        rest = end.map_or("", |end| &text[end + 1..]);
    }
    shown.push_str(rest);
    // An address where a key or one of a few words should be.
    for what in ["unknown field `", "unknown variant `"] {
        let Some((before, text)) = shown.split_once(what) else { continue };
        let (wrong, after) = text.split_once("`, ").unwrap_or((text, ""));
        if wrong.contains(['/', '@']) {
            return format!("{before}{what}…`, {after}");
        }
    }
    shown
}

/// Where a key stands for the second time, if that is what a message is about. The error itself is placed where their map
/// begins.
fn second_place(text: &str, message: &str) -> Option<(usize, usize)> {
    let is_about = message.contains("duplicate field `") || message.ends_with("` stands here twice");
    let key = message.split('`').nth(1).filter(|_| is_about)?;
    placed::tree(text)?.second(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_says_nothing() {
        for text in [
            "",
            "# nothing yet\n",
            "{}",
            "scripts: {}\n",
            "scripts:\n#  enabled: false\nmatching: ~\n",
            "\u{feff}\n",
            "---\n",
        ] {
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
            ("repos:\n- url: https://h/a\n- url: git@h:a\n", ":3:", "write it as `https://h/a`"),
            ("repos:\n- url: https://h/a\n  branch: a..b\n", ":3:", "`a..b` is no name of a branch"),
            ("repos:\n- urls: https://h/a\n", ":2:", "unknown field `urls`"),
            ("git:\n  credential_helper: perhaps\n", ":2:", "invalid type"),
            ("grants:\n  /a:\n    skill:\n      reed: [x]\n", ":4:", "unknown field `reed`"),
            ("\u{feff}script:\n  enabled: true\n", ":1:", "unknown field `script`"),
            ("- scripts\n", ":1:", "expected a map of settings"),
            ("scripts\n", ":1:", "expected a map of settings"),
            ("matching:\n  - min_score\n", ":2:", "expected a map of settings"),
            ("matching: 3\n", ":1:", "expected a map of settings"),
            ("matching:\n  min_score: high\n", ":2:", "expected f64"),
            ("matching:\n  min_score: [1]\n", ":2:", "invalid type: sequence"),
            ("matching:\n  max_results: -1\n", ":2:", "integer `-1`"),
            ("matching:\n  max_results: 2.5\n", ":2:", "floating point"),
            ("matching:\n  max_results: 4294967296\n", ":2:", "integer `4294967296`"),
            ("refresh:\n  enabled: 'true'\n", ":2:", "expected a boolean"),
            ("refresh:\n  interval_minutes: 1e3\n", ":2:", "floating point"),
            ("assets:\n  max_size_bytes: 99999999999999999999999999\n", ":2:", "invalid type"),
            ("assets:\n  inline_text_max_bytes: {a: 1}\n", ":2:", "invalid type: map"),
            ("analytics: [x]\n", ":1:", "expected a map of settings"),
            ("scripts:\n  allowed_extensions: .py\n", ":2:", "expected a sequence"),
            ("scripts:\n  allowed_extensions:\n    - [.py]\n", ":3:", "expected a string"),
            ("scripts:\n  runners: [bash]\n", ":2:", "expected a map"),
            ("matching:\n  min_score: 0.1\n  min_score: 0.2\n", ":3:3", "duplicate field `min_score`"),
            ("\"matching\":\n  \"min_score\": 0.1\n  'min_score': 0.2\n", ":3:3", "duplicate field `min_score`"),
            ("---\nmatching: {}\n---\nscripts: {}\n", ":3:1", "more than one document"),
            ("matching: {}\nmatching: {}\n", ":2:1", "duplicate field `matching`"),
            ("matching: {min_score: 1, min_score: 1}\n", ":1:", "duplicate field `min_score`"),
            ("scripts:\n  runners:\n    .py: python\n    .py: shell\n", ":4:5", "`.py` stands here twice"),
            ("grants:\n  /a:\n    s: {}\n    s: {}\n", ":4:5", "`s` stands here twice"),
            ("scripts:\n\tenabled: true\n", ":2:", ""),
            ("scripts: [\n", ":", ""),
            ("\u{feff}matching: {}\nscript: {}\n", ":2:", "unknown field `script`"),
        ] {
            let (place, message) = parse(text).unwrap_err();
            assert!(place.starts_with(line), "{text}: {place}");
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn no_message_repeats_a_text_that_may_hold_a_secret() {
        for (text, part) in [
            ("repos: [https://x-access-token:SECRET@github.com/a/b]\n", "string, expected a map with `url`"),
            ("repos:\n- https://x:SECRET@h/a\n", "string, expected a map with `url`"),
            ("repos: https://x:SECRET@h/a\n", "string, expected a sequence"),
            ("analytics: https://hooks/SECRET\n", "string, expected a map of settings"),
            ("analytics: {https://hooks/SECRET}\n", "unknown field `…`, expected one of"),
            ("profile: https://hooks/SECRET\n", "unknown variant `…`, expected one of"),
            ("analytics: 'a\"b\\\" at line SECRET \", expected SECRET'\n", "string, expected a map of settings"),
            ("git: {timeout_seconds: SECRET}\n", "string, expected u64"),
            ("git: !SECRET {a: 1}\n", ""),
        ] {
            let (_, message) = parse(text).unwrap_err();
            assert!(!message.contains("SECRET"), "{message}");
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn only_what_is_really_not_there_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::write(at("file"), "").unwrap();
        for (link, target) in [("dangling", "/nowhere/at/all"), ("loop", "loop"), ("sound", ".")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        for path in ["missing", "missing/config.yaml", "sound/config.yaml", "file/config.yaml"] {
            assert!(is_absent(&at(path)), "{path}");
        }
        for path in ["file", "dangling", "dangling/config.yaml", "loop", "loop/config.yaml", "sound/file"] {
            assert!(!is_absent(&at(path)), "{path}");
        }
    }
}
