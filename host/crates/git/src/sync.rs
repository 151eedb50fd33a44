//! Brings one clone up to date with its remote, whatever happened to either.

use crate::error::{SyncError, is_damage};
use crate::fetch::{self, Transfer};
use crate::options::{Network, Remote};
use crate::worktree::{self, CheckedOut};
use crate::{Deadline, clone_folder, prepare_libgit2};
use base::place::LocalReason;
use base::printable::{counted, printable, quoted};
use git2::{Oid, Repository, RepositoryInitOptions};
use std::any::Any;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use terminal::progress::Progress;

/// How much longer a first clone may take than an update. The idle timeout stays the same.
const FIRST_CLONE_FACTOR: u32 = 10;

/// Maximum number of files named in a message.
const MAX_QUOTED: usize = 5;

/// Pauses scans of the files until the returned guard is dropped.
pub type Pause<'a> = &'a (dyn Fn() -> Box<dyn Any> + Sync);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    Always,
    /// Skips the sync if any server synced the clone within this time.
    IfOlderThan(Duration),
}

/// The result of a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    pub commit: String,
    pub files_changed: usize,
}

pub fn sync(remote: &Remote, network: &Network, mode: SyncMode, pause: Pause<'_>) -> Result<Synced, SyncError> {
    let deadline = Deadline::after(network.timeout);
    let lock = clone_folder::lock(remote, &deadline)?;
    let is_recent = matches!(mode, SyncMode::IfOlderThan(time) if lock.synced_within(time));
    if let Some(commit) = current(remote).filter(|_| is_recent) {
        return Ok(Synced { commit, files_changed: 0 });
    }
    let (commit, checked_out) = if clone_folder::exists(&remote.folder) {
        CloneSync { remote, network, deadline, pause }.update()
    } else {
        let deadline = Deadline::after(FIRST_CLONE_FACTOR * network.timeout);
        CloneSync { remote, network, deadline, pause }.first_clone()
    }?;
    lock.record_sync();
    if let Some(backup) = &checked_out.backup {
        log_backup(&remote.folder, backup);
    }
    Ok(Synced { commit: commit.to_string(), files_changed: checked_out.files_changed })
}

/// Returns the commit whose files are served.
pub fn current(remote: &Remote) -> Option<String> {
    let repository = clone_folder::open(&remote.folder).ok()?;
    let head = worktree::head(&repository).ok().flatten()?;
    Some(head.id().to_string())
}

struct CloneSync<'a> {
    remote: &'a Remote,
    network: &'a Network,
    deadline: Deadline,
    pause: Pause<'a>,
}

impl CloneSync<'_> {
    /// Makes the clone in a sibling folder, and moves it into place once it is complete.
    fn first_clone(&self) -> Result<(Oid, CheckedOut), SyncError> {
        let folder = &self.remote.folder;
        if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            return self.reclone();
        }
        let unusable = |reason| SyncError::unusable(folder, &reason);
        let new = clone_folder::create_sibling(self.remote, clone_folder::NEW).map_err(unusable)?;
        std::fs::set_permissions(new.path(), Permissions::from_mode(0o700)).map_err(unusable)?;
        let done = {
            let repository = self.init(new.path())?;
            let newest = self.fetch_all(&repository)?;
            let checked_out = worktree::plan(&repository, newest.commit, &[])
                .and_then(|plan| plan.apply(&newest.branch))
                .map_err(|error| self.checkout_failed(&error))?;
            (newest.commit, checked_out)
        };
        std::fs::rename(new.path(), folder).map_err(unusable)?;
        // It was moved, so there is nothing to remove.
        let _ = new.keep();
        Ok(done)
    }

    fn update(&self) -> Result<(Oid, CheckedOut), SyncError> {
        let repository = match clone_folder::open(&self.remote.folder) {
            Ok(repository) => repository,
            Err(error) => return self.repair(error.message()),
        };
        clone_folder::clear_locks(&repository)?;
        clone_folder::remove_unfinished_objects(&repository);
        if repository.index().is_err() {
            tracing::warn!("the index of the clone at {} is damaged and is rebuilt", self.remote.folder.display());
            let _ = std::fs::remove_file(repository.path().join("index"));
        }
        match self.update_in_place(&repository) {
            Err(SyncError::Damaged { reason, .. }) => {
                // While it is open, libgit2 would use its damaged files instead of new ones with the same name.
                drop(repository);
                self.repair(&reason.0)
            }
            done => done,
        }
    }

    fn update_in_place(&self, repository: &Repository) -> Result<(Oid, CheckedOut), SyncError> {
        let damaged = |error: &git2::Error| {
            let reason = LocalReason(printable(error.message()));
            SyncError::Damaged { address: self.remote.address.clone(), reason }
        };
        let known = known_tips(repository);
        worktree::head(repository).map_err(|error| damaged(&error))?;
        let newest = fetch::fetch(repository, self.remote, self.network, &self.deadline, &Transfer::default())?;
        let done = self.check_out(repository, &newest, &known);
        let done =
            done.map_err(|error| if is_damage(&error) { damaged(&error) } else { self.checkout_failed(&error) })?;
        Ok((newest.commit, done))
    }

    /// Pauses scans only while files change.
    fn check_out(
        &self,
        repository: &Repository,
        newest: &fetch::Newest,
        before_fetch: &[Oid],
    ) -> Result<CheckedOut, git2::Error> {
        let plan = worktree::plan(repository, newest.commit, before_fetch)?;
        if plan.is_done {
            return Ok(CheckedOut { files_changed: 0, backup: None });
        }
        let _paused = (self.pause)();
        plan.apply(&newest.branch)
    }

    fn repair(&self, damage: &str) -> Result<(Oid, CheckedOut), SyncError> {
        let folder = self.remote.folder.display();
        tracing::warn!("the clone at {folder} is damaged ({damage}) and is cloned again");
        self.reclone()
    }

    /// Fetches everything again, and replaces only `.git`. Files that differ from the remote go into a backup.
    fn reclone(&self) -> Result<(Oid, CheckedOut), SyncError> {
        let folder = &self.remote.folder;
        let unusable = |reason| SyncError::unusable(folder, &reason);
        let new = clone_folder::create_sibling(self.remote, clone_folder::NEW).map_err(unusable)?;
        let newest = self.fetch_all(&self.init(new.path())?)?;
        let git = folder.join(".git");
        let old = new.path().join("old");
        if std::fs::symlink_metadata(&git).is_ok() {
            if has_backups(&git) {
                let kept = clone_folder::create_sibling(self.remote, "damaged").map_err(unusable)?.keep().join("git");
                std::fs::rename(&git, &kept).map_err(unusable)?;
                tracing::warn!("backups of edits in the damaged clone are kept in {}", kept.display());
            } else {
                std::fs::rename(&git, &old).map_err(unusable)?;
            }
        }
        std::fs::rename(new.path().join(".git"), &git).map_err(unusable)?;
        let repository = clone_folder::open(folder).map_err(|error| self.checkout_failed(&error))?;
        let done = self.check_out(&repository, &newest, &[]).map_err(|error| self.checkout_failed(&error))?;
        Ok((newest.commit, done))
    }

    /// Fetches everything, and shows progress.
    fn fetch_all(&self, repository: &Repository) -> Result<fetch::Newest, SyncError> {
        let transfer = Arc::new(Transfer::default());
        let shown = Arc::clone(&transfer);
        let cloning = format!("cloning {}", self.remote.address.name());
        let _progress = Progress::start_long(&cloning, move || shown.completed());
        fetch::fetch(repository, self.remote, self.network, &self.deadline, &transfer)
    }

    fn init(&self, folder: &Path) -> Result<Repository, SyncError> {
        prepare_libgit2();
        let mut options = RepositoryInitOptions::new();
        options.external_template(false).no_reinit(true).initial_head(self.remote.branch.as_deref().unwrap_or("main"));
        let repository = Repository::init_opts(folder, &options).map_err(|error| self.checkout_failed(&error))?;
        // For people who inspect the clone. The address contains no secret.
        let _ = repository.remote("origin", self.remote.address.text());
        Ok(repository)
    }

    fn checkout_failed(&self, error: &git2::Error) -> SyncError {
        let reason = LocalReason(printable(error.message()));
        SyncError::Checkout { address: self.remote.address.clone(), reason }
    }
}

/// Returns the tips of the branches that were fetched before.
fn known_tips(repository: &Repository) -> Vec<Oid> {
    let references = repository.references_glob(&fetch::reference("*"));
    references.into_iter().flatten().flatten().filter_map(|reference| reference.target()).collect()
}

fn has_backups(git: &Path) -> bool {
    let loose = git.join("refs/skillcell/backup");
    let packed = std::fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
    packed.contains("refs/skillcell/backup/")
        || std::fs::read_dir(loose).is_ok_and(|mut entries| entries.next().is_some())
}

fn log_backup(folder: &Path, backup: &worktree::Backup) {
    let folder = folder.display();
    let named = quoted(&backup.files[..backup.files.len().min(MAX_QUOTED)]);
    let what = match backup.files.len() {
        0 => "a commit that the remote does not have".to_owned(),
        1 => format!("an edit of {named}"),
        many if many > MAX_QUOTED => format!("edits of {}, among them {named}", counted(many, "file")),
        _ => format!("edits of {named}"),
    };
    let reference = &backup.reference;
    tracing::warn!(
        "the clone at {folder} had {what}; it matches the remote now, and the edits are kept\nhint: see them with `git -C {folder} show {reference}`, restore them with `git -C {folder} checkout {reference} -- .`"
    );
}
