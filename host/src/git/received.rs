//! How much of a repository has come over the network.

use crate::terminal::progress::Reached;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Written by whoever receives, read by whoever tells.
#[derive(Debug, Default)]
pub struct Received {
    objects: AtomicUsize,
    all: AtomicUsize,
    bytes: AtomicUsize,
}

impl Received {
    pub fn note(&self, state: &git2::Progress<'_>) {
        self.objects.store(state.received_objects(), Ordering::Relaxed);
        self.all.store(state.total_objects(), Ordering::Relaxed);
        self.bytes.store(state.received_bytes(), Ordering::Relaxed);
    }

    #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    pub fn reached(&self) -> Reached {
        let [done, all, bytes] = [&self.objects, &self.all, &self.bytes].map(|number| number.load(Ordering::Relaxed));
        Reached { done, all, told: format!("{done}/{all} objects, {:.1} MB", bytes as f64 / 1_000_000.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_what_came_of_how_much() {
        let received = Received { objects: 3.into(), all: 10.into(), bytes: 1_250_000.into() };
        let Reached { done, all, told } = received.reached();
        assert_eq!((done, all, told.as_str()), (3, 10, "3/10 objects, 1.2 MB"));
    }
}
