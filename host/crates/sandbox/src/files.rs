//! The file tree of a guest: `/skill`, `/tmp` and `/work`.
//!
//! Both versions of WASI are thin translations of this module, so that each rule about files is written and tested once.

pub mod path;
pub mod disk;
pub mod protected;
pub mod frozen;
pub mod memory;
pub mod overlay;

use crate::denials::{Denial, Denials};
use path::{GuestPath, ResolvedPath};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

/// Why a file operation failed. Each case maps to an error code of both versions of WASI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("not found")]
    NotFound,
    #[error("already exists")]
    Exists,
    #[error("not a folder")]
    NotAFolder,
    #[error("is a folder")]
    IsAFolder,
    #[error("not empty")]
    NotEmpty,
    #[error("not permitted")]
    NotPermitted,
    #[error("read-only")]
    ReadOnly,
    #[error("protected: agents, editors or git act on it, and the grant does not name it")]
    Protected,
    #[error("a link, which scripts cannot change")]
    Link,
    #[error("has another name, which may be protected (a hard link)")]
    HardLink,
    #[error("has more than 10,000 entries or 64 levels, too many to check before a move; move its parts one by one")]
    TooLargeToMove,
    #[error("leads out of the folder")]
    Escapes,
    #[error("leads through a link")]
    ThroughLink,
    #[error("in another folder of the sandbox")]
    OtherVolume,
    #[error("no space left")]
    Full,
    #[error("too many open files")]
    TooManyOpen,
    #[error("not a valid path")]
    BadPath,
    #[error("name too long")]
    LongName,
    #[error("in use")]
    Busy,
    #[error("the run is over")]
    Interrupted,
    #[error("failed")]
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    File,
    Link,
    Other,
}

/// The metadata of a file.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    pub kind: Kind,
    pub size: u64,
    /// Identifies a file within its volume, like an inode number.
    pub number: u64,
    pub links: u64,
    pub accessed: SystemTime,
    pub modified: SystemTime,
}

impl Stat {
    fn new(kind: Kind, size: u64, number: u64, time: SystemTime) -> Self {
        Self { kind, size, number, links: 1, accessed: time, modified: time }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: Kind,
    pub number: u64,
}

/// How a path is opened.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of both versions of WASI")]
pub struct OpenMode {
    pub write: bool,
    pub create: bool,
    pub exclusive: bool,
    pub truncate: bool,
    /// Anything but a folder is an error.
    pub folder: bool,
    /// Whether a link at the end of the path is followed.
    pub follow: bool,
}

/// Times to set; `None` leaves a time unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewTimes {
    pub accessed: Option<SystemTime>,
    pub modified: Option<SystemTime>,
}

/// Whether the run has to end. Asked at every step of a call that can take long.
pub type IsDue<'call> = &'call dyn Fn() -> bool;

/// What was opened: a file, or `None` for a folder, whose path is enough.
pub type OpenNode = Option<Arc<dyn OpenFile>>;

/// An open file. The caller keeps track of the position.
pub trait OpenFile: Send + Sync {
    fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, FileError>;
    fn write_at(&self, from: &[u8], offset: u64) -> Result<usize, FileError>;
    fn set_size(&self, size: u64) -> Result<(), FileError>;
    fn stat(&self) -> Result<Stat, FileError>;
}

/// One mounted folder, read-only by default. Paths are relative to it, normalized, and empty for the folder itself.
pub trait Volume: Send {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError>;
    fn list(&self, path: &str, is_due: IsDue<'_>) -> Result<Vec<Entry>, FileError>;
    fn open(&mut self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError>;
    fn create_folder(&mut self, path: &str) -> Result<(), FileError>;
    fn read_link(&self, path: &str) -> Result<String, FileError>;

    fn remove_folder(&mut self, _path: &str) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }

    fn remove_file(&mut self, _path: &str) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }

    fn rename(&mut self, _from: &str, _to: &str, _is_due: IsDue<'_>) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }

    /// Does not follow a link.
    fn set_times(&mut self, _path: &str, _times: NewTimes) -> Result<(), FileError> {
        Err(FileError::ReadOnly)
    }
}

/// Paths that are remembered as changed. Beyond that, a guest's changes still happen, but are not reported.
const MAX_CHANGED: usize = 10_000;

/// The file tree of one guest. Above the mounts there are only read-only folders that lead to them.
pub struct Files {
    mounts: Vec<Mount>,
    denials: Denials,
    /// What the guest opened for writing or moved. A folder stands for everything below it.
    changed: BTreeSet<GuestPath>,
}

struct Mount {
    at: String,
    volume: Box<dyn Volume>,
}

/// Where a path leads: to a folder above the mounts, with these entries, or into one of them.
enum Location {
    AboveMounts(BTreeSet<String>),
    Mounted { mount: usize, below: String },
}

/// An open file or folder and its path.
pub struct Handle {
    pub path: GuestPath,
    pub file: OpenNode,
}

impl Files {
    pub fn new(denials: Denials) -> Self {
        Self { mounts: Vec::new(), denials, changed: BTreeSet::new() }
    }

    /// Mounts a volume at a path such as `skill` or `usr/local/lib`.
    pub fn mount(&mut self, at: &str, volume: impl Volume + 'static) {
        self.mounts.push(Mount { at: at.to_owned(), volume: Box::new(volume) });
    }

    pub fn is_mounted(&self, at: &str) -> bool {
        self.mounts.iter().any(|mount| mount.at == at)
    }

    pub fn unmount(&mut self, at: &str) {
        self.mounts.retain(|mount| mount.at != at);
    }

    pub fn open(&mut self, from: &GuestPath, path: &str, mut mode: OpenMode) -> Result<Handle, FileError> {
        let ResolvedPath { path, folder_only } = self.resolve("open", from, path)?;
        mode.folder |= folder_only;
        let opened = match self.locate(&path)? {
            Location::AboveMounts(_) if mode.create && mode.exclusive => Err(FileError::Exists),
            Location::AboveMounts(_) if mode.write => Err(FileError::IsAFolder),
            Location::AboveMounts(_) => Ok(None),
            Location::Mounted { mount, below } => self.mounts[mount].volume.open(&below, mode),
        };
        let writes = mode.write || mode.create || mode.truncate;
        let file = opened.inspect_err(|error| self.note(if writes { "write" } else { "read" }, &path, *error))?;
        if writes && file.is_some() {
            self.remember_change(&path);
        }
        Ok(Handle { path, file })
    }

    pub fn stat(&self, from: &GuestPath, path: &str, follow: bool) -> Result<Stat, FileError> {
        let ResolvedPath { path, folder_only } = self.resolve("read", from, path)?;
        let stat = self.stat_at(&path, follow || folder_only).inspect_err(|error| self.note("read", &path, *error))?;
        if folder_only && stat.kind != Kind::Folder { Err(FileError::NotAFolder) } else { Ok(stat) }
    }

    /// Like [`Files::stat`], for a path that is already resolved.
    pub fn stat_at(&self, path: &GuestPath, follow: bool) -> Result<Stat, FileError> {
        match self.locate(path)? {
            Location::AboveMounts(_) => Ok(Stat::new(Kind::Folder, 0, 0, SystemTime::UNIX_EPOCH)),
            Location::Mounted { mount, below } => self.mounts[mount].volume.stat(&below, follow),
        }
    }

    /// Returns a number that identifies the volume of a path.
    pub fn device(&self, path: &GuestPath) -> u64 {
        match self.locate(path) {
            Ok(Location::Mounted { mount, .. }) => mount as u64 + 2,
            _ => 1,
        }
    }

    pub fn list(&self, path: &GuestPath, is_due: IsDue<'_>) -> Result<Vec<Entry>, FileError> {
        match self.locate(path)? {
            Location::AboveMounts(names) => {
                Ok(names.into_iter().map(|name| Entry { name, kind: Kind::Folder, number: 0 }).collect())
            }
            Location::Mounted { mount, below } => {
                self.mounts[mount].volume.list(&below, is_due).inspect_err(|error| self.note("list", path, *error))
            }
        }
    }

    pub fn create_folder(&mut self, from: &GuestPath, path: &str) -> Result<(), FileError> {
        let path = self.resolve("create", from, path)?.path;
        self.change("create", &path, FileError::Exists, |volume, below| volume.create_folder(below))
    }

    pub fn remove_folder(&mut self, from: &GuestPath, path: &str) -> Result<(), FileError> {
        let path = self.resolve_existing("remove", from, path)?;
        self.change("remove", &path, FileError::Busy, |volume, below| volume.remove_folder(below))
    }

    pub fn remove_file(&mut self, from: &GuestPath, path: &str) -> Result<(), FileError> {
        let path = self.resolve_existing("remove", from, path)?;
        self.change("remove", &path, FileError::IsAFolder, |volume, below| volume.remove_file(below))
    }

    pub fn set_times(&mut self, from: &GuestPath, path: &str, times: NewTimes) -> Result<(), FileError> {
        let path = self.resolve_existing("touch", from, path)?;
        self.touch(&path, times)
    }

    /// Like [`Files::set_times`], for the path of an open file.
    pub fn touch(&mut self, path: &GuestPath, times: NewTimes) -> Result<(), FileError> {
        self.change("touch", path, FileError::ReadOnly, |volume, below| volume.set_times(below, times))
    }

    pub fn rename(
        &mut self,
        from: (&GuestPath, &str),
        to: (&GuestPath, &str),
        is_due: IsDue<'_>,
    ) -> Result<(), FileError> {
        let from = self.resolve_existing("rename", from.0, from.1)?;
        let to = self.resolve("rename", to.0, to.1)?.path;
        let renamed = match (self.locate(&from)?, self.locate(&to)?) {
            (Location::Mounted { mount, below: old }, Location::Mounted { mount: other, below: new })
                if mount == other =>
            {
                self.mounts[mount].volume.rename(&old, &new, is_due)
            }
            (Location::Mounted { .. }, Location::Mounted { .. }) => Err(FileError::OtherVolume),
            _ => Err(FileError::Busy),
        };
        renamed.inspect_err(|error| self.note("rename", format_args!("{from}` to `{to}"), *error))?;
        self.changed.retain(|path| path::below(path.as_str(), from.as_str()).is_none());
        self.remember_change(&to);
        Ok(())
    }

    /// Whether the guest opened nothing for writing and moved nothing.
    pub fn are_unchanged(&self) -> bool {
        self.changed.is_empty()
    }

    fn remember_change(&mut self, path: &GuestPath) {
        if self.changed.len() < MAX_CHANGED && !self.changed.contains(path) {
            self.changed.insert(path.clone());
        }
    }

    /// Returns the files that the guest created, changed or moved and that still exist, with their sizes, by path; at most
    /// `max` of them.
    pub fn changed_files(&self, max: usize) -> Vec<(GuestPath, u64)> {
        let mut found = BTreeMap::new();
        let mut to_visit: Vec<GuestPath> = self.changed.iter().rev().cloned().collect();
        while let Some(path) = to_visit.pop() {
            if found.len() == max {
                break;
            }
            match self.stat_at(&path, false) {
                Ok(Stat { kind: Kind::File, size, .. }) => drop(found.insert(path, size)),
                Ok(Stat { kind: Kind::Folder, .. }) => {
                    let entries = self.list(&path, &|| false).unwrap_or_default();
                    let inside = entries.iter().rev().filter_map(|entry| path.join(&entry.name).ok());
                    to_visit.extend(inside.map(|resolved| resolved.path));
                }
                _ => {}
            }
        }
        found.into_iter().collect()
    }

    pub fn read_link(&self, from: &GuestPath, path: &str) -> Result<String, FileError> {
        let path = self.resolve("read", from, path)?.path;
        match self.locate(&path)? {
            Location::AboveMounts(_) => Err(FileError::BadPath),
            Location::Mounted { mount, below } => self.mounts[mount].volume.read_link(&below),
        }
    }

    /// Links are never created, because one could bypass a rule.
    pub fn refuse_link(&self, from: &GuestPath, path: &str) -> FileError {
        match self.resolve("link", from, path) {
            Ok(resolved) => {
                self.denials.note(Denial::Link(resolved.path));
                FileError::NotPermitted
            }
            Err(error) => error,
        }
    }

    fn change(
        &mut self,
        action: &'static str,
        path: &GuestPath,
        above_mounts: FileError,
        change: impl FnOnce(&mut dyn Volume, &str) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let changed = match self.locate(path)? {
            Location::AboveMounts(_) => Err(above_mounts),
            Location::Mounted { mount, below } => change(&mut *self.mounts[mount].volume, &below),
        };
        changed.inspect_err(|error| self.note(action, path, *error))
    }

    /// Resolves a path, and fails if it ends in `/` but is not a folder.
    fn resolve_existing(&self, action: &'static str, from: &GuestPath, path: &str) -> Result<GuestPath, FileError> {
        let ResolvedPath { path, folder_only } = self.resolve(action, from, path)?;
        if folder_only && self.stat_at(&path, true)?.kind != Kind::Folder {
            Err(FileError::NotAFolder)
        } else {
            Ok(path)
        }
    }

    fn resolve(&self, action: &'static str, from: &GuestPath, path: &str) -> Result<ResolvedPath, FileError> {
        from.join(path).inspect_err(|error| {
            if *error == FileError::Escapes {
                self.denials.note(Denial::File { action, path: path.to_owned(), reason: *error });
            }
        })
    }

    fn locate(&self, path: &GuestPath) -> Result<Location, FileError> {
        for (mount, Mount { at, .. }) in self.mounts.iter().enumerate() {
            if let Some(below) = path::below(path.as_str(), at) {
                return Ok(Location::Mounted { mount, below: below.to_owned() });
            }
        }
        let below = self.mounts.iter().filter_map(|mount| path::below(&mount.at, path.as_str()));
        let names: BTreeSet<String> = below.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        if names.is_empty() { Err(FileError::NotFound) } else { Ok(Location::AboveMounts(names)) }
    }

    /// Records a denial if the error comes from a rule, rather than from a missing file or the like.
    fn note(&self, action: &'static str, path: impl std::fmt::Display, error: FileError) {
        use FileError::{Escapes, HardLink, Link, NotPermitted, Protected, ReadOnly, ThroughLink, TooLargeToMove};
        if matches!(
            error,
            ReadOnly | Protected | Link | HardLink | TooLargeToMove | Escapes | ThroughLink | NotPermitted
        ) {
            self.denials.note(Denial::File { action, path: path.to_string(), reason: error });
        }
    }
}

#[cfg(test)]
mod tests;
