//! How long a request waits for what changed on disk.

use super::looking::{Look, Looked};
use super::pair::Published;
use super::{Brought, Catalog};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest that a request waits, in all, for what somebody else looks for and brings in.
const FOR_OTHERS: Duration = Duration::from_secs(1);

/// The same for what it brings in itself, because a disk may never answer.
const FOR_ITSELF: Duration = Duration::from_secs(10);

/// How long a request waits that has a small engine to ask. A few changes take no longer, and nobody notices so short a wait.
const SHORTLY: Duration = Duration::from_millis(25);

/// A request that wants files as they were on disk at some moment after it came.
pub struct Waiting {
    came: Instant,
    /// When it first had to wait. Before that, engines may have been busy.
    since: Option<Instant>,
}

impl Waiting {
    pub fn new() -> Self {
        Self { came: Instant::now(), since: None }
    }

    /// Whether these files are new enough for somebody who would look like this.
    pub fn is_over(&self, published: &Published, look: Look) -> bool {
        let seen = if look == Look::Stirred { published.seen.last } else { published.seen.whole };
        seen.is_some_and(|seen| seen >= self.came)
    }

    fn since(&mut self) -> Instant {
        *self.since.get_or_insert_with(Instant::now)
    }
}

impl Catalog {
    /// Brings in what changed on disk before the request came, or waits until somebody else has. Gives up when that fails or
    /// takes too long: what is served then has to do.
    pub(super) async fn catch_up(&self, waiting: &mut Waiting, look: Look) -> bool {
        let since = waiting.since();
        let others = since + FOR_OTHERS;
        let caught_up = async {
            // What somebody else brings in may be from before a change that was seen here.
            while !self.is_frozen() && !waiting.is_over(&self.shared.pair.published(), look) {
                let generation = match self.outdated(look, others).await {
                    Looked::Outdated(generation) => generation,
                    Looked::Same => continue,
                    Looked::Busy => return false,
                };
                let enough = tokio::time::sleep_until(others.into());
                let is_served = self.bring_in_unless(Some(generation), look, enough).await == Brought::Served;
                // Whoever saw a change has to ask again whether this was it.
                if !is_served || look == Look::UntilFound {
                    return is_served;
                }
            }
            true
        };
        tokio::time::timeout_at((since + FOR_ITSELF).into(), caught_up).await.unwrap_or(false)
    }

    /// The same without waiting long: what takes its time goes on in the background. Waits for nobody else.
    pub(super) async fn catch_up_shortly(&self, waiting: &Waiting, look: Look) -> bool {
        if self.is_building() {
            return false;
        }
        let Ok(turn) = Arc::clone(&self.shared.catching_up).try_lock_owned() else { return false };
        let (catalog, mut waiting) = (self.clone(), Waiting { since: None, ..*waiting });
        let caught_up = tokio::spawn(async move {
            let _turn = turn;
            catalog.catch_up(&mut waiting, look).await
        });
        matches!(tokio::time::timeout(SHORTLY, caught_up).await, Ok(Ok(true)))
    }
}
