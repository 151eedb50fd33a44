//! Two seats for engines, left and right, and the generation that is served from them.

use crate::library::snapshot::Snapshot;
use crate::worlds::engine::EngineInstance;
use crate::worlds::scorer::Prepared;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

pub struct Pair {
    seats: [Seat; 2],
    published: RwLock<Published>,
    /// Counts every change of who serves, so that a request can wait for one.
    turns: watch::Sender<u64>,
}

#[derive(Default)]
struct Seat {
    engine: Arc<Mutex<Option<Seated>>>,
    /// Whether requests may come here. Not while changes are brought in.
    serving: AtomicBool,
}

/// An engine, the scorer that follows it, and the generation they hold.
pub struct Seated {
    pub engine: EngineInstance,
    /// Missing when nobody chose one, and after it failed.
    pub scorer: Option<Prepared>,
    pub generation: u64,
}

/// What requests are answered from.
#[derive(Clone, Default)]
pub struct Published {
    /// 0 before the first one.
    pub generation: u64,
    pub snapshot: Arc<Snapshot>,
    /// When all this was found on disk.
    pub seen: Sightings,
    /// Why no engine could be built, if the last try failed.
    pub failure: Option<Arc<str>>,
}

/// When looks began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sightings {
    /// The last one, perhaps only at what stirred.
    pub last: Option<Instant>,
    /// The last one at everything, which sees also what nobody was told of.
    pub whole: Option<Instant>,
}

impl Sightings {
    /// With another look, whichever came first.
    pub fn and(self, began: Instant, whole: bool) -> Self {
        Self { last: self.last.max(Some(began)), whole: self.whole.max(whole.then_some(began)) }
    }
}

/// A seat whose engine a request may use, and the generation that it holds.
pub struct Free {
    seat: OwnedMutexGuard<Option<Seated>>,
    number: usize,
    pub published: Published,
}

impl Pair {
    pub fn new() -> Self {
        Self { seats: Default::default(), published: RwLock::default(), turns: watch::Sender::new(0) }
    }

    pub fn published(&self) -> Published {
        self.published.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn publish(&self, published: Published) {
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = published;
    }

    /// Exchanges a snapshot for one with the same bytes and newer times. False when somebody was faster.
    pub fn renew_snapshot(&self, before: &Arc<Snapshot>, after: Snapshot) -> bool {
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let is_served = Arc::ptr_eq(&published.snapshot, before);
        if is_served {
            published.snapshot = Arc::new(after);
        }
        is_served
    }

    /// Notes that a look which began then found a generation on disk, if that is still served.
    pub fn confirm(&self, generation: u64, began: Instant, whole: bool) {
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        if published.generation == generation {
            published.seen = published.seen.and(began, whole);
        }
    }

    /// Waits for a serving engine that nobody uses. Fails when there is none and none can be built.
    pub async fn free(&self) -> Result<Free, Arc<str>> {
        let mut turns = self.turns.subscribe();
        loop {
            turns.mark_unchanged();
            let serving = |number: usize| self.seats[number].serving.load(Ordering::Acquire);
            if let (false, false, Some(failure)) = (serving(0), serving(1), self.published().failure) {
                return Err(failure);
            }
            let lock = |number: usize| Arc::clone(&self.seats[number].engine).lock_owned();
            let (seat, number) = tokio::select! {
                biased;
                seat = lock(0), if serving(0) => (seat, 0),
                seat = lock(1), if serving(1) => (seat, 1),
                _ = turns.changed() => continue,
            };
            let published = self.published();
            if seat.as_ref().is_some_and(|seated| seated.generation == published.generation) {
                return Ok(Free { seat, number, published });
            }
        }
    }

    /// The engine of a free seat broke: nobody comes here until it is filled again.
    pub fn clear(&self, mut free: Free) {
        *free.seat = None;
        self.serve(free.number, false);
    }

    /// The seats in the order in which a change should come in: one that serves nobody first, so that the other goes on.
    pub fn order(&self) -> [usize; 2] {
        let idle = |number: usize| match self.seats[number].engine.try_lock() {
            Ok(seat) => seat.is_none() || !self.seats[number].serving.load(Ordering::Acquire),
            Err(_) => false,
        };
        let busy = |number: usize| self.seats[number].engine.try_lock().is_err();
        if idle(1) || !idle(0) && busy(0) { [1, 0] } else { [0, 1] }
    }

    /// Takes the engine out of a seat, after its last question is answered. Blocks.
    pub fn take(&self, number: usize) -> Option<Seated> {
        self.serve(number, false);
        self.seats[number].engine.blocking_lock().take()
    }

    /// Puts an engine into a seat. Blocks.
    pub fn seat(&self, number: usize, seated: Seated) {
        *self.seats[number].engine.blocking_lock() = Some(seated);
        self.serve(number, true);
    }

    /// Seats without an engine. Blocks until the last questions are answered.
    pub fn empty_seats(&self) -> Vec<usize> {
        (0..self.seats.len()).filter(|number| self.seats[*number].engine.blocking_lock().is_none()).collect()
    }

    /// Seats with an engine that no scorer follows. Blocks in the same way.
    pub fn without_scorer(&self) -> Vec<usize> {
        let lacks_one = |seated: &Seated| seated.scorer.is_none();
        let is_without = |number: &usize| self.seats[*number].engine.blocking_lock().as_ref().is_some_and(lacks_one);
        (0..self.seats.len()).filter(is_without).collect()
    }

    /// Wakes requests that wait for an engine, to learn that there will be none.
    pub fn wake(&self) {
        self.turns.send_modify(|turn| *turn += 1);
    }

    fn serve(&self, number: usize, serving: bool) {
        self.seats[number].serving.store(serving, Ordering::Release);
        self.wake();
    }
}

impl Free {
    pub fn seated(&mut self) -> &mut Seated {
        self.seat.as_mut().expect("only a seat with an engine is free")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_found_of_one_generation_says_nothing_about_the_next() {
        let pair = Pair::new();
        let scanned = Instant::now();
        let later = scanned + Duration::from_secs(1);
        let seen = |last, whole| Sightings { last: Some(last), whole };
        pair.publish(Published { generation: 1, ..Published::default() });
        pair.confirm(1, later, false);
        assert_eq!(pair.published().seen, seen(later, None));
        pair.confirm(1, scanned, true);
        assert_eq!(pair.published().seen, seen(later, Some(scanned)));
        // It was scanned before that look began, and became the newest after it.
        pair.publish(Published { generation: 2, seen: seen(scanned, None), ..Published::default() });
        pair.confirm(1, later, true);
        assert_eq!(pair.published().seen, seen(scanned, None));
    }
}
