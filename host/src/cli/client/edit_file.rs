//! Edits a settings file of another program: atomically, with a backup, and only if it did not change in the meantime.

use crate::cli::replace::{OpenError, TemporaryFile, is_link, open_folder};
use base::user_files;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest file that is read, in bytes. Claude Code keeps its history in the same file.
pub const MAX_BYTES: u64 = 64 << 20;

/// How often an edit is retried if the file changes at the same time.
const MAX_TRIES: usize = 5;

const BACKUP_SUFFIX: &str = ".skillcell-backup";

const BOM: &str = "\u{feff}";

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{} is larger than {MAX_BYTES} bytes\nhint: add the entry by hand", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is not UTF-8\nhint: save it as UTF-8 first", .0.display())]
    NotText(PathBuf),
    #[error("{} is not a file\nhint: check what is there", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is a broken link\nhint: create the file it points to, or remove it", .0.display())]
    Dangling(PathBuf),
    #[error(
        "{} is a link\nhint: nothing was changed; in a project, settings are not written through links: edit the file it points to by hand, or remove the link",
        .0.display()
    )]
    Link(PathBuf),
    #[error("nothing was changed: {0}")]
    Locked(io::Error),
    #[error("{} keeps changing\nhint: quit the client, and try again", .0.display())]
    Busy(PathBuf),
    #[error(
        "{} belongs to another user, which the edit would change\nhint: nothing was changed; run this as that user",
        .0.display()
    )]
    OtherOwner(PathBuf),
    #[error(
        "{path} is read-only\nhint: nothing was changed; make it writable, as with `chmod u+w {path}`",
        path = .0.display()
    )]
    ReadOnly(PathBuf),
    #[error("cannot read {}: {reason}\nhint: let this user read it", path.display())]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("cannot change {}: {reason}\nhint: nothing was changed", path.display())]
    Unwritable { path: PathBuf, reason: io::Error },
}

/// A settings file, and how it is reached.
pub struct SettingsFile<'a> {
    pub path: &'a Path,
    pub links: Links<'a>,
    /// The permissions of a new file, as far as the umask allows.
    pub mode: u32,
}

#[derive(Clone, Copy)]
pub enum Links<'a> {
    /// In the user's own folders. A link stays, and its target is edited.
    Follow,
    /// Below this folder, whose content others may have written: a link there could lead to the user's own files.
    RefuseBelow(&'a Path),
}

/// Serializes the edits of this user. A private file: anyone who can read the folder of the settings could lock that.
pub struct Lock {
    pub file: PathBuf,
    pub timeout: Duration,
}

/// Passes the text of a file to `edit`, or an empty text if there is no file, and writes the result. Does not touch the file
/// if the result is `None`. Returns the path of the backup of an existing one.
pub fn edit_file<E: From<EditError>>(
    file: &SettingsFile<'_>,
    lock: Option<&Lock>,
    mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Option<PathBuf>, E> {
    let path = file.path;
    let unwritable = |reason| EditError::Unwritable { path: path.to_owned(), reason };
    // Nothing is created for an edit that changes nothing or is not possible.
    if file.read()?.edit(path, &mut edit)?.is_none() {
        return Ok(None);
    }
    let _guard = lock.map(Lock::take).transpose()?;
    for _ in 0..MAX_TRIES {
        let current = file.read()?;
        let Some(edited) = current.edit(path, &mut edit)? else { return Ok(None) };
        let Target { folder, name } = file.target(true)?.expect("it was created");
        let mode = if current.metadata.is_some() { 0o600 } else { file.mode };
        let mut temporary = TemporaryFile::create_in(&folder, mode).map_err(unwritable)?;
        temporary.write(edited.as_bytes()).map_err(unwritable)?;
        if let Some(before) = &current.metadata {
            let resembling = temporary.resemble((before.uid(), before.gid()), before.mode());
            resembling.map_err(|_| EditError::OtherOwner(path.to_owned()))?;
        }
        temporary.sync().map_err(unwritable)?;
        if read(path, &folder, &name)?.bytes != current.bytes {
            continue;
        }
        let backup = current.metadata.is_some().then(|| file.back_up(&folder, &current.bytes));
        let backup = backup.transpose().map_err(unwritable)?;
        temporary.rename_to(&name).map_err(unwritable)?;
        return Ok(backup);
    }
    Err(EditError::Busy(path.to_owned()).into())
}

/// Returns the text of a file, or an empty text if there is no file.
pub fn read_text(path: &Path) -> Result<String, EditError> {
    let current = SettingsFile { path, links: Links::Follow, mode: 0 }.read()?;
    let text = String::from_utf8(current.bytes).map_err(|_| EditError::NotText(path.to_owned()))?;
    Ok(text.strip_prefix(BOM).map(str::to_owned).unwrap_or(text))
}

impl Lock {
    /// Without a place for the lock there is none: concurrent changes are detected all the same.
    fn take(&self) -> Result<Option<File>, EditError> {
        let folder = self.file.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
        match folder.transpose().and_then(|_| user_files::lock_within(&self.file, self.timeout)) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(EditError::Locked(error)),
            Err(_) => Ok(None),
        }
    }
}

/// The opened folder of a file, and its name there.
struct Target {
    folder: Dir,
    name: OsString,
}

impl SettingsFile<'_> {
    /// Opens the folder of the file. `None` if it is missing and not to be created.
    fn target(&self, create: bool) -> Result<Option<Target>, EditError> {
        let opened = match self.links {
            Links::Follow => open_through_links(self.path, create)?,
            Links::RefuseBelow(base) => open_below(base, self.path, create),
        };
        match opened {
            Ok(target) => Ok(Some(target)),
            Err(OpenError::Link(folder)) => Err(EditError::Link(folder)),
            Err(OpenError::Failed(error)) if !create && error.kind() == ErrorKind::NotFound => Ok(None),
            Err(OpenError::Failed(reason)) if create => {
                Err(EditError::Unwritable { path: self.path.to_owned(), reason })
            }
            Err(OpenError::Failed(reason)) => Err(EditError::Unreadable { path: self.path.to_owned(), reason }),
        }
    }

    fn read(&self) -> Result<Current, EditError> {
        match self.target(false)? {
            Some(Target { folder, name }) => read(self.path, &folder, &name),
            None => Ok(Current::default()),
        }
    }

    /// Writes a backup next to the path. `folder` is the one of the file itself, which may be elsewhere if links are followed.
    fn back_up(&self, folder: &Dir, bytes: &[u8]) -> io::Result<PathBuf> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let name = self.path.file_name().unwrap_or_default();
        let name = match self.links {
            Links::Follow => back_up(&Dir::open_ambient_dir(parent, ambient_authority())?, name, bytes),
            Links::RefuseBelow(_) => back_up(folder, name, bytes),
        };
        Ok(parent.join(name?))
    }
}

/// The outer error is final; the inner one may mean that the folder is missing.
fn open_through_links(path: &Path, create: bool) -> Result<Result<Target, OpenError>, EditError> {
    let real = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => {
            path.canonicalize().map_err(|_| EditError::Dangling(path.to_owned()))?
        }
        _ => path.to_owned(),
    };
    let open = || {
        let folder = real.parent().unwrap_or(Path::new("/"));
        if create {
            std::fs::create_dir_all(folder)?;
        }
        let name = real.file_name().unwrap_or_default().to_owned();
        Ok(Target { folder: Dir::open_ambient_dir(folder, ambient_authority())?, name })
    };
    Ok(open())
}

fn open_below(base: &Path, path: &Path, create: bool) -> Result<Target, OpenError> {
    let below = path.strip_prefix(base).map_err(io::Error::other)?;
    let folder = Dir::open_ambient_dir(base, ambient_authority())?;
    let folder = open_folder(&folder, below.parent().unwrap_or(Path::new("")), create);
    let folder = folder.map_err(|error| match error {
        OpenError::Link(link) => OpenError::Link(base.join(link)),
        failed @ OpenError::Failed(_) => failed,
    })?;
    Ok(Target { folder, name: below.file_name().unwrap_or_default().to_owned() })
}

/// What a file contains, or nothing if there is no file.
#[derive(Default)]
struct Current {
    bytes: Vec<u8>,
    metadata: Option<Metadata>,
}

impl Current {
    /// Returns the content after the edit, unless it changes nothing.
    fn edit<E: From<EditError>>(
        &self,
        path: &Path,
        mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Option<String>, E> {
        let text = str::from_utf8(&self.bytes).map_err(|_| EditError::NotText(path.to_owned()))?;
        let (bom, rest) = text.strip_prefix(BOM).map_or(("", text), |rest| (BOM, rest));
        let Some(edited) = edit(rest)? else { return Ok(None) };
        // A rename would replace it all the same.
        if self.metadata.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
            return Err(EditError::ReadOnly(path.to_owned()).into());
        }
        Ok(Some(format!("{bom}{edited}")))
    }
}

/// Reads a file in a folder. `path` is for messages.
fn read(path: &Path, folder: &Dir, name: &OsStr) -> Result<Current, EditError> {
    let unreadable = |reason| EditError::Unreadable { path: path.to_owned(), reason };
    // Opening a FIFO must not block.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file: File = match openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file.into(),
        Err(Errno::NOENT) => return Ok(Current::default()),
        Err(_) if is_link(folder, name) => return Err(EditError::Link(path.to_owned())),
        Err(error) => return Err(unreadable(error.into())),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(EditError::NotAFile(path.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(EditError::TooLarge(path.to_owned()));
    }
    Ok(Current { bytes, metadata: Some(metadata) })
}

/// Writes a backup under a free name, unless one with the same content exists. Never overwrites a backup, and gives the name
/// only to a complete one.
fn back_up(folder: &Dir, name: &OsStr, bytes: &[u8]) -> io::Result<OsString> {
    let mut temporary = TemporaryFile::create_in(folder, 0o600)?;
    temporary.write(bytes).and_then(|()| temporary.sync())?;
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let mut backup = name.to_owned();
        backup.push(format!("{BACKUP_SUFFIX}{suffix}"));
        match temporary.link_as(&backup) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) => {}
        }
        if read(Path::new(&backup), folder, &backup).is_ok_and(|copy| copy.metadata.is_some() && copy.bytes == bytes) {
            return Ok(backup);
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests;
