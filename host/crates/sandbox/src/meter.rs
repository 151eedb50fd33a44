//! Counts the memory of a guest and enforces its limit.

use wasmtime::ResourceLimiter;

const TABLE_ENTRY_BYTES: usize = 16;

/// Of core instances, tables and memories, each. A Rust guest has about five.
const MAX_INSTANCES: usize = 100;

/// Memories and tables of one guest together, in bytes.
#[derive(Debug)]
pub struct Meter {
    limit: usize,
    memory: usize,
    tables: usize,
    peak: usize,
    hit: bool,
}

impl Meter {
    pub fn new(limit: usize) -> Self {
        Self { limit, memory: 0, tables: 0, peak: 0, hit: false }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Memories and tables now.
    pub fn total(&self) -> usize {
        self.memory + self.tables
    }

    pub fn peak(&self) -> usize {
        self.peak
    }

    pub fn was_hit(&self) -> bool {
        self.hit
    }

    fn check(&mut self, memory: usize, tables: usize) -> wasmtime::Result<bool> {
        let total = memory.saturating_add(tables);
        if total > self.limit {
            self.hit = true;
            // An error stops the guest here; a mere refusal would let it continue and fail in its own way.
            return Err(wasmtime::Error::msg("the memory limit is exceeded"));
        }
        (self.memory, self.tables) = (memory, tables);
        self.peak = self.peak.max(total);
        Ok(true)
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let memory = self.memory.saturating_add(desired.saturating_sub(current));
        self.check(memory, self.tables)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current).saturating_mul(TABLE_ENTRY_BYTES);
        self.check(self.memory, self.tables.saturating_add(more))
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
