//! Repositories that skills come from: each has a clone of its own, which follows its remote.
//!
//! Only this module knows git. It starts no program: libgit2 reads and writes repositories, and our own transport speaks
//! HTTP. Exchanges with remotes block, so each runs on a thread of its own and nothing waits for it that serves clients.

pub mod address;
pub mod credential;
pub mod place;
mod checkout;
mod fetch;
mod problem;
mod progress;
mod sync;
mod transport;
mod worktree;

pub use problem::SyncError;
pub use sync::Wanted;

use crate::catalog::Catalog;
use crate::config::git::{Git, Network, Remote};
use crate::library::roots::SkillRoot;
use crate::printable::counted;
use git2::ConfigLevel;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use sync::Synced;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;
use ureq::tls::{Certificate, PemItem, parse_pem};

/// What another server synced this long ago need not be synced again at the start.
const SYNCED_LATELY: Duration = Duration::from_secs(5);

/// How often it is looked whether a repository is to be synced, and how often one is tried that could not be cloned yet.
const RETRY: Duration = Duration::from_mins(1);

/// How long something may take.
#[derive(Debug, Clone)]
pub struct Patience {
    end: Instant,
}

impl Patience {
    pub fn new(time: Duration) -> Self {
        Self { end: Instant::now() + time }
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
fn quiet() {
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
    for remote in git.instead_of_folders.iter_mut().chain(&mut git.more) {
        if remote.credential.is_none() && remote.address.keeps_secrets() {
            remote.credential = credential::ask_helper(&remote.address);
            let found = if remote.credential.is_some() { "has" } else { "has nothing" };
            tracing::debug!("the credential helper {found} for {}", remote.address.text());
        }
    }
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

/// The repositories of this server.
#[derive(Clone)]
pub struct Repositories {
    shared: Arc<Shared>,
}

struct Shared {
    remotes: Vec<Remote>,
    network: Network,
    /// Whether somebody is syncing.
    busy: AtomicBool,
    /// What went wrong last with each, so that it is told once.
    told: Mutex<Vec<Option<String>>>,
}

/// What came of syncing one repository.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub address: String,
    /// The commit that is served.
    pub commit: Option<String>,
    pub files_changed: usize,
    pub last_sync: Option<SystemTime>,
    /// Why it could not be synced.
    pub problem: Option<String>,
}

/// Held by whoever syncs.
struct Busy(Arc<Shared>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}

impl Repositories {
    /// Those that count: the one in place of folders only if no folder was named.
    pub fn new(git: &Git, folders_named: bool) -> Self {
        let main = git.instead_of_folders.iter().filter(|_| !folders_named);
        let remotes: Vec<Remote> = main.chain(&git.more).cloned().collect();
        let told = Mutex::new(vec![None; remotes.len()]);
        let network = git.network.clone();
        Self { shared: Arc::new(Shared { remotes, network, busy: AtomicBool::new(false), told }) }
    }

    pub fn is_empty(&self) -> bool {
        self.shared.remotes.is_empty()
    }

    /// Whether one of them has nothing to serve yet.
    pub fn is_incomplete(&self) -> bool {
        self.shared.remotes.iter().any(|remote| !place::is_there(&remote.folder))
    }

    /// Waits for repositories that were never cloned, but no longer than one exchange may take.
    pub async fn first_clones(&self, catalog: &Catalog) {
        if self.is_incomplete() {
            let (repositories, catalog) = (self.clone(), catalog.clone());
            let syncing =
                tokio::spawn(async move { repositories.sync(Wanted::UnlessWithin(SYNCED_LATELY), &catalog).await });
            let _ = tokio::time::timeout(self.shared.network.timeout, syncing).await;
        }
    }

    /// Syncs now, and then as often as the operator and the content of each repository want it.
    pub async fn keep_synced(&self, catalog: &Catalog, roots: &[SkillRoot]) {
        let mut last_tries: Vec<Option<Instant>> = vec![None; self.shared.remotes.len()];
        let mut clock = tokio::time::interval(RETRY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_empty() {
            clock.tick().await;
            let mut due = Vec::new();
            let mut recent = Duration::MAX;
            for (number, last) in last_tries.iter_mut().enumerate() {
                let every =
                    if last.is_none() { Some(2 * SYNCED_LATELY) } else { self.every(number, catalog, roots).await };
                let Some(every) = every else { continue };
                if last.is_none_or(|last| last.elapsed() + SYNCED_LATELY >= every) {
                    *last = Some(Instant::now());
                    due.push(number);
                    // Of several servers with one clone, one is enough.
                    recent = recent.min(every / 2);
                }
            }
            if !due.is_empty() {
                self.sync_some(due, Wanted::UnlessWithin(recent), catalog).await;
            }
        }
    }

    /// How often a repository is synced by itself, or never.
    async fn every(&self, number: usize, catalog: &Catalog, roots: &[SkillRoot]) -> Option<Duration> {
        let folder = &self.shared.remotes[number].folder;
        if !place::is_there(folder) {
            return Some(RETRY);
        }
        let root = (0..).zip(roots).find(|(_, root)| root.is_in(folder)).map(|(number, _)| number)?;
        let refresh = catalog.settings_of(root).await.ok()?.refresh;
        refresh.enabled.then(|| Duration::from_mins(refresh.interval_minutes.into()))
    }

    /// Syncs all of them and brings in what changed. Nothing if somebody is at it already.
    ///
    /// Whoever stops waiting stops nothing: the work goes on.
    pub async fn sync(&self, wanted: Wanted, catalog: &Catalog) -> Option<Vec<Outcome>> {
        self.sync_some((0..self.shared.remotes.len()).collect(), wanted, catalog).await
    }

    async fn sync_some(&self, which: Vec<usize>, wanted: Wanted, catalog: &Catalog) -> Option<Vec<Outcome>> {
        let was_busy = self.shared.busy.swap(true, Ordering::AcqRel);
        let busy = (!was_busy).then(|| Busy(Arc::clone(&self.shared)))?;
        let (done, outcomes) = oneshot::channel();
        let (repositories, worker_catalog) = (self.clone(), catalog.clone());
        let work = move || {
            let outcomes = repositories.sync_now(&which, wanted, &worker_catalog);
            drop(busy);
            let _ = done.send(outcomes);
        };
        if let Err(error) = thread::Builder::new().name("git".to_owned()).spawn(work) {
            tracing::error!("no repository can be synced: {error}");
            return None;
        }
        let outcomes = outcomes.await.ok();
        catalog.bring_in(None).await;
        outcomes
    }

    fn sync_now(&self, which: &[usize], wanted: Wanted, catalog: &Catalog) -> Vec<Outcome> {
        let pause = || Box::new(catalog.pause()) as Box<dyn Any>;
        let Shared { remotes, network, .. } = &*self.shared;
        let results: Vec<Result<Synced, String>> = thread::scope(|scope| {
            let pause = &pause;
            let sync = |number: &usize| {
                let remote = &remotes[*number];
                scope.spawn(move || sync::sync(remote, network, wanted, pause))
            };
            let syncing: Vec<_> = which.iter().map(sync).collect();
            let result = |thread: thread::ScopedJoinHandle<'_, Result<Synced, SyncError>>| match thread.join() {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(_) => Err("the server panicked while it synced".to_owned()),
            };
            syncing.into_iter().map(result).collect()
        });
        which.iter().zip(results).map(|(number, result)| self.outcome(*number, result)).collect()
    }

    fn outcome(&self, number: usize, result: Result<Synced, String>) -> Outcome {
        let remote = &self.shared.remotes[number];
        let address = remote.address.text().to_owned();
        let mut told = self.shared.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut told[number], result.as_ref().err().cloned());
        match &result {
            Ok(Synced { commit, files_changed }) if *files_changed > 0 || before.is_some() => {
                let changed = counted(*files_changed, "file");
                tracing::info!("{address} is at {}: {changed} changed", &commit[..10.min(commit.len())]);
            }
            Err(problem) if before.as_ref() != Some(problem) => tracing::warn!("{problem}"),
            Ok(_) => tracing::debug!("{address} is as it was"),
            Err(problem) => tracing::debug!("again: {problem}"),
        }
        let last_sync = sync::last_sync(remote);
        match result {
            Ok(Synced { commit, files_changed }) => {
                Outcome { address, commit: Some(commit), files_changed, last_sync, problem: None }
            }
            Err(problem) => {
                let commit = sync::current(remote);
                Outcome { address, commit, files_changed: 0, last_sync, problem: Some(problem) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
