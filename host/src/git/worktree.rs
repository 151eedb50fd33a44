//! The files of a clone: what somebody changed in them, and how they become those of another commit.

use crate::git::checkout;
use crate::git::contents::{self, Contents, TreeFile};
use crate::moment;
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

/// Commits that were being checked out, so that an interrupted checkout is not taken for somebody's edits.
const TARGETS: &str = "refs/skillcell/targets";

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
    /// Paths that are not certainly as the commit has them.
    unsettled: BTreeSet<PathBuf>,
    /// Files with content that no known commit has.
    edits: BTreeSet<PathBuf>,
    contents: Contents,
    /// What is on disk may come from these.
    others: Vec<Contents>,
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
    let synced = repository.refname_to_id(SYNCED).ok().and_then(|id| repository.find_commit(id).ok());
    let targets = targets(repository)?;
    let read = |commit: &Commit<'_>| Contents::of(repository, &commit.tree()?);
    // First of all, because it may come from anybody.
    let contents = read(&after)?;
    let old = before.as_ref().or(synced.as_ref()).map(read).transpose()?.unwrap_or_default();
    let mut unsettled: BTreeSet<PathBuf> = contents.differences(&old).map(Path::to_owned).collect();
    let files_changed = unsettled.len();
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).exclude_submodules(true).include_ignored(false);
    let statuses = repository.statuses(Some(&mut options))?;
    let changed = statuses.iter().filter(|entry| entry.status() != Status::CURRENT);
    let changed = changed.filter(|entry| !is_nested_repository(entry.path_bytes()));
    let changed = changed.map(|entry| PathBuf::from(OsStr::from_bytes(entry.path_bytes())));
    unsettled.extend(changed.filter(|path| contents::leads_inside(path)));
    unsettled.extend(unwatched(repository)?.into_iter().filter(|path| contents::leads_inside(path)));
    let above: Vec<PathBuf> =
        unsettled.iter().filter_map(|path| checkout::in_place_of_folder(&folder, path)).map(Path::to_owned).collect();
    unsettled.extend(above);
    let interrupted = targets.iter().filter_map(|target| read(&target.peel_to_commit().ok()?).ok());
    let others = std::iter::once(old).chain(interrupted).collect();
    let from_remote =
        |id: Oid| id == commit || before_fetch.contains(&id) || synced.as_ref().is_some_and(|synced| synced.id() == id);
    let own_commit = before.as_ref().is_some_and(|before| !from_remote(before.id()));
    let is_at_commit = before.as_ref().is_some_and(|before| before.id() == commit);
    let is_done = is_at_commit && targets.is_empty() && unsettled.is_empty();
    let edits = BTreeSet::new();
    let mut plan = Plan {
        repository,
        folder,
        before,
        after,
        unsettled,
        edits,
        contents,
        others,
        own_commit,
        files_changed,
        is_done,
    };
    plan.edits = plan.unsettled.iter().filter(|path| plan.edit(path).is_some()).cloned().collect();
    Ok(plan)
}

impl Plan<'_> {
    /// Whether the files are those of the commit already.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The content of a file that no known commit has there.
    fn edit(&self, path: &Path) -> Option<Oid> {
        let is_inside = checkout::in_place_of_folder(&self.folder, path).is_none();
        let content = checkout::content(&self.folder.join(path)).filter(|_| is_inside)?;
        let mut known = self.others.iter().chain([&self.contents]);
        let is_known = known.any(|contents| contents.get(path).is_some_and(|file| file.id == content));
        (!is_known).then_some(content)
    }

    /// Keeps what somebody changed, and makes the files those of the commit. When it fails halfway, the next one goes on.
    pub fn carry_out(&self, branch: &str) -> Result<CheckedOut, git2::Error> {
        let mut kept = BTreeMap::new();
        let backup = if self.edits.is_empty() && !self.own_commit { None } else { Some(self.back_up(&mut kept)?) };
        let message = "skillcell: sync";
        let target = format!("{TARGETS}/{}", self.after.id());
        self.repository.reference(&target, self.after.id(), true, message)?;
        let expendable = |path: &Path| self.edit(path).is_none_or(|content| kept.get(path) == Some(&content));
        let tree = self.after.tree()?;
        checkout::check_out(self.repository, &self.folder, &tree, &self.contents, &self.unsettled, expendable)?;
        let local = format!("refs/heads/{branch}");
        self.repository.reference(&local, self.after.id(), true, message)?;
        self.repository.set_head(&local)?;
        self.repository.reference(SYNCED, self.after.id(), true, message)?;
        for mut target in targets(self.repository)? {
            target.delete()?;
        }
        Ok(CheckedOut { files_changed: self.files_changed, backup })
    }

    /// Commits the edits, under a name that nothing else touches, and tells which content of each is kept.
    fn back_up(&self, kept: &mut BTreeMap<PathBuf, Oid>) -> Result<Backup, git2::Error> {
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
            // What was a folder is a file now, or a file a folder.
            let _ = index.remove_dir(path, 0);
            for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                let _ = index.remove(above, 0);
            }
            let entry = self.entry(path).map_err(|error| git2::Error::from_str(&error.to_string()))?;
            kept.insert(path.clone(), entry.id);
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
        let millis = moment::since_1970().as_millis();
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
            (checkout::LINK, self.repository.blob(target.as_os_str().as_bytes()).map_err(io::Error::other)?)
        } else {
            // Exactly its bytes: with a path, git would apply filters.
            let mut blob = self.repository.blob_writer(None).map_err(io::Error::other)?;
            io::copy(&mut std::fs::File::open(&file)?, &mut blob)?;
            blob.flush()?;
            let mode = if metadata.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
            (mode, blob.commit().map_err(io::Error::other)?)
        };
        Ok(checkout::entry(path, TreeFile { id, mode }, None))
    }
}

fn targets(repository: &Repository) -> Result<Vec<Reference<'_>>, git2::Error> {
    repository.references_glob(&format!("{TARGETS}/*"))?.collect()
}

/// The commit whose files are here, if any are.
pub fn head(repository: &Repository) -> Result<Option<Commit<'_>>, git2::Error> {
    match repository.head() {
        Ok(head) => head.peel_to_commit().map(Some),
        Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Files that git was told not to compare with those on disk. They may be anything.
fn unwatched(repository: &Repository) -> Result<Vec<PathBuf>, git2::Error> {
    let index = repository.index()?;
    let is_unwatched = |entry: &IndexEntry| {
        let flags = IndexEntryFlag::from_bits_truncate(entry.flags);
        flags.is_valid() || IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
    };
    Ok(index.iter().filter(is_unwatched).map(|entry| PathBuf::from(OsStr::from_bytes(&entry.path))).collect())
}

/// Git lists a repository inside another as a folder. It is somebody's work, and stays.
fn is_nested_repository(path: &[u8]) -> bool {
    path.ends_with(b"/")
}
