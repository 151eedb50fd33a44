//! Edits a settings file of another program: atomically, with a backup, and only if it did not change in the meantime.

use base::user_files;
use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

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

/// Passes the text of a file to `edit`, or an empty text if there is no file, and writes the result. Does not touch the file
/// if the result is `None`. A new file gets `mode`, as far as the umask allows. Returns the path of the backup of an existing
/// one.
pub fn edit_file<E: From<EditError>>(
    path: &Path,
    mode: u32,
    mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Option<PathBuf>, E> {
    let unwritable = |reason| EditError::Unwritable { path: path.to_owned(), reason };
    let target = target(path)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    // On a file system without locks, concurrent changes are still detected below.
    let lock = || File::open(folder).and_then(|folder| folder.lock().map(|()| folder)).ok();
    for _ in 0..MAX_TRIES {
        let mut guard = lock();
        let (bytes, metadata) = read(path, &target)?;
        let text = String::from_utf8(bytes).map_err(|_| EditError::NotText(path.to_owned()))?;
        let (bom, rest) = text.strip_prefix(BOM).map_or(("", text.as_str()), |rest| (BOM, rest));
        let Some(edited) = edit(rest)? else { return Ok(None) };
        // A rename would replace it all the same.
        if metadata.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
            return Err(EditError::ReadOnly(path.to_owned()).into());
        }
        std::fs::create_dir_all(folder).map_err(unwritable)?;
        guard = guard.or_else(lock);
        let permissions = Permissions::from_mode(if metadata.is_some() { 0o600 } else { mode });
        let temporary = user_files::write_beside(&target, format!("{bom}{edited}").as_bytes(), permissions);
        let temporary = temporary.map_err(unwritable)?;
        if let Some(metadata) = &metadata {
            keep_owner(temporary.as_file(), metadata).map_err(|_| EditError::OtherOwner(path.to_owned()))?;
        }
        temporary.as_file().sync_all().map_err(unwritable)?;
        if read(path, &target)?.0 != text.as_bytes() {
            continue;
        }
        let backup = metadata.map(|_| back_up(path, text.as_bytes())).transpose().map_err(unwritable)?;
        temporary.persist(&target).map_err(|error| unwritable(error.error))?;
        drop(guard);
        return Ok(backup);
    }
    Err(EditError::Busy(path.to_owned()).into())
}

/// Returns the text of a file, or an empty text if there is no file.
pub fn read_text(path: &Path) -> Result<String, EditError> {
    let text = String::from_utf8(read(path, path)?.0).map_err(|_| EditError::NotText(path.to_owned()))?;
    Ok(text.strip_prefix(BOM).map(str::to_owned).unwrap_or(text))
}

/// Resolves a link, so that its target is edited and the link stays.
fn target(path: &Path) -> Result<PathBuf, EditError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => path.canonicalize().map_err(|_| EditError::Dangling(path.to_owned())),
        _ => Ok(path.to_owned()),
    }
}

/// Returns the content and the metadata of a file; nothing if there is no file.
fn read(path: &Path, target: &Path) -> Result<(Vec<u8>, Option<Metadata>), EditError> {
    let unreadable = |reason| EditError::Unreadable { path: path.to_owned(), reason };
    // Opening a FIFO must not block.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(target) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), None)),
        Err(error) => return Err(unreadable(error)),
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
    Ok((bytes, Some(metadata)))
}

/// Gives a new file the owner and permissions of the one that it replaces.
fn keep_owner(file: &File, before: &Metadata) -> io::Result<()> {
    let created = file.metadata()?;
    if (created.uid(), created.gid()) != (before.uid(), before.gid()) {
        std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid()))?;
    }
    // Last, because changing the owner may clear permission bits.
    file.set_permissions(before.permissions())
}

/// Writes a backup under a free name, unless one with the same content exists. Never overwrites a backup.
fn back_up(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let mut backup = OsString::from(path);
        backup.push(format!("{BACKUP_SUFFIX}{suffix}"));
        let backup = PathBuf::from(backup);
        match File::options().write(true).create_new(true).mode(0o600).open(&backup) {
            Ok(mut file) => {
                file.write_all(bytes).and_then(|()| file.sync_all())?;
                return Ok(backup);
            }
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) if read(&backup, &backup).is_ok_and(|(copy, _)| copy == bytes) => return Ok(backup),
            Err(_) => number += 1,
        }
    }
}

#[cfg(test)]
mod tests;
