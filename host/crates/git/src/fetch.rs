//! Fetches the newest commit of one branch.

use crate::error::{NetworkError, SyncError, is_damage};
use crate::options::{Network, Remote};
use crate::transfer::Transfer;
use crate::transport::{self, HttpSession};
use crate::{Deadline, prepare_libgit2};
use base::place::LocalReason;
use base::printable::{printable, quoted};
use git2::{AutotagOption, Direction, ErrorCode, FetchOptions, Oid, RemoteCallbacks, RemoteHead, Repository};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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
    let failed = |error: &git2::Error| failure(remote, &session, deadline, error);
    let mut origin = repository.remote_anonymous(remote.address.text()).map_err(|error| failed(&error))?;
    let mut connection = origin
        .connect_auth(Direction::Fetch, Some(callbacks(deadline, transfer)), None)
        .map_err(|error| failed(&error))?;
    let newest = {
        let heads = connection.list().map_err(|error| failed(&error))?;
        choose(remote, heads)?
    };
    if is_complete(repository, &newest) {
        return Ok(newest);
    }
    let refspec = format!("+refs/heads/{}:{}", newest.branch, reference(&newest.branch));
    // libgit2 cannot make shallow clones of local repositories.
    let shallow = remote.address.folder().is_none();
    let mut fetched = Err(git2::Error::from_str("nothing was fetched"));
    for depth in if shallow { [Some(1), None] } else { [None, None] } {
        let mut options = FetchOptions::new();
        options.remote_callbacks(callbacks(deadline, transfer));
        options.download_tags(AutotagOption::None).update_fetchhead(false);
        depth.map(|depth| options.depth(depth));
        fetched = connection.remote().fetch(&[&refspec], Some(&mut options), None);
        let depth_unsupported =
            fetched.as_ref().is_err_and(|error| error.message().contains("doesn't support shallow"));
        if !depth_unsupported {
            break;
        }
    }
    fetched.map_err(|error| failed(&error))?;
    let commit = repository.refname_to_id(&reference(&newest.branch)).map_err(|error| failed(&error))?;
    Ok(Newest { commit, ..newest })
}

/// Asks a remote for its newest commit, without fetching it.
pub fn ask(remote: &Remote, network: &Network, deadline: &Deadline) -> Result<Newest, SyncError> {
    check_folder(remote)?;
    let session = Arc::new(HttpSession::new(remote, network, deadline.clone()));
    let _guard = transport::enter(Arc::clone(&session));
    let failed = |error: &git2::Error| failure(remote, &session, deadline, error);
    let mut origin = git2::Remote::create_detached(remote.address.text()).map_err(|error| failed(&error))?;
    let connection = origin.connect_auth(Direction::Fetch, None, None).map_err(|error| failed(&error))?;
    let heads = connection.list().map_err(|error| failed(&error))?;
    choose(remote, heads)
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
        (Some(failure), _) => failure.into(),
        _ if deadline.has_passed() => SyncError::TooSlow { address, seconds: deadline.timeout().as_secs() },
        (None, Some(host)) => NetworkError::Interrupted { host, reason }.into(),
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
