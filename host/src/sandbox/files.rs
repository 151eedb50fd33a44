//! The folders a guest sees: one tree with `/skill`, `/tmp` and perhaps `/work`, whatever version of WASI it speaks.
//!
//! Both versions are thin translations of what is here, so a rule about files is written and tested once.

pub mod disk;
pub mod held;
pub mod memory;
pub mod path;

use crate::sandbox::denials::Denials;
use path::{GuestPath, Target};
use std::sync::Arc;
use std::time::SystemTime;

/// Why something with a file did not work, in words that both versions of WASI have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("not found")]
    NotFound,
    #[error("exists already")]
    Exists,
    #[error("not a folder")]
    NotAFolder,
    #[error("a folder")]
    IsAFolder,
    #[error("not empty")]
    NotEmpty,
    #[error("not permitted")]
    NotPermitted,
    #[error("read-only")]
    ReadOnly,
    #[error("protected: agents, editors or git act on it")]
    Protected,
    #[error("leads out of the folder")]
    Escapes,
    #[error("leads through a link")]
    ThroughLink,
    #[error("in another folder of the sandbox")]
    OtherVolume,
    #[error("no room left")]
    Full,
    #[error("too many open files")]
    TooManyOpen,
    #[error("not a valid path")]
    BadPath,
    #[error("too long a name")]
    LongName,
    #[error("in use")]
    Busy,
    #[error("failed")]
    Failed,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    File,
    Link,
    Other,
}

/// What is known about a file.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    pub kind: Kind,
    pub size: u64,
    /// Tells files apart, together with the folder of the sandbox they are in.
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

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: Kind,
    pub number: u64,
}

/// How something is opened.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of both versions of WASI")]
pub struct How {
    pub write: bool,
    pub create: bool,
    pub exclusive: bool,
    pub truncate: bool,
    /// Only a folder will do.
    pub folder: bool,
    /// A link at the end of the path is followed.
    pub follow: bool,
}

/// Times to set; those left out stay.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewTimes {
    pub accessed: Option<SystemTime>,
    pub modified: Option<SystemTime>,
}

/// What was opened. A folder is held by its path alone.
pub enum Opened {
    Folder,
    File(Arc<dyn OpenFile>),
}

/// An opened file. Where to read and write is for the caller to remember.
pub trait OpenFile: Send + Sync {
    fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, FileError>;
    fn write_at(&self, from: &[u8], offset: u64) -> Result<usize, FileError>;
    fn set_size(&self, size: u64) -> Result<(), FileError>;
    fn stat(&self) -> Result<Stat, FileError>;
}

/// One folder of the tree. Paths are below it, plain, and empty for the folder itself.
pub trait Volume: Send {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError>;
    fn list(&self, path: &str) -> Result<Vec<Entry>, FileError>;
    fn open(&mut self, path: &str, how: How) -> Result<Opened, FileError>;
    fn create_folder(&mut self, path: &str) -> Result<(), FileError>;
    fn remove_folder(&mut self, path: &str) -> Result<(), FileError>;
    fn remove_file(&mut self, path: &str) -> Result<(), FileError>;
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError>;
    fn read_link(&self, path: &str) -> Result<String, FileError>;
    /// Of the file itself; a link is not followed.
    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError>;
}

/// The whole tree of one guest. Between its folders there is nothing but their names.
pub struct Files {
    mounts: Vec<Mount>,
    denials: Denials,
}

struct Mount {
    at: String,
    volume: Box<dyn Volume>,
}

/// Where a path leads.
enum Place {
    /// Above the mounts: a folder with these names in it.
    Between(Vec<String>),
    Mounted {
        mount: usize,
        below: String,
    },
}

/// What something was opened as, and where.
pub struct Handle {
    pub path: GuestPath,
    pub opened: Opened,
}

impl Files {
    pub fn new(denials: Denials) -> Self {
        Self { mounts: Vec::new(), denials }
    }

    /// Puts a folder into the tree. The place is given as `skill` or `usr/local/lib`.
    pub fn mount(&mut self, at: &str, volume: impl Volume + 'static) {
        self.mounts.push(Mount { at: at.to_owned(), volume: Box::new(volume) });
    }

    pub fn open(&mut self, from: &GuestPath, path: &str, mut how: How) -> Result<Handle, FileError> {
        let Target { path, folder_only } = self.target("open", from, path)?;
        how.folder |= folder_only;
        let opened = match self.place(&path)? {
            Place::Between(_) if how.create && how.exclusive => Err(FileError::Exists),
            Place::Between(_) if how.write => Err(FileError::IsAFolder),
            Place::Between(_) => Ok(Opened::Folder),
            Place::Mounted { mount, below } => self.mounts[mount].volume.open(&below, how),
        };
        let changes = how.write || how.create || how.truncate;
        let opened = opened.inspect_err(|error| self.note(if changes { "write" } else { "read" }, &path, *error))?;
        Ok(Handle { path, opened })
    }

    pub fn stat(&self, from: &GuestPath, path: &str, follow: bool) -> Result<Stat, FileError> {
        let Target { path, folder_only } = self.target("read", from, path)?;
        let stat = self.stat_at(&path, follow || folder_only).inspect_err(|error| self.note("read", &path, *error))?;
        if folder_only && stat.kind != Kind::Folder { Err(FileError::NotAFolder) } else { Ok(stat) }
    }

    /// The same for a place that is known.
    pub fn stat_at(&self, path: &GuestPath, follow: bool) -> Result<Stat, FileError> {
        match self.place(path)? {
            Place::Between(_) => Ok(Stat::new(Kind::Folder, 0, 0, SystemTime::UNIX_EPOCH)),
            Place::Mounted { mount, below } => self.mounts[mount].volume.stat(&below, follow),
        }
    }

    /// A number that differs between the folders of the sandbox.
    pub fn device(&self, path: &GuestPath) -> u64 {
        match self.place(path) {
            Ok(Place::Mounted { mount, .. }) => mount as u64 + 2,
            _ => 1,
        }
    }

    pub fn list(&self, path: &GuestPath) -> Result<Vec<Entry>, FileError> {
        match self.place(path)? {
            Place::Between(names) => {
                Ok(names.into_iter().map(|name| Entry { name, kind: Kind::Folder, number: 0 }).collect())
            }
            Place::Mounted { mount, below } => {
                self.mounts[mount].volume.list(&below).inspect_err(|error| self.note("list", path, *error))
            }
        }
    }

    pub fn create_folder(&mut self, from: &GuestPath, path: &str) -> Result<(), FileError> {
        self.change("create", from, path, FileError::Exists, |volume, below| volume.create_folder(below))
    }

    pub fn remove_folder(&mut self, from: &GuestPath, path: &str) -> Result<(), FileError> {
        self.change("remove", from, path, FileError::Busy, |volume, below| volume.remove_folder(below))
    }

    pub fn remove_file(&mut self, from: &GuestPath, path: &str) -> Result<(), FileError> {
        self.change("remove", from, path, FileError::IsAFolder, |volume, below| volume.remove_file(below))
    }

    pub fn set_times(&mut self, from: &GuestPath, path: &str, times: NewTimes) -> Result<(), FileError> {
        self.change("touch", from, path, FileError::ReadOnly, |volume, below| volume.set_times(below, times))
    }

    /// The same for something that was opened, by where it was then.
    pub fn touch(&mut self, path: &GuestPath, times: NewTimes) -> Result<(), FileError> {
        let touched = match self.place(path)? {
            Place::Between(_) => Err(FileError::ReadOnly),
            Place::Mounted { mount, below } => self.mounts[mount].volume.set_times(&below, times),
        };
        touched.inspect_err(|error| self.note("touch", path, *error))
    }

    pub fn rename(&mut self, from: (&GuestPath, &str), to: (&GuestPath, &str)) -> Result<(), FileError> {
        let from = self.existing_target("rename", from.0, from.1)?;
        let to = self.target("rename", to.0, to.1)?.path;
        let renamed = match (self.place(&from)?, self.place(&to)?) {
            (Place::Mounted { mount, below: old }, Place::Mounted { mount: other, below: new }) if mount == other => {
                self.mounts[mount].volume.rename(&old, &new)
            }
            (Place::Mounted { .. }, Place::Mounted { .. }) => Err(FileError::OtherVolume),
            _ => Err(FileError::Busy),
        };
        renamed.inspect_err(|error| self.note("rename", &from, *error))
    }

    pub fn read_link(&self, from: &GuestPath, path: &str) -> Result<String, FileError> {
        let path = self.target("read", from, path)?.path;
        match self.place(&path)? {
            Place::Between(_) => Err(FileError::BadPath),
            Place::Mounted { mount, below } => self.mounts[mount].volume.read_link(&below),
        }
    }

    /// Links are never made: one could lead around a rule.
    pub fn refuse_link(&self, from: &GuestPath, path: &str) -> FileError {
        match self.target("link", from, path) {
            Ok(target) => {
                self.denials.note(format!("create the link `{}`: links cannot be created", target.path));
                FileError::NotPermitted
            }
            Err(error) => error,
        }
    }

    fn change(
        &mut self,
        action: &str,
        from: &GuestPath,
        path: &str,
        between: FileError,
        change: impl FnOnce(&mut dyn Volume, &str) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let path = if action == "create" {
            self.target(action, from, path)?.path
        } else {
            self.existing_target(action, from, path)?
        };
        let changed = match self.place(&path)? {
            Place::Between(_) => Err(between),
            Place::Mounted { mount, below } => change(&mut *self.mounts[mount].volume, &below),
        };
        changed.inspect_err(|error| self.note(action, &path, *error))
    }

    /// A target that is a folder if the path says so.
    fn existing_target(&self, action: &str, from: &GuestPath, path: &str) -> Result<GuestPath, FileError> {
        let Target { path, folder_only } = self.target(action, from, path)?;
        if folder_only && self.stat_at(&path, true)?.kind != Kind::Folder {
            Err(FileError::NotAFolder)
        } else {
            Ok(path)
        }
    }

    fn target(&self, action: &str, from: &GuestPath, path: &str) -> Result<Target, FileError> {
        from.join(path).inspect_err(|error| {
            if *error == FileError::Escapes {
                self.denials.note(format!("{action} `{}`: {error}", path.escape_debug()));
            }
        })
    }

    fn place(&self, path: &GuestPath) -> Result<Place, FileError> {
        for (mount, Mount { at, .. }) in self.mounts.iter().enumerate() {
            if let Some(below) = path.below(at) {
                return Ok(Place::Mounted { mount, below: below.to_owned() });
            }
        }
        let mut names: Vec<String> = Vec::new();
        for Mount { at, .. } in &self.mounts {
            let rest = path::below(at, path.as_str());
            names.extend(rest.and_then(|rest| rest.split('/').next()).map(str::to_owned));
        }
        names.sort();
        names.dedup();
        if names.is_empty() { Err(FileError::NotFound) } else { Ok(Place::Between(names)) }
    }

    /// Remembers what a guest was denied, as far as that is a rule and not just a missing file.
    fn note(&self, action: &str, path: &GuestPath, error: FileError) {
        use FileError::{Escapes, NotPermitted, Protected, ReadOnly, ThroughLink};
        if matches!(error, ReadOnly | Protected | Escapes | ThroughLink | NotPermitted) {
            self.denials.note(format!("{action} `{path}`: {error}"));
        }
    }
}

#[cfg(test)]
mod tests;
