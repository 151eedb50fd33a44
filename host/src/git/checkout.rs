//! Makes files those of a tree, each in one step: whoever reads one meanwhile gets the old or the new, and never half of it.
//!
//! libgit2 would remove a file and write it anew in its place, and a request could come in between. And all are written before
//! the first takes its place: a disk that is full leaves the old ones as they are.

use git2::{ErrorClass, ErrorCode, Index, IndexEntry, IndexTime, ObjectType, Oid, Repository, Tree};
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

/// Makes these paths as the tree has them, and lets the index know. All others are as the tree has them already.
pub fn check_out(
    repository: &Repository,
    folder: &Path,
    tree: &Tree<'_>,
    paths: &BTreeSet<PathBuf>,
) -> Result<(), git2::Error> {
    // Refuses names that lead elsewhere, such as `..` and `.git`, before anything is touched.
    Index::new()?.read_tree(tree).map_err(|error| failed(error.message()))?;
    let work = Work { repository, folder };
    work.remove_leftovers();
    let mut index = repository.index()?;
    index.read_tree(tree)?;
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    for path in paths {
        match file_in(tree, path) {
            Some((id, mode)) => {
                wanted.push((path, id, mode, work.make(path, id, mode).map_err(|error| in_the_way(path, &error))?));
            }
            None => unwanted.push(path),
        }
    }
    for path in unwanted {
        work.remove(path).map_err(|error| in_the_way(path, &error))?;
    }
    for (path, id, mode, fresh) in wanted {
        let metadata = work.put(path, fresh).map_err(|error| in_the_way(path, &error))?;
        index.add(&entry(path, id, mode, Some(&metadata)))?;
    }
    index.write()
}

/// The file or link that a tree has at a path.
pub fn file_in(tree: &Tree<'_>, path: &Path) -> Option<(Oid, u32)> {
    let entry = tree.get_path(path).ok().filter(|entry| entry.kind() == Some(ObjectType::Blob))?;
    Some((entry.id(), entry.filemode().cast_unsigned()))
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
pub fn entry(path: &Path, id: Oid, mode: u32, metadata: Option<&Metadata>) -> IndexEntry {
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
    failed(&format!("{}: {error}", path.display()))
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
    fn make(&self, path: &Path, id: Oid, mode: u32) -> io::Result<Option<TempPath>> {
        let place = self.folder.join(path);
        let executable = mode & 0o100 != 0;
        let is_right = |there: &Metadata| {
            there.is_symlink() == (mode == LINK) && (mode == LINK || (there.mode() & 0o100 != 0) == executable)
        };
        let is_inside = in_place_of_folder(self.folder, path).is_none();
        if is_inside
            && std::fs::symlink_metadata(&place).is_ok_and(|there| is_right(&there))
            && content(&place) == Some(id)
        {
            return Ok(None);
        }
        let blob = self.repository.find_blob(id).map_err(io::Error::other)?;
        let beside = self.repository.path();
        if mode == LINK {
            let target = Path::new(std::ffi::OsStr::from_bytes(blob.content()));
            let link = tempfile::Builder::new().prefix(FRESH).make_in(beside, |path| symlink(target, path))?;
            return Ok(Some(link.into_temp_path()));
        }
        let mut file = tempfile::Builder::new().prefix(FRESH).tempfile_in(beside)?;
        file.write_all(blob.content())?;
        file.as_file().set_permissions(Permissions::from_mode(if executable { 0o755 } else { 0o644 }))?;
        Ok(Some(file.into_temp_path()))
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
