//! The folder of a clone, and the lock that servers share.

use crate::config::git::Remote;
use crate::git::address::Address;
use crate::git::problem::SyncError;
use crate::git::{Patience, prepare_libgit2, worktree};
use crate::moment;
use crate::printable::printable;
use crate::private;
use git2::{Repository, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long to wait between two tries to get something that others hold.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Longest wait for another git to be done with a file.
const OTHERS_WORK: Duration = Duration::from_secs(1);

/// A lock file that is older than this was left by somebody who is gone.
const OLD: Duration = Duration::from_secs(10);

const NOWHERE_ELSE: [&OsStr; 0] = [];

/// The clone that another server of this kind made, if it is of the same repository and has the wanted branch.
pub fn existing(address: &Address, branch: Option<&str>, home: Option<&Path>) -> Option<PathBuf> {
    let folder = home?.join(".skills-mcp/content");
    // Nothing is hidden from libgit2 yet: a credential helper may still have to be found.
    let repository = Repository::open_ext(&folder, RepositoryOpenFlags::NO_SEARCH, NOWHERE_ELSE).ok()?;
    let origin = repository.find_remote("origin").ok()?;
    let (found, _) = Address::parse(origin.url()?, |path| PathBuf::from(path)).ok()?;
    let head = repository.find_reference("HEAD").ok()?;
    let has_branch = |branch| head.symbolic_target() == Some(&format!("refs/heads/{branch}"));
    (found.is_same(address) && branch.is_none_or(has_branch) && has_files_in(&repository, &folder)).then_some(folder)
}

/// Opens the repository in exactly this folder.
pub fn open(folder: &Path) -> Result<Repository, git2::Error> {
    prepare_libgit2();
    let repository = Repository::open_ext(folder, RepositoryOpenFlags::NO_SEARCH, NOWHERE_ELSE)?;
    if has_files_in(&repository, folder) {
        Ok(repository)
    } else {
        Err(git2::Error::from_str("its settings say that its files are elsewhere"))
    }
}

/// Settings of a repository may name any folder for its files.
fn has_files_in(repository: &Repository, folder: &Path) -> bool {
    let files = repository.workdir().and_then(|files| files.canonicalize().ok());
    files.is_some() && files == folder.canonicalize().ok()
}

/// Whether there is something to serve already.
pub fn is_there(folder: &Path) -> bool {
    folder.join(".git").exists()
}

/// What is wrong with what git keeps in a clone, if that shows at once.
pub fn damage(folder: &Path) -> Option<String> {
    let looked = open(folder).and_then(|repository| worktree::head(&repository).map(drop));
    looked.err().map(|error| printable(error.message()))
}

/// Held by the one server that changes a clone.
pub struct Held {
    file: File,
}

/// Waits for the lock. Leftovers of those who held it and died are removed.
pub fn hold(remote: &Remote, patience: &Patience) -> Result<Held, SyncError> {
    if !remote.taken_over {
        private::folder(beside(remote))?;
    }
    let lock = remote.lock();
    let unusable = |reason: io::Error| SyncError::Unusable { path: lock.clone(), reason };
    let file = loop {
        match private::try_lock(&lock).map_err(unusable)? {
            Some(file) => break file,
            None if patience.is_over() => return Err(SyncError::Busy { lock }),
            None => std::thread::park_timeout(BETWEEN_TRIES),
        }
    };
    for leftover in unfinished(remote) {
        // If it cannot be removed, it is only in nobody's way.
        let _ = std::fs::remove_dir_all(leftover);
    }
    Ok(Held { file })
}

/// A folder beside the clone, in which one is made before it takes its place, or put when its time is over.
pub fn fresh(remote: &Remote, purpose: &str) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(&beginning(remote, purpose)).tempdir_in(beside(remote))
}

/// What folders are for that nobody needs when whoever made them is gone.
pub const NEW: &str = "new";

fn beside(remote: &Remote) -> &Path {
    remote.folder.parent().unwrap_or(Path::new("."))
}

fn beginning(remote: &Remote, purpose: &str) -> String {
    let name = remote.folder.file_name().unwrap_or_default().to_string_lossy();
    if purpose == NEW { format!(".{name}-new-") } else { format!("{name}-{purpose}-") }
}

fn unfinished(remote: &Remote) -> Vec<PathBuf> {
    let beginning = beginning(remote, NEW);
    let entries = std::fs::read_dir(beside(remote)).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&beginning))
        .map(|entry| entry.path())
        .collect()
}

impl Held {
    /// Whether another server, or this one, synced so lately.
    pub fn synced_within(&self, time: Duration) -> bool {
        let age = time_in(&self.file).and_then(|synced| moment::since_1970().checked_sub(synced));
        age.is_some_and(|age| age < time)
    }

    pub fn note_sync(&self) {
        let millis = moment::since_1970().as_millis();
        let _ = self.file.write_all_at(format!("{millis:020}\n").as_bytes(), 0);
    }
}

/// When any server last synced this clone, since the first of January 1970.
pub fn last_sync(remote: &Remote) -> Option<Duration> {
    time_in(&File::open(remote.lock()).ok()?)
}

fn time_in(file: &File) -> Option<Duration> {
    let mut digits = [0; 20];
    file.read_exact_at(&mut digits, 0).ok()?;
    std::str::from_utf8(&digits).ok()?.parse().ok().map(Duration::from_millis)
}

/// Waits until no other git works here. Lock files of those who are gone are removed: our own lock says that no server is
/// at it, and nobody else needs more than a moment.
pub fn clear_locks(repository: &Repository) -> Result<(), SyncError> {
    let patience = Patience::new(OTHERS_WORK);
    loop {
        let Some(file) = lock_files(repository.path()).into_iter().next() else { return Ok(()) };
        let time = std::fs::symlink_metadata(&file).and_then(|file| file.modified()).ok();
        // A time that is still to come was set by a clock that was wrong, and not just now.
        let age = time.map(|time| SystemTime::now().duration_since(time).unwrap_or_else(|early| early.duration()));
        if age.is_some_and(|age| age > OLD) {
            tracing::info!("removed {}, which somebody left behind", file.display());
            std::fs::remove_file(&file).map_err(|reason| SyncError::Unusable { path: file, reason })?;
        } else if patience.is_over() {
            return Err(SyncError::Locked { file });
        } else {
            std::thread::park_timeout(BETWEEN_TRIES);
        }
    }
}

/// Files that lock others, where git has them.
fn lock_files(git: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![git.to_owned(), git.join("refs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if folder != git && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lock") {
                found.push(path);
            }
        }
    }
    found
}
