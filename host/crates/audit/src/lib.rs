//! The audit record: what ran and what was refused, one JSON line each, in a chain that reveals later changes.
//!
//! Each line carries the code of the previous line and a code of its own, both made with a key that only the user has. The
//! head, a small file beside them, names the first and the last line, so that lines cut off at either end are noticed too.
//!
//! Owns the files of the record, their rotation and their verification. Must not know what an entry means: callers pass
//! JSON objects. Only `scripts` and `integrations` write (the table in `tests/it/tidy.rs`). Without a home folder the record is
//! [`Record::Disabled`] and entries are discarded; while it is [`Record::Broken`], nothing may run. Only `scripts` and `integrations` write (the table in `tests/it/tidy.rs`). Without a home folder the record is
//! [`Record::Disabled`] and entries are discarded; while it is [`Record::Broken`], nothing may run. Only `scripts` and `integrations` write (the table in `tests/it/tidy.rs`). Without a home folder the record is
//! [`Record::Disabled`] and entries are discarded; while it is [`Record::Broken`], nothing may run. Only `scripts` and `integrations` write (the table in `tests/it/tidy.rs`). Without a home folder the record is
//! [`Record::Disabled`] and entries are discarded; while it is [`Record::Broken`], nothing may run. Only `scripts` and `integrations` write (the table in `tests/it/tidy.rs`). Without a home folder the record is
//! [`Record::Disabled`] and entries are discarded; while it is [`Record::Broken`], nothing may run.
//!
//! Start reading with [`Audit::add`], then `verify`, which lists every kind of tampering that is detected. [`Record`] is
//! what callers hold.

mod chain;
mod verify;

pub use verify::{Fault, Verdict};

use base::place::LocalReason;
use base::user_files::{self, Key, Untrusted};
use chain::{Head, Line};
use serde_json::{Map, Value};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size at which a file is rotated.
const FILE_BYTES: u64 = 4 << 20;

/// Beyond this number, the oldest files are deleted.
const MAX_FILES: usize = 16;

/// The head is padded to this length.
const HEAD_BYTES: usize = 512;

/// Nothing is added to a record that was tampered with: the next line would hide it.
const TAMPERED: &str =
    "its head was changed or removed; check it with `skillcell audit verify`, then move the folder away";

/// The destination of audit entries.
pub enum Record {
    Writable(Audit),
    /// The home folder is unknown, so entries are discarded.
    Disabled,
    /// The folder cannot be used.
    Broken(LocalReason),
}

impl Record {
    /// Appends a line, if the record can be written. The line is handed to the operating system when this returns.
    pub async fn write(self: &Arc<Self>, entry: Map<String, Value>) -> Result<(), AuditError> {
        let record = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || match &*record {
            Self::Writable(audit) => audit.add(entry),
            Self::Disabled | Self::Broken(_) => Ok(()),
        });
        let aborted = |_| AuditError::Unwritable {
            folder: PathBuf::new(),
            reason: io::Error::other("the server is shutting down"),
        };
        written.await.map_err(aborted)?
    }
}

/// The files of the record, shared by all servers of this user.
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
    /// Opens the record. Creates the folder and the key if they are missing.
    pub fn open(folder: &Path, key: &Path) -> Result<Self, AuditError> {
        user_files::ensure_folder(folder)?;
        let unwritable = |reason| AuditError::Unwritable { folder: folder.to_owned(), reason };
        let _lock = lock(folder).map_err(unwritable)?;
        let is_new = !key.exists();
        let audit = Self { folder: folder.to_owned(), key: Key::in_file(key)?, file_bytes: FILE_BYTES };
        // Written right away, so that a missing head always means tampering.
        if is_new && !audit.head_path().exists() {
            audit.write_head(&Head::default()).map_err(unwritable)?;
        }
        Ok(audit)
    }

    /// Appends a line. Other servers wait meanwhile.
    pub fn add(&self, entry: Map<String, Value>) -> Result<(), AuditError> {
        self.try_add(entry).map_err(|reason| AuditError::Unwritable { folder: self.folder.clone(), reason })
    }

    fn try_add(&self, entry: Map<String, Value>) -> io::Result<()> {
        let _lock = lock(&self.folder)?;
        let mut head = self.head()?.ok_or_else(|| io::Error::other(TAMPERED))?;
        let path = self.current();
        let append = || OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let mut file = append()?;
        let mut length = file.metadata()?.len();
        if length > head.length {
            // After a crash there can be one line that the head does not know. It is kept if complete, else removed.
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
            self.remove_oldest(&mut head)?;
        }
        let line = Line::new(&self.key, head.last + 1, &head.code, entry);
        file.write_all(line.text.as_bytes())?;
        head.last = line.number;
        head.code = line.code;
        head.first = head.first.max(1);
        head.length = length + line.text.len() as u64;
        self.write_head(&head)
    }

    /// Deletes the oldest files and updates the start of the record in the head.
    fn remove_oldest(&self, head: &mut Head) -> io::Result<()> {
        let mut rotated = self.rotated_files()?;
        while rotated.len() >= MAX_FILES {
            std::fs::remove_file(rotated.remove(0))?;
        }
        if let Some(first) = rotated.first().map(|path| chain::first_line(path)).transpose()?.flatten() {
            head.first = first.number;
            head.before_first = first.before;
        }
        Ok(())
    }

    /// Returns every line, oldest first.
    pub fn lines(&self) -> io::Result<Vec<String>> {
        let _lock = lock(&self.folder)?;
        self.all_lines()
    }

    fn all_lines(&self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        let mut files = self.rotated_files()?;
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

    /// Returns `None` if the head is missing or forged.
    fn head(&self) -> io::Result<Option<Head>> {
        match std::fs::read_to_string(self.head_path()) {
            Ok(text) => Ok(Head::read(&self.key, &text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Overwrites the head in place, with a single write no larger than a disk sector. Replacing the file instead would
    /// make the file system flush it every time.
    fn write_head(&self, head: &Head) -> io::Result<()> {
        let text = format!("{:<HEAD_BYTES$}", head.text(&self.key));
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(self.head_path())?;
        file.write_all_at(text.as_bytes(), 0)
    }

    /// Oldest first.
    fn rotated_files(&self) -> io::Result<Vec<PathBuf>> {
        let is_rotated = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("audit-"))
        };
        let entries: Result<Vec<_>, _> = std::fs::read_dir(&self.folder)?.collect();
        let mut files: Vec<PathBuf> = entries?.into_iter().map(|entry| entry.path()).filter(is_rotated).collect();
        files.sort();
        Ok(files)
    }
}

/// Excludes other threads and servers while the record is read or written.
fn lock(folder: &Path) -> io::Result<File> {
    user_files::lock(&folder.join("lock"))
}

#[cfg(test)]
mod tests;
