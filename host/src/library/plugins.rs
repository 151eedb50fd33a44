//! Where installed plugins are, as the user's other tools recorded it.

use crate::printable::printable;
use rustix::fs::OFlags;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where the record is, below the home folder.
const RECORD: &str = ".claude/plugins/installed_plugins.json";

/// Largest record that is read, in bytes. A real one has a few hundred for each plugin.
const RECORD_LIMIT: u64 = 4 << 20;

/// Most entries of a record that are taken. Each becomes a root, and every look at the disk opens all of them.
const MOST_ENTRIES: usize = 1_000;

/// A plugin that may have skills.
#[derive(Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its name, without what a qualified name cannot have in front of its colon.
    pub label: String,
    /// Where it is installed; it need not exist.
    pub folder: PathBuf,
}

/// The plugins that are recorded below a home folder, sorted by name; an entry each, so that one may come several times.
///
/// The record is read at this moment and not watched: a plugin that is installed later is served after the next start. No
/// record is no plugins. What is wrong with one is logged, and the rest of it is taken.
pub fn installed(home: &Path) -> Vec<Plugin> {
    let file = home.join(RECORD);
    let (plugins, problems) = look(&file, home);
    for problem in problems {
        tracing::warn!("{}: {problem}", file.display());
    }
    plugins
}

fn look(file: &Path, home: &Path) -> (Vec<Plugin>, Vec<String>) {
    match read(file) {
        Ok(Some(bytes)) => understand(&bytes, file.parent().unwrap_or(home), home),
        Ok(None) => (Vec::new(), Vec::new()),
        Err(problem) => (Vec::new(), vec![problem]),
    }
}

/// The bytes of the record, or nothing when there is none.
fn read(file: &Path) -> Result<Option<Vec<u8>>, String> {
    // A pipe is opened without waiting for its other end.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| format!("cannot be read: {error}"))?,
    };
    let metadata = opened.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(RECORD_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > RECORD_LIMIT {
        return Err(format!("has {} bytes, and at most {RECORD_LIMIT} are read", metadata.len().max(RECORD_LIMIT + 1)));
    }
    Ok(Some(bytes))
}

/// The plugins of a record, and what is wrong with it. Paths in it begin at its folder.
fn understand(bytes: &[u8], folder: &Path, home: &Path) -> (Vec<Plugin>, Vec<String>) {
    let nothing = |problem: String| (Vec::new(), vec![problem]);
    let record: Value = match serde_json::from_slice(bytes) {
        Ok(record) => record,
        Err(error) => return nothing(format!("is no JSON: {error}")),
    };
    match record.get("version") {
        Some(version) if [1, 2].contains(&version.as_u64().unwrap_or(0)) => {}
        Some(version) => {
            let version = printable(&version.to_string());
            return nothing(format!("has version {version}, and only 1 and 2 are understood"));
        }
        None => return nothing("has no `version`, and only 1 and 2 are understood".to_owned()),
    }
    let Some(recorded) = record.get("plugins").and_then(Value::as_object) else {
        return nothing("has no object `plugins`".to_owned());
    };
    let mut named: Vec<(&String, &Value)> = recorded.iter().collect();
    named.sort_by_key(|(name, _)| *name);
    // Version 1 has an entry where version 2 has a list of them.
    let listed = |said| Value::as_array(said).map_or(std::slice::from_ref(said), Vec::as_slice);
    let entries = named.iter().flat_map(|(name, said)| (1..).zip(listed(said)).map(move |entry| (*name, entry)));
    let (mut plugins, mut problems) = (Vec::new(), Vec::new());
    for (name, (number, entry)) in entries.clone().take(MOST_ENTRIES) {
        match entry.get("installPath").and_then(Value::as_str).filter(|path| !path.is_empty()) {
            Some(path) => plugins.push(Plugin {
                label: label(name),
                folder: path.strip_prefix("~/").map_or_else(|| folder.join(path), |below| home.join(below)),
            }),
            None => {
                problems.push(format!("entry {number} of `{}` has no `installPath` with a path", printable(name)));
            }
        }
    }
    let left_out = entries.count().saturating_sub(MOST_ENTRIES);
    if left_out > 0 {
        problems.push(format!("has {left_out} entries more than the {MOST_ENTRIES} that are taken"));
    }
    (plugins, problems)
}

/// The plugin's part of `NAME@MARKET`, as it can stand in front of the colon of a qualified name.
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

    fn understood(record: &Value) -> (Vec<(String, String)>, Vec<String>) {
        let (folder, home) = (Path::new("/home/me/.claude/plugins"), Path::new("/home/me"));
        let (plugins, problems) = understand(record.to_string().as_bytes(), folder, home);
        (plugins.into_iter().map(|plugin| (plugin.label, plugin.folder.display().to_string())).collect(), problems)
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(label, folder)| ((*label).to_owned(), (*folder).to_owned())).collect()
    }

    #[test]
    fn both_versions_are_understood_and_unknown_fields_are_fine() {
        let entry = |path: &str| json!({"installPath": path, "scope": "user", "installedAt": 7});
        let first = json!({"version": 1, "plugins": {"pdf@docs": entry("/opt/pdf")}, "more": []});
        assert_eq!(understood(&first), (pairs(&[("pdf", "/opt/pdf")]), vec![]));
        let second = json!({"version": 2, "plugins": {
            "zip@docs": [entry("~/plugins/zip"), entry("cache/zip/2.0")],
            "pdf@docs": [entry("/opt/pdf")],
            "none@docs": [],
        }});
        let expected =
            [("pdf", "/opt/pdf"), ("zip", "/home/me/plugins/zip"), ("zip", "/home/me/.claude/plugins/cache/zip/2.0")];
        assert_eq!(understood(&second), (pairs(&expected), vec![]));
    }

    #[test]
    fn a_broken_entry_is_told_and_the_others_are_taken() {
        let good = json!({"installPath": "/good"});
        let entries = json!([{"installPath": 7}, good, {}, null, {"installPath": ""}]);
        let (plugins, problems) =
            understood(&json!({"version": 2, "plugins": {"a@m": entries, "b\n@m": "text", "c@m": [good]}}));
        assert_eq!(plugins, pairs(&[("a", "/good"), ("c", "/good")]));
        let entry = |number: usize, name: &str| format!("entry {number} of `{name}` has no `installPath` with a path");
        let expected = [entry(1, "a@m"), entry(3, "a@m"), entry(4, "a@m"), entry(5, "a@m"), entry(1, "b\\n@m")];
        assert_eq!(problems, expected);
    }

    #[test]
    fn a_record_that_is_not_understood_brings_no_plugins_and_a_reason() {
        let plugins = json!({"a@m": [{"installPath": "/a"}]});
        for (record, reason) in [
            (json!({"version": 3, "plugins": plugins}), "has version 3"),
            (json!({"version": "2", "plugins": plugins}), "has version \"2\""),
            (json!({"version": -1, "plugins": plugins}), "has version -1"),
            (json!({"plugins": plugins}), "has no `version`"),
            (json!([]), "has no `version`"),
            (json!({"version": 2}), "has no object `plugins`"),
            (json!({"version": 2, "plugins": [1]}), "has no object `plugins`"),
        ] {
            let (plugins, problems) = understood(&record);
            assert_eq!(plugins, vec![], "{record}");
            assert!(problems.len() == 1 && problems[0].contains(reason), "{record}: {problems:?}");
        }
    }

    #[test]
    fn text_that_is_no_json_is_told() {
        for bytes in [&b""[..], b"{", b"\xff\xfe", &b"[".repeat(100_000)] {
            let (plugins, problems) = understand(bytes, Path::new("/"), Path::new("/"));
            assert_eq!(plugins, vec![]);
            assert!(problems.len() == 1 && problems[0].starts_with("is no JSON: "), "{problems:?}");
        }
    }

    #[test]
    fn a_record_with_very_many_entries_is_cut_and_says_so() {
        let entry = json!({"installPath": "x"});
        let (plugins, problems) = understood(&json!({"version": 2, "plugins": {"a@m": vec![entry; MOST_ENTRIES + 5]}}));
        assert_eq!(plugins.len(), MOST_ENTRIES);
        assert_eq!(problems, ["has 5 entries more than the 1000 that are taken"]);
    }

    #[test]
    fn a_label_can_stand_in_front_of_a_colon() {
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
        let problem = || look(&file, home.path()).1.join("\n");
        assert_eq!(problem(), "");
        std::fs::create_dir_all(&file).unwrap();
        assert_eq!(problem(), "is no regular file");
        std::fs::remove_dir(&file).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert_eq!(problem(), "is no regular file");
        std::fs::remove_file(&file).unwrap();
        std::fs::File::create(&file).unwrap().set_len(RECORD_LIMIT + 1).unwrap();
        assert_eq!(problem(), "has 4194305 bytes, and at most 4194304 are read");
        std::fs::File::create(&file).unwrap().set_len(RECORD_LIMIT).unwrap();
        assert!(problem().starts_with("is no JSON: "), "{}", problem());
    }
}
