//! What a guest may use up, and which limit it hit.

use std::time::{Duration, Instant};
use wasmtime::ResourceLimiter;

/// A limit that stopped a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Time(Duration),
    Memory(usize),
}

impl std::fmt::Display for Limit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Time(time) => write!(formatter, "{} ms", time.as_millis()),
            Self::Memory(bytes) => write!(formatter, "{} MiB of memory", bytes >> 20),
        }
    }
}

/// Part of a store's state: time and memory of the call that runs.
#[derive(Debug)]
pub struct Budget {
    /// Most memory of the instance, in bytes.
    total_memory: usize,
    memory_now: usize,
    memory_allowed: usize,
    time: Duration,
    deadline: Instant,
    hit: Option<Limit>,
}

impl Budget {
    pub fn new(total_memory: usize) -> Self {
        let time = Duration::ZERO;
        Self { total_memory, memory_now: 0, memory_allowed: total_memory, time, deadline: Instant::now(), hit: None }
    }

    /// Gives the guest this much time from now on, and all the memory that is left.
    pub fn allow(&mut self, time: Duration) {
        self.allow_with_memory(time, self.total_memory);
    }

    /// Gives the guest this much time and memory from now on.
    pub fn allow_with_memory(&mut self, time: Duration, memory: usize) {
        self.time = time;
        self.deadline = Instant::now() + time;
        self.memory_allowed = self.memory_now.saturating_add(memory).min(self.total_memory);
        self.hit = None;
    }

    /// Called at each tick of a running guest.
    pub fn is_over(&mut self) -> bool {
        let over = Instant::now() >= self.deadline;
        if over {
            self.hit = Some(Limit::Time(self.time));
        }
        over
    }

    pub fn hit(&self) -> Option<Limit> {
        self.hit
    }
}

impl ResourceLimiter for Budget {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.memory_allowed {
            self.hit = Some(Limit::Memory(self.memory_allowed));
            // An error stops the guest here; a mere refusal would let it go on and fail in a way of its own.
            return Err(wasmtime::Error::msg("more memory than the guest may have"));
        }
        self.memory_now = desired;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MOST_TABLE_ELEMENTS)
    }
}

/// Most entries of a table of functions. A Rust guest has a few thousand and never adds any.
const MOST_TABLE_ELEMENTS: usize = 100_000;
