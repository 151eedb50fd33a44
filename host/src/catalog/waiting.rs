//! How long a request waits for what changed on disk.

use super::looking::Look;
use super::pair::Published;
use super::{Brought, Catalog};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest that a request waits, in all, until what changed on disk is brought in, whoever does that.
const LONGEST: Duration = Duration::from_secs(1);

/// The same for a request that has a small engine to ask. A few changes take no longer, and nobody notices so short a wait.
const SHORTLY: Duration = Duration::from_millis(25);

/// A request that wants files as they were on disk at some moment after it came.
pub struct Waiting {
    came: Instant,
    /// Counts from when it first has to wait. Before that, engines may have been busy.
    until: Option<Instant>,
}

impl Waiting {
    pub fn new() -> Self {
        Self { came: Instant::now(), until: None }
    }

    /// Whether these files are new enough.
    pub fn is_over(&self, published: &Published) -> bool {
        published.seen.is_some_and(|seen| seen >= self.came)
    }

    fn until(&mut self) -> Instant {
        *self.until.get_or_insert_with(|| Instant::now() + LONGEST)
    }
}

impl Catalog {
    /// Brings in what changed on disk before the request came, or waits until somebody else has. Gives up when that fails or
    /// takes too long: what is served then has to do.
    pub(super) async fn catch_up(&self, waiting: &mut Waiting, look: Look) -> bool {
        let until = waiting.until();
        let caught_up = async {
            // What somebody else brings in may be from before a change that was seen here.
            while !self.is_frozen() && !waiting.is_over(&self.shared.pair.published()) {
                if let Some(outdated) = self.outdated(look).await
                    && self.bring_in(Some(outdated)).await == Brought::Failed
                {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout_at(until.into(), caught_up).await.unwrap_or(false)
    }

    /// The same without waiting long: what takes its time goes on in the background. Waits for nobody else.
    pub(super) async fn catch_up_shortly(&self, waiting: &Waiting) -> bool {
        if self.is_building() {
            return false;
        }
        let Ok(turn) = Arc::clone(&self.shared.catching_up).try_lock_owned() else { return false };
        let (catalog, mut waiting) = (self.clone(), Waiting { until: None, ..*waiting });
        let caught_up = tokio::spawn(async move {
            let _turn = turn;
            catalog.catch_up(&mut waiting, Look::Always).await
        });
        matches!(tokio::time::timeout(SHORTLY, caught_up).await, Ok(Ok(true)))
    }
}
