//! The repositories of this server, and who syncs them when.

use super::place;
use super::problem::SyncError;
use super::schedule::{LOOK_EVERY, Rhythm, SYNCED_LATELY, Schedule};
use super::sync::{self, Synced, Wanted};
use crate::catalog::{Brought, Catalog, Look};
use crate::config::git::{Git, Network, Remote};
use crate::library::roots::SkillRoot;
use crate::printable::counted;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

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
    /// When any server last synced its clone, since the first of January 1970.
    pub last_sync: Option<Duration>,
    /// Why it could not be synced.
    pub problem: Option<String>,
}

/// What came of syncing some of them, and of serving what changed.
#[derive(Debug)]
pub struct Round {
    pub outcomes: Vec<Outcome>,
    pub brought: Brought,
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
        let main = git.main.iter().filter(|_| !folders_named);
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
        let (mut schedule, mut due) = Schedule::begin(Instant::now(), self.shared.remotes.len());
        let mut clock = tokio::time::interval(LOOK_EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once.
        clock.tick().await;
        while !self.is_empty() {
            if !due.is_empty() {
                self.sync_some(due, catalog).await;
            }
            clock.tick().await;
            let mut rhythms = Vec::new();
            for remote in &self.shared.remotes {
                rhythms.push(rhythm(remote, catalog, roots).await);
            }
            due = schedule.take(Instant::now(), &rhythms);
        }
    }

    /// Syncs all of them and brings in what changed. Nothing if somebody is at it already.
    ///
    /// Whoever stops waiting stops nothing: the work goes on.
    pub async fn sync(&self, wanted: Wanted, catalog: &Catalog) -> Option<Round> {
        self.sync_some((0..self.shared.remotes.len()).map(|number| (number, wanted)).collect(), catalog).await
    }

    async fn sync_some(&self, due: Vec<(usize, Wanted)>, catalog: &Catalog) -> Option<Round> {
        let was_busy = self.shared.busy.swap(true, Ordering::AcqRel);
        let busy = (!was_busy).then(|| Busy(Arc::clone(&self.shared)))?;
        let (done, outcomes) = oneshot::channel();
        let (repositories, worker_catalog) = (self.clone(), catalog.clone());
        let work = move || {
            let outcomes = repositories.sync_now(&due, &worker_catalog);
            drop(busy);
            let _ = done.send(outcomes);
        };
        if let Err(error) = thread::Builder::new().name("git".to_owned()).spawn(work) {
            tracing::error!("no repository can be synced: {error}");
            return None;
        }
        let outcomes = outcomes.await.ok();
        let brought = catalog.bring_in(Look::Everything).await;
        Some(Round { outcomes: outcomes?, brought })
    }

    fn sync_now(&self, due: &[(usize, Wanted)], catalog: &Catalog) -> Vec<Outcome> {
        let pause = || Box::new(catalog.pause()) as Box<dyn Any>;
        let Shared { remotes, network, .. } = &*self.shared;
        let results: Vec<Result<Synced, String>> = thread::scope(|scope| {
            let pause = &pause;
            let sync = |&(number, wanted): &(usize, Wanted)| {
                let remote = &remotes[number];
                scope.spawn(move || sync::sync(remote, network, wanted, pause))
            };
            let syncing: Vec<_> = due.iter().map(sync).collect();
            let result = |thread: thread::ScopedJoinHandle<'_, Result<Synced, SyncError>>| match thread.join() {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(_) => Err("the server panicked while it synced".to_owned()),
            };
            syncing.into_iter().map(result).collect()
        });
        due.iter().zip(results).map(|((number, _), result)| self.outcome(*number, result)).collect()
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
        let last_sync = place::last_sync(remote);
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

/// How often a repository is to be synced by itself, by what the operator and its content say now.
async fn rhythm(remote: &Remote, catalog: &Catalog, roots: &[SkillRoot]) -> Rhythm {
    let root = (0..).zip(roots).find(|(_, root)| root.is_in(&remote.folder)).map(|(number, _)| number);
    let refresh = match root.filter(|_| place::is_there(&remote.folder)) {
        Some(root) => catalog.settings_of(root).await.ok().map(|settings| settings.refresh),
        None => None,
    };
    Rhythm::new(place::is_there(&remote.folder), refresh)
}
