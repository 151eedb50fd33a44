//! Checks out a tree, replacing each file atomically: a concurrent reader gets the old or the new file, never a part of it.
//!
//! libgit2 would remove a file before it writes the new one. All new files are written before the first is moved into
//! place, so a full disk leaves the old ones untouched.

use crate::contents::{Contents, TreeFile, display, failed};
use crate::limits::{MAX_COMMIT_BYTES, MAX_FILE_BYTES};
use git2::{IndexEntry, IndexTime, ObjectType, Oid, Repository, Tree};
use std::collections::BTreeSet;
use std::fs::{Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Git's mode of a link.
pub const LINK: u32 = 0o120_000;

/// Prefix of files that will be moved into place.
const TEMPORARY: &str = "skillcell-new-";

/// Checks out these paths of the tree and updates the index. All other paths must match the tree already. Fails instead of
/// overwriting a file that is not `expendable`, because it may be edited at any time.
pub fn check_out(
    repository: &Repository,
    folder: &Path,
    tree: &Tree<'_>,
    contents: &Contents,
    paths: &BTreeSet<PathBuf>,
    expendable: impl Fn(&Path) -> bool,
) -> Result<(), git2::Error> {
    let mut index = repository.index()?;
    // Also refuses names that some file systems take for `.git`, before anything is touched.
    index.read_tree(tree).map_err(|error| failed(error.message()))?;
    let checkout = Checkout { repository, folder };
    checkout.remove_leftovers();
    let (mut written, mut removed) = (Vec::new(), Vec::new());
    let mut budget = MAX_COMMIT_BYTES;
    for path in paths {
        match contents.get(path) {
            Some(file) => written.push((path, file, checkout.write_temporary(path, file, &mut budget)?)),
            None => removed.push(path),
        }
    }
    let check = |path: &Path| {
        let edited = || failed(&format!("{} was edited during the sync; the next sync keeps the edit", display(path)));
        if expendable(path) { Ok(()) } else { Err(edited()) }
    };
    for path in removed {
        check(path)?;
        checkout.remove(path).map_err(|error| io_failed(path, &error))?;
    }
    for (path, file, temporary) in written {
        check(path)?;
        let metadata = checkout.install(path, temporary).map_err(|error| io_failed(path, &error))?;
        index.add(&index_entry(path, file, Some(&metadata)))?;
    }
    index.write()
}

/// Returns the blob id of a file or link, without filters. Returns `None` for anything else.
pub fn blob_id(path: &Path) -> Option<Oid> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).ok()?;
        return Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes()).ok();
    }
    Some(metadata).filter(Metadata::is_file).and_then(|_| Oid::hash_file(ObjectType::Blob, path).ok())
}

/// Returns the index entry of a file.
pub fn index_entry(path: &Path, TreeFile { id, mode }: TreeFile, metadata: Option<&Metadata>) -> IndexEntry {
    // The index has only the lower 32 bits.
    let low_bits = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    let number = |of: fn(&Metadata) -> u64| metadata.map_or(0, |metadata| low_bits(of(metadata)));
    let time = |seconds: fn(&Metadata) -> i64, nanoseconds: fn(&Metadata) -> i64| {
        let seconds = metadata.and_then(|metadata| i32::try_from(seconds(metadata)).ok()).unwrap_or_default();
        let nanoseconds = metadata.and_then(|metadata| u32::try_from(nanoseconds(metadata)).ok()).unwrap_or_default();
        IndexTime::new(seconds, nanoseconds)
    };
    IndexEntry {
        ctime: time(Metadata::ctime, Metadata::ctime_nsec),
        mtime: time(Metadata::mtime, Metadata::mtime_nsec),
        dev: number(Metadata::dev),
        ino: number(Metadata::ino),
        mode,
        uid: number(|metadata| u64::from(metadata.uid())),
        gid: number(|metadata| u64::from(metadata.gid())),
        file_size: number(Metadata::size),
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_os_str().as_bytes().to_vec(),
    }
}

/// Returns the ancestor of a path that is a file, or a link, which may lead out of the folder.
pub fn blocking_ancestor<'a>(folder: &Path, path: &'a Path) -> Option<&'a Path> {
    let mut ancestors: Vec<&Path> = path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
    while let Some(next) = ancestors.pop() {
        match std::fs::symlink_metadata(folder.join(next)) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Some(next),
            Err(_) => return None,
        }
    }
    None
}

fn io_failed(path: &Path, error: &io::Error) -> git2::Error {
    failed(&format!("{}: {error}", display(path)))
}

fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

struct Checkout<'a> {
    repository: &'a Repository,
    folder: &'a Path,
}

impl Checkout<'_> {
    /// Removes temporary files of servers that were killed.
    fn remove_leftovers(&self) {
        let entries = std::fs::read_dir(self.repository.path()).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }

    /// Writes a file or link to a temporary path. Returns `None` if it is up to date.
    fn write_temporary(&self, path: &Path, file: TreeFile, budget: &mut u64) -> Result<Option<TempPath>, git2::Error> {
        if self.is_up_to_date(path, file) {
            return Ok(None);
        }
        let (size, _) = self.repository.odb()?.read_header(file.id)?;
        let size = size as u64;
        *budget = budget.checked_sub(size).filter(|_| size <= MAX_FILE_BYTES).ok_or_else(|| {
            failed(&format!(
                "{} has {size} bytes; the limits are {MAX_FILE_BYTES} for a file and {MAX_COMMIT_BYTES} for a commit",
                display(path)
            ))
        })?;
        let blob = self.repository.find_blob(file.id)?;
        self.write(blob.content(), file.mode).map(Some).map_err(|error| io_failed(path, &error))
    }

    fn is_up_to_date(&self, path: &Path, file: TreeFile) -> bool {
        let target = self.folder.join(path);
        let has_mode = |metadata: Metadata| {
            metadata.is_symlink() == (file.mode == LINK)
                && (file.mode == LINK || is_executable(metadata.mode()) == is_executable(file.mode))
        };
        blocking_ancestor(self.folder, path).is_none()
            && std::fs::symlink_metadata(&target).is_ok_and(has_mode)
            && blob_id(&target) == Some(file.id)
    }

    fn write(&self, bytes: &[u8], mode: u32) -> io::Result<TempPath> {
        let folder = self.repository.path();
        if mode == LINK {
            let target = Path::new(std::ffi::OsStr::from_bytes(bytes));
            let link = tempfile::Builder::new().prefix(TEMPORARY).make_in(folder, |path| symlink(target, path))?;
            return Ok(link.into_temp_path());
        }
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(Permissions::from_mode(if is_executable(mode) { 0o755 } else { 0o644 }))?;
        Ok(file.into_temp_path())
    }

    /// Moves a temporary file into place.
    fn install(&self, path: &Path, temporary: Option<TempPath>) -> io::Result<Metadata> {
        let target = self.folder.join(path);
        if let Some(temporary) = temporary {
            self.create_parents(path)?;
            if std::fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_dir()) {
                self.move_aside(path)?;
            }
            temporary.persist(&target)?;
        }
        std::fs::symlink_metadata(&target)
    }

    /// Creates the folders above a path, without following links.
    fn create_parents(&self, path: &Path) -> io::Result<()> {
        if let Some(file) = blocking_ancestor(self.folder, path) {
            std::fs::remove_file(self.folder.join(file))?;
        }
        path.parent().map_or(Ok(()), |parent| std::fs::create_dir_all(self.folder.join(parent)))
    }

    /// Moves a folder out of the way of a file. It has ignored files, or is a repository of its own.
    fn move_aside(&self, path: &Path) -> io::Result<()> {
        let aside = tempfile::Builder::new().prefix("skillcell-aside-").tempdir_in(self.repository.path())?.keep();
        std::fs::rename(self.folder.join(path), aside.join("folder"))?;
        let (path, aside) = (path.display(), aside.display());
        tracing::warn!("the folder {path} was in the way of a file of the remote; it is kept in {aside}");
        Ok(())
    }

    /// Removes a file, and the folders above it that become empty.
    fn remove(&self, path: &Path) -> io::Result<()> {
        if blocking_ancestor(self.folder, path).is_some() {
            return Ok(());
        }
        let target = self.folder.join(path);
        if std::fs::symlink_metadata(&target).is_ok_and(|metadata| !metadata.is_dir()) {
            std::fs::remove_file(&target)?;
        }
        for parent in path.ancestors().skip(1).take_while(|parent| !parent.as_os_str().is_empty()) {
            if std::fs::remove_dir(self.folder.join(parent)).is_err() {
                break;
            }
        }
        Ok(())
    }
}
