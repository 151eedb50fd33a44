//! The folder of a clone, and the lock file that servers share.

use crate::address::Address;
use crate::error::SyncError;
use crate::options::Remote;
use crate::{Deadline, prepare_libgit2, worktree};
use base::place::{LocalReason, Place};
use base::printable::printable;
use base::timestamp;
use base::user_files;
use git2::{Repository, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Pause between attempts to get a lock.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Timeout for other git processes to release their lock files.
const LOCK_FILE_TIMEOUT: Duration = Duration::from_secs(1);

/// A git lock file that is older than this is stale.
const STALE_AGE: Duration = Duration::from_secs(10);

const NO_CEILING: [&OsStr; 0] = [];

/// Finds a clone that `skills-mcp` made of the same repository, with the same branch.
pub fn find_existing(address: &Address, branch: Option<&str>, home: Option<&Path>) -> Option<PathBuf> {
    let folder = home?.join(".skills-mcp/content");
    // Does not call `prepare_libgit2`, because a credential helper may have to be found in the configuration later.
    let repository = Repository::open_ext(&folder, RepositoryOpenFlags::NO_SEARCH, NO_CEILING).ok()?;
    let origin = repository.find_remote("origin").ok()?;
    let (cloned, _) = Address::parse(origin.url()?, |path| PathBuf::from(path)).ok()?;
    let head = repository.find_reference("HEAD").ok()?;
    let has_branch = |branch| head.symbolic_target() == Some(&format!("refs/heads/{branch}"));
    (cloned.is_same(address) && branch.is_none_or(has_branch) && has_files_in(&repository, &folder)).then_some(folder)
}

/// Opens the repository in exactly this folder.
pub fn open(folder: &Path) -> Result<Repository, git2::Error> {
    prepare_libgit2();
    let repository = Repository::open_ext(folder, RepositoryOpenFlags::NO_SEARCH, NO_CEILING)?;
    if has_files_in(&repository, folder) {
        Ok(repository)
    } else {
        Err(git2::Error::from_str("its configuration puts its files elsewhere"))
    }
}

/// Whether the files of a repository are in this folder; its configuration may name any other.
fn has_files_in(repository: &Repository, folder: &Path) -> bool {
    let files = repository.workdir().and_then(|files| files.canonicalize().ok());
    files.is_some() && files == folder.canonicalize().ok()
}

/// Whether there is a clone to serve.
pub fn exists(folder: &Path) -> bool {
    folder.join(".git").exists()
}

/// Returns what is wrong with a clone, as far as opening it shows.
pub fn damage(folder: &Path) -> Option<String> {
    let opened = open(folder).and_then(|repository| worktree::head(&repository).map(drop));
    opened.err().map(|error| printable(error.message()))
}

/// The lock that allows one server to change a clone.
pub struct CloneLock {
    file: File,
}

/// Waits for the lock, and removes what earlier holders left unfinished.
pub fn lock(remote: &Remote, deadline: &Deadline) -> Result<CloneLock, SyncError> {
    if !remote.taken_over {
        user_files::ensure_folder(parent(remote))
            .map_err(|error| SyncError::UntrustedFolder(LocalReason(error.to_string())))?;
    }
    let lock = remote.lock();
    let file = loop {
        match user_files::try_lock(&lock).map_err(|error| SyncError::unusable(&lock, &error))? {
            Some(file) => break file,
            None if deadline.has_passed() => return Err(SyncError::Busy { lock: Place::file(lock) }),
            None => std::thread::park_timeout(RETRY_DELAY),
        }
    };
    let prefix = sibling_prefix(remote, NEW);
    let siblings = std::fs::read_dir(parent(remote)).into_iter().flatten().flatten();
    for unfinished in siblings.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
        // If it cannot be removed, it does no harm.
        let _ = std::fs::remove_dir_all(unfinished.path());
    }
    Ok(CloneLock { file })
}

/// Creates a folder next to the clone, for a new or a discarded one.
pub fn create_sibling(remote: &Remote, purpose: &str) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(&sibling_prefix(remote, purpose)).tempdir_in(parent(remote))
}

/// The purpose of siblings that are removed if the server that created them is gone.
pub const NEW: &str = "new";

fn parent(remote: &Remote) -> &Path {
    remote.folder.parent().unwrap_or(Path::new("."))
}

fn sibling_prefix(remote: &Remote, purpose: &str) -> String {
    let name = remote.folder.file_name().unwrap_or_default().to_string_lossy();
    if purpose == NEW { format!(".{name}-new-") } else { format!("{name}-{purpose}-") }
}

impl CloneLock {
    /// Whether any server synced the clone within this time.
    pub fn synced_within(&self, time: Duration) -> bool {
        let age = read_time(&self.file).and_then(|synced| timestamp::since_epoch().checked_sub(synced));
        age.is_some_and(|age| age < time)
    }

    pub fn record_sync(&self) {
        let millis = timestamp::since_epoch().as_millis();
        let _ = self.file.write_all_at(format!("{millis:020}\n").as_bytes(), 0);
    }
}

/// Returns when any server last synced this clone, since the Unix epoch.
pub fn last_sync(remote: &Remote) -> Option<Duration> {
    read_time(&File::open(remote.lock()).ok()?)
}

fn read_time(file: &File) -> Option<Duration> {
    let mut digits = [0; 20];
    file.read_exact_at(&mut digits, 0).ok()?;
    std::str::from_utf8(&digits).ok()?.parse().ok().map(Duration::from_millis)
}

/// Waits until other git processes release their lock files, which takes a moment, and removes stale ones.
pub fn clear_locks(repository: &Repository) -> Result<(), SyncError> {
    let deadline = Deadline::after(LOCK_FILE_TIMEOUT);
    loop {
        let Some(file) = any_lock_file(repository.path()) else { return Ok(()) };
        let time = std::fs::symlink_metadata(&file).and_then(|file| file.modified()).ok();
        // A time in the future was set by a wrong clock, so the file is not recent.
        let age = time.map(|time| SystemTime::now().duration_since(time).unwrap_or_else(|early| early.duration()));
        if age.is_some_and(|age| age > STALE_AGE) {
            tracing::info!("removed the stale lock file {}", file.display());
            std::fs::remove_file(&file).map_err(|error| SyncError::unusable(&file, &error))?;
        } else if deadline.has_passed() {
            return Err(SyncError::Locked { file: Place::file(file) });
        } else {
            std::thread::park_timeout(RETRY_DELAY);
        }
    }
}

/// Removes packs and objects that libgit2 was writing when a server was killed. A pack can be as large as the repository, and
/// libgit2 never looks at it again. Other servers are excluded by the lock, and other programs have other names for theirs.
pub fn remove_unfinished_objects(repository: &Repository) {
    let objects = repository.path().join("objects");
    for folder in [objects.join("pack"), objects] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if ["pack_git2_", "tmp_object_git2_", "streamed_git2_"]
                .iter()
                .any(|prefix| name.to_string_lossy().starts_with(prefix))
            {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Returns one of git's lock files, if there are any.
fn any_lock_file(git: &Path) -> Option<PathBuf> {
    let mut folders = vec![git.to_owned(), git.join("refs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if folder != git && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lock") {
                return Some(path);
            }
        }
    }
    None
}
