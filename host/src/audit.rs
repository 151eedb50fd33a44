//! What ran and what was refused, one line each, in a chain that shows every later change.
//!
//! Each line carries the code of the line before and a code of its own, both made with a key that only the user has. The
//! head, a small file beside them, knows the first and the last line, so that lines cut off at either end are missed too.

mod chain;
mod record;
mod verify;

pub use record::Record;
pub use verify::{Fault, Verdict};

use crate::private::{self, Key, Untrusted};
use chain::{Head, Line};
use serde_json::{Map, Value};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use verify::Found;

/// A file that is longer than this is put aside, in bytes.
const FILE_BYTES: u64 = 4 << 20;

/// Most files that are kept; the oldest go.
const MOST_FILES: usize = 16;

/// The length of the head, in bytes.
const HEAD_BYTES: usize = 512;

/// Nothing is added to a record that somebody changed: the next line would hide it.
const TAMPERED: &str =
    "somebody changed or removed its head; look with `skillcell audit verify`, then move the folder away";

/// The record, shared by all servers of this user.
pub struct Audit {
    folder: PathBuf,
    key: Key,
    file_bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    #[error("the audit record in {folder} cannot be written: {reason}", folder = folder.display())]
    Unwritable { folder: PathBuf, reason: io::Error },
}

impl Audit {
    /// Opens the record. Folder and key are made if they are missing.
    pub fn open(folder: &Path, key: &Path) -> Result<Self, AuditError> {
        private::folder(folder)?;
        let unwritable = |reason| AuditError::Unwritable { folder: folder.to_owned(), reason };
        let _lock = lock(folder).map_err(unwritable)?;
        let is_new = !key.exists();
        let audit = Self { folder: folder.to_owned(), key: Key::in_file(key)?, file_bytes: FILE_BYTES };
        // From the first moment there is a head, so that later its absence tells something.
        if is_new && !audit.head_path().exists() {
            audit.write_head(&Head::default()).map_err(unwritable)?;
        }
        Ok(audit)
    }

    /// Adds a line. Other servers wait meanwhile.
    pub fn add(&self, entry: Map<String, Value>) -> Result<(), AuditError> {
        self.try_add(entry).map_err(|reason| AuditError::Unwritable { folder: self.folder.clone(), reason })
    }

    fn try_add(&self, entry: Map<String, Value>) -> io::Result<()> {
        let _lock = lock(&self.folder)?;
        let Found::Genuine(mut head) = self.head()? else { return Err(io::Error::other(TAMPERED)) };
        let path = self.current();
        let append = || OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let mut file = append()?;
        let mut length = file.metadata()?.len();
        if length > head.length {
            // A crash leaves one whole line that did not reach the head, or a part of one, which is removed.
            let line = chain::line_after(&path, head.length)?;
            if let Some(line) = line.filter(|line| line.follows(&self.key, head.last, &head.code)) {
                (head.last, head.code) = (line.number, line.code);
            } else {
                file.set_len(head.length)?;
                length = head.length;
            }
        }
        if length >= self.file_bytes {
            std::fs::rename(&path, self.folder.join(format!("audit-{:012}.jsonl", head.last)))?;
            file = append()?;
            length = 0;
            self.forget_oldest(&mut head)?;
        }
        let line = Line::new(&self.key, head.last + 1, &head.code, entry);
        file.write_all(line.text.as_bytes())?;
        head.last = line.number;
        head.code = line.code;
        head.first = head.first.max(1);
        head.length = length + line.text.len() as u64;
        self.write_head(&head)
    }

    /// Removes the oldest files and lets the head know where the record begins now.
    fn forget_oldest(&self, head: &mut Head) -> io::Result<()> {
        let mut old = self.put_aside()?;
        while old.len() >= MOST_FILES {
            std::fs::remove_file(old.remove(0))?;
        }
        if let Some(first) = old.first().map(|path| chain::first_line(path)).transpose()?.flatten() {
            head.first = first.number;
            head.before_first = first.before;
        }
        Ok(())
    }

    /// Every line, the oldest first.
    pub fn lines(&self) -> io::Result<Vec<String>> {
        let _lock = lock(&self.folder)?;
        self.all_lines()
    }

    fn all_lines(&self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        let mut files = self.put_aside()?;
        files.push(self.current());
        for path in files {
            match std::fs::read_to_string(&path) {
                Ok(text) => lines.extend(text.lines().map(str::to_owned)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(lines)
    }

    /// Checks the whole chain.
    pub fn verify(&self) -> io::Result<Verdict> {
        let _lock = lock(&self.folder)?;
        Ok(verify::verify(&self.key, &self.all_lines()?, self.head()?))
    }

    fn current(&self) -> PathBuf {
        self.folder.join("audit.jsonl")
    }

    fn head_path(&self) -> PathBuf {
        self.folder.join("head.json")
    }

    fn head(&self) -> io::Result<Found> {
        match std::fs::read_to_string(self.head_path()) {
            Ok(text) => Ok(Head::read(&self.key, &text).map_or(Found::Forged, Found::Genuine)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Written in its place, in one piece no larger than what a disk writes at once. A new file that takes the place of the
    /// old one would make the file system write it out each time.
    fn write_head(&self, head: &Head) -> io::Result<()> {
        let text = format!("{:<HEAD_BYTES$}", head.text(&self.key));
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(self.head_path())?;
        file.write_all_at(text.as_bytes(), 0)
    }

    /// Files that are full, the oldest first.
    fn put_aside(&self) -> io::Result<Vec<PathBuf>> {
        let is_old = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("audit-"))
        };
        let entries: Result<Vec<_>, _> = std::fs::read_dir(&self.folder)?.collect();
        let mut files: Vec<PathBuf> = entries?.into_iter().map(|entry| entry.path()).filter(is_old).collect();
        files.sort();
        Ok(files)
    }
}

/// Held while the record is read or written, also against other servers.
fn lock(folder: &Path) -> io::Result<File> {
    private::lock(&folder.join("lock"))
}

#[cfg(test)]
mod tests;
