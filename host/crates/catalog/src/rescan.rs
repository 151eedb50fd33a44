//! Comparing the disk with what is served.

use crate::Inner;
use crate::apply::Difference;
use crate::left_right::{LeftRight, Published};
use library::scan::{self, Scan, ScanError};
use library::snapshot::Snapshot;
use std::time::Instant;

/// How much of the disk to compare, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Dirty paths where the watcher knows them for certain, else everything.
    Dirty,
    /// Dirty paths first, then everything if they explain nothing.
    DirtyThenFull,
    /// Every file and folder.
    Full,
}

/// What scans look at.
pub trait Disk {
    /// Compares what the watcher saw change with a generation.
    fn scan_dirty(&self, before: &Published) -> Result<Option<Scan>, ScanError>;
    /// Compares everything.
    fn scan_all(&self, before: &Published) -> Result<Option<Scan>, ScanError>;
    /// Has the next scan be a full one.
    fn distrust_events(&self);
    /// Notes that a full scan found nothing new.
    fn found_nothing(&self);
}

/// Returns what is on disk and not in the served generation.
pub fn rescan(disk: &impl Disk, slots: &LeftRight, scope: Scope) -> Option<Difference> {
    if scope != Scope::Full
        && let Ok(found) = compare(disk, slots, false, |before| disk.scan_dirty(before))
        && (found.is_some() || scope == Scope::Dirty)
    {
        return found;
    }
    let (began, generation) = (Instant::now(), slots.published().generation);
    let found = compare(disk, slots, true, |before| disk.scan_all(before)).unwrap_or_else(|_| {
        // There is no better answer for now, and the next scan is again a full one.
        disk.distrust_events();
        slots.confirm(generation, began, true);
        None
    });
    if found.is_none() {
        disk.found_nothing();
    }
    found
}

/// Runs a scan. The same bytes with newer times are not a difference, but spare the next scan reading them.
fn compare(
    disk: &impl Disk,
    slots: &LeftRight,
    full: bool,
    scan: impl FnOnce(&Published) -> Result<Option<Scan>, ScanError>,
) -> Result<Option<Difference>, ScanError> {
    let (began, before) = (Instant::now(), slots.published());
    if let Some(scan) = scan(&before)? {
        let scope = if full { "everything" } else { "dirty paths" };
        tracing::debug!("scanned {scope} in {:?}: {} changes", began.elapsed(), scan.changes.len());
        if scan.out_of_files {
            disk.distrust_events();
        }
        if !scan.changes.is_empty() || before.generation == 0 {
            let scanned = before.scanned.and(began, full);
            return Ok(Some(Difference { before, scan, scanned }));
        }
        if !slots.renew_snapshot(&before.snapshot, scan.snapshot) {
            return Ok(None);
        }
    }
    slots.confirm(before.generation, began, full);
    Ok(None)
}

impl Inner {
    /// Returns what is on disk and not in the served generation.
    pub fn rescan(&self, scope: Scope) -> Option<Difference> {
        rescan(self, &self.slots, scope)
    }

    pub fn scan(&self, before: &Snapshot) -> Result<Option<Scan>, ScanError> {
        let terms = &self.builder.terms;
        scan::scan(&terms.roots, before, terms.file_limit)
    }
}

impl Disk for Inner {
    fn scan_dirty(&self, before: &Published) -> Result<Option<Scan>, ScanError> {
        let (Some(cookies), Some(last)) = (self.cookies.get(), before.scanned.last) else {
            return Err(ScanError::DirtyPathsUnknown);
        };
        if !before.snapshot.is_watchable() {
            return Err(ScanError::DirtyPathsUnknown);
        }
        let terms = &self.builder.terms;
        scan::scan_dirty(&terms.roots, &before.snapshot, terms.file_limit, || cookies.dirty_since(last))
    }

    fn scan_all(&self, before: &Published) -> Result<Option<Scan>, ScanError> {
        self.scan(&before.snapshot)
    }

    fn distrust_events(&self) {
        if let Some(cookies) = self.cookies.get() {
            cookies.invalidate();
        }
    }

    fn found_nothing(&self) {
        self.fill_empty_slots_if_possible();
    }
}
