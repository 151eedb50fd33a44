//! Getting the newest commit of one branch.

use crate::config::git::{Network, Remote};
use crate::git::problem::{NetworkError, SyncError, is_damage};
use crate::git::received::Received;
use crate::git::transport::{self, Exchange};
use crate::git::{Patience, prepare_libgit2};
use crate::printable::{printable, quoted};
use git2::{AutotagOption, Direction, ErrorCode, FetchOptions, Oid, RemoteCallbacks, RemoteHead, Repository};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The branch that is served, if nobody named one and there is one of this name.
const USUAL_BRANCH: &str = "main";

/// Most branches that a message names.
const MOST_NAMED: usize = 10;

/// What the remote has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    pub branch: String,
    pub commit: Oid,
}

/// Where the newest commit of a branch is remembered.
pub fn reference(branch: &str) -> String {
    format!("refs/remotes/origin/{branch}")
}

/// Fetches the newest commit of the branch, and nothing that is there already.
pub fn fetch(
    repository: &Repository,
    remote: &Remote,
    network: &Network,
    patience: &Patience,
    received: &Received,
) -> Result<Newest, SyncError> {
    check_there(remote)?;
    let exchange = Arc::new(Exchange::new(remote, network, patience.clone()));
    let _talking = transport::talk(Arc::clone(&exchange));
    let failed = |error: &git2::Error| failure(remote, &exchange, patience, error);
    let mut origin = repository.remote_anonymous(remote.address.text()).map_err(|error| failed(&error))?;
    let mut connection = origin
        .connect_auth(Direction::Fetch, Some(callbacks(patience, received)), None)
        .map_err(|error| failed(&error))?;
    let newest = {
        let heads = connection.list().map_err(|error| failed(&error))?;
        choose(remote, heads)?
    };
    if is_complete(repository, &newest) {
        return Ok(newest);
    }
    let refspec = format!("+refs/heads/{}:{}", newest.branch, reference(&newest.branch));
    // libgit2 cannot leave out the history of a repository on this machine.
    let shallow = remote.address.folder().is_none();
    let mut fetched = Err(git2::Error::from_str("nothing was fetched"));
    for depth in if shallow { [Some(1), None] } else { [None, None] } {
        let mut options = FetchOptions::new();
        options.remote_callbacks(callbacks(patience, received));
        options.download_tags(AutotagOption::None).update_fetchhead(false);
        depth.map(|depth| options.depth(depth));
        fetched = connection.remote().fetch(&[&refspec], Some(&mut options), None);
        let no_depth = fetched.as_ref().is_err_and(|error| error.message().contains("doesn't support shallow"));
        if !no_depth {
            break;
        }
    }
    fetched.map_err(|error| failed(&error))?;
    let commit = repository.refname_to_id(&reference(&newest.branch)).map_err(|error| failed(&error))?;
    Ok(Newest { commit, ..newest })
}

/// Asks a remote for its newest commit, and fetches nothing.
pub fn ask(remote: &Remote, network: &Network, patience: &Patience) -> Result<Newest, SyncError> {
    check_there(remote)?;
    let exchange = Arc::new(Exchange::new(remote, network, patience.clone()));
    let _talking = transport::talk(Arc::clone(&exchange));
    let failed = |error: &git2::Error| failure(remote, &exchange, patience, error);
    let mut origin = git2::Remote::create_detached(remote.address.text()).map_err(|error| failed(&error))?;
    let connection = origin.connect_auth(Direction::Fetch, None, None).map_err(|error| failed(&error))?;
    let heads = connection.list().map_err(|error| failed(&error))?;
    choose(remote, heads)
}

fn check_there(remote: &Remote) -> Result<(), SyncError> {
    prepare_libgit2();
    match remote.address.folder().filter(|path| !path.exists()) {
        Some(path) => {
            let hint = "\nhint: a repository on the network is written as `https://HOST/PATH`";
            Err(SyncError::NotThere { path: path.to_owned(), hint })
        }
        None => Ok(()),
    }
}

fn failure(remote: &Remote, exchange: &Exchange, patience: &Patience, error: &git2::Error) -> SyncError {
    let address = remote.address.text().to_owned();
    let reason = printable(error.message());
    let broken_off = || remote.address.host().filter(|_| error.code() == ErrorCode::Eof).map(str::to_owned);
    match (exchange.failure(), broken_off()) {
        (Some(failure), _) => failure.into(),
        _ if patience.is_over() => SyncError::TooSlow { address, seconds: patience.time().as_secs() },
        (None, Some(host)) => NetworkError::BrokenOff { host, reason }.into(),
        (None, None) if is_damage(error) => SyncError::Damaged { address, reason },
        (None, None) => SyncError::Git { address, reason },
    }
}

fn callbacks<'a>(patience: &'a Patience, received: &'a Received) -> RemoteCallbacks<'a> {
    let mut callbacks = RemoteCallbacks::new();
    callbacks.transfer_progress(|state| {
        received.note(&state);
        !patience.is_over()
    });
    callbacks
}

/// Whether the commit and its files are here.
fn is_complete(repository: &Repository, newest: &Newest) -> bool {
    let known = repository.refname_to_id(&reference(&newest.branch)).is_ok_and(|known| known == newest.commit);
    known && repository.find_commit(newest.commit).and_then(|commit| commit.tree()).is_ok()
}

/// The branch to serve, and its newest commit.
fn choose(remote: &Remote, heads: &[RemoteHead<'_>]) -> Result<Newest, SyncError> {
    let address = || remote.address.text().to_owned();
    let branches = || heads.iter().filter_map(|head| Some((name(head)?.strip_prefix("refs/heads/")?, head.oid())));
    let named = |name: &str| {
        branches().find(|(known, _)| *known == name).map(|(name, commit)| Newest { branch: name.to_owned(), commit })
    };
    if let Some(branch) = &remote.branch {
        return named(branch).ok_or_else(|| {
            let known: Vec<String> = branches().map(|(name, _)| name.to_owned()).take(MOST_NAMED).collect();
            let others = if known.is_empty() { String::new() } else { format!("; it has {}", quoted(&known)) };
            SyncError::NoBranch { address: address(), branch: branch.clone(), others }
        });
    }
    let head = heads.iter().find(|head| name(head) == Some("HEAD"));
    let target = |head: &RemoteHead<'_>| catch_unwind(AssertUnwindSafe(|| head.symref_target().map(str::to_owned)));
    let default = || target(head?).ok()??.strip_prefix("refs/heads/").and_then(named);
    // Old servers do not say which branch is the default, only where it is.
    let guessed = || branches().find(|(_, commit)| head.is_some_and(|head| head.oid() == *commit));
    let first = || guessed().or_else(|| branches().next()).and_then(|(name, _)| named(name));
    named(USUAL_BRANCH).or_else(default).or_else(first).ok_or_else(|| SyncError::Empty { address: address() })
}

/// The name of a branch, if it is text. git2 panics on others, which git allows.
fn name<'a>(head: &'a RemoteHead<'_>) -> Option<&'a str> {
    catch_unwind(AssertUnwindSafe(|| head.name())).ok()
}
