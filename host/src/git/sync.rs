//! Bringing one clone to the state of its remote, whatever happened to either.

use crate::config::git::{Network, Remote};
use crate::git::problem::{SyncError, is_damage};
use crate::git::received::Received;
use crate::git::worktree::{self, CheckedOut};
use crate::git::{Patience, fetch, place, prepare_libgit2};
use crate::printable::{counted, printable, quoted};
use crate::terminal::progress::Progress;
use git2::{Oid, Repository, RepositoryInitOptions};
use std::any::Any;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How much longer the first exchange may take than those that only bring what is new. Silence counts as before.
const FIRST_CLONE: u32 = 10;

/// Most files that a message names.
const MOST_NAMED: usize = 5;

/// Stops others from looking at the files until it is dropped.
pub type Pause<'a> = &'a (dyn Fn() -> Box<dyn Any> + Sync);

/// How much a sync is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Somebody asks for the newest state.
    Now,
    /// What any server got within this time is good enough.
    UnlessWithin(Duration),
}

/// What a sync came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    pub commit: String,
    pub files_changed: usize,
}

pub fn sync(remote: &Remote, network: &Network, wanted: Wanted, pause: Pause<'_>) -> Result<Synced, SyncError> {
    let patience = Patience::new(network.timeout);
    let held = place::hold(remote, &patience)?;
    let recent = matches!(wanted, Wanted::UnlessWithin(time) if held.synced_within(time));
    if let Some(commit) = current(remote).filter(|_| recent) {
        return Ok(Synced { commit, files_changed: 0 });
    }
    let (commit, done) = if place::is_there(&remote.folder) {
        Work { remote, network, patience, pause }.update()
    } else {
        let patience = Patience::new(FIRST_CLONE * network.timeout);
        Work { remote, network, patience, pause }.first_clone()
    }?;
    held.note_sync();
    if let Some(backup) = &done.backup {
        tell_backup(&remote.folder, backup);
    }
    Ok(Synced { commit: commit.to_string(), files_changed: done.files_changed })
}

/// The commit whose files are served.
pub fn current(remote: &Remote) -> Option<String> {
    let repository = place::open(&remote.folder).ok()?;
    let head = worktree::head(&repository).ok().flatten()?;
    Some(head.id().to_string())
}

/// Why a clone could not be brought up to date.
enum Failure {
    /// It has to be made anew.
    Damaged(git2::Error),
    Other(SyncError),
}

struct Work<'a> {
    remote: &'a Remote,
    network: &'a Network,
    patience: Patience,
    pause: Pause<'a>,
}

impl Work<'_> {
    /// Makes the clone beside its place, so that nobody ever sees half of it.
    fn first_clone(&self) -> Result<(Oid, CheckedOut), SyncError> {
        let folder = &self.remote.folder;
        if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            return self.rebuild();
        }
        let unusable = |reason| SyncError::Unusable { path: folder.clone(), reason };
        let fresh = place::fresh(self.remote, place::NEW).map_err(unusable)?;
        std::fs::set_permissions(fresh.path(), Permissions::from_mode(0o700)).map_err(unusable)?;
        let done = {
            let repository = self.init(fresh.path())?;
            let newest = self.fetch_all(&repository)?;
            let checked_out = worktree::plan(&repository, newest.commit, &[])
                .and_then(|plan| plan.carry_out(&newest.branch))
                .map_err(|error| self.checkout_failed(&error))?;
            (newest.commit, checked_out)
        };
        std::fs::rename(fresh.path(), folder).map_err(unusable)?;
        // It is at its place now; there is nothing left to remove.
        let _ = fresh.keep();
        Ok(done)
    }

    fn update(&self) -> Result<(Oid, CheckedOut), SyncError> {
        let repository = match place::open(&self.remote.folder) {
            Ok(repository) => repository,
            Err(error) => return self.repair(&error),
        };
        place::clear_locks(&repository)?;
        if repository.index().is_err() {
            tracing::warn!("the index of {} was broken and is made anew", self.remote.folder.display());
            let _ = std::fs::remove_file(repository.path().join("index"));
        }
        let damage = match self.bring_up(&repository) {
            Err(Failure::Damaged(error)) => error,
            Err(Failure::Other(error)) => return Err(error),
            Ok(done) => return Ok(done),
        };
        // As long as it is open, libgit2 would take its damaged files for the new ones of the same name.
        drop(repository);
        self.repair(&damage)
    }

    fn bring_up(&self, repository: &Repository) -> Result<(Oid, CheckedOut), Failure> {
        let known = known_tips(repository);
        worktree::head(repository).map_err(Failure::Damaged)?;
        let newest = fetch::fetch(repository, self.remote, self.network, &self.patience, &Received::default());
        let newest = newest.map_err(|error| match error {
            SyncError::Damaged { reason, .. } => Failure::Damaged(git2::Error::from_str(&reason)),
            error => Failure::Other(error),
        })?;
        let done = self.check_out(repository, &newest, &known).map_err(|error| {
            if is_damage(&error) { Failure::Damaged(error) } else { Failure::Other(self.checkout_failed(&error)) }
        })?;
        Ok((newest.commit, done))
    }

    /// Only while files change does everybody else wait.
    fn check_out(
        &self,
        repository: &Repository,
        newest: &fetch::Newest,
        before_fetch: &[Oid],
    ) -> Result<CheckedOut, git2::Error> {
        let plan = worktree::plan(repository, newest.commit, before_fetch)?;
        if plan.is_done() {
            return Ok(CheckedOut { files_changed: 0, backup: None });
        }
        let _paused = (self.pause)();
        plan.carry_out(&newest.branch)
    }

    fn repair(&self, error: &git2::Error) -> Result<(Oid, CheckedOut), SyncError> {
        tracing::warn!(
            "the clone at {} is damaged ({}) and is made anew",
            self.remote.folder.display(),
            error.message()
        );
        self.rebuild()
    }

    /// Gets everything anew, and puts it under the files that are there: they stay where they are, and those that differ
    /// from the remote's are kept in a backup.
    fn rebuild(&self) -> Result<(Oid, CheckedOut), SyncError> {
        let folder = &self.remote.folder;
        let unusable = |reason| SyncError::Unusable { path: folder.clone(), reason };
        let fresh = place::fresh(self.remote, place::NEW).map_err(unusable)?;
        let newest = {
            let repository = self.init(fresh.path())?;
            self.fetch_all(&repository)?
        };
        let git = folder.join(".git");
        let old = fresh.path().join("old");
        if std::fs::symlink_metadata(&git).is_ok() {
            if has_backups(&git) {
                let kept = place::fresh(self.remote, "damaged").map_err(unusable)?.keep().join("git");
                std::fs::rename(&git, &kept).map_err(unusable)?;
                tracing::warn!("edits that were kept in the damaged clone may be found in {}", kept.display());
            } else {
                std::fs::rename(&git, &old).map_err(unusable)?;
            }
        }
        std::fs::rename(fresh.path().join(".git"), &git).map_err(unusable)?;
        let repository = place::open(folder).map_err(|error| self.checkout_failed(&error))?;
        let done = self.check_out(&repository, &newest, &[]).map_err(|error| self.checkout_failed(&error))?;
        Ok((newest.commit, done))
    }

    /// Gets what may be a lot, so whoever looks sees how far it is.
    fn fetch_all(&self, repository: &Repository) -> Result<fetch::Newest, SyncError> {
        let received = Arc::new(Received::default());
        let theirs = Arc::clone(&received);
        let cloning = format!("cloning {}", self.remote.address.name());
        let _progress = Progress::begin_long(&cloning, move || theirs.reached());
        fetch::fetch(repository, self.remote, self.network, &self.patience, &received)
    }

    fn init(&self, folder: &Path) -> Result<Repository, SyncError> {
        prepare_libgit2();
        let mut options = RepositoryInitOptions::new();
        options.external_template(false).no_reinit(true).initial_head(self.remote.branch.as_deref().unwrap_or("main"));
        let repository = Repository::init_opts(folder, &options).map_err(|error| self.checkout_failed(&error))?;
        // For people who look at the clone; the address holds no secret.
        let _ = repository.remote("origin", self.remote.address.text());
        Ok(repository)
    }

    fn checkout_failed(&self, error: &git2::Error) -> SyncError {
        SyncError::Checkout { address: self.remote.address.text().to_owned(), reason: printable(error.message()) }
    }
}

/// The newest commits that were fetched before.
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

fn tell_backup(folder: &Path, backup: &worktree::Backup) {
    let folder = folder.display();
    let named = quoted(&backup.files[..backup.files.len().min(MOST_NAMED)]);
    let what = match backup.files.len() {
        0 => "a commit that no remote has".to_owned(),
        1 => format!("an edit of {named}"),
        many if many > MOST_NAMED => format!("edits of {}, among them {named}", counted(many, "file")),
        _ => format!("edits of {named}"),
    };
    let reference = &backup.reference;
    tracing::warn!(
        "the clone at {folder} had {what}; it is as the remote has it now, and the edits are kept\nhint: see them with `git -C {folder} show {reference}`, get them back with `git -C {folder} checkout {reference} -- .`"
    );
}
