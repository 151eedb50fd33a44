//! The refresh task under random faults: a simulated disk, watcher, clock, git and engine, driven step by step from a seed.
//!
//! Real are the queue of the task, its schedule, the comparison of the disk with what is served, and what is published.

use super::queue::{Next, Outcome, Patience, Pause, Queue, Request, Ticket};
use super::schedule::Occasions;
use crate::left_right::{LeftRight, Published};
use crate::rescan::{Disk, Scope, rescan};
use bindings::catalog::Change;
use bindings::types::Location;
use library::scan::{Scan, ScanError};
use library::snapshot::Snapshot;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot::{self, error::TryRecvError};

const SEEDS: u64 = 3_000;
const STEPS: usize = 120;

/// Two files in each of two roots.
const FILES: usize = 4;

/// The version of each file; `None` if its root is gone, or seems so.
type Content = [Option<u64>; FILES];

fn root_of(file: usize) -> usize {
    file / 2
}

#[derive(Default)]
struct SimulatedDisk {
    versions: [u64; FILES],
    gone: [bool; 2],
    /// What was changed and reported by the watcher.
    events: Vec<(Instant, usize)>,
    /// When changes may have gone unreported that the watcher knows of.
    unknown: Option<Instant>,
    /// The versions that some scan of dirty paths must find.
    reported: [u64; FILES],
    /// Times that a scan could not see everything, and that a root was gone.
    faults: usize,
}

/// A request, and what its answer must have.
struct Asked {
    ticket: Ticket,
    needed: [u64; FILES],
    faults: usize,
}

struct Simulation {
    random: Cell<u64>,
    /// Whether anything may still go wrong or change.
    is_wild: Cell<bool>,
    now: Cell<tokio::time::Instant>,
    disk: RefCell<SimulatedDisk>,
    queue: RefCell<Queue>,
    occasions: RefCell<Occasions>,
    slots: LeftRight,
    served: RefCell<Content>,
    /// What the last scan saw.
    seen: Cell<Content>,
    asked: RefCell<Vec<Asked>>,
    pausing: RefCell<Vec<oneshot::Receiver<Pause>>>,
    /// The generation that clients were last told of.
    announced: Cell<u64>,
}

impl SimulatedDisk {
    fn content(&self) -> Content {
        std::array::from_fn(|file| (!self.gone[root_of(file)]).then_some(self.versions[file]))
    }

    fn change(&mut self, file: usize, is_reported: bool) {
        self.versions[file] += 1;
        if is_reported {
            self.events.push((Instant::now(), file));
            self.reported[file] = self.versions[file];
        }
    }
}

impl Simulation {
    fn new(seed: u64) -> Self {
        Self {
            random: Cell::new(seed),
            is_wild: Cell::new(true),
            now: Cell::new(tokio::time::Instant::now()),
            disk: RefCell::default(),
            queue: RefCell::default(),
            occasions: RefCell::new(Occasions::new(None)),
            slots: LeftRight::new(),
            served: RefCell::new([None; FILES]),
            seen: Cell::new([None; FILES]),
            asked: RefCell::default(),
            pausing: RefCell::default(),
            announced: Cell::new(0),
        }
    }

    /// A number below `limit` (splitmix64).
    fn below(&self, limit: u64) -> u64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn file(&self) -> usize {
        usize::try_from(self.below(FILES as u64)).unwrap_or(0)
    }

    /// Whether something happens that has one chance in so many.
    fn happens(&self, chances: u64) -> bool {
        self.is_wild.get() && self.below(chances) == 0
    }

    /// Lets something happen outside of the task.
    fn disturb(&self) {
        if !self.is_wild.get() {
            return;
        }
        let step = [0, 1, 100, 600, 2_000, 31_000][usize::try_from(self.below(6)).unwrap_or(0)];
        self.now.set(self.now.get() + Duration::from_millis(step));
        match self.below(12) {
            0..=2 => self.change(true),
            3 => self.change(false),
            4 => self.lose_events(),
            5 => self.toggle_root(),
            6..=8 => self.ask(),
            9 => self.cancel(),
            10 => self.ask_for_pause(),
            _ => {}
        }
        self.check_answers();
    }

    fn change(&self, is_reported: bool) {
        self.disk.borrow_mut().change(self.file(), is_reported);
        if is_reported {
            self.occasions.borrow_mut().disturbed(self.now.get());
        }
    }

    fn lose_events(&self) {
        self.change(false);
        let mut disk = self.disk.borrow_mut();
        disk.unknown = Some(Instant::now());
        disk.reported = disk.versions;
    }

    /// A root goes away or returns.
    fn toggle_root(&self) {
        let root = root_of(self.file());
        let mut disk = self.disk.borrow_mut();
        disk.gone[root] = !disk.gone[root];
        disk.faults += 1;
    }

    fn ask(&self) {
        let scope = [Scope::Dirty, Scope::DirtyThenFull, Scope::Full][usize::try_from(self.below(3)).unwrap_or(0)];
        let patience = if self.below(2) == 0 { Patience::Short } else { Patience::Long };
        let disk = self.disk.borrow();
        let needed = if scope == Scope::Full { disk.versions } else { disk.reported };
        let (request, ticket) = Request::new(scope, Instant::now(), patience);
        self.asked.borrow_mut().push(Asked { ticket, needed, faults: disk.faults });
        self.queue.borrow_mut().add(request);
        let (waiting, asked) = (self.queue.borrow().waiting(), self.asked.borrow().len());
        assert!(waiting <= asked + 1, "{waiting} requests wait, and only {asked} are asked for");
    }

    fn cancel(&self) {
        let mut asked = self.asked.borrow_mut();
        if let Some(one) = asked.len().checked_sub(1) {
            asked.remove(usize::try_from(self.below(one as u64 + 1)).unwrap_or(0));
        }
    }

    fn ask_for_pause(&self) {
        let (grant, granted) = oneshot::channel();
        self.queue.borrow_mut().add_pause(grant);
        // Git may give up before the task pauses.
        if !self.happens(4) {
            self.pausing.borrow_mut().push(granted);
        }
    }

    /// Whatever is answered must be at least as new as the request.
    fn check_answers(&self) {
        let (served, faults) = (*self.served.borrow(), self.disk.borrow().faults);
        self.asked.borrow_mut().retain_mut(|asked| match asked.ticket.done.try_recv() {
            Err(TryRecvError::Empty) => true,
            Ok(Outcome::Served) if asked.faults == faults => {
                let is_new = |file: usize| served[file].is_none_or(|version| version >= asked.needed[file]);
                assert!((0..FILES).all(is_new), "{served:?} is served, and {:?} was asked for", asked.needed);
                false
            }
            Ok(Outcome::Served | Outcome::Failed) | Err(TryRecvError::Closed) => false,
        });
    }

    /// One turn of the task.
    fn turn(&self) {
        let published = self.slots.published();
        let next = self.queue.borrow_mut().next(|made, scope| published.is_as_new_as(made, scope));
        self.check_answers();
        match next {
            Next::Nothing => {
                let mut occasions = self.occasions.borrow_mut();
                if !self.is_wild.get() {
                    self.now.set(self.now.get().max(occasions.due()));
                }
                if let Some(occasion) = occasions.take(self.now.get()) {
                    self.queue.borrow_mut().add_occasion(occasion);
                }
            }
            Next::Pause(mut resumed) => {
                let granted = self.pausing.borrow_mut().iter_mut().find_map(|granted| granted.try_recv().ok());
                for _ in 0..self.below(4) {
                    self.disturb();
                    assert_eq!(resumed.try_recv(), Err(TryRecvError::Empty));
                    assert_eq!(self.slots.published().generation, published.generation);
                }
                drop(granted);
                assert_eq!(resumed.try_recv(), Err(TryRecvError::Closed));
                self.queue.borrow_mut().resume();
            }
            Next::Scan(scope) => self.refresh(scope),
        }
    }

    fn refresh(&self, scope: Scope) {
        let outcome = match rescan(self, &self.slots, scope) {
            None => Outcome::Served,
            Some(difference) => {
                self.queue.borrow_mut().apply();
                self.disturb();
                if self.happens(5) {
                    // The engine crashed on a file.
                    self.slots.publish(Published { failure: Some("broken".into()), ..self.slots.published() });
                    Outcome::Failed
                } else {
                    self.publish(difference);
                    Outcome::Served
                }
            }
        };
        let (occasion, is_new) = self.queue.borrow_mut().finish(outcome);
        if self.occasions.borrow_mut().finished(occasion, is_new, self.now.get()) && outcome == Outcome::Served {
            self.announced.set(self.slots.published().generation);
        }
        self.check_answers();
    }

    fn publish(&self, difference: crate::apply::Difference) {
        let crate::apply::Difference { before, scan, scanned } = difference;
        assert_eq!(before.generation, self.slots.published().generation);
        let mut served = self.served.borrow_mut();
        for (before, now) in served.iter().zip(self.seen.get()) {
            assert!(
                before.is_none() || now.is_none() || *before <= now,
                "{served:?} is newer than {:?}",
                self.seen.get()
            );
        }
        *served = self.seen.get();
        let snapshot = Arc::new(scan.snapshot);
        self.slots.publish(Published { generation: before.generation + 1, snapshot, scanned, failure: None });
    }

    /// Reads these files one after the other, while they may change.
    fn scan(&self, wanted: impl Fn(usize) -> bool) -> Result<Option<Scan>, ScanError> {
        let before = *self.served.borrow();
        let (mut seen, mut out_of_files) = (before, false);
        for root in 0..2 {
            // Too many files are open, so the root stays as it was; or it cannot be read, so it seems gone.
            let (is_unchanged, is_unreadable) = (self.happens(15), self.happens(25));
            self.disk.borrow_mut().faults += usize::from(is_unchanged || is_unreadable);
            out_of_files |= is_unchanged;
            for file in (0..FILES).filter(|file| root_of(*file) == root && wanted(*file) && !is_unchanged) {
                seen[file] = self.disk.borrow().content()[file].filter(|_| !is_unreadable);
                self.disturb();
            }
        }
        let changes: Vec<Change> = (0..FILES)
            .filter(|file| seen[*file] != before[*file])
            .map(|file| Change::File(Location { root: 0, path: file.to_string() }))
            .collect();
        if changes.is_empty() && out_of_files {
            return Err(ScanError::OutOfFiles);
        }
        self.seen.set(seen);
        Ok((!changes.is_empty() || self.happens(3)).then(|| Scan {
            snapshot: Snapshot::default(),
            changes,
            out_of_files,
        }))
    }

    fn run(self) {
        for _ in 0..STEPS {
            self.disturb();
            self.turn();
        }
        self.is_wild.set(false);
        self.pausing.borrow_mut().clear();
        // The timer comes within these turns, and a scan after each occasion.
        for _ in 0..12 {
            self.turn();
        }
        self.check_answers();
        assert_eq!(*self.served.borrow(), self.disk.borrow().content(), "not everything on disk is served");
        assert_eq!(self.asked.borrow().len(), 0, "requests wait for ever");
        assert_eq!(self.queue.borrow().waiting(), 0, "requests are left behind");
        assert_eq!(self.announced.get(), self.slots.published().generation, "clients are not told");
    }
}

impl Disk for Simulation {
    fn scan_dirty(&self, before: &Published) -> Result<Option<Scan>, ScanError> {
        let last = before.scanned.last.ok_or(ScanError::DirtyPathsUnknown)?;
        let (dirty, is_known) = {
            let disk = self.disk.borrow();
            let reported = disk.events.iter().filter(|(at, _)| *at >= last);
            let dirty: Vec<usize> = reported.map(|(_, file)| *file).collect();
            // A root that appeared, or was replaced, has another identity.
            let same_roots =
                self.served.borrow().map(|file| file.is_some()) == disk.content().map(|file| file.is_some());
            (dirty, disk.unknown < Some(last) && same_roots)
        };
        if is_known { self.scan(|file| dirty.contains(&file)) } else { Err(ScanError::DirtyPathsUnknown) }
    }

    fn scan_all(&self, _: &Published) -> Result<Option<Scan>, ScanError> {
        self.scan(|_| true)
    }

    fn distrust_events(&self) {
        self.disk.borrow_mut().unknown = Some(Instant::now());
    }

    fn found_nothing(&self) {}
}

#[test]
fn whatever_goes_wrong_the_disk_is_served_and_no_request_waits_for_ever() {
    for seed in 0..SEEDS {
        let run = std::panic::catch_unwind(|| Simulation::new(seed).run());
        run.unwrap_or_else(|_| panic!("seed {seed}"));
    }
}
