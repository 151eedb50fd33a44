//! Files of events, each written by one server and sent by any server once its writer is done.
//!
//! A server holds the lock of the file it writes. The kernel releases it when the server closes the file or dies, which
//! tells other servers that the file is complete. So no server waits for another, and nothing is appended to an incomplete
//! line.

use base::digest::hex;
use base::timestamp;
use base::user_files;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".jsonl";

/// A file to which this server appends.
pub struct Segment {
    file: File,
    pub name: String,
    /// In bytes.
    pub length: u64,
    pub events: usize,
}

impl Segment {
    /// Creates a file. It gets its final name, by which others find it, after it is locked.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let mut random = [0; 4];
        user_files::fill_random(&mut random)?;
        // Sorting by name sorts by time.
        let name = format!("{:020}-{}{SUFFIX}", timestamp::since_epoch().as_nanos(), hex(&random));
        let hidden = folder.join(format!(".{name}"));
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&hidden)?;
        let locked = file.try_lock().map_err(io::Error::from);
        if let Err(error) = locked.and_then(|()| std::fs::rename(&hidden, folder.join(&name))) {
            let _ = std::fs::remove_file(&hidden);
            return Err(error);
        }
        Ok(Self { file, name, length: 0, events: 0 })
    }

    /// Appends complete lines, all of them or none.
    pub fn add(&mut self, lines: &str, events: usize) -> io::Result<()> {
        if let Err(error) = self.file.write_all(lines.as_bytes()) {
            // A full disk may have accepted a part.
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.length += lines.len() as u64;
        self.events += events;
        Ok(())
    }

    /// Whether the file was deleted, so that anything appended would be lost.
    pub fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}

/// A file whose writer is done. It is locked while this value exists.
pub struct FinishedSegment {
    file: File,
    path: PathBuf,
}

impl FinishedSegment {
    /// Locks a file, unless its writer or another reader holds the lock or it no longer exists.
    pub fn lock(path: &Path) -> Option<Self> {
        let file = user_files::open(path).ok()?;
        file.try_lock().ok()?;
        // Its previous owner may have deleted it.
        let exists = file.metadata().is_ok_and(|metadata| metadata.nlink() > 0);
        exists.then(|| Self { file, path: path.to_owned() })
    }

    /// Returns the events, each a JSON text. Lines left incomplete by a crash are skipped.
    pub fn events(&mut self) -> io::Result<Vec<String>> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
        Ok(lines.filter_map(event).collect())
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

/// Lists the files in a folder, oldest first.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_segment = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.ends_with(SUFFIX) && !name.starts_with('.'))
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
    fn incomplete_events_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.jsonl");
        user_files::write(&path, b"{\"a\":1}\n{\"a\":\nnot json\n[1]\n\xff\n\n{\"a\":2}\n{\"a\":3}").unwrap();
        assert_eq!(FinishedSegment::lock(&path).unwrap().events().unwrap(), ["{\"a\":1}", "{\"a\":2}"]);
    }

    #[test]
    fn a_deleted_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let segment = Segment::create(folder.path()).unwrap();
        assert!(!segment.is_deleted());
        std::fs::remove_file(folder.path().join(&segment.name)).unwrap();
        assert!(segment.is_deleted());
    }
}
