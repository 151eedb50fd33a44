//! The thread that watches the existing roots, and follows folders as they are created and removed.

use super::root_watch::{FOLDER_BY_FOLDER, RootWatch, Watched};
use super::{ChangeSignal, Command, FileSystem, UNWATCHED_NOTE};
use crate::roots::{self, SkillRoot};
use crate::sync_cookie::{self, SyncCookies, Top};
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use tokio::sync::watch;
use tokio::time::Instant;

/// Maximum number of commands handled together.
const MAX_BATCH: usize = 10_000;

pub struct WatchLoop {
    roots: Arc<[SkillRoot]>,
    /// `None` if the operating system provides no watcher; then only the timer finds changes.
    system: Option<RecommendedWatcher>,
    /// The resolved paths of all roots, existing or not.
    paths: Arc<[PathBuf]>,
    /// What is watched of each existing root.
    watches: Vec<Option<RootWatch>>,
    /// Whether other machines can change a root.
    has_remote_root: bool,
    logged: Logged,
    cookies: Arc<SyncCookies>,
    signal: watch::Sender<Option<Instant>>,
    file_system: FileSystem,
}

/// What was logged already; each reason is logged once per root.
type Logged = BTreeSet<(PathBuf, Unwatched)>;

/// Why changes of a root may go unnoticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unwatched {
    Missing,
    /// The root is on a file system that other machines can change.
    Remote,
    /// The operating system refuses to watch a folder in it.
    Refused,
}

impl WatchLoop {
    /// Creates the loop; nothing is watched before `watch`.
    pub fn new(
        file_system: FileSystem,
        roots: Arc<[SkillRoot]>,
        commands: &mpsc::Sender<Command>,
    ) -> (Self, ChangeSignal) {
        let (signal, receiver) = watch::channel(None);
        let cookies = Arc::new(SyncCookies::new(Arc::clone(&roots)));
        let (event_cookies, sender, commands) = (Arc::clone(&cookies), signal.clone(), commands.clone());
        let on_event = move |event: notify::Result<Event>| {
            let event = event.inspect_err(|error| event_cookies.record_error(error)).ok();
            if !event.as_ref().is_none_or(is_change) || !event_cookies.record_event(event.as_ref()) {
                return;
            }
            // Sending fails only if the thread is gone, and then nothing is watched.
            match event.filter(|event| !event.need_rescan()) {
                Some(event) => {
                    for path in event.paths.iter().filter(|_| FOLDER_BY_FOLDER && changes_entries(&event)) {
                        event_cookies.expect_follow();
                        let _ = commands.send(Command::Follow(path.clone()));
                    }
                }
                None => {
                    let _ = commands.send(Command::Watch);
                }
            }
            sender.send_replace(Some(Instant::now()));
        };
        // What links lead to is watched at its own path.
        let mut system = RecommendedWatcher::new(on_event, Config::default().with_follow_symlinks(false))
            .inspect_err(|error| tracing::warn!("cannot watch any folder: {error}; {UNWATCHED_NOTE}"))
            .ok();
        cookies.watch_cookie_file(|file| {
            let system = system.as_mut().ok_or_else(notify::Error::watch_not_found)?;
            system.watch(file, RecursiveMode::NonRecursive)
        });
        let watches = roots.iter().map(|_| None).collect();
        let (paths, logged) = (Arc::default(), Logged::new());
        let watch_loop =
            Self { roots, system, paths, watches, has_remote_root: false, logged, cookies, signal, file_system };
        (watch_loop, receiver)
    }

    pub fn sync_cookies(&self) -> Arc<SyncCookies> {
        Arc::clone(&self.cookies)
    }

    /// Handles commands until `Command::Stop`.
    pub fn run(mut self, commands: &mpsc::Receiver<Command>) {
        while let Ok(first) = commands.recv() {
            let (mut watch, mut paths) = (false, Vec::new());
            for command in std::iter::once(first).chain(commands.try_iter()).take(MAX_BATCH) {
                match command {
                    Command::Watch => watch = true,
                    Command::Follow(path) => paths.push(path),
                    Command::Stop => return,
                }
            }
            if watch {
                self.watch();
            }
            self.follow(&paths);
        }
    }

    /// Watches the existing roots. Called repeatedly, because roots appear and are replaced, and to retry folders that could
    /// not be watched.
    pub fn watch(&mut self) {
        if self.system.is_none() {
            return;
        }
        self.paths = self.roots.iter().map(|root| roots::resolve_links(&root.path())).collect();
        let mut restart = self.cookies.take_lost();
        // Lost events may include moves, so the old watches may be under wrong names.
        if restart {
            (0..self.roots.len()).for_each(|number| self.unwatch(number));
        }
        self.has_remote_root = false;
        for number in 0..self.roots.len() {
            restart |= self.check_root(number);
        }
        let mut new = Vec::new();
        let Some(system) = &mut self.system else { return };
        for (root, root_watch) in self.roots.iter().zip(&mut self.watches) {
            let Some(root_watch) = root_watch else { continue };
            let mut watch = |folder: &Path| watch_folder(system, &mut self.logged, root, folder);
            new.extend(if restart { root_watch.start(&self.paths, &mut watch) } else { root_watch.retry(&mut watch) });
        }
        self.publish(&new);
    }

    /// Checks whether a root exists. Returns true if it is not the folder that is watched.
    fn check_root(&mut self, number: usize) -> bool {
        let roots = Arc::clone(&self.roots);
        let (root, resolved) = (&roots[number], self.paths[number].clone());
        let path = root.path();
        let identity = sync_cookie::identity(root);
        let mut others = self.roots.iter().map(SkillRoot::path);
        // Nested roots are optional, so a missing one is not logged.
        let is_nested = others.any(|other| other != path && path.starts_with(other));
        if identity.is_none() && !is_nested {
            let reason = if path.exists() { "it cannot be opened" } else { "it does not exist" };
            log_once(&mut self.logged, root, Unwatched::Missing, reason);
        } else if identity.is_some() && !(self.file_system)(&path).is_some_and(sync_cookie::is_local) {
            self.has_remote_root = true;
            log_once(&mut self.logged, root, Unwatched::Remote, "other machines may change it");
        }
        // Watches follow the folder, not its name, so a replaced folder needs new ones.
        let known = self.watches[number].as_ref().map(|watch| (watch.identity, watch.top()));
        if known == identity.map(|identity| (identity, resolved.as_path())) {
            return false;
        }
        self.unwatch(number);
        self.watches[number] = identity.map(|identity| RootWatch::new(resolved, identity, &root.skip));
        true
    }

    fn unwatch(&mut self, number: usize) {
        let (Some(watch), Some(system)) = (self.watches[number].take(), &mut self.system) else { return };
        for folder in watch.watched() {
            let _ = system.unwatch(folder);
        }
    }

    /// Updates what is watched after entries at these paths were created or removed.
    pub fn follow(&mut self, paths: &[PathBuf]) {
        if paths.is_empty() {
            return;
        }
        let distinct: BTreeSet<PathBuf> = paths.iter().cloned().collect();
        let is_affected = |root: &PathBuf| root.ancestors().any(|ancestor| distinct.contains(ancestor));
        let affected: Vec<usize> = (0..self.paths.len()).filter(|root| is_affected(&self.paths[*root])).collect();
        if !affected.is_empty() {
            for root in affected {
                self.unwatch(root);
            }
            self.watch();
        }
        let mut new = Vec::new();
        if let Some(system) = &mut self.system {
            for (root, root_watch) in self.roots.iter().zip(&mut self.watches) {
                let Some(root_watch) = root_watch else { continue };
                let mut watch = |folder: &Path| watch_folder(system, &mut self.logged, root, folder);
                new.extend(root_watch.follow(&distinct, &mut watch));
            }
        }
        self.publish(&new);
        self.cookies.followed(paths.len());
    }

    /// Publishes which folders are watched completely. Also signals a change of the `new` ones, because what happened in them
    /// until now is unknown.
    fn publish(&mut self, new: &[PathBuf]) {
        if !new.is_empty() {
            self.cookies.record_new(new);
            self.signal.send_replace(Some(Instant::now()));
        }
        let top = |watch: &RootWatch| Top { path: watch.top().to_owned(), identity: watch.identity };
        let tops = || self.watches.iter().map(|watch| watch.as_ref().map(top)).collect();
        let is_complete = !self.has_remote_root && self.watches.iter().flatten().all(RootWatch::is_complete);
        self.cookies.set_watched(is_complete.then(tops));
    }
}

fn watch_folder(system: &mut RecommendedWatcher, logged: &mut Logged, root: &SkillRoot, folder: &Path) -> Watched {
    let mode = if FOLDER_BY_FOLDER { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
    let Err(error) = system.watch(folder, mode) else { return Watched::Yes };
    let is_gone = match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    if is_gone {
        return Watched::Gone;
    }
    log_once(logged, root, Unwatched::Refused, &error.to_string());
    if matches!(error.kind, ErrorKind::MaxFilesWatch) { Watched::Exhausted } else { Watched::Refused }
}

fn log_once(logged: &mut Logged, root: &SkillRoot, kind: Unwatched, reason: &str) {
    if !logged.insert((root.path(), kind)) {
        return;
    }
    let (label, path) = (&root.label, root.path());
    let path = path.display();
    match kind {
        Unwatched::Missing => {
            tracing::info!("root `{label}` at {path} cannot be watched yet: {reason}; {UNWATCHED_NOTE}");
        }
        Unwatched::Remote => {
            tracing::warn!("root `{label}` at {path} cannot be watched reliably: {reason}; {UNWATCHED_NOTE}");
        }
        Unwatched::Refused => {
            tracing::warn!("root `{label}` at {path} cannot be watched completely: {reason}; {UNWATCHED_NOTE}");
        }
    }
}

/// Whether an event is more than a read. Otherwise scans would trigger scans.
fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// Whether an entry was created or removed. Both ends of a move are reported separately before they are reported together.
fn changes_entries(event: &Event) -> bool {
    match event.kind {
        EventKind::Modify(ModifyKind::Name(mode)) => mode != RenameMode::Both,
        EventKind::Create(_) | EventKind::Remove(_) => true,
        _ => false,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
