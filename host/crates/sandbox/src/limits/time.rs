//! The time limit: the deadline and the cancellation of a run, as checked by the host functions.

use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// A guest that is interrupted by epochs can be stopped anywhere. CPython yields only after consuming fuel, and host
/// functions take time without consuming any, so each of them checks this too.
#[derive(Debug, Clone)]
pub struct Stop {
    pub deadline: Instant,
    pub cancelled: CancellationToken,
}

/// A host function was interrupted, because the run has to end.
#[derive(Debug, thiserror::Error)]
#[error("the run is over")]
pub struct RunEnded;

impl Stop {
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.deadline || self.cancelled.is_cancelled()
    }
}
