//! What the last look found, for whoever brings it in.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Kept until somebody takes it, but not beyond a pause: it may be half of what changed meanwhile.
pub struct Found<T> {
    kept: Mutex<Kept<T>>,
}

struct Kept<T> {
    pauses: u64,
    last: Option<T>,
}

/// When a look began.
#[derive(Clone, Copy)]
pub struct Began {
    pauses: u64,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self { kept: Mutex::new(Kept { pauses: 0, last: None }) }
    }
}

impl<T> Found<T> {
    pub fn begin(&self) -> Began {
        Began { pauses: self.kept().pauses }
    }

    /// Keeps what a look found, unless a pause ended while it looked.
    pub fn keep(&self, began: Began, found: T) {
        let mut kept = self.kept();
        if kept.pauses == began.pauses {
            kept.last = Some(found);
        }
    }

    pub fn take(&self) -> Option<T> {
        self.kept().last.take()
    }

    pub fn end_pause(&self) {
        let mut kept = self.kept();
        kept.pauses += 1;
        kept.last = None;
    }

    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_during_a_pause_is_never_brought_in() {
        let found = Found::default();
        let during = found.begin();
        found.keep(during, "half, seen in time");
        found.end_pause();
        assert_eq!(found.take(), None);
        found.keep(during, "half, seen too late");
        assert_eq!(found.take(), None);
        found.keep(found.begin(), "whole");
        assert_eq!(found.take(), Some("whole"));
    }
}
