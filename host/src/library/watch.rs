//! Notices that something below the roots changed, without saying what: looking is `scan`'s work.

use crate::library::roots::SkillRoot;
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
}

impl Watcher {
    pub fn new(roots: Arc<[SkillRoot]>) -> (Self, Disturbances) {
        let (sender, receiver) = watch::channel(0);
        let notice = move |event: notify::Result<Event>| {
            if event.map_or(true, |event| is_change(&event)) {
                sender.send_modify(|count| *count += 1);
            }
        };
        let system = notify::recommended_watcher(notice)
            .inspect_err(|error| tracing::warn!("changes on disk are noticed only by looking: {error}"))
            .ok();
        let mut watcher = Self { roots, system, watched: BTreeSet::new(), failed: BTreeSet::new() };
        watcher.watch();
        (watcher, receiver)
    }

    /// Watches the roots that exist. Comes again from time to time, for those that appeared or came back.
    pub fn watch(&mut self) {
        let Some(system) = &mut self.system else { return };
        for root in self.roots.iter() {
            let path = root.path();
            // What is watched is the folder, not the name. One that was replaced has to be watched anew.
            let exists = path.is_dir();
            if !exists && self.watched.remove(&path) {
                let _ = system.unwatch(&path);
            }
            if !exists || self.watched.contains(&path) {
                continue;
            }
            match system.watch(&path, RecursiveMode::Recursive) {
                Ok(()) => {
                    self.failed.remove(&path);
                    self.watched.insert(path);
                }
                Err(error) => {
                    if self.failed.insert(path.clone()) {
                        let label = &root.label;
                        tracing::warn!("root `{label}` cannot be watched, so changes show up later: {error}");
                    }
                }
            }
        }
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
