//! A folder with files of skills, on disk or frozen.

use crate::frozen::FrozenFolder;
use crate::links::{LinkTarget, Links};
use crate::reading;
use bindings::library::{Oversize, ReadError};
use cap_std::fs::Dir;
use std::io;
use std::sync::Arc;

/// Maximum number of listed files of one folder. In a larger one, a list does not help to find a file by its name.
const MAX_LISTED_ENTRIES: usize = 1_000;

/// A handle to a folder. No path and no link reaches anything outside it.
#[derive(Debug, Clone)]
pub enum ResourceFolder {
    OnDisk(Arc<Dir>),
    Frozen(FrozenFolder),
}

#[derive(Debug, Clone)]
pub struct Entry {
    /// `None` if it is not UTF-8.
    pub name: Option<String>,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Folder,
    Link,
    /// A file, pipe or device.
    Other,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    File {
        size: u64,
    },
    Folder,
    /// A pipe or device.
    Other,
}

impl Target {
    fn size(self) -> Option<u64> {
        match self {
            Self::File { size } => Some(size),
            Self::Folder | Self::Other => None,
        }
    }
}

impl ResourceFolder {
    /// Opens a folder inside, or this one if the path is empty. Refuses links to hidden folders.
    pub fn open(&self, path: &str) -> Result<Self, ReadError> {
        if path.is_empty() {
            return Ok(self.clone());
        }
        if self.is_link_to_hidden(path) {
            return Err(ReadError::OutsideRoot);
        }
        match self {
            Self::OnDisk(folder) => Ok(Self::OnDisk(Arc::new(folder.open_dir(path).map_err(reading::read_error)?))),
            Self::Frozen(folder) => Ok(Self::Frozen(folder.open(path)?)),
        }
    }

    /// Reads a whole file. Refuses links to hidden files.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        if self.leads_to_hidden(path) {
            return Err(ReadError::OutsideRoot);
        }
        match self {
            Self::OnDisk(folder) => Ok(reading::read(folder, path, limit)?.bytes),
            Self::Frozen(folder) => within_limit(&folder.read(path)?, limit),
        }
    }

    /// Returns what is at a path, through links that do not lead to hidden files.
    pub fn target(&self, path: &str) -> Option<Target> {
        if self.is_link_to_hidden(path) {
            return None;
        }
        match self {
            Self::OnDisk(folder) => reading::target(folder, path),
            Self::Frozen(folder) => folder.target(path),
        }
    }

    pub fn has_file(&self, path: &str) -> bool {
        self.size(path).is_some()
    }

    /// Returns the size of a regular file.
    pub fn size(&self, path: &str) -> Option<u64> {
        self.target(path).and_then(Target::size)
    }

    /// Lists a folder, in any order. Refuses links to hidden folders.
    pub fn entries(&self, path: &str) -> io::Result<Vec<Entry>> {
        if self.is_link_to_hidden(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        match self {
            Self::OnDisk(folder) => reading::entries(folder, path),
            Self::Frozen(folder) => folder.entries(path),
        }
    }

    /// Whether the target of a path is in a hidden file or folder.
    pub fn leads_to_hidden(&self, path: &str) -> bool {
        match self {
            Self::OnDisk(folder) => Links::everywhere(folder).lead_to_hidden(path),
            Self::Frozen(folder) => folder.leads_to_hidden(path),
        }
    }

    /// Whether a path that is not hidden has a hidden target.
    fn is_link_to_hidden(&self, path: &str) -> bool {
        !path.split('/').any(reading::is_hidden) && self.leads_to_hidden(path)
    }

    /// Returns the sorted names of the regular files directly inside a folder, without hidden ones.
    pub fn list_files(&self, path: &str) -> Vec<String> {
        let Ok(inside) = self.open(path) else { return Vec::new() };
        let named = inside.entries("").unwrap_or_default().into_iter().filter_map(|entry| entry.name);
        let sizes = Sizes::new(&inside);
        let served = named.filter(|name| sizes.of(name).is_some());
        let mut names: Vec<String> = served.take(MAX_LISTED_ENTRIES).collect();
        names.sort_unstable();
        names
    }
}

/// The sizes of many files of a folder. Each link is followed once, so it is of use for as long as one list takes.
pub enum Sizes<'a> {
    OnDisk(&'a Dir, Links<'a>),
    Frozen(&'a FrozenFolder),
}

impl<'a> Sizes<'a> {
    pub fn new(folder: &'a ResourceFolder) -> Self {
        match folder {
            ResourceFolder::OnDisk(folder) => Self::OnDisk(folder, Links::everywhere(folder)),
            ResourceFolder::Frozen(folder) => Self::Frozen(folder),
        }
    }

    /// Returns the size of a regular file, unless it or the target of its link is hidden.
    pub fn of(&self, path: &str) -> Option<u64> {
        let is_hidden = |path: &str| path.split('/').any(reading::is_hidden);
        if is_hidden(path) {
            return None;
        }
        let target = match self {
            Self::OnDisk(folder, links) => match links.resolve(path) {
                Ok(LinkTarget::File(target)) if !is_hidden(&target) => reading::target(folder, &target),
                _ => None,
            },
            Self::Frozen(folder) => folder.target(path).filter(|_| !folder.leads_to_hidden(path)),
        };
        target.and_then(Target::size)
    }
}

/// Copies bytes, unless there are more than `limit`.
pub fn within_limit(bytes: &[u8], limit: u64) -> Result<Vec<u8>, ReadError> {
    let size = bytes.len() as u64;
    if size > limit { Err(ReadError::TooLarge(Oversize { size, limit })) } else { Ok(bytes.to_vec()) }
}

#[cfg(test)]
mod tests;
