//! The files of a clone: what somebody changed in them, and how they become those of another commit.

use git2::build::CheckoutBuilder;
use git2::{Commit, Delta, ErrorCode, Index, IndexEntry, IndexTime, ObjectType, Oid, Repository, Signature, Status};
use git2::{StatusOptions, Tree};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The commit that was being checked out, so that an interrupted checkout is not taken for somebody's edits.
const TARGET: &str = "refs/skillcell/target";

/// The last commit that was checked out.
const SYNCED: &str = "refs/skillcell/synced";

const BACKUPS: &str = "refs/skillcell/backup";

/// What a checkout did.
#[derive(Debug, PartialEq, Eq)]
pub struct CheckedOut {
    /// Paths that differ between the old and the new tree.
    pub files_changed: usize,
    pub backup: Option<Backup>,
}

/// Where edits are kept that were in the way.
#[derive(Debug, PartialEq, Eq)]
pub struct Backup {
    pub reference: String,
    pub files: Vec<String>,
}

/// What there is to do.
pub struct Plan<'r> {
    repository: &'r Repository,
    folder: PathBuf,
    before: Option<Commit<'r>>,
    after: Commit<'r>,
    /// Files with content that no known commit has.
    edits: BTreeSet<PathBuf>,
    /// Files that the new tree does not have.
    strays: BTreeSet<PathBuf>,
    /// Whether a commit was made here that came from no remote.
    own_commit: bool,
    files_changed: usize,
    is_done: bool,
}

/// Compares the files with a commit. `before_fetch` are the newest commits of the remote that were known before.
pub fn plan<'r>(repository: &'r Repository, commit: Oid, before_fetch: &[Oid]) -> Result<Plan<'r>, git2::Error> {
    let folder = repository.workdir().ok_or_else(|| git2::Error::from_str("the clone has no files"))?.to_owned();
    let after = repository.find_commit(commit)?;
    let before = head(repository)?;
    let known = |name: &str| repository.refname_to_id(name).ok().and_then(|id| repository.find_commit(id).ok());
    let (target, synced) = (known(TARGET), known(SYNCED));
    let tree = |commit: &Commit<'r>| commit.tree();
    let old_tree = before.as_ref().map(tree).transpose()?;
    let new_tree = after.tree()?;
    let trees: Vec<Tree<'_>> = [old_tree.clone(), target.as_ref().map(tree).transpose()?, Some(new_tree.clone())]
        .into_iter()
        .flatten()
        .collect();
    let mut candidates = BTreeSet::new();
    let mut is_done = before.as_ref().is_some_and(|before| before.id() == commit) && target.is_none();
    let mut strays = BTreeSet::new();
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).exclude_submodules(true).include_ignored(false);
    for entry in repository.statuses(Some(&mut options))?.iter() {
        let path = path_of(entry.path_bytes());
        if entry.status() == Status::CURRENT || is_nested_repository(entry.path_bytes()) {
            continue;
        }
        is_done = false;
        if entry.status().contains(Status::WT_NEW) && new_tree.get_path(&path).is_err() {
            strays.insert(path.clone());
        }
        candidates.insert(path);
    }
    let difference = repository.diff_tree_to_tree(old_tree.as_ref(), Some(&new_tree), None)?;
    // Files that git ignores may be where new ones come.
    let added = difference.deltas().filter(|delta| delta.status() == Delta::Added);
    candidates.extend(added.filter_map(|delta| delta.new_file().path().map(Path::to_owned)));
    let mut edits = BTreeSet::new();
    for path in candidates {
        let Some(content) = content(&folder.join(&path)) else { continue };
        let is_known = |tree: &Tree<'_>| tree.get_path(&path).is_ok_and(|entry| entry.id() == content);
        if !trees.iter().any(is_known) {
            edits.insert(path);
        }
    }
    let from_remote =
        |id: Oid| id == commit || before_fetch.contains(&id) || synced.as_ref().is_some_and(|synced| synced.id() == id);
    let own_commit = before.as_ref().is_some_and(|before| !from_remote(before.id()));
    let files_changed = difference.deltas().len();
    Ok(Plan { repository, folder, before, after, edits, strays, own_commit, files_changed, is_done })
}

impl Plan<'_> {
    /// Whether the files are those of the commit already.
    pub fn is_done(&self) -> bool {
        self.is_done && !self.own_commit
    }

    /// Keeps what somebody changed, and makes the files those of the commit. When it fails halfway, the next one goes on.
    pub fn carry_out(&self, branch: &str) -> Result<CheckedOut, git2::Error> {
        let backup = if self.edits.is_empty() && !self.own_commit { None } else { Some(self.back_up()?) };
        let message = "skillcell: sync";
        self.repository.reference(TARGET, self.after.id(), true, message)?;
        for stray in &self.strays {
            remove(&self.folder, stray).map_err(|error| git2::Error::from_str(&error.to_string()))?;
        }
        let mut how = CheckoutBuilder::new();
        how.force().disable_filters(true).recreate_missing(true);
        self.repository.checkout_tree(self.after.as_object(), Some(&mut how))?;
        let local = format!("refs/heads/{branch}");
        self.repository.reference(&local, self.after.id(), true, message)?;
        self.repository.set_head(&local)?;
        self.repository.reference(SYNCED, self.after.id(), true, message)?;
        self.repository.find_reference(TARGET)?.delete()?;
        Ok(CheckedOut { files_changed: self.files_changed, backup })
    }

    /// Commits the edits, under a name that nothing else touches.
    fn back_up(&self) -> Result<Backup, git2::Error> {
        let reference = self.free_name();
        let files = self.edits.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        if let Some(own) = self.before.as_ref().filter(|_| self.edits.is_empty()) {
            self.repository.reference(&reference, own.id(), false, "skillcell: a commit that was only here")?;
            return Ok(Backup { reference, files });
        }
        let mut index = Index::new()?;
        if let Some(before) = &self.before {
            index.read_tree(&before.tree()?)?;
        }
        for path in &self.edits {
            let entry = self.entry(path).map_err(|error| git2::Error::from_str(&error.to_string()))?;
            index.add(&entry)?;
        }
        let tree = self.repository.find_tree(index.write_tree_to(self.repository)?)?;
        let by = Signature::now("skillcell", "skillcell@localhost")?;
        let parents: Vec<&Commit<'_>> = self.before.iter().collect();
        self.repository.commit(Some(&reference), &by, &by, "Edits that were only in this clone\n", &tree, &parents)?;
        Ok(Backup { reference, files })
    }

    /// By time, so that the newest is the last.
    fn free_name(&self) -> String {
        let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let mut names = (millis..).map(|number| format!("{BACKUPS}/{number}"));
        let is_free = |name: &String| {
            self.repository.find_reference(name).is_err_and(|error| error.code() == ErrorCode::NotFound)
        };
        names.find(is_free).expect("there are more numbers than backups")
    }

    fn entry(&self, path: &Path) -> io::Result<IndexEntry> {
        let file = self.folder.join(path);
        let metadata = std::fs::symlink_metadata(&file)?;
        let (mode, id) = if metadata.is_symlink() {
            let target = std::fs::read_link(&file)?;
            (0o120_000, self.repository.blob(target.as_os_str().as_bytes()).map_err(io::Error::other)?)
        } else {
            // Exactly its bytes: with a path, git would apply filters.
            let mut blob = self.repository.blob_writer(None).map_err(io::Error::other)?;
            io::copy(&mut std::fs::File::open(&file)?, &mut blob)?;
            blob.flush()?;
            let mode = if metadata.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
            (mode, blob.commit().map_err(io::Error::other)?)
        };
        let never = IndexTime::new(0, 0);
        Ok(IndexEntry {
            ctime: never,
            mtime: never,
            dev: 0,
            ino: 0,
            mode,
            uid: 0,
            gid: 0,
            file_size: 0,
            id,
            flags: 0,
            flags_extended: 0,
            path: path.as_os_str().as_bytes().to_vec(),
        })
    }
}

/// The commit whose files are here, if any are.
pub fn head(repository: &Repository) -> Result<Option<Commit<'_>>, git2::Error> {
    match repository.head() {
        Ok(head) => head.peel_to_commit().map(Some),
        Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The id that git would give to the content of a file, byte for byte. Nothing for what is neither a file nor a link.
fn content(path: &Path) -> Option<Oid> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).ok()?;
        return Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes()).ok();
    }
    Some(metadata).filter(std::fs::Metadata::is_file).and_then(|_| Oid::hash_file(ObjectType::Blob, path).ok())
}

/// Removes a file, and the folders above it that are empty then.
fn remove(folder: &Path, path: &Path) -> io::Result<()> {
    match std::fs::remove_file(folder.join(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let above = path.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty());
    for above in above {
        if std::fs::remove_dir(folder.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Git lists a repository inside another as a folder. It is somebody's work, and stays.
fn is_nested_repository(path: &[u8]) -> bool {
    path.ends_with(b"/")
}
