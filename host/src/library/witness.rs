//! Knowing for certain what changed on disk, without looking at every file.
//!
//! The kernel queues events in the order in which things happen. Whoever makes one happen and then sees it come out of the
//! queue has seen everything that happened before.

use crate::library::roots::SkillRoot;
use crate::library::watch::LATER;
use notify::event::ModifyKind;
use notify::{Event, EventKind};
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Most names that are kept. When more happens, looking at everything takes no longer than at each of them.
const MOST_NAMES: usize = 4_000;

/// Longest wait for an event that was made to happen, or for somebody to follow one. Looking at all files of a large library
/// takes about as long.
const PATIENCE: Duration = Duration::from_millis(5);

/// Where something changed in a root.
#[derive(Debug, Clone, Default)]
pub struct StirredRoot {
    /// Which folder the root is, if there is one.
    pub identity: Option<(u64, u64)>,
    /// Paths below it.
    pub places: BTreeSet<PathBuf>,
}

/// What the watcher knows, shared with those who want to know where they have to look.
pub struct Witness {
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

/// The folder of a root that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Top {
    /// Without links.
    pub path: PathBuf,
    /// Which folder was there when watching began.
    pub identity: (u64, u64),
}

struct Seen {
    /// Where something changed and when that was told, the newest last.
    names: VecDeque<(Instant, PathBuf)>,
    /// When something was last told that is not among the names.
    unnamed: Instant,
    /// Whether an event that was made to happen is still on its way.
    awaited: bool,
    /// Of each root what is watched, if it is there. Empty until everything in them is.
    watched: Vec<Option<Top>>,
    /// How many things came or went and were not followed yet: folders among them are not watched.
    unfollowed: u64,
    /// Whether the watcher missed something, and whether that was logged.
    lost: bool,
    told: bool,
}

impl Witness {
    pub fn new(roots: Arc<[SkillRoot]>) -> Self {
        let seen = Seen {
            names: VecDeque::new(),
            unnamed: Instant::now(),
            awaited: false,
            watched: Vec::new(),
            unfollowed: 0,
            lost: false,
            told: false,
        };
        Self { roots, probe: OnceLock::new(), seen: Mutex::new(seen), came: Condvar::new() }
    }

    /// Has a file watched that probes are written to. Without one nothing is ever certain, and everybody looks.
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
        if let Some(event) = event.filter(|event| !event.need_rescan()) {
            seen.name(&event.paths);
        } else {
            // When there were too many events, the awaited one may be among those that are lost, and folders that appeared.
            seen.awaited = false;
            seen.lose();
        }
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
        self.came.notify_all();
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

    /// Nobody knows what changed until now: more is watched than before, or not everything could be looked at.
    pub fn doubt(&self) {
        self.seen().unnamed = Instant::now();
    }

    /// These folders are at the places of the roots, and everything in them is watched; nothing if that is not so.
    pub fn watched(&self, tops: Option<Vec<Option<Top>>>) {
        let mut seen = self.seen();
        seen.watched = tops.filter(|_| !seen.lost).unwrap_or_default();
    }

    /// For each root where something may have changed since a look that began then. `None` when it may be anywhere. Blocks for
    /// a moment.
    pub fn stirred_since(&self, look: Instant) -> Option<Vec<StirredRoot>> {
        // Where it is not certain now, waiting makes it no better.
        let is_certain = |seen: &Seen| seen.unnamed < look && !seen.watched.is_empty();
        if !is_certain(&self.seen()) || !self.probe() {
            return None;
        }
        let seen = self.wait_while(self.seen(), |seen| seen.unfollowed > 0)?;
        let (tops, names) = is_certain(&seen).then(|| (seen.watched.clone(), seen.names_since(look)))?;
        drop(seen);
        let stirred = |top: &Option<Top>| -> StirredRoot {
            let Some(Top { path, identity }) = top else { return StirredRoot::default() };
            let below = names.iter().filter_map(|name| name.strip_prefix(path).ok()).map(Path::to_owned);
            StirredRoot { identity: Some(*identity), places: below.collect() }
        };
        let is_inside = |name: &PathBuf| tops.iter().flatten().any(|top| name.starts_with(&top.path));
        let stirred: Vec<StirredRoot> = names.iter().all(is_inside).then(|| tops.iter().map(stirred).collect())?;
        // A folder may have been put in the place of another, or where there was none.
        let is_watched = self.roots.iter().map(identity).eq(stirred.iter().map(|root| root.identity));
        is_watched.then_some(stirred)
    }

    /// Makes an event happen and waits for it. Only one is ever on its way, so that none is taken for another.
    fn probe(&self) -> bool {
        let Some(probe) = self.probe.get() else { return false };
        let Some(mut seen) = self.wait_while(self.seen(), |seen| seen.awaited) else { return false };
        if probe.file.write_at(b".", 0).is_err() {
            return false;
        }
        seen.awaited = true;
        self.wait_while(seen, |seen| seen.awaited).is_some()
    }

    /// Waits for what comes in a moment, or not at all.
    fn wait_while<'a>(
        &'a self,
        seen: MutexGuard<'a, Seen>,
        lasts: impl Fn(&Seen) -> bool,
    ) -> Option<MutexGuard<'a, Seen>> {
        let waited = self.came.wait_timeout_while(seen, PATIENCE, |seen| lasts(seen)).ok();
        waited.filter(|(_, timeout)| !timeout.timed_out()).map(|(seen, _)| seen)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn name(&mut self, paths: &[PathBuf]) {
        let now = Instant::now();
        if paths.is_empty() {
            self.unnamed = now;
        }
        // The later time holds for the earlier one too, and some programs write a line at a time.
        if let ([path], Some((told, last))) = (paths, self.names.back_mut())
            && path == last
        {
            *told = now;
            return;
        }
        self.names.extend(paths.iter().map(|path| (now, path.clone())));
        let surplus = self.names.len().saturating_sub(MOST_NAMES);
        if let Some((last, _)) = self.names.drain(..surplus).next_back() {
            self.unnamed = self.unnamed.max(last);
        }
    }

    fn lose(&mut self) {
        self.lost = true;
        self.unnamed = Instant::now();
        self.watched.clear();
    }

    fn names_since(&self, look: Instant) -> BTreeSet<PathBuf> {
        self.names.iter().rev().take_while(|(told, _)| *told >= look).map(|(_, path)| path.clone()).collect()
    }
}

/// Which folder is at the place of a root, if there is one that can be opened.
pub fn identity(root: &SkillRoot) -> Option<(u64, u64)> {
    let stat = rustix::fs::fstat(root.open().ok()?).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Whether all changes in a file system with this number are made on this machine, so that its kernel knows of them and
/// answers at once.
pub fn is_local(file_system: i128) -> bool {
    // ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs
    const LOCAL: [i128; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1];
    LOCAL.contains(&file_system)
}
