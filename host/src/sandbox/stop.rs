//! When a run has to end, as seen from the calls that a guest makes.

use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// The deadline and the cancellation of one run.
///
/// A guest that is compiled to yield is stopped between its steps. CPython yields only by steps it counted, and a call of the
/// host takes time without any; so each of its calls asks here too.
#[derive(Debug, Clone)]
pub struct Stop {
    pub deadline: Instant,
    pub cancelled: CancellationToken,
}

/// A call was not answered, because the run is over.
#[derive(Debug, thiserror::Error)]
#[error("the run is over")]
pub struct Over;

impl Stop {
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.deadline || self.cancelled.is_cancelled()
    }
}
