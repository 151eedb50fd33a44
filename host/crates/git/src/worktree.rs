//! The files of a clone: finds local edits, backs them up and checks out another commit.

use crate::checkout;
use crate::contents::{self, Contents, TreeFile};
use base::timestamp;
use git2::{
    Commit, ErrorCode, Index, IndexEntry, IndexEntryExtendedFlag, IndexEntryFlag, Oid, Reference, Repository,
    Signature, Status, StatusOptions,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Commits whose checkout has started, so that an interrupted one is not mistaken for local edits.
const TARGETS: &str = "refs/skillcell/targets";

/// The last commit that was checked out.
const SYNCED: &str = "refs/skillcell/synced";

const BACKUPS: &str = "refs/skillcell/backup";

/// The result of a checkout.
#[derive(Debug, PartialEq, Eq)]
pub struct CheckedOut {
    /// Paths that differ between the old and the new tree.
    pub files_changed: usize,
    pub backup: Option<Backup>,
}

/// Where local edits are kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Backup {
    pub reference: String,
    pub files: Vec<String>,
}

/// What a checkout will change.
pub struct Plan<'r> {
    repository: &'r Repository,
    folder: PathBuf,
    before: Option<Commit<'r>>,
    after: Commit<'r>,
    /// Paths that may differ from the commit.
    dirty: BTreeSet<PathBuf>,
    /// Files with content that no known commit has.
    edits: BTreeSet<PathBuf>,
    contents: Contents,
    /// Other commits that files on disk may come from.
    earlier: Vec<Contents>,
    /// Whether the current commit was made locally.
    has_local_commit: bool,
    files_changed: usize,
    /// Whether the files already match the commit.
    pub is_done: bool,
}

/// Compares the files with a commit. `before_fetch` are the tips of the remote that were known before.
pub fn plan<'r>(repository: &'r Repository, commit: Oid, before_fetch: &[Oid]) -> Result<Plan<'r>, git2::Error> {
    let folder = repository.workdir().ok_or_else(|| git2::Error::from_str("the clone has no work tree"))?.to_owned();
    let after = repository.find_commit(commit)?;
    let before = head(repository)?;
    let synced = repository.refname_to_id(SYNCED).ok().and_then(|id| repository.find_commit(id).ok());
    let targets = targets(repository)?;
    let read = |commit: &Commit<'_>| Contents::of(repository, &commit.tree()?);
    // First, because it is not trusted.
    let contents = read(&after)?;
    let old = before.as_ref().or(synced.as_ref()).map(read).transpose()?.unwrap_or_default();
    let mut dirty: BTreeSet<PathBuf> = contents.differences(&old).map(Path::to_owned).collect();
    let files_changed = dirty.len();
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).exclude_submodules(true).include_ignored(false);
    let statuses = repository.statuses(Some(&mut options))?;
    let changed = statuses.iter().filter(|entry| entry.status() != Status::CURRENT);
    // Git reports a nested repository as a folder. It is left alone.
    let changed = changed.filter(|entry| !entry.path_bytes().ends_with(b"/"));
    let changed = changed.map(|entry| PathBuf::from(OsStr::from_bytes(entry.path_bytes())));
    dirty.extend(changed.filter(|path| contents::is_inside(path)));
    dirty.extend(assumed_unchanged(repository)?.into_iter().filter(|path| contents::is_inside(path)));
    let blocking: Vec<PathBuf> =
        dirty.iter().filter_map(|path| checkout::blocking_ancestor(&folder, path)).map(Path::to_owned).collect();
    dirty.extend(blocking);
    let interrupted = targets.iter().filter_map(|target| read(&target.peel_to_commit().ok()?).ok());
    let earlier = std::iter::once(old).chain(interrupted).collect();
    let from_remote =
        |id: Oid| id == commit || before_fetch.contains(&id) || synced.as_ref().is_some_and(|synced| synced.id() == id);
    let has_local_commit = before.as_ref().is_some_and(|before| !from_remote(before.id()));
    let is_at_commit = before.as_ref().is_some_and(|before| before.id() == commit);
    let is_done = is_at_commit && targets.is_empty() && dirty.is_empty();
    let mut plan = Plan {
        repository,
        folder,
        before,
        after,
        dirty,
        edits: BTreeSet::new(),
        contents,
        earlier,
        has_local_commit,
        files_changed,
        is_done,
    };
    plan.edits = plan.dirty.iter().filter(|path| plan.local_edit(path).is_some()).cloned().collect();
    Ok(plan)
}

impl Plan<'_> {
    /// Returns the blob id of a file if no known commit has it at this path.
    fn local_edit(&self, path: &Path) -> Option<Oid> {
        let is_inside = checkout::blocking_ancestor(&self.folder, path).is_none();
        let blob = checkout::blob_id(&self.folder.join(path)).filter(|_| is_inside)?;
        let mut known = self.earlier.iter().chain([&self.contents]);
        let is_known = known.any(|contents| contents.get(path).is_some_and(|file| file.id == blob));
        (!is_known).then_some(blob)
    }

    /// Backs up local edits and checks out the commit. If it fails halfway, the next checkout continues.
    pub fn apply(&self, branch: &str) -> Result<CheckedOut, git2::Error> {
        let mut kept = BTreeMap::new();
        let backup =
            if self.edits.is_empty() && !self.has_local_commit { None } else { Some(self.back_up(&mut kept)?) };
        let message = "skillcell: sync";
        let target = format!("{TARGETS}/{}", self.after.id());
        self.repository.reference(&target, self.after.id(), true, message)?;
        let expendable = |path: &Path| self.local_edit(path).is_none_or(|blob| kept.get(path) == Some(&blob));
        let tree = self.after.tree()?;
        checkout::check_out(self.repository, &self.folder, &tree, &self.contents, &self.dirty, expendable)?;
        let local = format!("refs/heads/{branch}");
        self.repository.reference(&local, self.after.id(), true, message)?;
        self.repository.set_head(&local)?;
        self.repository.reference(SYNCED, self.after.id(), true, message)?;
        for mut target in targets(self.repository)? {
            target.delete()?;
        }
        Ok(CheckedOut { files_changed: self.files_changed, backup })
    }

    /// Commits the edits under a reference of their own, and stores in `kept` which blob of each file is backed up.
    fn back_up(&self, kept: &mut BTreeMap<PathBuf, Oid>) -> Result<Backup, git2::Error> {
        let reference = self.unused_reference();
        let files = self.edits.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        if let Some(local) = self.before.as_ref().filter(|_| self.edits.is_empty()) {
            self.repository.reference(&reference, local.id(), false, "skillcell: a commit that was only here")?;
            return Ok(Backup { reference, files });
        }
        let mut index = Index::new()?;
        if let Some(before) = &self.before {
            index.read_tree(&before.tree()?)?;
        }
        for path in &self.edits {
            // A folder may have become a file, or a file a folder.
            let _ = index.remove_dir(path, 0);
            for parent in path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
                let _ = index.remove(parent, 0);
            }
            let entry = self.add_blob(path).map_err(|error| git2::Error::from_str(&error.to_string()))?;
            kept.insert(path.clone(), entry.id);
            index.add(&entry)?;
        }
        let tree = self.repository.find_tree(index.write_tree_to(self.repository)?)?;
        let by = Signature::now("skillcell", "skillcell@localhost")?;
        let parents: Vec<&Commit<'_>> = self.before.iter().collect();
        self.repository.commit(Some(&reference), &by, &by, "Edits that were only in this clone\n", &tree, &parents)?;
        Ok(Backup { reference, files })
    }

    /// Named by time, so that the newest is the last.
    fn unused_reference(&self) -> String {
        let millis = timestamp::since_epoch().as_millis();
        let mut names = (millis..).map(|number| format!("{BACKUPS}/{number}"));
        let is_free = |name: &String| {
            self.repository.find_reference(name).is_err_and(|error| error.code() == ErrorCode::NotFound)
        };
        names.find(is_free).expect("there are more numbers than backups")
    }

    /// Adds the content of a file to the repository.
    fn add_blob(&self, path: &Path) -> io::Result<IndexEntry> {
        let file = self.folder.join(path);
        let metadata = std::fs::symlink_metadata(&file)?;
        let (mode, id) = if metadata.is_symlink() {
            let target = std::fs::read_link(&file)?;
            (checkout::LINK, self.repository.blob(target.as_os_str().as_bytes()).map_err(io::Error::other)?)
        } else {
            // Without a path, because git would apply filters.
            let mut blob = self.repository.blob_writer(None).map_err(io::Error::other)?;
            io::copy(&mut std::fs::File::open(&file)?, &mut blob)?;
            blob.flush()?;
            let mode = if metadata.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
            (mode, blob.commit().map_err(io::Error::other)?)
        };
        Ok(checkout::index_entry(path, TreeFile { id, mode }, None))
    }
}

fn targets(repository: &Repository) -> Result<Vec<Reference<'_>>, git2::Error> {
    repository.references_glob(&format!("{TARGETS}/*"))?.collect()
}

/// Returns the current commit, if there is one.
pub fn head(repository: &Repository) -> Result<Option<Commit<'_>>, git2::Error> {
    match repository.head() {
        Ok(head) => head.peel_to_commit().map(Some),
        Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns files flagged as assume-unchanged or skip-worktree, which git does not compare with the disk.
fn assumed_unchanged(repository: &Repository) -> Result<Vec<PathBuf>, git2::Error> {
    let index = repository.index()?;
    let is_flagged = |entry: &IndexEntry| {
        let flags = IndexEntryFlag::from_bits_truncate(entry.flags);
        flags.is_valid() || IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
    };
    Ok(index.iter().filter(is_flagged).map(|entry| PathBuf::from(OsStr::from_bytes(&entry.path))).collect())
}
