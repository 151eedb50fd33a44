//! Two slots for engines, left and right, and the generation that is served from them.

use crate::rescan::Scope;
use guests::engine::EngineInstance;
use guests::scorer::Prepared;
use library::snapshot::Snapshot;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

pub struct LeftRight {
    slots: [Slot; 2],
    published: RwLock<Published>,
    /// Incremented when a slot starts or stops serving, so that requests can wait for it.
    turns: watch::Sender<u64>,
}

#[derive(Default)]
struct Slot {
    engine: Arc<Mutex<Option<Loaded>>>,
    /// Whether requests may use this slot. Not while changes are applied to it.
    serving: AtomicBool,
}

/// An engine, the scorer that follows it, and the generation they hold.
pub struct Loaded {
    pub engine: EngineInstance,
    /// Missing when none is configured, and after it failed.
    pub scorer: Option<Prepared>,
    /// Whether the engine changed since the scorer followed it.
    pub is_scorer_behind: bool,
    pub generation: u64,
}

impl Loaded {
    pub fn new(engine: EngineInstance, scorer: Option<Prepared>, generation: u64) -> Self {
        Self { engine, scorer, is_scorer_behind: false, generation }
    }
}

/// What requests are answered from.
#[derive(Clone, Default)]
pub struct Published {
    /// 0 before the first one.
    pub generation: u64,
    pub snapshot: Arc<Snapshot>,
    /// When the disk was last found to hold exactly this.
    pub scanned: ScanTimes,
    /// Why no engine could be built, if the last try failed.
    pub failure: Option<Arc<str>>,
}

impl Published {
    /// Whether this was on disk at or after `since`, as far as such a scan can tell.
    pub fn is_as_new_as(&self, since: Instant, scope: Scope) -> bool {
        let scanned = if scope == Scope::Dirty { self.scanned.last } else { self.scanned.full };
        scanned.is_some_and(|scanned| scanned >= since)
    }
}

/// When scans began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanTimes {
    /// The last one, perhaps of dirty paths only.
    pub last: Option<Instant>,
    /// The last full one, which also sees changes that caused no event.
    pub full: Option<Instant>,
}

impl ScanTimes {
    /// Adds another scan, in whichever order they ended.
    pub fn and(self, began: Instant, full: bool) -> Self {
        Self { last: self.last.max(Some(began)), full: self.full.max(full.then_some(began)) }
    }
}

/// Exclusive use of the engine in one slot, with the generation that it holds.
pub struct Lease {
    slot: OwnedMutexGuard<Option<Loaded>>,
    number: usize,
    pub published: Published,
}

impl LeftRight {
    pub fn new() -> Self {
        Self { slots: Default::default(), published: RwLock::default(), turns: watch::Sender::new(0) }
    }

    pub fn published(&self) -> Published {
        self.published.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn publish(&self, published: Published) {
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = published;
    }

    /// Replaces the snapshot with one of the same bytes and newer times, if it is still the served one.
    pub fn renew_snapshot(&self, before: &Arc<Snapshot>, after: Snapshot) -> bool {
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let is_served = Arc::ptr_eq(&published.snapshot, before);
        if is_served {
            published.snapshot = Arc::new(after);
        }
        is_served
    }

    /// Notes that a scan which began then found this generation on disk, if it is still served.
    pub fn confirm(&self, generation: u64, began: Instant, full: bool) {
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        if published.generation == generation {
            published.scanned = published.scanned.and(began, full);
        }
    }

    /// Waits for a serving slot that is not in use. Fails when there is none and no engine can be built.
    pub async fn lease(&self) -> Result<Lease, Arc<str>> {
        let mut turns = self.turns.subscribe();
        loop {
            turns.mark_unchanged();
            let serving = |number: usize| self.slots[number].serving.load(Ordering::Acquire);
            if let (false, false, Some(failure)) = (serving(0), serving(1), self.published().failure) {
                return Err(failure);
            }
            let lock = |number: usize| Arc::clone(&self.slots[number].engine).lock_owned();
            let (slot, number) = tokio::select! {
                biased;
                slot = lock(0), if serving(0) => (slot, 0),
                slot = lock(1), if serving(1) => (slot, 1),
                _ = turns.changed() => continue,
            };
            let published = self.published();
            if slot.as_ref().is_some_and(|loaded| loaded.generation == published.generation) {
                return Ok(Lease { slot, number, published });
            }
        }
    }

    /// Leases a serving slot that is not in use, without waiting.
    pub fn try_lease(&self) -> Option<Lease> {
        let slots = (0..self.slots.len()).filter(|number| self.slots[*number].serving.load(Ordering::Acquire));
        let mut free =
            slots.filter_map(|number| Some((Arc::clone(&self.slots[number].engine).try_lock_owned().ok()?, number)));
        let published = self.published();
        let is_current =
            |slot: &Option<Loaded>| slot.as_ref().is_some_and(|loaded| loaded.generation == published.generation);
        let (slot, number) = free.find(|(slot, _)| is_current(slot))?;
        Some(Lease { slot, number, published })
    }

    /// Waits until a slot is not in use, and leases it if it serves.
    pub async fn lease_of(&self, number: usize) -> Option<Lease> {
        let slot = Arc::clone(&self.slots[number].engine).lock_owned().await;
        let published = self.published();
        let is_current = slot.as_ref().is_some_and(|loaded| loaded.generation == published.generation);
        let serves = is_current && self.slots[number].serving.load(Ordering::Acquire);
        serves.then_some(Lease { slot, number, published })
    }

    /// Drops an engine that broke; its slot serves again once it is filled.
    pub fn clear(&self, mut lease: Lease) {
        *lease.slot = None;
        self.serve(lease.number, false);
    }

    /// The slots in the order in which to update them: an idle one first, so that the other goes on serving.
    pub fn order(&self) -> [usize; 2] {
        let idle = |number: usize| match self.slots[number].engine.try_lock() {
            Ok(slot) => slot.is_none() || !self.slots[number].serving.load(Ordering::Acquire),
            Err(_) => false,
        };
        let busy = |number: usize| self.slots[number].engine.try_lock().is_err();
        if idle(1) || !idle(0) && busy(0) { [1, 0] } else { [0, 1] }
    }

    /// Takes the engine out of a slot after its current question. Blocks.
    pub fn take(&self, number: usize) -> Option<Loaded> {
        self.serve(number, false);
        self.slots[number].engine.blocking_lock().take()
    }

    /// Puts an engine into a slot, which serves from then on. Blocks.
    pub fn put(&self, number: usize, loaded: Loaded) {
        *self.slots[number].engine.blocking_lock() = Some(loaded);
        self.serve(number, true);
    }

    /// Slots with such an engine, or such a lack of one. Blocks until the current questions are answered.
    pub fn which(&self, wanted: impl Fn(Option<&Loaded>) -> bool) -> Vec<usize> {
        let is_wanted = |number: &usize| wanted(self.slots[*number].engine.blocking_lock().as_ref());
        (0..self.slots.len()).filter(is_wanted).collect()
    }

    /// Wakes requests that wait for a slot, so that they see a failure.
    pub fn wake(&self) {
        self.turns.send_modify(|turn| *turn += 1);
    }

    fn serve(&self, number: usize, serving: bool) {
        self.slots[number].serving.store(serving, Ordering::Release);
        self.wake();
    }
}

impl Lease {
    pub fn loaded(&mut self) -> &mut Loaded {
        self.slot.as_mut().expect("a leased slot holds an engine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_scan_confirms_only_the_generation_it_compared() {
        let slots = LeftRight::new();
        let scanned = Instant::now();
        let later = scanned + Duration::from_secs(1);
        let scans = |last, full| ScanTimes { last: Some(last), full };
        slots.publish(Published { generation: 1, ..Published::default() });
        slots.confirm(1, later, false);
        assert_eq!(slots.published().scanned, scans(later, None));
        slots.confirm(1, scanned, true);
        assert_eq!(slots.published().scanned, scans(later, Some(scanned)));
        // Generation 2 was scanned before that scan began, and published after it.
        slots.publish(Published { generation: 2, scanned: scans(scanned, None), ..Published::default() });
        slots.confirm(1, later, true);
        assert_eq!(slots.published().scanned, scans(scanned, None));
    }
}
