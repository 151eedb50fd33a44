//! The files of a root in memory, for a server that keeps serving them as they were when it started.

mod freeze;

use crate::links::MAX_LINKS;
use crate::reading;
use crate::resources::{Entry, Target};
use crate::scan;
use bindings::library::ReadError;
use bytes::Bytes;
use cap_std::fs::Dir;
use freeze::Freezer;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::SystemTime;

/// How much more of all roots can be kept in memory.
#[derive(Debug, Clone, Copy)]
pub struct FreezeBudget {
    bytes: u64,
    entries: usize,
}

impl Default for FreezeBudget {
    fn default() -> Self {
        Self { bytes: 1 << 30, entries: 200_000 }
    }
}

/// Why files cannot be kept in memory.
#[derive(Debug, thiserror::Error)]
pub enum NotFrozen {
    #[error(
        "--static keeps the files of all skills in memory, and there are more than {} MiB or {} files\nhint: name the folders of skills themselves, or leave out --static",
        FreezeBudget::default().bytes >> 20, FreezeBudget::default().entries
    )]
    TooMuch,
    #[error("--static keeps the files of all skills in memory, and too many open files prevent reading them")]
    OutOfFiles,
}

/// A root in memory: everything that belongs to skills, by its path below the root.
#[derive(Debug, Default)]
pub struct FrozenRoot {
    nodes: BTreeMap<String, Node>,
}

#[derive(Debug)]
pub enum Node {
    /// `None` for a folder that could not be read.
    Folder(Option<Vec<Entry>>),
    File(FrozenFile),
    /// The target, as stored in the link.
    Link(String),
    /// A pipe or device.
    Other,
}

#[derive(Debug)]
pub struct FrozenFile {
    pub size: u64,
    pub modified: SystemTime,
    pub bytes: Result<Bytes, ReadError>,
}

/// A handle to a folder of a frozen root. Like a handle of `cap_std`, it reaches nothing outside.
#[derive(Debug, Clone)]
pub struct FrozenFolder {
    root: Arc<FrozenRoot>,
    /// Free of links.
    path: String,
}

impl FrozenRoot {
    /// Reads everything below these folders of a root.
    pub fn read<'p>(
        root: &Dir,
        folders: impl IntoIterator<Item = &'p str>,
        budget: &mut FreezeBudget,
    ) -> Result<Self, NotFrozen> {
        Freezer::new(root, budget).freeze(folders)
    }

    pub fn top(self: &Arc<Self>) -> FrozenFolder {
        FrozenFolder { root: Arc::clone(self), path: String::new() }
    }
}

impl FrozenFolder {
    pub fn open(&self, path: &str) -> Result<Self, ReadError> {
        match self.find(path, true)? {
            (path, Node::Folder(_)) => Ok(Self { root: Arc::clone(&self.root), path }),
            _ => Err(ReadError::NotFound),
        }
    }

    pub fn read(&self, path: &str) -> Result<Bytes, ReadError> {
        match self.find(path, true)?.1 {
            Node::File(file) => file.bytes.clone(),
            Node::Folder(_) | Node::Link(_) | Node::Other => Err(ReadError::NotAFile),
        }
    }

    pub fn target(&self, path: &str) -> Option<Target> {
        Some(match self.find(path, true).ok()?.1 {
            Node::Folder(_) => Target::Folder,
            Node::File(file) => Target::File { size: file.size },
            Node::Link(_) | Node::Other => Target::Other,
        })
    }

    pub fn entries(&self, path: &str) -> io::Result<Vec<Entry>> {
        match self.find(path, true) {
            Ok((_, Node::Folder(Some(entries)))) => Ok(entries.clone()),
            Ok((_, Node::Folder(None))) => Err(ErrorKind::PermissionDenied.into()),
            Ok(_) | Err(_) => Err(ErrorKind::NotFound.into()),
        }
    }

    pub fn leads_to_hidden(&self, path: &str) -> bool {
        let end = self.find(path, true).map(|(end, _)| end);
        end.is_ok_and(|end| end[self.path.len()..].split('/').any(reading::is_hidden))
    }

    /// Returns the node at a path, and its own path below the root. Follows a final link only if `follow` is set.
    pub fn find(&self, path: &str, follow: bool) -> Result<(String, &Node), ReadError> {
        let names = |path: &str| -> Vec<String> { path.split('/').rev().map(str::to_owned).collect() };
        let (mut here, mut remaining, mut links) = (self.path.clone(), names(path), 0);
        while let Some(name) = remaining.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." if here == self.path => return Err(ReadError::OutsideRoot),
                ".." => here.truncate(here.rfind('/').unwrap_or(0)),
                _ => match self.root.nodes.get(&scan::join(&here, &name)) {
                    Some(Node::Link(target)) if follow || !remaining.is_empty() => {
                        links += 1;
                        if links > MAX_LINKS || target.starts_with('/') {
                            return Err(ReadError::OutsideRoot);
                        }
                        remaining.extend(names(target));
                    }
                    Some(_) => here = scan::join(&here, &name),
                    None => return Err(self.missing_in(&here)),
                },
            }
        }
        let node = self.root.nodes.get(&here).ok_or(ReadError::NotFound)?;
        Ok((here, node))
    }

    /// Returns the error for an entry that a folder does not have.
    fn missing_in(&self, folder: &str) -> ReadError {
        let is_unreadable = matches!(self.root.nodes.get(folder), Some(Node::Folder(None)));
        if is_unreadable { ReadError::NoPermission } else { ReadError::NotFound }
    }
}
