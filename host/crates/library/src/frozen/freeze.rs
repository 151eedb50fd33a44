//! Reads folders of a root into memory.

use super::{FreezeBudget, FrozenFile, FrozenRoot, Node, NotFrozen};
use crate::links::{Kind, LinkTarget, Links};
use crate::reading;
use crate::resources::{Entry, EntryKind, Target};
use crate::scan;
use bindings::library::ReadError;
use bytes::Bytes;
use cap_std::fs::Dir;
use std::collections::BTreeSet;
use std::time::SystemTime;

/// A root that is being read.
pub struct Freezer<'a> {
    folder: &'a Dir,
    budget: &'a mut FreezeBudget,
    root: FrozenRoot,
    /// Where the folders are, free of links.
    tops: BTreeSet<String>,
    /// Paths that were read, free of links.
    seen: BTreeSet<String>,
    queue: Vec<String>,
    links: Links<'a>,
}

impl<'a> Freezer<'a> {
    pub fn new(folder: &'a Dir, budget: &'a mut FreezeBudget) -> Self {
        let mut root = FrozenRoot::default();
        root.nodes.insert(String::new(), Node::Folder(Some(Vec::new())));
        let (tops, seen, queue) = Default::default();
        Self { folder, budget, root, tops, seen, queue, links: Links::new(folder, |_, _| true) }
    }

    /// Reads everything below these folders that is not hidden.
    pub fn freeze<'p>(mut self, folders: impl IntoIterator<Item = &'p str>) -> Result<FrozenRoot, NotFrozen> {
        for folder in folders {
            let path = self.follow(folder);
            self.tops.extend(path);
        }
        self.queue.extend(self.tops.iter().cloned());
        while let Some(path) = self.queue.pop() {
            if !self.seen.insert(path.clone()) {
                continue;
            }
            match reading::target(self.folder, &path) {
                Some(Target::Folder) => self.freeze_folder(&path)?,
                Some(Target::File { size }) => self.freeze_file(path, size)?,
                Some(Target::Other) => drop(self.root.nodes.insert(path, Node::Other)),
                // Removed since it was listed.
                None => {}
            }
        }
        // The folders and links that paths lead through, even hidden ones.
        for (path, kind) in self.links.passed() {
            match kind {
                Kind::Folder => {
                    self.root.nodes.entry(path).or_insert_with(|| Node::Folder(Some(Vec::new())));
                }
                // One that is not followed on disk must not be followed here.
                Kind::Link(target) => {
                    self.root.nodes.insert(path, Node::Link(target.unwrap_or_else(|| "/".to_owned())));
                }
                Kind::File => {}
            }
        }
        Ok(self.root)
    }

    /// Lists a folder, and queues its entries.
    fn freeze_folder(&mut self, path: &str) -> Result<(), NotFrozen> {
        let entries = match reading::entries(self.folder, path) {
            Ok(entries) => entries,
            Err(error) if reading::is_out_of_files(&error) => return Err(NotFrozen::OutOfFiles),
            Err(_) => {
                self.root.nodes.insert(path.to_owned(), Node::Folder(None));
                return Ok(());
            }
        };
        self.budget.entries = self.budget.entries.checked_sub(entries.len()).ok_or(NotFrozen::TooMuch)?;
        for Entry { name, kind } in &entries {
            let Some(name) = name.as_deref().filter(|name| !reading::is_hidden(name)) else { continue };
            let inner = scan::join(path, name);
            match kind {
                EntryKind::Link => {
                    // What a link of a skill leads to can be served only if it is inside, perhaps in a hidden folder.
                    let target = self.follow(&inner).filter(|target| self.is_inside(target));
                    self.queue.extend(target);
                }
                EntryKind::Folder | EntryKind::Other => self.queue.push(inner),
            }
        }
        self.root.nodes.insert(path.to_owned(), Node::Folder(Some(entries)));
        Ok(())
    }

    fn is_inside(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        std::iter::once("").chain(above).chain([path]).any(|top| self.tops.contains(top))
    }

    /// Returns where a path leads.
    fn follow(&self, path: &str) -> Option<String> {
        match self.links.resolve(path) {
            Ok(LinkTarget::Folder(target) | LinkTarget::File(target)) => Some(target),
            Err(_) => None,
        }
    }

    fn freeze_file(&mut self, path: String, size: u64) -> Result<(), NotFrozen> {
        let read = match reading::read(self.folder, &path, self.budget.bytes) {
            Err(ReadError::TooLarge(_)) => return Err(NotFrozen::TooMuch),
            Err(ReadError::Failed(reason)) if reason == reading::OUT_OF_FILES => return Err(NotFrozen::OutOfFiles),
            read => read,
        };
        let modified =
            read.as_ref().map_or(SystemTime::UNIX_EPOCH, |read| SystemTime::UNIX_EPOCH + read.stamp.modified());
        let bytes = read.map(|read| Bytes::from(read.bytes));
        let size = bytes.as_ref().map_or(size, |bytes| bytes.len() as u64);
        self.budget.bytes -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.root.nodes.insert(path, Node::File(FrozenFile { size, modified, bytes }));
        Ok(())
    }
}
