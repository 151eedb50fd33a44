//! Knows which paths changed, without scanning every file.
//!
//! The kernel queues events in order. Writing to a watched file (Watchman's sync cookie) and waiting for its event proves
//! that all earlier events have arrived.

use crate::roots::SkillRoot;
use crate::watch::UNWATCHED_NOTE;
use notify::event::ModifyKind;
use notify::{Event, EventKind};
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Maximum number of dirty paths kept. With more of them, a full scan takes no longer.
const MAX_DIRTY_PATHS: usize = 4_000;

/// With more folders than this that are watched for the first time, a full scan takes no longer.
const MAX_NEW_FOLDERS: usize = 100;

/// Longest wait for the cookie's event, and for new folders to be watched. A full scan of a large library takes about as
/// long.
const MAX_WAIT: Duration = Duration::from_millis(5);

/// The dirty paths of a root.
#[derive(Debug, Clone, Default)]
pub struct DirtyRoot {
    /// Device and inode of the root, if it exists.
    pub identity: Option<(u64, u64)>,
    /// Relative to the root.
    pub paths: BTreeSet<PathBuf>,
}

/// What the watcher knows, shared with scans.
pub struct SyncCookies {
    roots: Arc<[SkillRoot]>,
    /// Not set where the watcher is not reliable.
    cookie: OnceLock<Cookie>,
    state: Mutex<State>,
    state_changed: Condvar,
}

/// A file that is written to cause an event. It is unlinked, so nothing is left of it however the server ends.
struct Cookie {
    file: File,
    /// Its path in events.
    path: PathBuf,
}

/// A watched root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Top {
    /// Free of links.
    pub path: PathBuf,
    /// Device and inode when watching began.
    pub identity: (u64, u64),
}

#[derive(Default)]
struct State {
    /// Dirty paths and when they were reported, the newest last.
    dirty: VecDeque<(Instant, PathBuf)>,
    /// When anything was last reported that is not in `dirty`.
    last_unknown: Option<Instant>,
    /// Whether the cookie's event is still to come.
    cookie_pending: bool,
    /// The existing roots. Empty until everything in them is watched.
    watched: Vec<Option<Top>>,
    /// Number of created or removed entries that were not followed yet. Folders among them are not watched.
    unfollowed: u64,
    /// Whether events were lost.
    lost: bool,
    loss_logged: bool,
}

impl SyncCookies {
    pub fn new(roots: Arc<[SkillRoot]>) -> Self {
        let state = State { last_unknown: Some(Instant::now()), ..State::default() };
        Self { roots, cookie: OnceLock::new(), state: Mutex::new(state), state_changed: Condvar::new() }
    }

    /// Creates the cookie file and has it watched. Without one, `dirty_since` never knows anything.
    pub fn watch_cookie_file<E>(&self, watch: impl FnOnce(&Path) -> Result<(), E>) {
        // On other systems events are not ordered with the changes they report.
        if !cfg!(target_os = "linux") {
            return;
        }
        let Ok((file, name)) = NamedTempFile::with_prefix("skillcell-").map(NamedTempFile::into_parts) else { return };
        if watch(&name).is_ok() {
            let _ = self.cookie.set(Cookie { file, path: name.to_path_buf() });
        }
    }

    /// Records an event of the watcher. Returns whether it is a change below a root.
    pub fn record_event(&self, event: Option<&Event>) -> bool {
        let mut state = self.state();
        if let (Some(event), Some(cookie)) = (event, self.cookie.get())
            && event.paths.contains(&cookie.path)
        {
            // Unlinking the file is reported too.
            if matches!(event.kind, EventKind::Modify(ModifyKind::Data(_))) {
                state.cookie_pending = false;
                self.state_changed.notify_all();
            }
            return false;
        }
        if let Some(event) = event.filter(|event| !event.need_rescan()) {
            state.add_dirty(&event.paths);
        } else {
            // Events were lost, perhaps the cookie's own and those of new folders.
            state.cookie_pending = false;
            state.lose();
        }
        true
    }

    /// Announces an entry that was created or removed. Dirty paths are incomplete until it is followed.
    pub fn expect_follow(&self) {
        self.state().unfollowed += 1;
    }

    /// Reports that this many announced entries were followed.
    pub fn followed(&self, count: usize) {
        let mut state = self.state();
        state.unfollowed = state.unfollowed.saturating_sub(count as u64);
        self.state_changed.notify_all();
    }

    /// Records an error of the watcher. Until everything is watched again, dirty paths are unknown.
    pub fn record_error(&self, error: &notify::Error) {
        let mut state = self.state();
        state.lose();
        if !std::mem::replace(&mut state.loss_logged, true) {
            tracing::warn!("cannot watch every folder: {error}; {UNWATCHED_NOTE}");
        }
    }

    /// Whether events were lost since the last call.
    pub fn take_lost(&self) -> bool {
        std::mem::take(&mut self.state().lost)
    }

    /// Makes all changes up to now in these folders unknown, because they are watched only from now on.
    pub fn record_new(&self, folders: &[PathBuf]) {
        let mut state = self.state();
        if folders.len() > MAX_NEW_FOLDERS {
            state.last_unknown = Some(Instant::now());
        } else {
            state.add_dirty(folders);
        }
    }

    /// Makes all changes up to now unknown, because a scan was incomplete.
    pub fn invalidate(&self) {
        self.state().last_unknown = Some(Instant::now());
    }

    /// Sets the roots whose folders are all watched; `None` if any is not.
    pub fn set_watched(&self, tops: Option<Vec<Option<Top>>>) {
        let mut state = self.state();
        state.watched = tops.filter(|_| !state.lost).unwrap_or_default();
    }

    /// Returns the dirty paths of each root since a scan that began at `scan`, or `None` if they are unknown. Blocks for up
    /// to a few milliseconds.
    pub fn dirty_since(&self, scan: Instant) -> Option<Vec<DirtyRoot>> {
        // What is unknown now stays unknown, so there is no point in waiting.
        let is_known = |state: &State| state.last_unknown < Some(scan) && !state.watched.is_empty();
        if !is_known(&self.state()) || !self.sync() {
            return None;
        }
        let state = self.wait_while(self.state(), |state| state.unfollowed > 0)?;
        let (tops, paths) = is_known(&state).then(|| (state.watched.clone(), state.dirty_since(scan)))?;
        drop(state);
        let dirty_root = |top: &Option<Top>| -> DirtyRoot {
            let Some(Top { path: top, identity }) = top else { return DirtyRoot::default() };
            let below = paths.iter().filter_map(|path| path.strip_prefix(top).ok()).map(Path::to_owned);
            DirtyRoot { identity: Some(*identity), paths: below.collect() }
        };
        let is_inside = |path: &PathBuf| tops.iter().flatten().any(|top| path.starts_with(&top.path));
        let dirty: Vec<DirtyRoot> = paths.iter().all(is_inside).then(|| tops.iter().map(dirty_root).collect())?;
        // A root may have been created or replaced.
        let is_watched = self.roots.iter().map(identity).eq(dirty.iter().map(|root| root.identity));
        is_watched.then_some(dirty)
    }

    /// Writes the cookie and waits for its event. Only one is pending at a time, so that none is mistaken for another.
    fn sync(&self) -> bool {
        let Some(cookie) = self.cookie.get() else { return false };
        let Some(mut state) = self.wait_while(self.state(), |state| state.cookie_pending) else { return false };
        if cookie.file.write_at(b".", 0).is_err() {
            return false;
        }
        state.cookie_pending = true;
        self.wait_while(state, |state| state.cookie_pending).is_some()
    }

    /// Returns `None` if the condition still holds after `MAX_WAIT`.
    fn wait_while<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        condition: impl Fn(&State) -> bool,
    ) -> Option<MutexGuard<'a, State>> {
        let waited = self.state_changed.wait_timeout_while(state, MAX_WAIT, |state| condition(state)).ok();
        waited.filter(|(_, timeout)| !timeout.timed_out()).map(|(state, _)| state)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_dirty(&mut self, paths: &[PathBuf]) {
        let now = Instant::now();
        if paths.is_empty() {
            self.last_unknown = Some(now);
        }
        // The later time covers the earlier one, and some programs write a line at a time.
        if let ([path], Some((reported, last))) = (paths, self.dirty.back_mut())
            && path == last
        {
            *reported = now;
            return;
        }
        self.dirty.extend(paths.iter().map(|path| (now, path.clone())));
        let surplus = self.dirty.len().saturating_sub(MAX_DIRTY_PATHS);
        if let Some((last, _)) = self.dirty.drain(..surplus).next_back() {
            self.last_unknown = self.last_unknown.max(Some(last));
        }
    }

    fn lose(&mut self) {
        self.lost = true;
        self.last_unknown = Some(Instant::now());
        self.watched.clear();
    }

    fn dirty_since(&self, scan: Instant) -> BTreeSet<PathBuf> {
        self.dirty.iter().rev().take_while(|(reported, _)| *reported >= scan).map(|(_, path)| path.clone()).collect()
    }
}

/// Returns device and inode of a root, if it can be opened.
pub fn identity(root: &SkillRoot) -> Option<(u64, u64)> {
    let stat = rustix::fs::fstat(root.open().ok()?).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Whether a file system with this magic number is changed only by this machine, so that its kernel sees every change and
/// answers at once.
pub fn is_local(file_system: i128) -> bool {
    // ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs
    const LOCAL: [i128; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1];
    LOCAL.contains(&file_system)
}
