//! Reading files below a root, and never anything else.

use crate::bindings::library::{Oversize, ReadError};
use crate::library::stamp::Stamp;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::io::{self, ErrorKind, Read};
use std::path::Component;

/// How often a file that changes while it is read is tried again.
const TRIES: usize = 3;

/// Most files of one folder that are listed. Whoever has more in one does not look for a single one by its name.
const MOST_LISTED: usize = 1_000;

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

/// Whether a regular file is there.
pub fn has_file(folder: &Dir, path: &str) -> bool {
    folder.metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Names of the regular files directly inside a folder that are not hidden, sorted.
pub fn list_files(folder: &Dir, path: &str) -> Vec<String> {
    let inside = if path.is_empty() { folder.try_clone() } else { folder.open_dir(path) };
    let Ok(inside) = inside else { return Vec::new() };
    let Ok(entries) = inside.entries() else { return Vec::new() };
    let named = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let served = named.filter(|name| !is_hidden(name) && has_file(&inside, name));
    let mut names: Vec<String> = served.take(MOST_LISTED).collect();
    names.sort_unstable();
    names
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

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_lists_its_files_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["in/folder", "out"] {
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        for path in ["in/b.py", "in/a.py", "in/.hidden", "in/folder/deep.py", "out/secret.py"] {
            std::fs::write(folder.path().join(path), "").unwrap();
        }
        symlink("a.py", folder.path().join("in/c.py")).unwrap();
        symlink("../out/secret.py", folder.path().join("in/d.py")).unwrap();
        symlink("../../out", folder.path().join("in/folder/out")).unwrap();
        let root = Dir::open_ambient_dir(folder.path().join("in"), ambient_authority()).unwrap();
        assert_eq!(list_files(&root, ""), ["a.py", "b.py", "c.py"]);
        assert_eq!(list_files(&root, "folder"), ["deep.py"]);
        for nothing in ["a.py", "missing", "..", "folder/out", "../out"] {
            assert_eq!(list_files(&root, nothing), [""; 0], "{nothing}");
        }
        for number in 0..2_000 {
            std::fs::write(folder.path().join(format!("in/folder/{number}")), "").unwrap();
        }
        assert_eq!(list_files(&root, "folder").len(), MOST_LISTED);
    }
}
