//! The repositories of this server, synced on request and on a schedule.

use super::address::Address;
use super::clone_folder;
use super::error::SyncError;
use super::schedule::{POLL_INTERVAL, RECENTLY, Schedule, sync_interval};
use super::sync::{self, SyncMode, Synced};
use crate::options::{Network, Options, Remote};
use base::place::Audience;
use base::printable::counted;
use catalog::{Catalog, Scope};
use library::roots::SkillRoot;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

#[derive(Clone)]
pub struct Repositories {
    inner: Arc<Inner>,
}

struct Inner {
    remotes: Vec<Remote>,
    network: Network,
    /// Held while a sync is running.
    syncing: Arc<tokio::sync::Mutex<()>>,
    /// The last problem of each repository, so that it is logged once.
    problems: Mutex<Vec<Option<SyncError>>>,
}

/// The result of syncing one repository.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub address: Address,
    /// The commit that is served.
    pub commit: Option<String>,
    pub files_changed: usize,
    /// When any server last synced the clone, since the Unix epoch.
    pub last_sync: Option<Duration>,
    /// Why it could not be synced.
    pub problem: Option<SyncError>,
}

/// The results of syncing several repositories, and of serving the changes.
#[derive(Debug)]
pub struct SyncReport {
    pub outcomes: Vec<Outcome>,
    pub refreshed: catalog::Outcome,
}

impl Repositories {
    /// Uses the main repository only if no folder is configured.
    pub fn new(options: &Options, has_folders: bool) -> Self {
        let main = options.main.iter().filter(|_| !has_folders);
        let remotes: Vec<Remote> = main.chain(&options.more).cloned().collect();
        let problems = Mutex::new(vec![None; remotes.len()]);
        let network = options.network.clone();
        Self { inner: Arc::new(Inner { remotes, network, syncing: Arc::default(), problems }) }
    }

    pub fn is_empty(&self) -> bool {
        self.inner.remotes.is_empty()
    }

    /// Whether a repository was never cloned.
    pub fn is_incomplete(&self) -> bool {
        self.inner.remotes.iter().any(|remote| !clone_folder::exists(&remote.folder))
    }

    /// Waits for repositories that were never cloned, at most for the network timeout.
    pub async fn wait_for_first_clones(&self, catalog: &Catalog) {
        if self.is_incomplete() {
            let (repositories, catalog) = (self.clone(), catalog.clone());
            let syncing =
                tokio::spawn(async move { repositories.sync(SyncMode::IfOlderThan(RECENTLY), &catalog).await });
            let _ = tokio::time::timeout(self.inner.network.timeout, syncing).await;
        }
    }

    /// Syncs now, and then at the interval of each repository.
    pub async fn keep_synced(&self, catalog: &Catalog, roots: &[SkillRoot]) {
        let (mut schedule, mut due) = Schedule::start(Instant::now(), self.inner.remotes.len());
        let mut clock = tokio::time::interval(POLL_INTERVAL);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick completes immediately.
        clock.tick().await;
        while !self.is_empty() {
            if !due.is_empty() {
                self.sync_some(due, catalog).await;
            }
            clock.tick().await;
            let mut intervals = Vec::new();
            for remote in &self.inner.remotes {
                intervals.push(interval(remote, catalog, roots).await);
            }
            due = schedule.take_due(Instant::now(), &intervals);
        }
    }

    /// Syncs all repositories and serves the changes. Returns `None` if a sync is already running.
    ///
    /// Dropping the future does not stop the sync.
    pub async fn sync(&self, mode: SyncMode, catalog: &Catalog) -> Option<SyncReport> {
        self.sync_some((0..self.inner.remotes.len()).map(|number| (number, mode)).collect(), catalog).await
    }

    async fn sync_some(&self, due: Vec<(usize, SyncMode)>, catalog: &Catalog) -> Option<SyncReport> {
        let guard = Arc::clone(&self.inner.syncing).try_lock_owned().ok()?;
        let (done, outcomes) = oneshot::channel();
        let (repositories, worker_catalog) = (self.clone(), catalog.clone());
        let work = move || {
            let outcomes = repositories.sync_blocking(&due, &worker_catalog);
            drop(guard);
            let _ = done.send(outcomes);
        };
        if let Err(error) = thread::Builder::new().name("git".to_owned()).spawn(work) {
            tracing::error!("cannot sync repositories: {error}");
            return None;
        }
        let outcomes = outcomes.await.ok();
        let refreshed = catalog.refresh(Scope::Full).await;
        Some(SyncReport { outcomes: outcomes?, refreshed })
    }

    fn sync_blocking(&self, due: &[(usize, SyncMode)], catalog: &Catalog) -> Vec<Outcome> {
        let pause = || Box::new(catalog.pause()) as Box<dyn Any>;
        let Inner { remotes, network, .. } = &*self.inner;
        let results: Vec<Result<Synced, SyncError>> = thread::scope(|scope| {
            let pause = &pause;
            let sync = |&(number, mode): &(usize, SyncMode)| {
                let remote = &remotes[number];
                scope.spawn(move || sync::sync(remote, network, mode, pause))
            };
            let syncing: Vec<_> = due.iter().map(sync).collect();
            syncing.into_iter().map(|thread| thread.join().unwrap_or(Err(SyncError::Panicked))).collect()
        });
        due.iter().zip(results).map(|((number, _), result)| self.outcome(*number, result)).collect()
    }

    fn outcome(&self, number: usize, result: Result<Synced, SyncError>) -> Outcome {
        let remote = &self.inner.remotes[number];
        let address = remote.address.text();
        let mut problems = self.inner.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut problems[number], result.as_ref().err().cloned());
        match &result {
            Ok(Synced { commit, files_changed }) if *files_changed > 0 || before.is_some() => {
                let changed = counted(*files_changed, "file");
                tracing::info!("{address} is at {}: {changed} changed", &commit[..10.min(commit.len())]);
            }
            Err(problem) if before.as_ref() != Some(problem) => {
                tracing::warn!("{}", problem.for_audience(Audience::Local));
            }
            Ok(_) => tracing::debug!("{address} has not changed"),
            Err(problem) => tracing::debug!("still failing: {}", problem.for_audience(Audience::Local)),
        }
        let (commit, files_changed, problem) = match result {
            Ok(Synced { commit, files_changed }) => (Some(commit), files_changed, None),
            Err(problem) => (sync::current(remote), 0, Some(problem)),
        };
        let (address, last_sync) = (remote.address.clone(), clone_folder::last_sync(remote));
        Outcome { address, commit, files_changed, last_sync, problem }
    }
}

/// Returns the interval of a repository by its current settings.
async fn interval(remote: &Remote, catalog: &Catalog, roots: &[SkillRoot]) -> Option<Duration> {
    let is_cloned = clone_folder::exists(&remote.folder);
    let root = (0..).zip(roots).find(|(_, root)| root.comes_from(&remote.folder)).map(|(number, _)| number);
    let refresh = match root.filter(|_| is_cloned) {
        Some(root) => catalog.settings_of(root).await.ok().map(|settings| settings.refresh),
        None => None,
    };
    sync_interval(is_cloned, refresh)
}
