//! Looks at the disk: requests that come together share one, and none is needed while nothing stirs.

use super::{Catalog, Shared};
use crate::library::stillness::Stillness;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::sync::Mutex;

/// Whether to look at the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Always,
    /// Not when it is known that nothing changed since the last look.
    OnlyIfStirred,
}

/// What came of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    Same,
    /// Something on disk differs from this generation, which is served.
    Outdated(u64),
    /// Somebody else is still looking.
    Busy,
}

#[derive(Default)]
pub struct Looking {
    /// Looks that began so far, and what the last one found.
    begun: AtomicU64,
    last: Arc<Mutex<LastLook>>,
    /// Who knows when nothing changed. Without it, every list looks at every file.
    stillness: OnceLock<Arc<Stillness>>,
}

/// The result of a look at the disk, for requests that came before it began.
#[derive(Default)]
struct LastLook {
    number: u64,
    /// The generation that something on disk differs from.
    outdated: Option<u64>,
    /// When the last one began that really looked, and which generation it found. A look that found changes says nothing about
    /// the generation that will have them.
    same: Option<(Instant, u64)>,
}

impl Looking {
    pub fn trust(&self, stillness: Arc<Stillness>) {
        let _ = self.stillness.set(stillness);
    }
}

impl Catalog {
    /// Looks at the disk, unless somebody else does that until then. Whoever no longer waits does not end the look.
    pub(super) async fn outdated(&self, look: Look, until: Instant) -> Looked {
        let looking = &self.shared.looking;
        let before = looking.begun.load(Ordering::Acquire);
        let turn = Arc::clone(&looking.last).lock_owned();
        let Ok(mut last) = tokio::time::timeout_at(until.into(), turn).await else {
            return Looked::Busy;
        };
        if last.number > before {
            return last.outdated.map_or(Looked::Same, Looked::Outdated);
        }
        let number = looking.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let shared = Arc::clone(&self.shared);
        let looked = tokio::task::spawn_blocking(move || {
            let is_still = look == Look::OnlyIfStirred && shared.is_still(&last);
            let outdated = if is_still { None } else { shared.look_again(&mut last) };
            (last.number, last.outdated) = (number, outdated);
            outdated
        });
        looked.await.unwrap_or_default().map_or(Looked::Same, Looked::Outdated)
    }
}

impl Shared {
    /// Whether certainly nothing changed since the last look, and what it found is still served.
    fn is_still(&self, last: &LastLook) -> bool {
        let now = Instant::now();
        let (Some((began, generation)), Some(stillness)) = (last.same, self.looking.stillness.get()) else {
            return false;
        };
        let is_watchable = || self.pair.published().snapshot.is_watchable();
        is_watchable() && stillness.holds_since(began) && self.pair.confirm(generation, now)
    }

    /// The generation that is served, if anything on disk differs from it, and what that is for whoever brings it in.
    fn look_again(&self, last: &mut LastLook) -> Option<u64> {
        let (began, pauses) = (Instant::now(), self.found.begin());
        let served = self.pair.published();
        let generation = served.generation;
        let Some(difference) = self.look(served) else {
            last.same = Some((began, generation));
            return None;
        };
        last.same = None;
        self.found.keep(pauses, difference);
        Some(generation)
    }
}
