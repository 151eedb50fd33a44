//! How much memory a guest has, and when that is too much.

use wasmtime::ResourceLimiter;

/// What one entry of a table takes, in bytes.
const TABLE_ENTRY: usize = 16;

/// Most core modules, tables and memories that a guest is made of. A Rust guest has about five.
const MOST_PARTS: usize = 100;

/// Memory and tables of one guest together.
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
            // An error stops the guest here; a mere refusal would let it go on and fail in a way of its own.
            return Err(wasmtime::Error::msg("more memory than the script may have"));
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
        let more = desired.saturating_sub(current).saturating_mul(TABLE_ENTRY);
        self.check(self.memory, self.tables.saturating_add(more))
    }

    fn instances(&self) -> usize {
        MOST_PARTS
    }

    fn tables(&self) -> usize {
        MOST_PARTS
    }

    fn memories(&self) -> usize {
        MOST_PARTS
    }
}
