//! Knowing for certain that nothing changed on disk, without looking at every file.
//!
//! The kernel queues events in the order in which things happen. Whoever makes one happen and then sees it come out of the
//! queue has seen everything that happened before.

use crate::library::roots::SkillRoot;
use crate::library::watch::LATER;
use notify::event::ModifyKind;
use notify::{Event, EventKind};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// A folder that appears is watched a little later than what is written into it. So after a change everything is looked at
/// once more when this much time has passed.
const DUST: Duration = Duration::from_secs(1);

/// Longest wait for the event that was made to happen. Looking at all files of a large library takes about as long.
const PATIENCE: Duration = Duration::from_millis(5);

/// What the watcher knows, shared with those who want to know whether they have to look.
pub struct Stillness {
    roots: Arc<[SkillRoot]>,
    /// A file that is written to make events happen. Missing where the watcher cannot be relied on.
    probe: OnceLock<Probe>,
    seen: Mutex<Seen>,
    came: Condvar,
}

/// It has no name any more, so nothing is left of it however the server ends.
struct Probe {
    file: File,
    /// How events call it.
    path: PathBuf,
}

struct Seen {
    /// When something below a root last changed.
    last_change: Instant,
    /// Whether an event that was made to happen is still on its way.
    awaited: bool,
    /// The roots that are watched, as they were when that began. Empty until everything in them is.
    watched: Vec<Option<(u64, u64)>>,
    /// How many things came or went and were not followed yet: folders among them are not watched.
    unfollowed: u64,
    /// Whether the watcher missed something, and whether that was logged.
    lost: bool,
    told: bool,
}

impl Stillness {
    pub fn new(roots: Arc<[SkillRoot]>) -> Self {
        let (last_change, watched) = (Instant::now(), Vec::new());
        let seen = Seen { last_change, awaited: false, watched, unfollowed: 0, lost: false, told: false };
        Self { roots, probe: OnceLock::new(), seen: Mutex::new(seen), came: Condvar::new() }
    }

    /// Has a file watched that probes are written to. Without one nobody ever knows that it is still, and everybody looks.
    pub fn watch_probe<E>(&self, watch: impl FnOnce(&Path) -> Result<(), E>) {
        // Elsewhere events come later than what they are about.
        if !cfg!(target_os = "linux") {
            return;
        }
        let Ok((file, name)) = NamedTempFile::with_prefix("skillcell-").map(NamedTempFile::into_parts) else { return };
        if watch(&name).is_ok() {
            let _ = self.probe.set(Probe { file, path: name.to_path_buf() });
        }
    }

    /// The watcher saw something. True if it is a change below a root.
    pub fn saw(&self, event: Option<&Event>) -> bool {
        let mut seen = self.seen();
        if let (Some(event), Some(probe)) = (event, self.probe.get())
            && event.paths.contains(&probe.path)
        {
            // Losing its name is told too.
            if matches!(event.kind, EventKind::Modify(ModifyKind::Data(_))) {
                seen.awaited = false;
                self.came.notify_all();
            }
            return false;
        }
        // When there were too many events, the awaited one may be among those that are lost, and folders that appeared.
        if event.is_none_or(Event::need_rescan) {
            seen.awaited = false;
            seen.lose();
        }
        seen.last_change = Instant::now();
        true
    }

    /// Something came or went. Nothing is certain until it is followed.
    pub fn expect(&self) {
        self.seen().unfollowed += 1;
    }

    /// So much of it was followed.
    pub fn followed(&self, count: usize) {
        let mut seen = self.seen();
        seen.unfollowed = seen.unfollowed.saturating_sub(count as u64);
    }

    /// The watcher gave up on something. From now on nothing is certain.
    pub fn lost(&self, error: &notify::Error) {
        let mut seen = self.seen();
        seen.lose();
        if !std::mem::replace(&mut seen.told, true) {
            tracing::warn!("not every folder can be watched: {error}; {LATER}");
        }
    }

    /// Whether that happened since the last time.
    pub fn take_lost(&self) -> bool {
        std::mem::take(&mut self.seen().lost)
    }

    /// More is watched than before. Nobody knows what changed there until now.
    pub fn began(&self) {
        self.seen().last_change = Instant::now();
    }

    /// These folders are at the places of the roots, and everything in them is watched; nothing if that is not so.
    pub fn watched(&self, folders: Option<Vec<Option<(u64, u64)>>>) {
        let mut seen = self.seen();
        seen.watched = folders.filter(|_| !seen.lost).unwrap_or_default();
    }

    /// Whether certainly nothing below the roots changed since a look at everything that began then. Blocks for a moment.
    pub fn holds_since(&self, look: Instant) -> bool {
        let known = {
            let seen = self.seen();
            let is_watched = seen.watched.len() == self.roots.len() && seen.unfollowed == 0;
            if seen.last_change + DUST > look || !is_watched {
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

    /// Makes an event happen and waits for it. Only one is ever on its way, so that none is taken for another.
    fn probe(&self) -> bool {
        let Some(probe) = self.probe.get() else { return false };
        let mut seen = self.seen();
        if seen.awaited || probe.file.write_at(b".", 0).is_err() {
            return false;
        }
        seen.awaited = true;
        let waited = self.came.wait_timeout_while(seen, PATIENCE, |seen| seen.awaited);
        waited.is_ok_and(|(_, timeout)| !timeout.timed_out())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn lose(&mut self) {
        self.lost = true;
        self.watched.clear();
    }
}

/// Which folder is at the place of a root, if there is one.
pub fn identity(root: &SkillRoot) -> Option<(u64, u64)> {
    let stat = rustix::fs::stat(root.path()).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Whether all changes in a file system with this number are made on this machine, so that its kernel knows of them and
/// answers at once.
pub fn is_local(file_system: i128) -> bool {
    // ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs
    const LOCAL: [i128; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1];
    LOCAL.contains(&file_system)
}
