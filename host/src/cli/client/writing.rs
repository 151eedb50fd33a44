//! Changing a file of somebody else's program: all of it or nothing, with a copy of what was there, and only if nobody else
//! changed it meanwhile.

use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Largest file that is read, in bytes. Claude Code keeps its history beside its servers.
pub const LARGEST: u64 = 64 << 20;

/// How often a file that others change at the same moment is tried.
const TRIES: usize = 5;

/// What comes behind the name of a file for the copy of what was there.
const BACKUP: &str = ".skillcell-backup";

const BOM: &str = "\u{feff}";

/// Who may read a file that is made anew.
#[derive(Debug, Clone, Copy)]
pub enum Readers {
    /// Settings of a user may hold secrets.
    Owner,
    /// Whoever usually reads what this user makes.
    Usual,
}

#[derive(Debug, thiserror::Error)]
pub enum NoChange {
    #[error("{} is larger than {LARGEST} bytes\nhint: add the entry by hand", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is not UTF-8\nhint: save it as UTF-8 first", .0.display())]
    NotText(PathBuf),
    #[error("{} is no file\nhint: see what is there", .0.display())]
    NoFile(PathBuf),
    #[error("{} is a link that leads nowhere\nhint: make the file that it leads to, or remove it", .0.display())]
    Dangling(PathBuf),
    #[error("{} changes all the time\nhint: end the client, and try again", .0.display())]
    Busy(PathBuf),
    #[error(
        "{} belongs to somebody else, and would not any more\nhint: nothing was changed; do it as that user",
        .0.display()
    )]
    Foreign(PathBuf),
    #[error(
        "{path} is read-only\nhint: nothing was changed; let yourself write it, as with `chmod u+w {path}`",
        path = .0.display()
    )]
    ReadOnly(PathBuf),
    #[error("cannot read {}: {reason}\nhint: let this user read it", path.display())]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("cannot change {}: {reason}\nhint: nothing was changed", path.display())]
    Unusable { path: PathBuf, reason: io::Error },
}

/// A file that was changed.
#[derive(Debug)]
pub struct Changed {
    /// Where the copy of what was there is; nothing if there was no file.
    pub backup: Option<PathBuf>,
}

/// A file as it was read.
struct Content {
    bytes: Vec<u8>,
    /// Missing when there is no file.
    metadata: Option<Metadata>,
}

/// Gives the text of a file to `edit`, an empty one if there is no file, and writes what comes of it. Leaves the file alone if
/// nothing does.
pub fn change<E: From<NoChange>>(
    path: &Path,
    readers: Readers,
    mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Option<Changed>, E> {
    let unusable = |reason| NoChange::Unusable { path: path.to_owned(), reason };
    let target = target(path)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    // Where locks are unknown, only what others wrote meanwhile is noticed.
    let lock = || File::open(folder).and_then(|folder| folder.lock().map(|()| folder)).ok();
    for _ in 0..TRIES {
        let mut held = lock();
        let before = read(path, &target)?;
        let text = String::from_utf8(before.bytes).map_err(|_| NoChange::NotText(path.to_owned()))?;
        let (bom, rest) = text.strip_prefix(BOM).map_or(("", text.as_str()), |rest| (BOM, rest));
        let Some(edited) = edit(rest)? else { return Ok(None) };
        // Another file can take its place all the same, and nobody asked for that.
        if before.metadata.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
            return Err(NoChange::ReadOnly(path.to_owned()).into());
        }
        std::fs::create_dir_all(folder).map_err(unusable)?;
        held = held.or_else(lock);
        let fresh = fresh(folder, before.metadata.as_ref(), readers, &format!("{bom}{edited}")).map_err(unusable)?;
        if let Some(metadata) = &before.metadata {
            keep_owner(fresh.as_file(), metadata).map_err(|_| NoChange::Foreign(path.to_owned()))?;
        }
        if read(path, &target)?.bytes != text.as_bytes() {
            continue;
        }
        let backup = before.metadata.map(|_| back_up(path, text.as_bytes())).transpose().map_err(unusable)?;
        fresh.persist(&target).map_err(|error| unusable(error.error))?;
        drop(held);
        return Ok(Some(Changed { backup }));
    }
    Err(NoChange::Busy(path.to_owned()).into())
}

/// The text of a file; nothing if there is none.
pub fn text(path: &Path) -> Result<String, NoChange> {
    let text = String::from_utf8(read(path, path)?.bytes).map_err(|_| NoChange::NotText(path.to_owned()))?;
    Ok(text.strip_prefix(BOM).map(str::to_owned).unwrap_or(text))
}

/// Where a link leads, so that it stays one.
fn target(path: &Path) -> Result<PathBuf, NoChange> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => path.canonicalize().map_err(|_| NoChange::Dangling(path.to_owned())),
        _ => Ok(path.to_owned()),
    }
}

fn read(path: &Path, target: &Path) -> Result<Content, NoChange> {
    let unreadable = |reason| NoChange::Unreadable { path: path.to_owned(), reason };
    // A FIFO must not hold us up.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(target) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Content { bytes: Vec::new(), metadata: None }),
        Err(error) => return Err(unreadable(error)),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(NoChange::NoFile(path.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(NoChange::TooLarge(path.to_owned()));
    }
    Ok(Content { bytes, metadata: Some(metadata) })
}

/// A complete file beside the one whose place it is to take, with its permissions.
fn fresh(
    folder: &Path,
    before: Option<&Metadata>,
    readers: Readers,
    text: &str,
) -> io::Result<tempfile::NamedTempFile> {
    let mode = match (before, readers) {
        (Some(_), _) | (None, Readers::Owner) => 0o600,
        (None, Readers::Usual) => 0o666,
    };
    let mut builder = tempfile::Builder::new();
    let mut fresh = builder.prefix(".skillcell-").permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    fresh.write_all(text.as_bytes())?;
    if let Some(before) = before {
        fresh.as_file().set_permissions(before.permissions())?;
    }
    fresh.as_file().sync_all()?;
    Ok(fresh)
}

fn keep_owner(fresh: &File, before: &Metadata) -> io::Result<()> {
    let made = fresh.metadata()?;
    if (made.uid(), made.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(fresh, Some(before.uid()), Some(before.gid()))?;
    // Changing the owner may take permissions away.
    fresh.set_permissions(before.permissions())
}

/// Copies what was there to a name that is free, or is such a copy already. No copy is ever written over.
fn back_up(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let name = |number: usize| {
        let mut name = OsString::from(path);
        name.push(BACKUP);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    for number in 1.. {
        let backup = name(number);
        match File::options().write(true).create_new(true).mode(0o600).open(&backup) {
            Ok(mut file) => {
                file.write_all(bytes).and_then(|()| file.sync_all())?;
                return Ok(backup);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if read(&backup, &backup).is_ok_and(|copy| copy.bytes == bytes) {
                    return Ok(backup);
                }
            }
            Err(error) => return Err(error),
        }
    }
    unreachable!("there are more numbers than files")
}

#[cfg(test)]
mod tests;
