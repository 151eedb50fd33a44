//! Counts what was received from a remote, for the progress display.

use std::sync::atomic::{AtomicUsize, Ordering};
use terminal::progress::Completed;

/// Written by the thread that receives, read by the one that shows progress.
#[derive(Debug, Default)]
pub struct Transfer {
    objects: AtomicUsize,
    total: AtomicUsize,
    bytes: AtomicUsize,
}

impl Transfer {
    pub fn update(&self, state: &git2::Progress<'_>) {
        self.objects.store(state.received_objects(), Ordering::Relaxed);
        self.total.store(state.total_objects(), Ordering::Relaxed);
        self.bytes.store(state.received_bytes(), Ordering::Relaxed);
    }

    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    pub fn completed(&self) -> Completed {
        let [done, total, bytes] =
            [&self.objects, &self.total, &self.bytes].map(|number| number.load(Ordering::Relaxed));
        Completed { done, total, text: format!("{done}/{total} objects, {:.1} MB", bytes as f64 / 1_000_000.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_objects_and_bytes() {
        let transfer = Transfer { objects: 3.into(), total: 10.into(), bytes: 1_250_000.into() };
        let Completed { done, total, text } = transfer.completed();
        assert_eq!((done, total, text.as_str()), (3, 10, "3/10 objects, 1.2 MB"));
    }
}
