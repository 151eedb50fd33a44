//! Watching the roots that there are, and every folder in them as it comes.

use super::reach::{FOLDER_BY_FOLDER, Reach, Watched};
use super::{Disturbances, FileSystem, LATER, Order};
use crate::library::roots::{self, SkillRoot};
use crate::library::witness::{self, Top, Witness};
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use tokio::sync::watch;
use tokio::time::Instant;

/// Most orders that are taken together.
const MOST_TOGETHER: usize = 10_000;

pub struct Watching {
    roots: Arc<[SkillRoot]>,
    /// Missing when the operating system gives none; then only the timer looks.
    system: Option<RecommendedWatcher>,
    /// Where the roots are or will be, and what is watched of those that are there.
    places: Arc<[PathBuf]>,
    reaches: Vec<Option<Reach>>,
    /// Whether other machines can change a root.
    elsewhere: bool,
    told: Told,
    witness: Arc<Witness>,
    disturb: watch::Sender<Option<Instant>>,
    file_system: FileSystem,
}

/// What was logged, so that it is logged once.
type Told = BTreeSet<(PathBuf, Unwatched)>;

/// Why changes of a root may come without being noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unwatched {
    Missing,
    /// Other machines can change it.
    Elsewhere,
    /// The operating system refuses to watch something in it.
    Refused,
}

impl Watching {
    /// Watches nothing yet.
    pub fn new(file_system: FileSystem, roots: Arc<[SkillRoot]>, orders: &mpsc::Sender<Order>) -> (Self, Disturbances) {
        let (disturb, disturbances) = watch::channel(None);
        let witness = Arc::new(Witness::new(Arc::clone(&roots)));
        let (told, sender, orders) = (Arc::clone(&witness), disturb.clone(), orders.clone());
        let notice = move |event: notify::Result<Event>| {
            let event = event.inspect_err(|error| told.lost(error)).ok();
            if !event.as_ref().is_none_or(is_change) || !told.saw(event.as_ref()) {
                return;
            }
            // Whoever is not there to take an order does not watch either.
            match event.filter(|event| !event.need_rescan()) {
                Some(event) => {
                    for path in event.paths.iter().filter(|_| FOLDER_BY_FOLDER && has_other_entries(&event)) {
                        told.expect();
                        let _ = orders.send(Order::Follow(path.clone()));
                    }
                }
                None => {
                    let _ = orders.send(Order::Watch);
                }
            }
            sender.send_replace(Some(Instant::now()));
        };
        // What links lead to is watched at its own place, if it is inside.
        let mut system = RecommendedWatcher::new(notice, Config::default().with_follow_symlinks(false))
            .inspect_err(|error| tracing::warn!("no folder can be watched: {error}; {LATER}"))
            .ok();
        witness.watch_probe(|file| {
            let system = system.as_mut().ok_or_else(notify::Error::watch_not_found)?;
            system.watch(file, RecursiveMode::NonRecursive)
        });
        let reaches = roots.iter().map(|_| None).collect();
        let (places, told) = (Arc::default(), Told::new());
        let watching = Self { roots, system, places, reaches, elsewhere: false, told, witness, disturb, file_system };
        (watching, disturbances)
    }

    pub fn witness(&self) -> Arc<Witness> {
        Arc::clone(&self.witness)
    }

    /// Does what it is told until the end.
    pub fn run(mut self, orders: &mpsc::Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let (mut watch, mut paths) = (false, Vec::new());
            for order in std::iter::once(first).chain(orders.try_iter()).take(MOST_TOGETHER) {
                match order {
                    Order::Watch => watch = true,
                    Order::Follow(path) => paths.push(path),
                    Order::End => return,
                }
            }
            if watch {
                self.watch();
            }
            self.follow(&paths);
        }
    }

    /// Watches the roots that exist. Comes again from time to time, for those that appeared, came back or were replaced, and
    /// for folders that could not be watched.
    pub fn watch(&mut self) {
        if self.system.is_none() {
            return;
        }
        self.places = self.roots.iter().map(|root| roots::real(&root.path())).collect();
        let mut anew = self.witness.take_lost();
        // What was missed is nowhere to be read, so everything is watched again, and nothing by a name that it no longer has.
        if anew {
            (0..self.roots.len()).for_each(|number| self.unwatch(number));
        }
        self.elsewhere = false;
        for number in 0..self.roots.len() {
            anew |= self.find(number);
        }
        let mut more = false;
        let Some(system) = &mut self.system else { return };
        for (root, reach) in self.roots.iter().zip(&mut self.reaches) {
            let Some(reach) = reach else { continue };
            let mut watch = |folder: &Path| watch_folder(system, &mut self.told, root, folder);
            more |= if anew { reach.begin(&self.places, &mut watch) } else { reach.retry(&mut watch) };
        }
        self.settle(more);
    }

    /// Looks for a root. True if it is another folder than the one that is watched.
    fn find(&mut self, number: usize) -> bool {
        let roots = Arc::clone(&self.roots);
        let (root, place) = (&roots[number], self.places[number].clone());
        let path = root.path();
        let found = witness::identity(root);
        let mut others = self.roots.iter().map(SkillRoot::path);
        // That there is no folder for skills inside one is nothing to tell.
        let is_inner = others.any(|other| other != path && path.starts_with(other));
        if found.is_none() && !is_inner {
            let reason = if path.exists() { "it cannot be opened" } else { "it does not exist" };
            tell(&mut self.told, root, Unwatched::Missing, reason);
        } else if found.is_some() && !(self.file_system)(&path).is_some_and(witness::is_local) {
            self.elsewhere = true;
            tell(&mut self.told, root, Unwatched::Elsewhere, "other machines may change it");
        }
        // What is watched is the folder, not the name. One that was replaced has to be watched anew.
        let known = self.reaches[number].as_ref().map(|reach| (reach.identity, reach.top()));
        if known == found.map(|identity| (identity, place.as_path())) {
            return false;
        }
        self.unwatch(number);
        self.reaches[number] = found.map(|identity| Reach::new(place, identity, &root.skip));
        true
    }

    fn unwatch(&mut self, number: usize) {
        let (Some(reach), Some(system)) = (self.reaches[number].take(), &mut self.system) else { return };
        for folder in reach.watched() {
            let _ = system.unwatch(folder);
        }
    }

    /// Something came to these places or went from them.
    pub fn follow(&mut self, paths: &[PathBuf]) {
        if paths.is_empty() {
            return;
        }
        let places: BTreeSet<PathBuf> = paths.iter().cloned().collect();
        let is_concerned = |root: &PathBuf| root.ancestors().any(|above| places.contains(above));
        let concerned: Vec<usize> = (0..self.places.len()).filter(|root| is_concerned(&self.places[*root])).collect();
        if !concerned.is_empty() {
            for root in concerned {
                self.unwatch(root);
            }
            self.watch();
        }
        let mut more = false;
        if let Some(system) = &mut self.system {
            for (root, reach) in self.roots.iter().zip(&mut self.reaches) {
                let Some(reach) = reach else { continue };
                more |= reach.follow(&places, &mut |folder| watch_folder(system, &mut self.told, root, folder));
            }
        }
        self.settle(more);
        self.witness.followed(paths.len());
    }

    /// Says what is certain now, and has everybody look once more at what was not watched before.
    fn settle(&mut self, more: bool) {
        if more {
            self.witness.doubt();
            self.disturb.send_replace(Some(Instant::now()));
        }
        let top = |reach: &Reach| Top { path: reach.top().to_owned(), identity: reach.identity };
        let tops = || self.reaches.iter().map(|reach| reach.as_ref().map(top)).collect();
        let is_complete = !self.elsewhere && self.reaches.iter().flatten().all(Reach::is_complete);
        self.witness.watched(is_complete.then(tops));
    }
}

fn watch_folder(system: &mut RecommendedWatcher, told: &mut Told, root: &SkillRoot, folder: &Path) -> Watched {
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
    tell(told, root, Unwatched::Refused, &error.to_string());
    Watched::Refused
}

fn tell(told: &mut Told, root: &SkillRoot, why: Unwatched, reason: &str) {
    if !told.insert((root.path(), why)) {
        return;
    }
    let (label, path) = (&root.label, root.path());
    let path = path.display();
    match why {
        Unwatched::Missing => tracing::info!("root `{label}` at {path} cannot be watched yet: {reason}; {LATER}"),
        Unwatched::Elsewhere => {
            tracing::warn!("root `{label}` at {path} cannot be relied on to be watched: {reason}; {LATER}");
        }
        Unwatched::Refused => {
            tracing::warn!("not everything in root `{label}` at {path} can be watched: {reason}; {LATER}");
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

/// Whether a folder may have come or gone. Of a move, both ends are told apart before they are told together.
fn has_other_entries(event: &Event) -> bool {
    match event.kind {
        EventKind::Modify(ModifyKind::Name(mode)) => mode != RenameMode::Both,
        EventKind::Create(_) | EventKind::Remove(_) => true,
        _ => false,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
