//! A folder of a server that froze its skills in memory at startup. It never changes.

use super::memory::MemoryFile;
use super::{Entry, FileError, IsDue, Kind, OpenMode, OpenNode, Stat, Volume};
use bindings::library::ReadError;
use library::frozen::{FrozenFolder, Node};
use library::reading::is_hidden;
use library::resources::EntryKind;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::time::SystemTime;

/// A skill without its hidden files, which cannot be reached through links either.
pub struct Frozen(pub FrozenFolder);

impl Frozen {
    fn find(&self, path: &str, follow: bool) -> Result<(String, &Node), FileError> {
        if path.split('/').any(is_hidden) || self.0.leads_to_hidden(path) {
            return Err(FileError::NotFound);
        }
        self.0.find(path, follow).map_err(from_read)
    }
}

impl Volume for Frozen {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError> {
        let (real_path, node) = self.find(path, follow)?;
        let stat = |kind: Kind, size: u64, time: SystemTime| Stat::new(kind, size, number(&real_path), time);
        Ok(match node {
            Node::Folder(_) => stat(Kind::Folder, 0, SystemTime::UNIX_EPOCH),
            Node::File(file) => stat(Kind::File, file.size, file.modified),
            Node::Link(target) => stat(Kind::Link, target.len() as u64, SystemTime::UNIX_EPOCH),
            Node::Other => stat(Kind::Other, 0, SystemTime::UNIX_EPOCH),
        })
    }

    fn list(&self, path: &str, is_due: IsDue<'_>) -> Result<Vec<Entry>, FileError> {
        let (real_path, listed) = match self.find(path, true)? {
            (real_path, Node::Folder(Some(entries))) => (real_path, entries),
            (_, Node::Folder(None)) => return Err(FileError::NotPermitted),
            _ => return Err(FileError::NotAFolder),
        };
        let mut entries = Vec::new();
        for entry in listed {
            if is_due() {
                return Err(FileError::Interrupted);
            }
            let Some(name) = entry.name.clone().filter(|name| !is_hidden(name)) else { continue };
            let kind = match entry.kind {
                EntryKind::Link if self.0.leads_to_hidden(&format!("{path}/{name}")) => continue,
                EntryKind::Link => Kind::Link,
                EntryKind::Folder => Kind::Folder,
                EntryKind::Other => Kind::File,
            };
            entries.push(Entry { number: number(&format!("{real_path}/{name}")), name, kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError> {
        let found = self.find(path, mode.follow);
        if mode.write || mode.truncate || mode.create && (mode.exclusive || found.is_err()) {
            return Err(if mode.folder { FileError::IsAFolder } else { FileError::ReadOnly });
        }
        match found? {
            (_, Node::Folder(_)) => Ok(None),
            (_, Node::File(_)) if mode.folder => Err(FileError::NotAFolder),
            (real_path, Node::File(file)) => {
                let bytes = file.bytes.clone().map_err(from_read)?;
                Ok(Some(MemoryFile::with_metadata(bytes, number(&real_path), file.modified)))
            }
            (_, Node::Link(_)) => Err(FileError::ThroughLink),
            (_, Node::Other) => Err(FileError::NotPermitted),
        }
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        Err(if self.find(path, false).is_ok() { FileError::Exists } else { FileError::ReadOnly })
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        match self.find(path, false)?.1 {
            // An absolute target would reveal paths of this machine.
            Node::Link(target) if target.starts_with('/') => Err(FileError::NotPermitted),
            Node::Link(target) => Ok(target.clone()),
            Node::Folder(_) | Node::File(_) | Node::Other => Err(FileError::BadPath),
        }
    }
}

/// Derives a number that identifies a file, like an inode number.
fn number(path: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(path)
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn from_read(error: ReadError) -> FileError {
    match error {
        ReadError::NotFound => FileError::NotFound,
        ReadError::OutsideRoot => FileError::Escapes,
        ReadError::NoPermission | ReadError::NotAFile => FileError::NotPermitted,
        ReadError::TooLarge(_) | ReadError::NotText(_) | ReadError::Quarantined(_) | ReadError::Failed(_) => {
            FileError::Failed
        }
    }
}
