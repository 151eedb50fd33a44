//! The memory limit: counts the memory of a guest, and stops it at its limit.

use wasmtime::ResourceLimiter;

const TABLE_ENTRY_BYTES: usize = 16;

/// Of core instances, tables and memories, each. A Rust guest has about five.
const MAX_INSTANCES: usize = 100;

/// Memories and tables of one guest together, in bytes.
#[derive(Debug, Clone)]
pub struct Meter {
    limit: usize,
    total: usize,
    /// With what a nested guest used.
    peak: usize,
    hit: bool,
}

impl Meter {
    pub fn new(limit: usize) -> Self {
        Self { limit, total: 0, peak: 0, hit: false }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    /// It never shrinks.
    pub fn total(&self) -> usize {
        self.total
    }

    pub fn peak(&self) -> usize {
        self.peak.max(self.total)
    }

    /// Returns the meter of a guest that runs while this one waits: both stay below one limit.
    #[must_use]
    pub fn nested(&self) -> Self {
        Self::new(self.limit - self.total)
    }

    /// Takes the result of a nested guest over, which is gone.
    pub fn add_nested(&mut self, nested: &Self) {
        self.peak = self.peak().max(self.total + nested.peak());
        self.hit |= nested.hit;
    }

    pub fn was_hit(&self) -> bool {
        self.hit
    }

    fn grow(&mut self, bytes: usize) -> wasmtime::Result<bool> {
        let total = self.total.saturating_add(bytes);
        if total > self.limit {
            self.hit = true;
            // An error stops the guest here; a mere refusal would let it continue and fail in its own way.
            return Err(wasmtime::Error::msg("the memory limit is exceeded"));
        }
        self.total = total;
        Ok(true)
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grow(desired.saturating_sub(current))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.grow(desired.saturating_sub(current).saturating_mul(TABLE_ENTRY_BYTES))
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_INSTANCES
    }

    fn memories(&self) -> usize {
        MAX_INSTANCES
    }
}
