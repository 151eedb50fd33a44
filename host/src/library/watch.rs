//! Notices that something below the roots changed. What that is shows when `scan` looks.

mod reach;
mod watching;

use crate::library::roots::SkillRoot;
use crate::library::witness::Witness;
use rustix::fs::statfs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use watching::Watching;

/// When something last stirred. Whoever waits for it sees that it is another moment.
pub type Disturbances = watch::Receiver<Option<Instant>>;

/// Watches on a thread of its own, so that nobody waits until every folder of a large library is watched.
pub struct Watcher {
    orders: mpsc::Sender<Order>,
    witness: Arc<Witness>,
}

/// What the thread has to do.
enum Order {
    Watch,
    /// Something came to this place, or went from it.
    Follow(PathBuf),
    End,
}

/// Finds the number of the file system that a folder is in.
type FileSystem = fn(&Path) -> Option<i128>;

fn file_system(folder: &Path) -> Option<i128> {
    statfs(folder).ok().map(|found| found.f_type.into())
}

/// What happens to changes that nobody notices.
pub const LATER: &str = "changes show up when a client asks, or within 30 seconds";

impl Watcher {
    pub fn new(roots: Arc<[SkillRoot]>) -> (Self, Disturbances) {
        let (orders, incoming) = mpsc::channel();
        let (watching, disturbances) = Watching::new(file_system, roots, &orders);
        let watcher = Self { orders, witness: watching.witness() };
        let thread = std::thread::Builder::new().name("watching".to_owned());
        if let Err(error) = thread.spawn(move || watching.run(&incoming)) {
            tracing::warn!("no folder can be watched: {error}; {LATER}");
        }
        watcher.watch();
        (watcher, disturbances)
    }

    pub fn witness(&self) -> Arc<Witness> {
        Arc::clone(&self.witness)
    }

    /// Has the roots watched that appeared, came back or were replaced, and folders that could not be watched before. What
    /// changed there until then counts as a disturbance.
    pub fn watch(&self) {
        let _ = self.orders.send(Order::Watch);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::End);
    }
}

/// Waits for a disturbance, and then until nothing happened for a while, but not forever. False when none can come any more.
pub async fn settled(disturbances: &mut Disturbances, quiet: Duration, longest: Duration) -> bool {
    if disturbances.changed().await.is_err() {
        return false;
    }
    let end = Instant::now() + longest;
    loop {
        let Some(last) = *disturbances.borrow_and_update() else { return true };
        let until = (last + quiet).min(end);
        if Instant::now() >= until {
            return true;
        }
        sleep_until(until).await;
    }
}
