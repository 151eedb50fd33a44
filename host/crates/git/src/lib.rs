//! Clones of the repositories that skills come from, and the state of the repository the server runs in.
//!
//! Owns clones and their sync with remotes, credentials for remotes, and everything else that knows git. Must not know MCP,
//! or how skills are parsed and served: the catalog is only paused during a checkout and refreshed after it. No program is
//! started, except a credential helper if the operator allows it: libgit2 reads and writes repositories, and `transport`
//! speaks HTTP. Talking to a remote blocks, so it happens on separate threads that no client waits for.
//!
//! Start reading with [`Repositories`], which syncs all clones on a schedule, and `sync`, which brings one of them up to
//! date whatever happened to it; then `fetch`, `worktree` and `checkout`, its steps. [`context`] is independent of the rest.

pub mod address;
pub mod context;
pub mod credential;
pub mod options;
pub mod clone_folder;
mod checkout;
mod contents;
mod error;
mod fetch;
mod limits;
mod repositories;
mod schedule;
mod sync;
mod transport;
mod worktree;

pub use contents::Contents;
pub use error::SyncError;
pub use repositories::{Outcome, Repositories, SyncReport};
pub use sync::SyncMode;
pub use transport::{Received, Refusal};

use crate::options::{Network, Options, Remote};
use git2::ConfigLevel;
use std::sync::Once;
use std::time::{Duration, Instant};
use ureq::tls::{Certificate, PemItem, parse_pem};

/// Timeout for checking whether a remote answers.
const TRY_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct Deadline {
    timeout: Duration,
    end: Instant,
}

impl Deadline {
    pub fn after(timeout: Duration) -> Self {
        Self { timeout, end: Instant::now() + timeout }
    }

    pub fn has_passed(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Never zero, which some libraries take for no limit.
    pub fn remaining(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }
}

/// Registers our transport with libgit2, sets its limits, and hides the git configuration of the user and the machine.
fn prepare_libgit2() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            #[expect(unsafe_code, reason = "libgit2 has no other way to set this")]
            // SAFETY: this runs once, and no other thread is inside libgit2: all of them call this function first, except
            // the one that reads the configuration before any is started.
            let hidden = unsafe { git2::opts::set_search_path(level, "") };
            hidden.expect("libgit2 takes any path");
        }
        #[expect(unsafe_code, reason = "libgit2 has no other way to set this")]
        // SAFETY: as above. The owner of a repository matters only to programs that run what its configuration names, and
        // nothing is run here.
        let disabled = unsafe { git2::opts::set_verify_owner_validation(false) };
        disabled.expect("libgit2 takes either value");
        limits::set_in_libgit2();
        transport::register();
    });
}

/// Asks the machine's credential helper about remotes without a token, if that is enabled. A helper is a program, so this
/// must happen before starting programs is forbidden.
pub fn ask_credential_helper(options: &mut Options) {
    if !options.credential_helper {
        return;
    }
    for remote in options.main.iter_mut().chain(&mut options.more) {
        if remote.credential.is_none() && remote.address.is_confidential() {
            remote.credential = credential::ask_helper(&remote.address, options.network.timeout);
            let result = if remote.credential.is_some() { "has a credential" } else { "has no credential" };
            tracing::debug!("the credential helper {result} for {}", remote.address.text());
        }
    }
}

/// Asks a remote for its branch and newest commit. Returns the branch and the abbreviated commit.
pub fn try_remote(remote: &Remote, network: &Network) -> Result<(String, String), SyncError> {
    let deadline = Deadline::after(network.timeout.min(TRY_TIMEOUT));
    let newest = fetch::ask(remote, network, &deadline)?;
    let commit = newest.commit.to_string();
    Ok((newest.branch, commit[..10.min(commit.len())].to_owned()))
}

/// Parses certificates in PEM.
pub fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(ureq::Error::to_string(&error))),
    };
    parse_pem(pem).filter_map(certificate).collect()
}

#[cfg(test)]
mod tests;
