//! Fetches the newest commit of one branch.

use crate::error::{NetworkError, SyncError, is_damage};
use crate::options::{Network, Remote};
use crate::transport::{self, HttpSession};
use crate::{Deadline, prepare_libgit2};
use base::place::LocalReason;
use base::printable::{printable, quoted};
use git2::{AutotagOption, Direction, ErrorCode, FetchOptions, Oid, RemoteCallbacks, RemoteHead, Repository};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use terminal::progress::Completed;

/// The branch that is served if none is configured and this one exists.
const DEFAULT_BRANCH: &str = "main";

/// Maximum number of branches named in a message.
const MAX_QUOTED: usize = 10;

/// The newest commit of a branch of the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    pub branch: String,
    pub commit: Oid,
}

/// What was received from a remote. Written by the thread that receives, read by the one that shows progress.
#[derive(Debug, Default)]
pub struct Transfer {
    objects: AtomicUsize,
    total: AtomicUsize,
    bytes: AtomicUsize,
}

impl Transfer {
    pub fn update(&self, state: &git2::Progress<'_>) {
        self.objects.store(state.received_objects(), Ordering::Relaxed);
        self.total.store(state.total_objects(), Ordering::Relaxed);
        self.bytes.store(state.received_bytes(), Ordering::Relaxed);
    }

    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    pub fn completed(&self) -> Completed {
        let [done, total, bytes] =
            [&self.objects, &self.total, &self.bytes].map(|number| number.load(Ordering::Relaxed));
        Completed { done, total, text: format!("{done}/{total} objects, {:.1} MB", bytes as f64 / 1_000_000.0) }
    }
}

/// Returns the name of the remote-tracking reference of a branch.
pub fn reference(branch: &str) -> String {
    format!("refs/remotes/origin/{branch}")
}

/// Fetches the newest commit of the branch, unless it is complete already.
pub fn fetch(
    repository: &Repository,
    remote: &Remote,
    network: &Network,
    deadline: &Deadline,
    transfer: &Transfer,
) -> Result<Newest, SyncError> {
    check_folder(remote)?;
    let session = Arc::new(HttpSession::new(remote, network, deadline.clone()));
    let _guard = transport::enter(Arc::clone(&session));
    let failed = |error| failure(remote, &session, deadline, &error);
    let mut origin = repository.remote_anonymous(remote.address.text()).map_err(failed)?;
    let mut connection =
        origin.connect_auth(Direction::Fetch, Some(callbacks(deadline, transfer)), None).map_err(failed)?;
    let newest = choose(remote, connection.list().map_err(failed)?)?;
    if is_complete(repository, &newest) {
        return Ok(newest);
    }
    let refspec = format!("+refs/heads/{}:{}", newest.branch, reference(&newest.branch));
    // libgit2 cannot make shallow clones of local repositories.
    let shallow = remote.address.folder().is_none();
    let mut fetch = |depth| {
        let mut options = FetchOptions::new();
        options.remote_callbacks(callbacks(deadline, transfer)).depth(depth);
        options.download_tags(AutotagOption::None).update_fetchhead(false);
        connection.remote().fetch(&[&refspec], Some(&mut options), None)
    };
    // A depth of 0 means everything.
    let fetched = match fetch(i32::from(shallow)) {
        Err(error) if shallow && error.message().contains("doesn't support shallow") => fetch(0),
        fetched => fetched,
    };
    fetched.map_err(failed)?;
    let commit = repository.refname_to_id(&reference(&newest.branch)).map_err(failed)?;
    Ok(Newest { commit, ..newest })
}

/// Asks a remote for its newest commit, without fetching it.
pub fn ask(remote: &Remote, network: &Network, deadline: &Deadline) -> Result<Newest, SyncError> {
    check_folder(remote)?;
    let session = Arc::new(HttpSession::new(remote, network, deadline.clone()));
    let _guard = transport::enter(Arc::clone(&session));
    let failed = |error| failure(remote, &session, deadline, &error);
    let mut origin = git2::Remote::create_detached(remote.address.text()).map_err(failed)?;
    let connection = origin.connect_auth(Direction::Fetch, None, None).map_err(failed)?;
    choose(remote, connection.list().map_err(failed)?)
}

fn check_folder(remote: &Remote) -> Result<(), SyncError> {
    prepare_libgit2();
    match remote.address.folder() {
        Some(path) if !path.exists() => Err(SyncError::NotThere { address: remote.address.clone() }),
        _ => Ok(()),
    }
}

fn failure(remote: &Remote, session: &HttpSession, deadline: &Deadline, error: &git2::Error) -> SyncError {
    let address = remote.address.clone();
    let reason = printable(error.message());
    let interrupted = || remote.address.host().filter(|_| error.code() == ErrorCode::Eof).map(str::to_owned);
    match (session.take_failure(), interrupted()) {
        (Some(failure), _) => SyncError::Network(failure),
        _ if deadline.has_passed() => SyncError::TooSlow { address, seconds: deadline.timeout.as_secs() },
        (None, Some(host)) => SyncError::Network(NetworkError::Interrupted { host, reason }),
        (None, None) if is_damage(error) => SyncError::Damaged { address, reason: LocalReason(reason) },
        (None, None) => SyncError::Git { address, reason: LocalReason(reason) },
    }
}

fn callbacks<'a>(deadline: &'a Deadline, transfer: &'a Transfer) -> RemoteCallbacks<'a> {
    let mut callbacks = RemoteCallbacks::new();
    callbacks.transfer_progress(|state| {
        transfer.update(&state);
        !deadline.has_passed()
    });
    callbacks
}

/// Whether the commit and its tree were fetched before.
fn is_complete(repository: &Repository, newest: &Newest) -> bool {
    let known = repository.refname_to_id(&reference(&newest.branch)).is_ok_and(|known| known == newest.commit);
    known && repository.find_commit(newest.commit).and_then(|commit| commit.tree()).is_ok()
}

/// Chooses the branch to serve: the configured one, `main`, the default, or any.
fn choose(remote: &Remote, heads: &[RemoteHead<'_>]) -> Result<Newest, SyncError> {
    let address = || remote.address.clone();
    let branches = || heads.iter().filter_map(|head| Some((name(head)?.strip_prefix("refs/heads/")?, head.oid())));
    let find = |name: &str| {
        branches().find(|(known, _)| *known == name).map(|(name, commit)| Newest { branch: name.to_owned(), commit })
    };
    if let Some(branch) = &remote.branch {
        return find(branch).ok_or_else(|| {
            let known: Vec<String> = branches().map(|(name, _)| name.to_owned()).take(MAX_QUOTED).collect();
            let others = if known.is_empty() { String::new() } else { format!("; it has {}", quoted(&known)) };
            SyncError::NoBranch { address: address(), branch: branch.clone(), others }
        });
    }
    let head = heads.iter().find(|head| name(head) == Some("HEAD"));
    let target = |head: &RemoteHead<'_>| catch_unwind(AssertUnwindSafe(|| head.symref_target().map(str::to_owned)));
    let default = || target(head?).ok()??.strip_prefix("refs/heads/").and_then(find);
    // Old servers report only the commit of the default branch, not its name.
    let guessed = || branches().find(|(_, commit)| head.is_some_and(|head| head.oid() == *commit));
    let first = || guessed().or_else(|| branches().next()).and_then(|(name, _)| find(name));
    find(DEFAULT_BRANCH).or_else(default).or_else(first).ok_or_else(|| SyncError::Empty { address: address() })
}

/// Returns the name of a reference if it is UTF-8. git2 panics on others, which git allows.
fn name<'a>(head: &'a RemoteHead<'_>) -> Option<&'a str> {
    catch_unwind(AssertUnwindSafe(|| head.name())).ok()
}
