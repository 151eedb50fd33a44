//! Looks at the disk: requests that come together share one, and where the watcher knows what changed, only that is looked at.

use super::bringing::Difference;
use super::pair::Published;
use super::{Catalog, Shared};
use crate::library::scan::{self, Scan, Unsure};
use crate::library::snapshot::Snapshot;
use crate::library::witness::Witness;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::sync::Mutex;

/// What to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Every file and folder.
    Everything,
    /// What stirred since the last look, where that is known for certain, else everything.
    Stirred,
    /// What stirred. Somebody saw a change, so if there is none, everything.
    UntilFound,
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
    /// Who knows what changed. Without it, every look is one at everything.
    witness: OnceLock<Arc<Witness>>,
}

/// The result of a look at the disk, for requests that came before it began.
#[derive(Default)]
struct LastLook {
    number: u64,
    /// Whether what nobody was told of may be missing.
    was_short: bool,
    /// The generation that something on disk differs from.
    outdated: Option<u64>,
}

impl Looking {
    pub fn trust(&self, witness: Arc<Witness>) {
        let _ = self.witness.set(witness);
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
        if last.number > before && (last.outdated.is_some() || !last.was_short || look == Look::Stirred) {
            return last.outdated.map_or(Looked::Same, Looked::Outdated);
        }
        let number = looking.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let shared = Arc::clone(&self.shared);
        let looked = tokio::task::spawn_blocking(move || {
            let outdated = shared.look_again(look);
            *last = LastLook { number, was_short: look == Look::Stirred, outdated };
            outdated
        });
        looked.await.unwrap_or_default().map_or(Looked::Same, Looked::Outdated)
    }
}

impl Shared {
    /// The generation that is served, if anything on disk differs from it, and what that is for whoever brings it in.
    fn look_again(&self, look: Look) -> Option<u64> {
        let pauses = self.found.begin();
        let difference = self.look(look)?;
        let generation = difference.before.generation;
        self.found.keep(pauses, difference);
        Some(generation)
    }

    /// What is on disk and not in the generation that is served.
    pub(super) fn look(&self, look: Look) -> Option<Difference> {
        if look != Look::Everything
            && let Ok(stirred) = self.note(false, |before| self.scan_stirred(before))
            && (stirred.is_some() || look == Look::Stirred)
        {
            return stirred;
        }
        let (began, generation) = (Instant::now(), self.pair.published().generation);
        self.note(true, |before| self.scan(&before.snapshot)).unwrap_or_else(|_| {
            // There is no better answer for now, and the next look is again one at everything.
            self.doubt();
            self.pair.confirm(generation, began, true);
            None
        })
    }

    /// Notes what a look finds. The same bytes with other times are no change; the next look need not read them.
    fn note(
        &self,
        whole: bool,
        scan: impl FnOnce(&Published) -> Result<Option<Scan>, Unsure>,
    ) -> Result<Option<Difference>, Unsure> {
        let (began, before) = (Instant::now(), self.pair.published());
        if let Some(scan) = scan(&before)? {
            let place = if whole { "everywhere" } else { "where something stirred" };
            tracing::debug!("looked at the disk {place} in {:?}: {} changes", began.elapsed(), scan.changes.len());
            if scan.out_of_files {
                self.doubt();
            }
            if !scan.changes.is_empty() || before.generation == 0 {
                let seen = before.seen.and(began, whole);
                return Ok(Some(Difference { before, scan, seen }));
            }
            if !self.pair.renew_snapshot(&before.snapshot, scan.snapshot) {
                return Ok(None);
            }
        }
        self.pair.confirm(before.generation, began, whole);
        Ok(None)
    }

    /// Nobody knows what changed until now.
    fn doubt(&self) {
        if let Some(witness) = self.looking.witness.get() {
            witness.doubt();
        }
    }

    /// Looks where the watcher saw something since this was seen on disk.
    fn scan_stirred(&self, before: &Published) -> Result<Option<Scan>, Unsure> {
        let (Some(witness), Some(seen)) = (self.looking.witness.get(), before.seen.last) else {
            return Err(Unsure::Unnamed);
        };
        if !before.snapshot.is_watchable() {
            return Err(Unsure::Unnamed);
        }
        let terms = &self.builder.terms;
        scan::scan_stirred(&terms.roots, &before.snapshot, terms.file_limit, || witness.stirred_since(seen))
    }

    pub(super) fn scan(&self, before: &Snapshot) -> Result<Option<Scan>, Unsure> {
        let terms = &self.builder.terms;
        scan::scan(&terms.roots, before, terms.file_limit)
    }
}
