//! What happened on this machine, for `skillcell stats`: no text, no arguments, and only so much of it.
//!
//! All servers add to one file. Each line is written at once, and the system puts it behind the others'.

use super::event::Event;
use crate::private;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file that is longer than this is put aside, in bytes, and the one that was put aside before goes.
const FILE_BYTES: u64 = 4 << 20;

/// One thing that happened.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Past<'a> {
    pub time: Cow<'a, str>,
    pub session: Cow<'a, str>,
    /// The kind of an event, or
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Cow<'a, str>>,
    /// the tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub useful: Option<bool>,
}

impl<'a> Past<'a> {
    pub fn event(event: &'a Event, session: &'a str, time: &'a str) -> Self {
        Self {
            time: time.into(),
            session: session.into(),
            event: Some(event.kind().into()),
            skill: event.skill().map(Cow::from),
            success: event.success(),
            useful: event.useful(),
            tool: None,
        }
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
    /// The history in a folder, which is made when something is added.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file_bytes: FILE_BYTES, file: Mutex::default() }
    }

    /// Makes the folder if it is missing.
    pub fn prepare(&self) -> io::Result<()> {
        private::folder(&self.folder).map_err(io::Error::other)
    }

    pub fn add<'a>(&self, past: impl IntoIterator<Item = Past<'a>>) -> io::Result<()> {
        let lines: String =
            past.into_iter().map(|past| serde_json::to_string(&past).expect("plain data") + "\n").collect();
        let mut current = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = current.take().filter(|file| self.is_current(file));
        let (mut file, lines) = match usable {
            Some(file) => (file, lines),
            // Whoever wrote last may have died in the middle of a line.
            None => (self.open_file()?, format!("\n{lines}")),
        };
        file.write_all(lines.as_bytes())?;
        *current = Some(file);
        Ok(())
    }

    /// A file that another server put aside is full, too.
    fn is_current(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|metadata| metadata.nlink() > 0 && metadata.len() < self.file_bytes)
    }

    fn open_file(&self) -> io::Result<File> {
        self.prepare()?;
        let path = current(&self.folder);
        if let Some(_alone) = private::try_lock(&self.folder.join("history.lock"))?
            && std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() >= self.file_bytes)
        {
            std::fs::rename(&path, put_aside(&self.folder))?;
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(path)
    }
}

fn current(folder: &Path) -> PathBuf {
    folder.join("history.jsonl")
}

fn put_aside(folder: &Path) -> PathBuf {
    folder.join("history-old.jsonl")
}

/// Everything that is known, the oldest first. What cannot be read is skipped.
pub fn read(folder: &Path) -> Vec<Past<'static>> {
    let mut all = Vec::new();
    for path in [put_aside(folder), current(folder)] {
        let bytes = std::fs::read(path).unwrap_or_default();
        all.extend(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(folder: &Path) -> Vec<String> {
        read(folder).into_iter().map(|past| past.tool.unwrap().into_owned()).collect()
    }

    #[test]
    fn half_a_line_never_sticks_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("analytics");
        History::new(&folder).add([Past::tool("one", "s", "t")]).unwrap();
        let half = |bytes: &[u8]| {
            OpenOptions::new().append(true).open(current(&folder)).unwrap().write_all(bytes).unwrap();
        };
        half(b"{\"time\":\"t\",\"tool\":\"lo");
        History::new(&folder).add([Past::tool("two", "s", "t"), Past::tool("three", "s", "t")]).unwrap();
        assert_eq!(tools(&folder), ["one", "two", "three"]);
    }

    #[test]
    fn it_grows_to_two_files_and_no_further_however_many_write() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("analytics");
        let writers: Vec<History> = (0..3).map(|_| History { file_bytes: 2_000, ..History::new(&folder) }).collect();
        for number in 0..600 {
            let tool = number.to_string();
            writers[number % 3].add([Past::tool(&tool, "s", "t")]).unwrap();
        }
        let length = |path: PathBuf| std::fs::metadata(path).unwrap().len();
        assert!(length(current(&folder)) <= 2_100 && length(put_aside(&folder)) <= 2_400);
        let kept: Vec<usize> = tools(&folder).iter().map(|tool| tool.parse().unwrap()).collect();
        assert_eq!(kept.last(), Some(&599));
        assert!(kept.len() > 40, "{kept:?}");
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), kept.len(), "each once");
    }
}
