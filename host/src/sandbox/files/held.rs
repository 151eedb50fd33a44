//! A folder in memory as it was when the server started. Nobody can change it.

use super::memory::MemoryFile;
use super::{Entry, FileError, How, Kind, NewTimes, Opened, Stat, Volume};
use crate::bindings::library::ReadError;
use crate::library::held::{HeldFolder, Node};
use crate::library::reading::is_hidden;
use crate::library::resources::EntryKind;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

/// Without what is hidden in it, also by a link.
pub struct Held {
    folder: HeldFolder,
}

impl Held {
    pub fn skill(folder: HeldFolder) -> Self {
        Self { folder }
    }

    fn find(&self, path: &str, follow: bool) -> Result<(String, &Node), FileError> {
        if path.split('/').any(is_hidden) || self.folder.leads_to_hidden(path) {
            return Err(FileError::NotFound);
        }
        self.folder.find(path, follow).map_err(of_read)
    }
}

impl Volume for Held {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError> {
        let (place, node) = self.find(path, follow)?;
        let stat = |kind: Kind, size: u64, time: SystemTime| Stat::new(kind, size, number(&place), time);
        Ok(match node {
            Node::Folder(_) => stat(Kind::Folder, 0, SystemTime::UNIX_EPOCH),
            Node::File(file) => stat(Kind::File, file.size, file.modified),
            Node::Link(leads) => stat(Kind::Link, leads.len() as u64, SystemTime::UNIX_EPOCH),
            Node::Other => stat(Kind::Other, 0, SystemTime::UNIX_EPOCH),
        })
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, FileError> {
        let (place, listed) = match self.find(path, true)? {
            (place, Node::Folder(Some(entries))) => (place, entries),
            (_, Node::Folder(None)) => return Err(FileError::NotPermitted),
            _ => return Err(FileError::NotAFolder),
        };
        let mut entries = Vec::new();
        for entry in listed {
            let Some(name) = entry.name.clone().filter(|name| !is_hidden(name)) else { continue };
            let kind = match entry.kind {
                EntryKind::Link if self.folder.leads_to_hidden(&format!("{path}/{name}")) => continue,
                EntryKind::Link => Kind::Link,
                EntryKind::Folder => Kind::Folder,
                EntryKind::Other => Kind::File,
            };
            entries.push(Entry { number: number(&format!("{place}/{name}")), name, kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn open(&mut self, path: &str, how: How) -> Result<Opened, FileError> {
        let found = self.find(path, how.follow);
        if how.write || how.truncate || how.create && (how.exclusive || found.is_err()) {
            return Err(if how.folder { FileError::IsAFolder } else { FileError::ReadOnly });
        }
        match found? {
            (_, Node::Folder(_)) => Ok(Opened::Folder),
            (_, Node::File(_)) if how.folder => Err(FileError::NotAFolder),
            (place, Node::File(file)) => {
                let bytes = file.bytes.clone().map_err(of_read)?;
                Ok(Opened::File(MemoryFile::of(bytes, number(&place), file.modified)))
            }
            (_, Node::Link(_)) => Err(FileError::ThroughLink),
            (_, Node::Other) => Err(FileError::NotPermitted),
        }
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        Err(if self.find(path, false).is_ok() { FileError::Exists } else { FileError::ReadOnly })
    }

    fn remove_folder(&mut self, _path: &str) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }

    fn remove_file(&mut self, _path: &str) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }

    fn rename(&mut self, _from: &str, _to: &str) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        match self.find(path, false)?.1 {
            // Where the folder was on this machine is none of the guest's business.
            Node::Link(leads) if leads.starts_with('/') => Err(FileError::NotPermitted),
            Node::Link(leads) => Ok(leads.clone()),
            Node::Folder(_) | Node::File(_) | Node::Other => Err(FileError::BadPath),
        }
    }

    fn set_times(&mut self, _path: &str, _times: NewTimes) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }
}

/// Tells files apart, as inodes do.
fn number(place: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    hasher.finish()
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn of_read(error: ReadError) -> FileError {
    match error {
        ReadError::NotFound => FileError::NotFound,
        ReadError::OutsideRoot => FileError::Escapes,
        ReadError::NoPermission | ReadError::NotAFile => FileError::NotPermitted,
        ReadError::TooLarge(_) | ReadError::NotText(_) | ReadError::SetAside(_) | ReadError::Failed(_) => {
            FileError::Failed
        }
    }
}
