//! Makes files those of a tree, each in one step: whoever reads one meanwhile gets the old or the new, and never half of it.
//!
//! libgit2 would remove a file and write it anew in its place, and a request could come in between. And all are written before
//! the first takes its place: a disk that is full leaves the old ones as they are.

use crate::git::contents::{Contents, TreeFile};
use crate::printable::printable;
use git2::{ErrorClass, ErrorCode, IndexEntry, IndexTime, ObjectType, Oid, Repository, Tree};
use std::collections::BTreeSet;
use std::fs::{Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// How git writes down that something is a link.
pub const LINK: u32 = 0o120_000;

/// How files are called that will take the place of others.
const FRESH: &str = "skillcell-new-";

/// Largest file, and most of them together: each is held in memory while it is written.
const LARGEST_FILE: usize = 64 << 20;
const LARGEST_COMMIT: usize = 1 << 30;

/// Makes these paths as the tree has them, and lets the index know. All others are as the tree has them already. Nothing that
/// is not `expendable` is overwritten: somebody may edit a file at this very moment.
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
    let work = Work { repository, folder };
    work.remove_leftovers();
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    let mut room = LARGEST_COMMIT;
    for path in paths {
        match contents.get(path) {
            Some(file) => wanted.push((path, file, work.make(path, file, &mut room)?)),
            None => unwanted.push(path),
        }
    }
    let check = |path: &Path| {
        let edited = || failed(&format!("{} was edited meanwhile, and the next sync keeps that", shown(path)));
        if expendable(path) { Ok(()) } else { Err(edited()) }
    };
    for path in unwanted {
        check(path)?;
        work.remove(path).map_err(|error| in_the_way(path, &error))?;
    }
    for (path, file, fresh) in wanted {
        check(path)?;
        let metadata = work.put(path, fresh).map_err(|error| in_the_way(path, &error))?;
        index.add(&entry(path, file, Some(&metadata)))?;
    }
    index.write()
}

/// The id that git would give to the content of a file, byte for byte. Nothing for what is neither a file nor a link.
pub fn content(path: &Path) -> Option<Oid> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).ok()?;
        return Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes()).ok();
    }
    Some(metadata).filter(Metadata::is_file).and_then(|_| Oid::hash_file(ObjectType::Blob, path).ok())
}

/// What an index has about a file.
pub fn entry(path: &Path, TreeFile { id, mode }: TreeFile, metadata: Option<&Metadata>) -> IndexEntry {
    // Git keeps the lower halves of these, to see whether a file changed.
    let short = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    let number = |of: fn(&Metadata) -> u64| metadata.map_or(0, |metadata| short(of(metadata)));
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

/// The file or link that is where a folder above a path has to be. What is behind a link is not below this folder.
pub fn in_place_of_folder<'a>(folder: &Path, path: &'a Path) -> Option<&'a Path> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
    while let Some(next) = above.pop() {
        match std::fs::symlink_metadata(folder.join(next)) {
            Ok(there) if there.is_dir() => {}
            Ok(_) => return Some(next),
            Err(_) => return None,
        }
    }
    None
}

fn failed(reason: &str) -> git2::Error {
    git2::Error::new(ErrorCode::GenericError, ErrorClass::Checkout, reason)
}

fn in_the_way(path: &Path, error: &io::Error) -> git2::Error {
    failed(&format!("{}: {error}", shown(path)))
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

struct Work<'a> {
    repository: &'a Repository,
    folder: &'a Path,
}

impl Work<'_> {
    /// Files of those who died while they wrote one.
    fn remove_leftovers(&self) {
        let entries = std::fs::read_dir(self.repository.path()).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(FRESH)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }

    /// Writes a file or a link beside its place; nothing if it is there already.
    fn make(&self, path: &Path, file: TreeFile, room: &mut usize) -> Result<Option<TempPath>, git2::Error> {
        if self.is_there(path, file) {
            return Ok(None);
        }
        let (size, _) = self.repository.odb()?.read_header(file.id)?;
        *room = room.checked_sub(size).filter(|_| size <= LARGEST_FILE).ok_or_else(|| {
            failed(&format!(
                "{} has {size} bytes, and at most {LARGEST_FILE} are taken, {LARGEST_COMMIT} of all files",
                shown(path)
            ))
        })?;
        let blob = self.repository.find_blob(file.id)?;
        self.write(blob.content(), file.mode).map(Some).map_err(|error| in_the_way(path, &error))
    }

    fn is_there(&self, path: &Path, file: TreeFile) -> bool {
        let place = self.folder.join(path);
        let is_right = |there: Metadata| {
            there.is_symlink() == (file.mode == LINK)
                && (file.mode == LINK || is_executable(there.mode()) == is_executable(file.mode))
        };
        in_place_of_folder(self.folder, path).is_none()
            && std::fs::symlink_metadata(&place).is_ok_and(is_right)
            && content(&place) == Some(file.id)
    }

    fn write(&self, bytes: &[u8], mode: u32) -> io::Result<TempPath> {
        let beside = self.repository.path();
        if mode == LINK {
            let target = Path::new(std::ffi::OsStr::from_bytes(bytes));
            let link = tempfile::Builder::new().prefix(FRESH).make_in(beside, |path| symlink(target, path))?;
            return Ok(link.into_temp_path());
        }
        let mut file = tempfile::Builder::new().prefix(FRESH).tempfile_in(beside)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(Permissions::from_mode(if is_executable(mode) { 0o755 } else { 0o644 }))?;
        Ok(file.into_temp_path())
    }

    /// Moves what was made to its place.
    fn put(&self, path: &Path, fresh: Option<TempPath>) -> io::Result<Metadata> {
        let place = self.folder.join(path);
        if let Some(fresh) = fresh {
            self.make_folders(path)?;
            if std::fs::symlink_metadata(&place).is_ok_and(|there| there.is_dir()) {
                self.move_aside(path)?;
            }
            fresh.persist(&place)?;
        }
        std::fs::symlink_metadata(&place)
    }

    /// No link on the way is followed.
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        if let Some(file) = in_place_of_folder(self.folder, path) {
            std::fs::remove_file(self.folder.join(file))?;
        }
        path.parent().map_or(Ok(()), |parent| std::fs::create_dir_all(self.folder.join(parent)))
    }

    /// A folder with files that git ignores, or with a repository of its own, where a file has to be.
    fn move_aside(&self, path: &Path) -> io::Result<()> {
        let aside = tempfile::Builder::new().prefix("skillcell-aside-").tempdir_in(self.repository.path())?.keep();
        std::fs::rename(self.folder.join(path), aside.join("folder"))?;
        let (path, aside) = (path.display(), aside.display());
        tracing::warn!("the folder {path} was where the remote has a file; it is kept in {aside}");
        Ok(())
    }

    /// Removes a file, and the folders above it that are empty then.
    fn remove(&self, path: &Path) -> io::Result<()> {
        if in_place_of_folder(self.folder, path).is_some() {
            return Ok(());
        }
        let place = self.folder.join(path);
        match std::fs::symlink_metadata(&place) {
            Ok(there) if !there.is_dir() => std::fs::remove_file(&place)?,
            _ => {}
        }
        for above in path.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty()) {
            if std::fs::remove_dir(self.folder.join(above)).is_err() {
                break;
            }
        }
        Ok(())
    }
}
