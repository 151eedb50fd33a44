//! Repositories that skills come from: each has a clone of its own, which follows its remote.
//! And the repository that the server runs in, of which [`context`] tells the state.
//!
//! Only this module knows git. It starts no program: libgit2 reads and writes repositories, and our own transport speaks
//! HTTP. Exchanges with remotes block, so each runs on a thread of its own and nothing waits for it that serves clients.

pub mod address;
pub mod context;
pub mod credential;
pub mod place;
mod checkout;
mod contents;
mod fetch;
mod problem;
mod received;
mod repositories;
mod schedule;
mod sync;
mod transport;
mod worktree;

pub use repositories::{Outcome, Repositories, Round};
pub use sync::Wanted;

use crate::config::git::{Git, Network, Remote};
use git2::ConfigLevel;
use std::sync::Once;
use std::time::{Duration, Instant};
use ureq::tls::{Certificate, PemItem, parse_pem};

/// Longest that somebody waits who only wants to know whether a remote answers.
const LONGEST_TRY: Duration = Duration::from_secs(10);

/// How long something may take.
#[derive(Debug, Clone)]
pub struct Patience {
    time: Duration,
    end: Instant,
}

impl Patience {
    pub fn new(time: Duration) -> Self {
        Self { time, end: Instant::now() + time }
    }

    /// All of it.
    pub fn time(&self) -> Duration {
        self.time
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Never nothing, which would mean forever to some.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }
}

/// Prepares libgit2: it knows our transport, and no settings of the user or the machine.
fn prepare_libgit2() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            #[expect(unsafe_code, reason = "libgit2 has no other way to be told")]
            // SAFETY: it happens once, and no other thread is inside libgit2: all of them come through here first, and before
            // them there is only the one that reads the configuration.
            let hidden = unsafe { git2::opts::set_search_path(level, "") };
            hidden.expect("libgit2 takes any path");
        }
        #[expect(unsafe_code, reason = "libgit2 has no other way to be told")]
        // SAFETY: as above. Whose a repository is matters to programs that run what its settings name, and nothing is ever run
        // here.
        let told = unsafe { git2::opts::set_verify_owner_validation(false) };
        told.expect("libgit2 takes either");
        transport::register();
    });
}

/// Asks the machine's credential helper about remotes that nobody named a token for, if the operator lets it. Helpers are
/// programs, so this has to happen before programs are forbidden.
pub fn ask_credential_helper(git: &mut Git) {
    if !git.credential_helper {
        return;
    }
    for remote in git.main.iter_mut().chain(&mut git.more) {
        if remote.credential.is_none() && remote.address.keeps_secrets() {
            remote.credential = credential::ask_helper(&remote.address, git.network.timeout);
            let found = if remote.credential.is_some() { "has" } else { "has nothing" };
            tracing::debug!("the credential helper {found} for {}", remote.address.text());
        }
    }
}

/// Whether a remote answers: its branch and the beginning of its newest commit, else what went wrong.
pub fn try_remote(remote: &Remote, network: &Network) -> Result<(String, String), String> {
    let patience = Patience::new(network.timeout.min(LONGEST_TRY));
    let newest = fetch::ask(remote, network, &patience).map_err(|error| error.to_string())?;
    let commit = newest.commit.to_string();
    Ok((newest.branch, commit[..10.min(commit.len())].to_owned()))
}

/// Certificates in PEM.
pub fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| error.to_string())? {
            found.push(certificate);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
