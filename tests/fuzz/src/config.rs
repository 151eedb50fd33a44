//! The operator's configuration file.

use serde_yaml::Value;
use skillcell::config::file::parse;
use skillcell::config::{CliArgs, ConfigError, resolve_in};
use std::fs;
use tempfile::TempDir;

/// The keys of the file.
const KEYS: [&str; 17] = [
    "profile",
    "tools",
    "catalog",
    "catalog_format",
    "catalog_max_chars",
    "duplicates",
    "roots",
    "matching",
    "scorers",
    "repos",
    "git",
    "refresh",
    "scripts",
    "assets",
    "analytics",
    "integrations",
    "grants",
];

/// A password in an address. No message repeats it.
const SECRET: &str = "hunter2";

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder");
}

pub fn config(bytes: &[u8]) {
    let text: &str = &String::from_utf8_lossy(bytes);
    // Only where it is a password for certain: a text may as well have a key of this name.
    let hides = |shown: &str| !shown.contains(SECRET) || text.replace(&format!("://u:{SECRET}@"), "").contains(SECRET);
    match parse(text) {
        Err((position, message)) => {
            assert!(hides(&message), "{message}");
            let line = position.split(':').nth(1).map(|line| line.parse::<usize>().expect("a number"));
            let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
            assert!(line.is_none_or(|line| (1..=lines + 1).contains(&line)), "line {line:?} of {lines}: {message}");
        }
        Ok(_) => {
            let read: Value = serde_yaml::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).expect("valid YAML");
            let keys = read.as_mapping().into_iter().flat_map(|mapping| mapping.keys());
            for key in keys.filter_map(Value::as_str) {
                assert!(KEYS.contains(&key), "the key `{key}` was ignored");
            }
        }
    }
    FOLDER.with(|folder| resolve(folder, text, hides));
}

/// What the file means: limits are within their range, and messages hide what may be secret.
fn resolve(folder: &TempDir, text: &str, hides: impl Fn(&str) -> bool) {
    let file = folder.path().join("config.yaml");
    fs::write(&file, text).expect("a writable file");
    let home = folder.path().to_str().expect("a path in UTF-8");
    let variable = |name: &str| (name == "HOME").then(|| home.to_owned());
    let resolved = resolve_in(CliArgs { config: Some(file), ..CliArgs::default() }, &variable, folder.path());
    match resolved {
        Ok(config) => {
            let operator = &config.operator;
            assert!(operator.min_score.is_none_or(|score| (0.0..=1.0).contains(&score)));
            assert!(operator.ambiguity_threshold.is_none_or(|score| (0.0..=1.0).contains(&score)));
            assert!(operator.max_results.is_none_or(|results| (1..=100).contains(&results)));
            assert!(operator.refresh_interval_minutes.is_none_or(|minutes| (1..=525_600).contains(&minutes)));
            let seconds = config.git.network.timeout.as_secs();
            assert!((1..=86_400).contains(&seconds), "a timeout of {seconds} s");
            assert!(hides(&format!("{config:?}")), "a password in what is logged");
        }
        Err(error) => {
            assert!(!matches!(error, ConfigError::Unreadable { .. }), "{error}");
            assert!(hides(&error.to_string()), "{error}");
        }
    }
}
