//! Files of events: each is written by one server, and read by whoever sends when that one is done with it.
//!
//! A server holds the lock of the file it writes. The kernel gives it back when the server closes the file or dies, and that
//! is how others know that a file is complete. So no server ever waits for another, and nobody adds to a file with a half
//! line at its end.

use crate::moment;
use crate::private;
use crate::sha256::hex;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// How the name of such a file ends.
const ENDING: &str = ".jsonl";

/// A file that this server adds to.
pub struct Segment {
    file: File,
    pub name: String,
    /// What is in it, in bytes and in events.
    pub length: u64,
    pub events: usize,
}

impl Segment {
    /// Makes a file. Its name is one that others look at only when its lock is held.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let mut chance = [0; 4];
        private::fill(&mut chance)?;
        // Names in order are files in order.
        let name = format!("{:020}-{}{ENDING}", moment::since_1970().as_nanos(), hex(&chance));
        let hidden = folder.join(format!(".{name}"));
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&hidden)?;
        let locked = file.try_lock().map_err(io::Error::from);
        if let Err(error) = locked.and_then(|()| std::fs::rename(&hidden, folder.join(&name))) {
            let _ = std::fs::remove_file(&hidden);
            return Err(error);
        }
        Ok(Self { file, name, length: 0, events: 0 })
    }

    /// Adds whole lines, all of them or none.
    pub fn add(&mut self, lines: &str, events: usize) -> io::Result<()> {
        if let Err(error) = self.file.write_all(lines.as_bytes()) {
            // A full disk may have taken a part.
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.length += lines.len() as u64;
        self.events += events;
        Ok(())
    }

    /// Whether somebody removed the file, and what is added to it would be lost.
    pub fn is_gone(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}

/// A file that its writer is done with. Nobody else has it while this value lives.
pub struct Finished {
    file: File,
    path: PathBuf,
}

impl Finished {
    /// Takes a file, unless its writer or another reader has it or it went away.
    pub fn take(path: &Path) -> Option<Self> {
        let file = private::open(path).ok()?;
        file.try_lock().ok()?;
        // Whoever had it before may have removed it.
        let is_there = file.metadata().is_ok_and(|metadata| metadata.nlink() > 0);
        is_there.then(|| Self { file, path: path.to_owned() })
    }

    /// The events in it, each as JSON. What a crash left of one is skipped.
    pub fn events(&mut self) -> io::Result<Vec<String>> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
        Ok(whole.filter_map(event).collect())
    }

    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    pub fn name(&self) -> Option<&str> {
        self.path.file_name()?.to_str()
    }
}

fn event(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok().filter(|text| text.starts_with('{'))?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(text.to_owned())
}

/// The files in a folder, the oldest first.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_segment = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.ends_with(ENDING) && !name.starts_with('.'))
    };
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    let mut paths: Vec<PathBuf> = entries?.into_iter().map(|entry| entry.path()).filter(is_segment).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_for_others_when_its_writer_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let mut segment = Segment::create(folder.path()).unwrap();
        segment.add("{\"a\":1}\n", 1).unwrap();
        let path = folder.path().join(&segment.name);
        assert!(Finished::take(&path).is_none(), "its writer has it");
        drop(segment);
        let mut finished = Finished::take(&path).unwrap();
        assert!(Finished::take(&path).is_none(), "another has it");
        assert_eq!(finished.events().unwrap(), ["{\"a\":1}"]);
        finished.remove().unwrap();
        assert!(Finished::take(&path).is_none());
        assert_eq!(list(folder.path()).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_a_crash_left_of_an_event_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.jsonl");
        private::write(&path, b"{\"a\":1}\n{\"a\":\nnot json\n[1]\n\xff\n\n{\"a\":2}\n{\"a\":3}").unwrap();
        assert_eq!(Finished::take(&path).unwrap().events().unwrap(), ["{\"a\":1}", "{\"a\":2}"]);
    }

    #[test]
    fn files_are_in_the_order_in_which_they_were_made() {
        let folder = tempfile::tempdir().unwrap();
        let made: Vec<Segment> = (0..20).map(|_| Segment::create(folder.path()).unwrap()).collect();
        let names: Vec<PathBuf> = made.iter().map(|segment| folder.path().join(&segment.name)).collect();
        assert_eq!(list(folder.path()).unwrap(), names);
    }

    #[test]
    fn a_file_that_somebody_removed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let segment = Segment::create(folder.path()).unwrap();
        assert!(!segment.is_gone());
        std::fs::remove_file(folder.path().join(&segment.name)).unwrap();
        assert!(segment.is_gone());
    }
}
