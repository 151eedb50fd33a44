//! Notices that something below the roots changed, without saying what: looking is `scan`'s work.

use crate::library::roots::SkillRoot;
use crate::library::stillness::{self, Stillness};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

/// Counts disturbances. Whoever waits for one sees that the number is another.
pub type Disturbances = watch::Receiver<u64>;

pub struct Watcher {
    roots: Arc<[SkillRoot]>,
    /// Missing when the operating system gives none; then only the timer looks.
    system: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// Roots that could not be watched, told once.
    failed: BTreeSet<PathBuf>,
    stillness: Arc<Stillness>,
}

impl Watcher {
    pub fn new(roots: Arc<[SkillRoot]>) -> (Self, Disturbances) {
        let (sender, receiver) = watch::channel(0);
        let stillness = Arc::new(Stillness::new(Arc::clone(&roots)));
        let told = Arc::clone(&stillness);
        let notice = move |event: notify::Result<Event>| {
            let event = event.ok();
            if event.as_ref().is_none_or(is_change) && told.saw(event.as_ref()) {
                sender.send_modify(|count| *count += 1);
            }
        };
        let mut system = notify::recommended_watcher(notice)
            .inspect_err(|error| tracing::warn!("changes on disk are noticed only by looking: {error}"))
            .ok();
        if let (Some(system), Some(place)) = (&mut system, stillness.place()) {
            // If this fails, nobody ever knows that it is still, and everybody looks.
            let _ = system.watch(place, RecursiveMode::NonRecursive);
        }
        let mut watcher = Self { roots, system, watched: BTreeSet::new(), failed: BTreeSet::new(), stillness };
        watcher.watch();
        (watcher, receiver)
    }

    pub fn stillness(&self) -> Arc<Stillness> {
        Arc::clone(&self.stillness)
    }

    /// Watches the roots that exist. Comes again from time to time, for those that appeared or came back.
    pub fn watch(&mut self) {
        let Some(system) = &mut self.system else { return };
        let mut complete = true;
        for root in self.roots.iter() {
            let path = root.path();
            // What is watched is the folder, not the name. One that was replaced has to be watched anew.
            let exists = path.is_dir();
            if !exists && self.watched.remove(&path) {
                let _ = system.unwatch(&path);
            }
            complete &= !exists || stillness::is_local(&path);
            if !exists || self.watched.contains(&path) {
                continue;
            }
            match system.watch(&path, RecursiveMode::Recursive) {
                Ok(()) => {
                    self.failed.remove(&path);
                    self.watched.insert(path);
                }
                Err(error) => {
                    complete = false;
                    if self.failed.insert(path.clone()) {
                        let label = &root.label;
                        tracing::warn!("root `{label}` cannot be watched, so changes show up later: {error}");
                    }
                }
            }
        }
        self.stillness.watched(complete);
    }
}

/// Reading a file is no change. Our own reading would otherwise never end.
fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// Waits for a disturbance, and then until nothing happened for a while, but not forever. False when none can come any more.
pub async fn settled(disturbances: &mut Disturbances, quiet: Duration, longest: Duration) -> bool {
    if disturbances.changed().await.is_err() {
        return false;
    }
    let end = Instant::now() + longest;
    let until_quiet = async { while let Ok(Ok(())) = timeout(quiet, disturbances.changed()).await {} };
    let _ = timeout_at(end, until_quiet).await;
    true
}
