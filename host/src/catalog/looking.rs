//! Looks at the disk: requests that come together share one, and none is needed while nothing stirs.

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

#[derive(Default)]
pub struct Looking {
    /// Looks that began so far, and what the last one found.
    begun: AtomicU64,
    last: Mutex<LastLook>,
    /// Who knows when nothing changed. Without it, every list looks at every file.
    stillness: OnceLock<Arc<Stillness>>,
}

/// The result of a look at the disk, for requests that came before it began.
#[derive(Default)]
struct LastLook {
    number: u64,
    /// When the last one began that really looked.
    began: Option<Instant>,
    /// The generation that something on disk differs from.
    outdated: Option<u64>,
}

impl Looking {
    pub fn trust(&self, stillness: Arc<Stillness>) {
        let _ = self.stillness.set(stillness);
    }

    /// The generation that a look finds outdated, if it does.
    pub async fn share(&self, how: Look, look: impl FnOnce() -> Option<u64> + Send + 'static) -> Option<u64> {
        let before = self.begun.load(Ordering::Acquire);
        let mut last = self.last.lock().await;
        if last.number > before {
            return last.outdated;
        }
        let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let still = self.stillness.get().cloned().filter(|_| how == Look::OnlyIfStirred).zip(last.began);
        let looked = tokio::task::spawn_blocking(move || {
            if still.is_some_and(|(stillness, began)| stillness.holds_since(began)) {
                return (None, None);
            }
            let began = Instant::now();
            (look(), Some(began))
        });
        let (outdated, began) = looked.await.unwrap_or_default();
        // A look that found changes says nothing about the generation that will have them.
        let began = if outdated.is_some() { None } else { began.or(last.began) };
        *last = LastLook { number, began, outdated };
        outdated
    }
}
