//! The operator's file as it is written, before it is resolved.

mod positions;
mod strict;

pub use strict::{TextOr, UniqueMap};

use crate::config::ConfigError;
use crate::config::git::is_branch;
use crate::config::integrations::RawIntegrations;
use base::user_files::{self, Untrusted};
use git::address::{Address, AddressError};
use mcp::surface::{CatalogFormat, CatalogPlace, Profile};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// The whole file. Every key is optional, and a section may be empty; an unknown key is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawConfig {
    pub profile: Option<Profile>,
    pub tools: Option<Vec<String>>,
    /// Where the catalog is listed, in which format, and its maximum length.
    pub catalog: Option<CatalogPlace>,
    pub catalog_format: Option<CatalogFormat>,
    pub catalog_max_chars: Option<usize>,
    pub duplicates: Option<RawDuplicates>,
    pub roots: Option<RawRoots>,
    pub matching: Option<RawMatching>,
    /// By name.
    pub scorers: Option<UniqueMap<TextOr<RawInstalledScorer>>>,
    pub repos: Option<Vec<RawRepository>>,
    pub git: Option<RawGit>,
    pub refresh: Option<RawRefresh>,
    pub scripts: Option<RawScripts>,
    pub packages: Option<RawPackages>,
    pub assets: Option<RawAssets>,
    pub analytics: Option<RawAnalytics>,
    pub integrations: Option<RawIntegrations>,
    /// By root, then by `skill_path`.
    pub grants: Option<UniqueMap<UniqueMap<RawGrant>>>,
}

/// How several folder skills with the same name are handled.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RawDuplicates {
    Error,
    First,
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
    /// A name, a path, or a map.
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

/// A repository. `Debug` hides the address, which may contain a password.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `url`")]
pub struct RawRepository {
    #[serde(deserialize_with = "address")]
    pub url: String,
    #[serde(default, deserialize_with = "branch")]
    pub branch: Option<String>,
    /// The variable that holds the token.
    pub token_env: Option<String>,
}

impl std::fmt::Debug for RawRepository {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("RawRepository(…)")
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let check = |text: &str| match Address::parse(text, |path| PathBuf::from(path)) {
        // Whether the folder exists can only be checked once the location of this file is known.
        Ok(_) | Err(AddressError::Secret { .. }) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    };
    strict::checked_text(deserializer, check)?.ok_or_else(|| D::Error::custom("`url` has no value"))
}

fn branch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let check = |name: &str| match name.trim() {
        name if name.is_empty() || is_branch(name) => Ok(name.to_owned()),
        name => Err(format!("`{name}` is not a valid branch name")),
    };
    Ok(strict::checked_text(deserializer, check)?.filter(|name| !name.is_empty()))
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
    pub undeclared: Option<bool>,
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
    pub runners: Option<UniqueMap<String>>,
}

/// Where Python packages come from. `Debug` hides the address, which may contain a password.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawPackages {
    pub index: Option<String>,
    pub ca_file: Option<String>,
    pub timeout_seconds: Option<u64>,
}

impl std::fmt::Debug for RawPackages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("RawPackages(…)")
    }
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

/// Reads the file, which grants capabilities, so other users must not be able to change it. An empty file is valid.
pub fn read(path: &Path) -> Result<RawConfig, ConfigError> {
    let unreadable = |reason: std::io::Error| {
        let is_broken_link = reason.kind() == ErrorKind::NotFound && !is_absent(path);
        let reason = if is_broken_link { std::io::Error::other("the path goes through a broken link") } else { reason };
        ConfigError::Unreadable { path: path.to_owned(), reason }
    };
    let mut file = user_files::open_unchangeable(path).map_err(|untrusted| match untrusted {
        Untrusted::Unusable { reason, .. } => unreadable(reason),
        untrusted => ConfigError::Untrusted(untrusted),
    })?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    let invalid = |(position, message)| ConfigError::Syntax { path: path.to_owned(), position, message };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        invalid((format!(":{line}"), "not valid UTF-8".to_owned()))
    })?;
    parse(text).map_err(invalid)
}

/// Whether nothing exists at this path. An unreachable path and a broken link count as existing.
pub fn is_absent(path: &Path) -> bool {
    let missing = |error: &std::io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    if !std::fs::symlink_metadata(path).is_err_and(|error| missing(&error)) {
        return false;
    }
    let nearest = path.ancestors().find(|above| std::fs::symlink_metadata(above).is_ok());
    nearest.is_none_or(|above| above.metadata().is_ok())
}

/// Returns the line of the key that a message begins with, such as `matching.min_score`, as `:3`; empty if unknown.
pub fn line_of(path: &Path, message: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = positions::parse(without_byte_order_mark(&text)).and_then(|root| root.line_of(message));
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Parses the text of the file. An error is a position, such as `:3:1`, and a message.
pub fn parse(text: &str) -> Result<RawConfig, (String, String)> {
    let text = without_byte_order_mark(text);
    let parsed: Result<Option<RawConfig>, serde_yaml::Error> = serde_yaml::from_str(text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        // The position is put in front of the message.
        let whole = error.to_string();
        let message = redact_values(&whole);
        let message = hide_passwords(message.split(" at line ").next().unwrap_or(&message));
        let position = match error.location() {
            Some(at) => Some(second_key(text, &whole).unwrap_or((at.line(), at.column()))),
            None => positions::second_document(text),
        };
        (position.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default(), message)
    })
}

/// Removes the passwords of addresses from a message that repeats a value of the file, wherever that belongs.
pub fn hide_passwords(message: &str) -> String {
    let (mut hidden, mut rest) = (String::new(), message);
    while let Some((before, address)) = rest.split_once("://") {
        let end = address.find(|letter: char| letter.is_whitespace() || letter == '`').unwrap_or(address.len());
        let user_end = address[..end].rfind('@').unwrap_or(0);
        hidden.extend([before, "://", if user_end > 0 { "…" } else { "" }]);
        rest = &address[user_end..];
    }
    hidden + rest
}

/// Removes values of the file from a message: one may be an address with a password.
fn redact_values(message: &str) -> String {
    let (mut redacted, mut rest) = (String::new(), message);
    while let Some((before, text)) = rest.split_once("string \"") {
        let mut escaped = false;
        let end = text.find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        redacted.extend([before, "string"]);
        rest = end.map_or("", |end| &text[end + 1..]);
    }
    redacted.push_str(rest);
    // An address may also be a key on the way to what is wrong,
    let starts = [": invalid ", ": unknown ", ": missing ", ": duplicate ", ": `"];
    let way_end = starts.iter().filter_map(|start| redacted.find(start)).min().unwrap_or(0);
    if let Some(at) = redacted[..way_end].rfind('@') {
        redacted.replace_range(..=at, "…");
    }
    // or be where a key or a variant is expected.
    for what in ["unknown field `", "unknown variant `", "duplicate key `"] {
        let Some(start) = redacted.find(what).map(|at| at + what.len()) else { continue };
        let end = redacted[start..]
            .find("`, ")
            .or_else(|| redacted[start..].rfind('`'))
            .map_or(redacted.len(), |at| start + at);
        if redacted[start..end].contains(['/', '@']) {
            redacted.replace_range(start..end, "…");
        }
    }
    redacted
}

/// Returns where the duplicate key is that a message is about. The error itself points to the start of the map.
fn second_key(text: &str, message: &str) -> Option<(usize, usize)> {
    let is_duplicate = message.contains("duplicate field `") || message.contains("duplicate key `");
    let key = message.split('`').nth(1).filter(|_| is_duplicate)?;
    positions::parse(text)?.second_key(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_wherever_they_are() {
        for (message, expected) in [
            ("`https://u:p@h/a` and `https://x@y:q@h`: no", "`https://…@h/a` and `https://…@h`: no"),
            ("`https://h/a` is @home, `://@` is not", "`https://h/a` is @home, `://@` is not"),
            ("a", "a"),
        ] {
            assert_eq!(hide_passwords(message), expected);
        }
        let (_, message) = parse("repos: [{url: 'https://h/a', branch: 'https://u:hunter2@h'}]").err().unwrap();
        assert!(message.contains("is not a valid branch name") && !message.contains("hunter2"), "{message}");
    }

    #[test]
    fn an_empty_file_is_valid() {
        let empty_sections = ["scripts: {}\n", "scripts:\n#  enabled: false\nmatching: ~\n"];
        for text in ["", "# nothing yet\n", "{}", "\u{feff}\n", "---\n"].into_iter().chain(empty_sections) {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_reported_with_their_line() {
        for (text, line, part) in [
            ("scripts:\n  enabled: true\n  time: 3\n", ":3:", "unknown field `time`"),
            ("roots:\n  users: true\n", ":2:", "unknown field `users`"),
            ("roots:\n  plugins: 1\n", ":2:", "invalid type"),
            ("script:\n  enabled: true\n", ":1:", "unknown field `script`"),
            ("repos:\n- url: https://h/a\n- url: git@h:a\n", ":3:", "write it as `https://h/a`"),
            ("repos:\n- url: https://h/a\n  branch: a..b\n", ":3:", "`a..b` is not a valid branch name"),
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
            ("scripts:\n  runners:\n    .py: python\n    .py: shell\n", ":4:5", "duplicate key `.py`"),
            ("grants:\n  /a:\n    s: {}\n    s: {}\n", ":4:5", "duplicate key `s`"),
            ("scripts:\n\tenabled: true\n", ":2:", ""),
            ("scripts: [\n", ":", ""),
            ("\u{feff}matching: {}\nscript: {}\n", ":2:", "unknown field `script`"),
        ] {
            let (position, message) = parse(text).unwrap_err();
            assert!(position.starts_with(line), "{text}: {position}");
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn messages_do_not_repeat_values_that_may_be_secrets() {
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
            ("grants:\n  https://x:SECRET@h/a:\n    skill: 1\n", "…h/a.skill: invalid type: integer `1`"),
            ("grants:\n  x:SECRET@h: {}\n  x:SECRET@h: {}\n", "duplicate key `…`"),
        ] {
            let (_, message) = parse(text).unwrap_err();
            assert!(!message.contains("SECRET"), "{message}");
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn broken_links_and_unreachable_paths_are_not_absent() {
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
