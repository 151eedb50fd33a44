//! Signals that something below the roots changed; `scan` finds out what.

mod root_watch;
mod watch_loop;

use crate::roots::SkillRoot;
use crate::sync_cookie::SyncCookies;
use rustix::fs::statfs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use watch_loop::WatchLoop;

/// The time of the last change. Receivers wait for a new value.
pub type ChangeSignal = watch::Receiver<Option<Instant>>;

/// Watches on a thread of its own, because watching every folder of a large library takes a while.
pub struct Watcher {
    commands: mpsc::Sender<Command>,
    cookies: Arc<SyncCookies>,
}

/// A message to the watching thread.
enum Command {
    Watch,
    /// An entry was created or removed at this path.
    Follow(PathBuf),
    Stop,
}

/// Returns the magic number of the file system that holds a folder.
type FileSystem = fn(&Path) -> Option<i128>;

fn file_system(folder: &Path) -> Option<i128> {
    statfs(folder).ok().map(|stat| stat.f_type.into())
}

/// Ends warnings about folders that are not watched: how their changes are found.
pub const UNWATCHED_NOTE: &str = "changes show up when a client asks, or within 30 seconds";

impl Watcher {
    /// Nothing is watched before the first [`watch`](Self::watch).
    pub fn new(roots: Arc<[SkillRoot]>) -> (Self, ChangeSignal) {
        let (commands, incoming) = mpsc::channel();
        let (watch_loop, signal) = WatchLoop::new(file_system, roots, &commands);
        let watcher = Self { commands, cookies: watch_loop.sync_cookies() };
        let thread = std::thread::Builder::new().name("watching".to_owned());
        if let Err(error) = thread.spawn(move || watch_loop.run(&incoming)) {
            tracing::warn!("cannot watch any folder: {error}; {UNWATCHED_NOTE}");
        }
        (watcher, signal)
    }

    pub fn sync_cookies(&self) -> Arc<SyncCookies> {
        Arc::clone(&self.cookies)
    }

    /// Starts watching roots that appeared or were replaced, and retries folders that could not be watched. Newly watched
    /// folders count as changed.
    pub fn watch(&self) {
        let _ = self.commands.send(Command::Watch);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Stop);
    }
}

/// Waits for a change, and then until none came for `quiet`, at most for `max_wait`. Returns false once the watcher is gone.
pub async fn debounce(signal: &mut ChangeSignal, quiet: Duration, max_wait: Duration) -> bool {
    if signal.changed().await.is_err() {
        return false;
    }
    let deadline = Instant::now() + max_wait;
    loop {
        let Some(last) = *signal.borrow_and_update() else { return true };
        let until = (last + quiet).min(deadline);
        if Instant::now() >= until {
            return true;
        }
        sleep_until(until).await;
    }
}
