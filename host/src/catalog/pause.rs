//! Time in which many files change at once, and nobody makes half of that a generation.

use super::{Catalog, Shared};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::OwnedMutexGuard;

/// While it is held no changes are brought in. Requests about files that stay the same do not notice.
pub struct Pause {
    shared: Arc<Shared>,
    _updating: OwnedMutexGuard<()>,
}

impl Catalog {
    /// Waits until nobody brings in changes. Only for threads that may block.
    pub fn pause(&self) -> Pause {
        let updating = Arc::clone(&self.shared.updating).blocking_lock_owned();
        self.shared.building.store(true, Ordering::Release);
        Pause { shared: Arc::clone(&self.shared), _updating: updating }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // Whoever looked meanwhile may have seen half of it.
        self.shared.found.end_pause();
        self.shared.building.store(false, Ordering::Release);
    }
}
