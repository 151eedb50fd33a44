//! Knowing for certain that nothing changed on disk, without looking at every file.
//!
//! The kernel queues events in the order in which things happen. Whoever makes one happen and then sees it come out of the
//! queue has seen everything that happened before.

use crate::library::roots::SkillRoot;
use notify::Event;
use rustix::fs::StatFs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder that appears is watched a little later than what is written into it. So after a change everything is looked at
/// once more when this much time has passed.
const DUST: Duration = Duration::from_secs(1);

/// Longest wait for the event that was made to happen. Looking at all files of a large library takes about as long.
const PATIENCE: Duration = Duration::from_millis(5);

/// What the watcher knows, shared with those who want to know whether they have to look.
pub struct Stillness {
    roots: Arc<[SkillRoot]>,
    /// Where events are made to happen. Missing where the watcher cannot be relied on.
    place: Option<TempDir>,
    seen: Mutex<Seen>,
    came: Condvar,
    /// One at a time, so that each waits for its own event.
    probing: Mutex<u64>,
}

struct Seen {
    /// When something below a root last changed.
    last_change: Instant,
    /// The last event that was made to happen.
    probe: Option<PathBuf>,
    /// The folders that are watched, as they were when that began. Empty until they are.
    watched: Vec<Option<(u64, u64)>>,
}

impl Stillness {
    pub fn new(roots: Arc<[SkillRoot]>) -> Self {
        // Elsewhere events come later than what they are about.
        let place = cfg!(target_os = "linux").then(|| tempfile::Builder::new().prefix("skillcell-").tempdir().ok());
        let seen = Seen { last_change: Instant::now(), probe: None, watched: Vec::new() };
        Self { roots, place: place.flatten(), seen: Mutex::new(seen), came: Condvar::new(), probing: Mutex::default() }
    }

    /// The folder that has to be watched as well.
    pub fn place(&self) -> Option<&Path> {
        self.place.as_ref().map(TempDir::path)
    }

    /// The watcher saw something. True if it is a change below a root.
    pub fn saw(&self, event: Option<&Event>) -> bool {
        let paths = event.map(|event| event.paths.as_slice()).unwrap_or_default();
        let ours = |path: &&PathBuf| self.place().is_some_and(|place| path.starts_with(place));
        let mut seen = self.seen();
        if let Some(probe) = paths.iter().find(ours) {
            seen.probe = Some(probe.clone());
            self.came.notify_all();
            return false;
        }
        seen.last_change = Instant::now();
        true
    }

    /// The roots were watched again; `complete` when every one that exists is.
    pub fn watched(&self, complete: bool) {
        let identities = || self.roots.iter().map(identity).collect();
        self.seen().watched = if complete { identities() } else { Vec::new() };
    }

    /// Whether certainly nothing below the roots changed since a look at everything that began then. Blocks for a moment.
    pub fn holds_since(&self, look: Instant) -> bool {
        let known = {
            let seen = self.seen();
            if seen.last_change + DUST > look || seen.watched.len() != self.roots.len() {
                return false;
            }
            seen.watched.clone()
        };
        // A folder may have been put in the place of another, or where there was none.
        if self.roots.iter().map(identity).ne(known) || !self.probe() {
            return false;
        }
        self.seen().last_change + DUST <= look
    }

    /// Makes an event happen and waits for it.
    fn probe(&self) -> bool {
        let Some(place) = self.place() else { return false };
        let mut number = self.probing.lock().unwrap_or_else(PoisonError::into_inner);
        *number += 1;
        let probe = place.join(number.to_string());
        if std::fs::File::create(&probe).is_err() {
            return false;
        }
        let waiting = |seen: &mut Seen| seen.probe.as_ref() != Some(&probe);
        let waited = self.came.wait_timeout_while(self.seen(), PATIENCE, waiting);
        let came = waited.is_ok_and(|(_, timeout)| !timeout.timed_out());
        let _ = std::fs::remove_file(&probe);
        came
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which folder is at the place of a root, if there is one.
fn identity(root: &SkillRoot) -> Option<(u64, u64)> {
    let stat = rustix::fs::stat(root.path()).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Whether all changes of a folder are made on this machine, so that its kernel knows of them.
pub fn is_local(folder: &Path) -> bool {
    // ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs
    const LOCAL: [i64; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1];
    rustix::fs::statfs(folder)
        .is_ok_and(|StatFs { f_type, .. }| LOCAL.iter().any(|local| i128::from(*local) == f_type.into()))
}
