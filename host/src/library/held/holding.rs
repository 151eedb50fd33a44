//! Reading a root into memory.

use super::{HeldFile, HeldRoot, MOST_LINKS, Node, NotHeld, Room};
use crate::bindings::library::{Oversize, ReadError};
use crate::library::reading;
use crate::library::resources::{Entry, EntryKind, Target};
use crate::library::scan::{self, NEVER_WALKED};
use bytes::Bytes;
use cap_std::fs::Dir;
use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

/// What is on its way into memory.
pub struct Holding<'a> {
    from: &'a Dir,
    skip: &'a BTreeSet<String>,
    limit: u64,
    room: &'a mut Room,
    root: HeldRoot,
    /// What was read, and whether as part of a skill.
    seen: BTreeMap<String, bool>,
    waiting: Vec<Waiting>,
}

/// Something to read.
#[derive(Default)]
struct Waiting {
    /// Without links.
    path: String,
    /// Whether it is part of a skill. Then scripts may want also what is never walked.
    of_skill: bool,
}

impl<'a> Holding<'a> {
    pub fn new(from: &'a Dir, skip: &'a BTreeSet<String>, limit: u64, room: &'a mut Room) -> Self {
        let (root, seen, waiting) = (HeldRoot::default(), BTreeMap::new(), vec![Waiting::default()]);
        Self { from, skip, limit, room, root, seen, waiting }
    }

    pub fn everything(mut self) -> Result<HeldRoot, NotHeld> {
        while let Some(Waiting { path, of_skill }) = self.waiting.pop() {
            // A link may make something part of a skill that is none at its own place.
            if self.seen.get(&path).is_some_and(|before| *before || !of_skill) {
                continue;
            }
            self.seen.insert(path.clone(), of_skill);
            match reading::target(self.from, &path) {
                Some(Target::Folder) => self.hold_folder(&path, of_skill)?,
                Some(Target::File { size }) => self.hold_file(path, size, of_skill)?,
                Some(Target::Other) => drop(self.root.nodes.insert(path, Node::Other)),
                // It went away meanwhile.
                None => {}
            }
        }
        Ok(self.root)
    }

    /// Lists a folder, and has what is in it wait.
    fn hold_folder(&mut self, path: &str, of_skill: bool) -> Result<(), NotHeld> {
        let mut entries = match reading::entries(self.from, path) {
            Ok(entries) => entries,
            Err(error) if reading::is_out_of_files(&error) => return Err(NotHeld::OutOfFiles),
            Err(_) => {
                self.root.nodes.insert(path.to_owned(), Node::Folder(None));
                return Ok(());
            }
        };
        let names: BTreeSet<String> = entries.iter().filter_map(|entry| entry.name.clone()).collect();
        let of_skill = of_skill || names.contains("SKILL.md");
        // Of other folders nobody is told more than what leads to a skill.
        let is_document = |name: &str| name.ends_with(".md") || path.is_empty() && name == "config.yaml";
        entries.retain(|Entry { name, kind }| {
            of_skill || *kind != EntryKind::Other || name.as_deref().is_some_and(is_document)
        });
        self.room.entries = self.room.entries.checked_sub(entries.len()).ok_or(NotHeld::TooMuch)?;
        for Entry { name, kind } in &entries {
            let Some(name) = name.as_deref().filter(|name| !reading::is_hidden(name)) else { continue };
            let inner = scan::join(path, name);
            // The folder beside a document has the files that belong to it.
            let is_beside = names.contains(&format!("{name}.md"));
            match kind {
                EntryKind::Link => {
                    // What a skill can reach by a link is inside it, and read at its own place.
                    let of_skill = is_document(name) || is_beside && !of_skill;
                    let end = self.follow(&inner);
                    self.waiting.extend(end.map(|path| Waiting { path, of_skill }));
                }
                EntryKind::Folder if !of_skill && !is_beside && self.is_left_out(name, &inner) => {}
                EntryKind::Folder | EntryKind::Other => {
                    self.waiting.push(Waiting { path: inner, of_skill: of_skill || is_beside });
                }
            }
        }
        self.root.nodes.insert(path.to_owned(), Node::Folder(Some(entries)));
        Ok(())
    }

    fn is_left_out(&self, name: &str, path: &str) -> bool {
        NEVER_WALKED.contains(&name) || self.skip.contains(path)
    }

    /// Notes everything on the way of a link, which may be hidden, and gives its end.
    fn follow(&mut self, link: &str) -> Option<String> {
        let (above, name) = link.rsplit_once('/').unwrap_or(("", link));
        let (mut here, mut ahead, mut links) = (above.to_owned(), vec![name.to_owned()], 0);
        while let Some(name) = ahead.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." if here.is_empty() => return None,
                ".." => here.truncate(here.rfind('/').unwrap_or(0)),
                _ => {
                    let next = scan::join(&here, &name);
                    let found = self.from.symlink_metadata(&next).ok()?;
                    if !found.is_symlink() {
                        if found.is_dir() {
                            self.root.nodes.entry(next.clone()).or_insert_with(|| Node::Folder(Some(Vec::new())));
                        }
                        here = next;
                        continue;
                    }
                    let leads = self.from.read_link_contents(&next).ok()?.into_os_string().into_string().ok()?;
                    ahead.extend(leads.split('/').rev().map(str::to_owned));
                    let is_followed = links < MOST_LINKS && !leads.starts_with('/');
                    self.root.nodes.insert(next, Node::Link(leads));
                    is_followed.then_some(())?;
                    links += 1;
                }
            }
        }
        Some(here)
    }

    fn hold_file(&mut self, path: String, size: u64, of_skill: bool) -> Result<(), NotHeld> {
        let is_document = path.ends_with(".md") || path == "config.yaml";
        let read = match (of_skill, is_document) {
            (false, false) => Err(ReadError::NotFound),
            (false, true) if size > self.limit => Err(ReadError::TooLarge(Oversize { size, limit: self.limit })),
            _ => match reading::read(self.from, &path, self.room.bytes) {
                Err(ReadError::TooLarge(_)) => return Err(NotHeld::TooMuch),
                Err(ReadError::Failed(why)) if why == reading::OUT_OF_FILES => return Err(NotHeld::OutOfFiles),
                read => read,
            },
        };
        let modified =
            read.as_ref().map_or(SystemTime::UNIX_EPOCH, |read| SystemTime::UNIX_EPOCH + read.stamp.modified());
        let bytes = read.map(|read| Bytes::from(read.bytes));
        let size = bytes.as_ref().map_or(size, |bytes| bytes.len() as u64);
        self.room.bytes -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.root.nodes.insert(path, Node::File(HeldFile { size, modified, bytes }));
        Ok(())
    }
}
