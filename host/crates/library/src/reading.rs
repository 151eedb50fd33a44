//! Reads files and folders below a root, and nothing outside.

use crate::resources::{Entry, EntryKind, Target};
use crate::stamp::Stamp;
use bindings::library::{Oversize, ReadError};
use cap_std::fs::{Dir, DirEntry, OpenOptions, OpenOptionsExt};
use rustix::fs::{FileType, OFlags};
use std::io::{self, ErrorKind, Read};

/// How often a file that changes while it is read is read again.
const MAX_ATTEMPTS: usize = 3;

/// The reason in [`ReadError::Failed`] when too many files are open.
pub const OUT_OF_FILES: &str = "too many files are open";

/// The bytes of a file, and its metadata when they were read.
#[derive(Debug)]
pub struct FileBytes {
    pub bytes: Vec<u8>,
    pub stamp: Stamp,
}

/// Reads a regular file below a folder, whole or not at all.
///
/// The handle refuses `..`, absolute paths and links that leave the folder. Opening a pipe or device does not block, and is
/// then refused.
pub fn read(folder: &Dir, path: &str, limit: u64) -> Result<FileBytes, ReadError> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    let mut last = None;
    for _ in 0..MAX_ATTEMPTS {
        let mut file = folder.open_with(path, &options).map_err(read_error)?;
        let stat = stat_regular_file(&file)?;
        let (before, size) = (Stamp::of(&stat), u64::try_from(stat.st_size).unwrap_or(0));
        if size > limit {
            return Err(ReadError::TooLarge(Oversize { size, limit }));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        (&mut file).take(limit + 1).read_to_end(&mut bytes).map_err(read_error)?;
        if bytes.len() as u64 > limit {
            return Err(ReadError::TooLarge(Oversize { size: bytes.len() as u64, limit }));
        }
        let after = Stamp::of(&stat_regular_file(&file)?);
        if before.same_as(&after) {
            return Ok(FileBytes { bytes, stamp: before });
        }
        last = Some(FileBytes { bytes, stamp: after.racy() });
    }
    last.ok_or(ReadError::NotFound)
}

/// Returns what is at a path, through links.
pub fn target(folder: &Dir, path: &str) -> Option<Target> {
    let metadata = if path.is_empty() { folder.dir_metadata() } else { folder.metadata(path) }.ok()?;
    Some(match (metadata.is_dir(), metadata.is_file()) {
        (true, _) => Target::Folder,
        (_, true) => Target::File { size: metadata.len() },
        _ => Target::Other,
    })
}

/// Lists a folder, in any order.
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

/// Whether the name is hidden. Hidden files and folders are not served.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn stat_regular_file(file: &cap_std::fs::File) -> Result<rustix::fs::Stat, ReadError> {
    let stat = rustix::fs::fstat(file).map_err(|error| read_error(error.into()))?;
    if FileType::from_raw_mode(stat.st_mode).is_file() { Ok(stat) } else { Err(ReadError::NotAFile) }
}

/// Whether opening failed because this process or the system has too many open files.
pub fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.raw_os_error().is_some_and(|number| [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).contains(&number))
}

/// Translates an I/O error.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub fn read_error(error: io::Error) -> ReadError {
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::NotFound | ErrorKind::InvalidFilename | ErrorKind::InvalidInput | ErrorKind::NotADirectory, _) => {
            ReadError::NotFound
        }
        (ErrorKind::IsADirectory, _) => ReadError::NotAFile,
        // cap-std reports an escape without an OS error code.
        (ErrorKind::PermissionDenied, None) => ReadError::OutsideRoot,
        (ErrorKind::PermissionDenied, Some(_)) => ReadError::NoPermission,
        (_, Some(number)) if number == rustix::io::Errno::LOOP.raw_os_error() => ReadError::OutsideRoot,
        (_, Some(number)) if number == rustix::io::Errno::NXIO.raw_os_error() => ReadError::NotAFile,
        _ if is_out_of_files(&error) => ReadError::Failed(OUT_OF_FILES.to_owned()),
        _ => ReadError::Failed(error.to_string()),
    }
}
