//! Finds installed Claude plugins through the record that Claude Code keeps.

use base::printable::printable;
use rustix::fs::OFlags;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Path of the record, below the home folder.
const RECORD: &str = ".claude/plugins/installed_plugins.json";

/// Maximum size of the record. A real one has a few hundred bytes per plugin.
const MAX_RECORD_BYTES: u64 = 4 << 20;

/// Maximum number of entries used. Each becomes a root, and every scan opens all roots.
const MAX_ENTRIES: usize = 1_000;

/// A plugin that may have skills.
#[derive(Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its name, without characters that the label of a root cannot have.
    pub label: String,
    /// Where it is installed; need not exist.
    pub folder: PathBuf,
}

/// Returns the plugins recorded below a home folder, sorted by name. A plugin with several entries occurs several times.
///
/// The record is read once and not watched: a plugin installed later is served after a restart. Problems are logged, and the
/// rest of the record is used.
pub fn installed(home: &Path) -> Vec<Plugin> {
    let file = home.join(RECORD);
    let (plugins, problems) = load(&file, home);
    for problem in problems {
        tracing::warn!("{}: {problem}", file.display());
    }
    plugins
}

fn load(file: &Path, home: &Path) -> (Vec<Plugin>, Vec<String>) {
    match read(file) {
        Ok(Some(bytes)) => parse(&bytes, file.parent().unwrap_or(home), home),
        Ok(None) => (Vec::new(), Vec::new()),
        Err(problem) => (Vec::new(), vec![problem]),
    }
}

/// Returns `None` if there is no record.
fn read(file: &Path) -> Result<Option<Vec<u8>>, String> {
    // Opening a pipe must not block.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| format!("cannot be read: {error}"))?,
    };
    let metadata = opened.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(MAX_RECORD_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_RECORD_BYTES {
        return Err(format!("has {} bytes; the limit is {MAX_RECORD_BYTES}", metadata.len().max(MAX_RECORD_BYTES + 1)));
    }
    Ok(Some(bytes))
}

/// Returns the plugins of a record, and its problems. Relative paths start at `folder`.
fn parse(bytes: &[u8], folder: &Path, home: &Path) -> (Vec<Plugin>, Vec<String>) {
    let rejected = |problem: String| (Vec::new(), vec![problem]);
    let record: Value = match serde_json::from_slice(bytes) {
        Ok(record) => record,
        Err(error) => return rejected(format!("is not valid JSON: {error}")),
    };
    match record.get("version") {
        Some(version) if [1, 2].contains(&version.as_u64().unwrap_or(0)) => {}
        Some(version) => {
            let version = printable(&version.to_string());
            return rejected(format!("has version {version}; only 1 and 2 are supported"));
        }
        None => return rejected("has no `version`; only 1 and 2 are supported".to_owned()),
    }
    let Some(recorded) = record.get("plugins").and_then(Value::as_object) else {
        return rejected("has no object `plugins`".to_owned());
    };
    let mut named: Vec<(&String, &Value)> = recorded.iter().collect();
    named.sort_by_key(|(name, _)| *name);
    // Version 1 has a single entry where version 2 has a list.
    let as_list = |value| Value::as_array(value).map_or(std::slice::from_ref(value), Vec::as_slice);
    let entries = named.iter().flat_map(|(name, value)| (1..).zip(as_list(value)).map(move |entry| (*name, entry)));
    let (mut plugins, mut problems) = (Vec::new(), Vec::new());
    for (name, (number, entry)) in entries.clone().take(MAX_ENTRIES) {
        match entry.get("installPath").and_then(Value::as_str).filter(|path| !path.is_empty()) {
            Some(path) => plugins.push(Plugin {
                label: label(name),
                folder: path.strip_prefix("~/").map_or_else(|| folder.join(path), |below| home.join(below)),
            }),
            None => {
                problems.push(format!("entry {number} of `{}` has no path in `installPath`", printable(name)));
            }
        }
    }
    let ignored = entries.count().saturating_sub(MAX_ENTRIES);
    if ignored > 0 {
        problems.push(format!("has {ignored} entries more than the limit of {MAX_ENTRIES}; they are ignored"));
    }
    (plugins, problems)
}

/// Turns `NAME@MARKET` into a label: the name, without characters that a label cannot have.
fn label(name: &str) -> String {
    let plugin = name.rsplit_once('@').map_or(name, |(plugin, _)| plugin).trim();
    let usable = |letter: char| !matches!(letter, ':' | '/') && !letter.is_control();
    let label: String = plugin.chars().map(|letter| if usable(letter) { letter } else { '-' }).collect();
    if label.is_empty() { "plugin".to_owned() } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(record: &Value) -> (Vec<(String, String)>, Vec<String>) {
        let (folder, home) = (Path::new("/home/me/.claude/plugins"), Path::new("/home/me"));
        let (plugins, problems) = parse(record.to_string().as_bytes(), folder, home);
        (plugins.into_iter().map(|plugin| (plugin.label, plugin.folder.display().to_string())).collect(), problems)
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(label, folder)| ((*label).to_owned(), (*folder).to_owned())).collect()
    }

    #[test]
    fn both_versions_are_supported_and_unknown_fields_are_ignored() {
        let entry = |path: &str| json!({"installPath": path, "scope": "user", "installedAt": 7});
        let first = json!({"version": 1, "plugins": {"pdf@docs": entry("/opt/pdf")}, "more": []});
        assert_eq!(parsed(&first), (pairs(&[("pdf", "/opt/pdf")]), vec![]));
        let second = json!({"version": 2, "plugins": {
            "zip@docs": [entry("~/plugins/zip"), entry("cache/zip/2.0")],
            "pdf@docs": [entry("/opt/pdf")],
            "none@docs": [],
        }});
        let expected =
            [("pdf", "/opt/pdf"), ("zip", "/home/me/plugins/zip"), ("zip", "/home/me/.claude/plugins/cache/zip/2.0")];
        assert_eq!(parsed(&second), (pairs(&expected), vec![]));
    }

    #[test]
    fn a_broken_entry_is_reported_and_the_others_are_used() {
        let good = json!({"installPath": "/good"});
        let entries = json!([{"installPath": 7}, good, {}, null, {"installPath": ""}]);
        let (plugins, problems) =
            parsed(&json!({"version": 2, "plugins": {"a@m": entries, "b\n@m": "text", "c@m": [good]}}));
        assert_eq!(plugins, pairs(&[("a", "/good"), ("c", "/good")]));
        let entry = |number: usize, name: &str| format!("entry {number} of `{name}` has no path in `installPath`");
        let expected = [entry(1, "a@m"), entry(3, "a@m"), entry(4, "a@m"), entry(5, "a@m"), entry(1, "b\\n@m")];
        assert_eq!(problems, expected);
    }

    #[test]
    fn an_unsupported_record_has_no_plugins_and_a_reason() {
        let brackets = "[".repeat(100_000);
        for (record, reason) in [
            (r#"{"version": 3, "plugins": {}}"#, "has version 3"),
            (r#"{"version": "2", "plugins": {}}"#, "has version \"2\""),
            (r#"{"version": -1, "plugins": {}}"#, "has version -1"),
            (r#"{"plugins": {"a@m": [{"installPath": "/a"}]}}"#, "has no `version`"),
            ("[]", "has no `version`"),
            (r#"{"version": 2}"#, "has no object `plugins`"),
            (r#"{"version": 2, "plugins": [1]}"#, "has no object `plugins`"),
            ("", "is not valid JSON: "),
            ("{", "is not valid JSON: "),
            (&brackets, "is not valid JSON: "),
        ] {
            let (plugins, problems) = parse(record.as_bytes(), Path::new("/"), Path::new("/"));
            assert!(plugins.is_empty() && problems.len() == 1, "{reason}: {problems:?}");
            assert!(problems[0].starts_with(reason), "{problems:?}");
        }
        assert!(parse(b"\xff\xfe", Path::new("/"), Path::new("/")).1[0].starts_with("is not valid JSON: "));
    }

    #[test]
    fn entries_beyond_the_limit_are_ignored_and_reported() {
        let entry = json!({"installPath": "x"});
        let (plugins, problems) = parsed(&json!({"version": 2, "plugins": {"a@m": vec![entry; MAX_ENTRIES + 5]}}));
        assert_eq!(plugins.len(), MAX_ENTRIES);
        assert_eq!(problems, ["has 5 entries more than the limit of 1000; they are ignored"]);
    }

    #[test]
    fn a_label_has_no_colon_slash_or_control_character() {
        for (name, expected) in [
            ("pdf@docs", "pdf"),
            ("pdf", "pdf"),
            ("@scope/pdf@docs", "@scope-pdf"),
            ("a:b\u{7}c@m", "a-b-c"),
            ("été 文@m", "été 文"),
            ("@docs", "plugin"),
            (" @docs", "plugin"),
            ("", "plugin"),
        ] {
            assert_eq!(label(name), expected, "{name}");
        }
    }

    #[test]
    fn only_a_regular_file_of_a_reasonable_size_is_read() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(RECORD);
        let problem = || load(&file, home.path()).1.join("\n");
        assert_eq!(problem(), "");
        std::fs::create_dir_all(&file).unwrap();
        assert_eq!(problem(), "is not a regular file");
        std::fs::remove_dir(&file).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert_eq!(problem(), "is not a regular file");
        std::fs::remove_file(&file).unwrap();
        std::fs::File::create(&file).unwrap().set_len(MAX_RECORD_BYTES + 1).unwrap();
        assert_eq!(problem(), "has 4194305 bytes; the limit is 4194304");
        std::fs::File::create(&file).unwrap().set_len(MAX_RECORD_BYTES).unwrap();
        assert!(problem().starts_with("is not valid JSON: "), "{}", problem());
    }
}
