//! The files of a root in memory, for a server that serves them as they were when it started.

mod holding;

use crate::bindings::library::ReadError;
use crate::library::reading;
use crate::library::resources::{Entry, Target};
use crate::library::scan;
use bytes::Bytes;
use cap_std::fs::Dir;
use holding::Holding;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::SystemTime;

/// As many links in a row as the operating system follows.
const MOST_LINKS: usize = 40;

/// What can be held of all roots together.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    bytes: u64,
    entries: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { bytes: 1 << 30, entries: 200_000 }
    }
}

/// Why the files cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum NotHeld {
    #[error(
        "--static holds the files of all skills in memory, and these are more than {} MiB or {} files\nhint: name the folders of skills themselves, or leave out --static",
        Room::default().bytes >> 20, Room::default().entries
    )]
    TooMuch,
    #[error("--static holds the files of all skills in memory, and too many other files are open to read them")]
    OutOfFiles,
}

/// A root as it was: everything that can be served, by its path below the root.
#[derive(Debug, Default)]
pub struct HeldRoot {
    nodes: BTreeMap<String, Node>,
}

/// Something that is held.
#[derive(Debug)]
pub enum Node {
    /// `None` for a folder that could not be read.
    Folder(Option<Vec<Entry>>),
    File(HeldFile),
    /// Where it leads, as it is written.
    Link(String),
    /// A pipe or device.
    Other,
}

#[derive(Debug)]
pub struct HeldFile {
    pub size: u64,
    pub modified: SystemTime,
    pub bytes: Result<Bytes, ReadError>,
}

/// A folder of a held root. Like a handle of the operating system it leads to nothing outside.
#[derive(Debug, Clone)]
pub struct HeldFolder {
    root: Arc<HeldRoot>,
    /// Without links.
    path: String,
}

impl HeldRoot {
    /// Reads documents, and everything that belongs to skills. Documents that are no part of a skill's folder are read up to a
    /// limit. What is skipped is another root, and held for that one.
    pub fn of(folder: &Dir, skip: &BTreeSet<String>, limit: u64, room: &mut Room) -> Result<Self, NotHeld> {
        Holding::new(folder, skip, limit, room).everything()
    }

    pub fn top(self: &Arc<Self>) -> HeldFolder {
        HeldFolder { root: Arc::clone(self), path: String::new() }
    }
}

impl HeldFolder {
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

    /// What is at a path, and where that is below the root. A link at the end is followed if somebody wants that.
    pub fn find(&self, path: &str, follow: bool) -> Result<(String, &Node), ReadError> {
        let names = |path: &str| -> Vec<String> { path.split('/').rev().map(str::to_owned).collect() };
        let (mut here, mut ahead, mut links) = (self.path.clone(), names(path), 0);
        while let Some(name) = ahead.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." if here == self.path => return Err(ReadError::OutsideRoot),
                ".." => here.truncate(here.rfind('/').unwrap_or(0)),
                _ => match self.root.nodes.get(&scan::join(&here, &name)) {
                    Some(Node::Link(leads)) if follow || !ahead.is_empty() => {
                        links += 1;
                        if links > MOST_LINKS || leads.starts_with('/') {
                            return Err(ReadError::OutsideRoot);
                        }
                        ahead.extend(names(leads));
                    }
                    Some(_) => here = scan::join(&here, &name),
                    None => return Err(self.missing_in(&here)),
                },
            }
        }
        let node = self.root.nodes.get(&here).ok_or(ReadError::NotFound)?;
        Ok((here, node))
    }

    /// Why a folder does not have something.
    fn missing_in(&self, folder: &str) -> ReadError {
        let is_unreadable = matches!(self.root.nodes.get(folder), Some(Node::Folder(None)));
        if is_unreadable { ReadError::NoPermission } else { ReadError::NotFound }
    }
}
