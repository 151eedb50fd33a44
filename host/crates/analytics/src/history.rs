//! The local history for `skillcell stats`: of limited size, without texts and arguments.
//!
//! All servers append to one file, each with a single write per addition, so that their lines do not mix.

use super::event::Event;
use base::user_files;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Size at which the file is rotated. Only one rotated file is kept.
const FILE_BYTES: u64 = 4 << 20;

/// An event or a tool call.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryEntry<'a> {
    pub time: Cow<'a, str>,
    pub session: Cow<'a, str>,
    /// The kind of event; `None` for a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Cow<'a, str>>,
    /// `None` for an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub useful: Option<bool>,
}

impl<'a> HistoryEntry<'a> {
    pub fn event(event: &'a Event, session: &'a str, time: &'a str) -> Self {
        let (skill, success, useful) = match event {
            Event::SkillServed { skill_path, .. } | Event::AssetServed { skill_path, .. } => {
                (Some(skill_path), None, None)
            }
            Event::ScriptExecuted { skill_path, success, .. } => (Some(skill_path), Some(*success), None),
            Event::SkillFeedback { skill_path, useful, .. } => (Some(skill_path), None, Some(*useful)),
            Event::NoMatch { .. } | Event::Ambiguous { .. } | Event::Refresh { .. } => (None, None, None),
        };
        let (event, skill) = (Some(event.kind().into()), skill.map(Cow::from));
        Self { time: time.into(), session: session.into(), event, tool: None, skill, success, useful }
    }

    pub fn tool(tool: &'a str, session: &'a str, time: &'a str) -> Self {
        Self { time: time.into(), session: session.into(), tool: Some(tool.into()), ..Self::default() }
    }
}

pub struct History {
    folder: PathBuf,
    file_bytes: u64,
    file: Mutex<Option<File>>,
}

impl History {
    /// Creates no files; the folder is created when an entry is added.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file_bytes: FILE_BYTES, file: Mutex::default() }
    }

    /// Creates the folder if it is missing.
    pub fn prepare(&self) -> io::Result<()> {
        user_files::ensure_folder(&self.folder).map_err(io::Error::other)
    }

    pub fn add<'a>(&self, entries: impl IntoIterator<Item = HistoryEntry<'a>>) -> io::Result<()> {
        let lines: String =
            entries.into_iter().map(|entry| serde_json::to_string(&entry).expect("plain data") + "\n").collect();
        let mut current = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = current.take().filter(|file| self.is_current(file));
        let (mut file, lines) = match usable {
            Some(file) => (file, lines),
            // The previous writer may have died in the middle of a line.
            None => (self.open_file()?, format!("\n{lines}")),
        };
        file.write_all(lines.as_bytes())?;
        *current = Some(file);
        Ok(())
    }

    /// A file that another server rotated has reached the limit, so its length is enough to tell.
    fn is_current(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|metadata| metadata.nlink() > 0 && metadata.len() < self.file_bytes)
    }

    fn open_file(&self) -> io::Result<File> {
        self.prepare()?;
        let path = current_file(&self.folder);
        if let Some(_lock) = user_files::try_lock(&self.folder.join("history.lock"))?
            && std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() >= self.file_bytes)
        {
            std::fs::rename(&path, rotated_file(&self.folder))?;
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(path)
    }
}

fn current_file(folder: &Path) -> PathBuf {
    folder.join("history.jsonl")
}

fn rotated_file(folder: &Path) -> PathBuf {
    folder.join("history-old.jsonl")
}

/// Reads all entries, oldest first. Lines that cannot be parsed are skipped.
pub fn read(folder: &Path) -> Vec<HistoryEntry<'static>> {
    let mut entries = Vec::new();
    for path in [rotated_file(folder), current_file(folder)] {
        let bytes = std::fs::read(path).unwrap_or_default();
        entries.extend(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(folder: &Path) -> Vec<String> {
        read(folder).into_iter().map(|entry| entry.tool.unwrap().into_owned()).collect()
    }

    #[test]
    fn an_incomplete_line_does_not_spoil_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("analytics");
        History::new(&folder).add([HistoryEntry::tool("one", "s", "t")]).unwrap();
        let append = |bytes: &[u8]| {
            OpenOptions::new().append(true).open(current_file(&folder)).unwrap().write_all(bytes).unwrap();
        };
        append(b"{\"time\":\"t\",\"tool\":\"lo");
        History::new(&folder)
            .add([HistoryEntry::tool("two", "s", "t"), HistoryEntry::tool("three", "s", "t")])
            .unwrap();
        assert_eq!(tools(&folder), ["one", "two", "three"]);
    }

    #[test]
    fn the_history_is_limited_to_two_files_however_many_servers_write() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("analytics");
        let writers: Vec<History> = (0..3).map(|_| History { file_bytes: 2_000, ..History::new(&folder) }).collect();
        for number in 0..600 {
            let tool = number.to_string();
            writers[number % 3].add([HistoryEntry::tool(&tool, "s", "t")]).unwrap();
        }
        let length = |path: PathBuf| std::fs::metadata(path).unwrap().len();
        assert!(length(current_file(&folder)) <= 2_100 && length(rotated_file(&folder)) <= 2_400);
        let kept: Vec<usize> = tools(&folder).iter().map(|tool| tool.parse().unwrap()).collect();
        assert_eq!(kept.last(), Some(&599));
        assert!(kept.len() > 40, "{kept:?}");
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), kept.len(), "each once");
    }
}
