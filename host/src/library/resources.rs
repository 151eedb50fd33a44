//! A folder with files of skills: as it is on disk, or held as it was.

use crate::bindings::library::{Oversize, ReadError};
use crate::library::held::HeldFolder;
use crate::library::reading;
use cap_std::fs::Dir;
use std::io;
use std::sync::Arc;

/// Most files of one folder that are listed. Whoever has more in one does not look for a single one by its name.
const MOST_LISTED: usize = 1_000;

/// Nothing outside it can be reached, whatever a path says and wherever a link leads.
#[derive(Debug, Clone)]
pub enum ResourceFolder {
    OnDisk(Arc<Dir>),
    Held(HeldFolder),
}

/// Something in a folder.
#[derive(Debug, Clone)]
pub struct Entry {
    /// `None` if it is no text.
    pub name: Option<String>,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Folder,
    Link,
    /// A file, or something that looks like one.
    Other,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    File {
        size: u64,
    },
    Folder,
    /// A pipe or device.
    Other,
}

impl ResourceFolder {
    /// A folder inside, or this one if the path is empty.
    pub fn open(&self, path: &str) -> Result<Self, ReadError> {
        if path.is_empty() {
            return Ok(self.clone());
        }
        match self {
            Self::OnDisk(folder) => Ok(Self::OnDisk(Arc::new(folder.open_dir(path).map_err(reading::refusal)?))),
            Self::Held(folder) => Ok(Self::Held(folder.open(path)?)),
        }
    }

    /// Reads a file whole, unless a link makes it something hidden.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        if self.leads_to_hidden(path) {
            return Err(ReadError::OutsideRoot);
        }
        match self {
            Self::OnDisk(folder) => Ok(reading::read(folder, path, limit)?.bytes),
            Self::Held(folder) => fitting(&folder.read(path)?, limit),
        }
    }

    /// What a path leads to, through links if there are any.
    pub fn target(&self, path: &str) -> Option<Target> {
        match self {
            Self::OnDisk(folder) => reading::target(folder, path),
            Self::Held(folder) => folder.target(path),
        }
    }

    pub fn has_file(&self, path: &str) -> bool {
        self.size(path).is_some()
    }

    /// Size of a regular file.
    pub fn size(&self, path: &str) -> Option<u64> {
        match self.target(path)? {
            Target::File { size } => Some(size),
            Target::Folder | Target::Other => None,
        }
    }

    /// What is directly inside a folder, in any order.
    pub fn entries(&self, path: &str) -> io::Result<Vec<Entry>> {
        match self {
            Self::OnDisk(folder) => reading::entries(folder, path),
            Self::Held(folder) => folder.entries(path),
        }
    }

    /// Whether a path leads through links to something hidden in the folder.
    pub fn leads_to_hidden(&self, path: &str) -> bool {
        match self {
            Self::OnDisk(folder) => reading::leads_to_hidden(folder, path),
            Self::Held(folder) => folder.leads_to_hidden(path),
        }
    }

    /// Names of the regular files directly inside a folder that are not hidden, sorted.
    pub fn list_files(&self, path: &str) -> Vec<String> {
        let Ok(inside) = self.open(path) else { return Vec::new() };
        let named = inside.entries("").unwrap_or_default().into_iter().filter_map(|entry| entry.name);
        let served = named.filter(|name| !reading::is_hidden(name) && inside.has_file(name));
        let mut names: Vec<String> = served.take(MOST_LISTED).collect();
        names.sort_unstable();
        names
    }
}

/// Bytes that are held, if they are not more than somebody wants.
pub fn fitting(bytes: &[u8], limit: u64) -> Result<Vec<u8>, ReadError> {
    let size = bytes.len() as u64;
    if size > limit { Err(ReadError::TooLarge(Oversize { size, limit })) } else { Ok(bytes.to_vec()) }
}

#[cfg(test)]
mod tests;
