//! Reading files below a root, and never anything else.

use crate::bindings::library::{Oversize, ReadError};
use crate::library::resources::{Entry, EntryKind, Target};
use crate::library::stamp::Stamp;
use cap_std::fs::{Dir, DirEntry, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::io::{self, ErrorKind, Read};
use std::path::Component;

/// How often a file that changes while it is read is tried again.
const TRIES: usize = 3;

/// How it is told that too much is open.
pub const OUT_OF_FILES: &str = "too many files are open";

/// The bytes of a file and what the file system said about it.
#[derive(Debug)]
pub struct Bytes {
    pub bytes: Vec<u8>,
    pub stamp: Stamp,
}

/// Reads a regular file below a folder, whole or not at all.
///
/// The handle refuses `..`, absolute paths and links that leave the folder. A pipe or device is opened without waiting for
/// its other end and then refused.
pub fn read(folder: &Dir, path: &str, limit: u64) -> Result<Bytes, ReadError> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    let mut last = None;
    for _ in 0..TRIES {
        let mut file = folder.open_with(path, &options).map_err(refusal)?;
        let before = Stamp::of(&regular(&file)?);
        let mut bytes = Vec::new();
        let size = file.metadata().map_err(refusal)?.len();
        if size > limit {
            return Err(ReadError::TooLarge(Oversize { size, limit }));
        }
        bytes.reserve_exact(usize::try_from(size).unwrap_or(0));
        (&mut file).take(limit + 1).read_to_end(&mut bytes).map_err(refusal)?;
        if bytes.len() as u64 > limit {
            return Err(ReadError::TooLarge(Oversize { size: bytes.len() as u64, limit }));
        }
        let after = Stamp::of(&regular(&file)?);
        if before.same_as(&after) {
            return Ok(Bytes { bytes, stamp: before });
        }
        last = Some(Bytes { bytes, stamp: after.unsettled() });
    }
    last.ok_or(ReadError::NotFound)
}

/// What a path below a folder leads to.
pub fn target(folder: &Dir, path: &str) -> Option<Target> {
    let found = if path.is_empty() { folder.dir_metadata() } else { folder.metadata(path) }.ok()?;
    Some(match (found.is_dir(), found.is_file()) {
        (true, _) => Target::Folder,
        (_, true) => Target::File { size: found.len() },
        _ => Target::Other,
    })
}

/// What is directly inside a folder, in any order.
pub fn entries(folder: &Dir, path: &str) -> io::Result<Vec<Entry>> {
    let listed = if path.is_empty() { folder.entries()? } else { folder.read_dir(path)? };
    let entry = |entry: io::Result<DirEntry>| {
        let entry = entry?;
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => EntryKind::Folder,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Other,
        };
        Ok(Entry { name: entry.file_name().into_string().ok(), kind })
    };
    listed.map(entry).collect()
}

/// Whether a file or folder with this name is not served.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Whether a path leads through links to something hidden in the folder.
pub fn leads_to_hidden(folder: &Dir, path: &str) -> bool {
    let hidden =
        |part: Component<'_>| matches!(part, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."));
    folder.canonicalize(path).is_ok_and(|real| real.components().any(hidden))
}

fn regular(file: &cap_std::fs::File) -> Result<rustix::fs::Stat, ReadError> {
    if !file.metadata().map_err(refusal)?.is_file() {
        return Err(ReadError::NotAFile);
    }
    rustix::fs::fstat(file).map_err(|error| refusal(error.into()))
}

/// Whether a file or folder may be there, and could not be opened because this process or the system has too many open.
pub fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.raw_os_error().is_some_and(|number| [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).contains(&number))
}

/// What an error of the operating system means to someone who wanted a file.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub fn refusal(error: io::Error) -> ReadError {
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::NotFound | ErrorKind::InvalidFilename | ErrorKind::InvalidInput | ErrorKind::NotADirectory, _) => {
            ReadError::NotFound
        }
        (ErrorKind::IsADirectory, _) => ReadError::NotAFile,
        // The folder handle reports an escape without a number of the operating system.
        (ErrorKind::PermissionDenied, None) => ReadError::OutsideRoot,
        (ErrorKind::PermissionDenied, Some(_)) => ReadError::NoPermission,
        (_, Some(number)) if number == rustix::io::Errno::LOOP.raw_os_error() => ReadError::OutsideRoot,
        (_, Some(number)) if number == rustix::io::Errno::NXIO.raw_os_error() => ReadError::NotAFile,
        _ if is_out_of_files(&error) => ReadError::Failed(OUT_OF_FILES.to_owned()),
        _ => ReadError::Failed(error.to_string()),
    }
}
