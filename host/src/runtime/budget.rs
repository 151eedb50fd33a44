//! What a guest may use up, and which limit it hit.

use crate::runtime::ticker::TICK;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// A limit that stopped a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The time for the whole call.
    Time(Duration),
    /// The memory of the instance, in bytes.
    Memory(usize),
    /// The time for the file it was given last.
    FileTime(Duration),
    /// The memory for the file it was given last, in bytes.
    FileMemory(usize),
}

impl std::fmt::Display for Limit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Time(time) => write!(formatter, "{} ms", time.as_millis()),
            Self::Memory(bytes) => write!(formatter, "{} MiB of memory", bytes >> 20),
            Self::FileTime(time) => write!(formatter, "{} ms with one file", time.as_millis()),
            Self::FileMemory(bytes) => write!(formatter, "{} MiB of memory for one file", bytes >> 20),
        }
    }
}

/// Part of a store's state: time and memory of the call that runs.
///
/// Time is counted in ticks that the guest ran, not by the clock: a machine that is busy, or a process that was stopped, is
/// no fault of the guest.
#[derive(Debug)]
pub struct Budget {
    /// Most memory of the instance, in bytes, and what it has.
    memory: usize,
    memory_now: usize,
    call: Duration,
    ticks_left: u128,
    file: Option<FileBudget>,
    hit: Option<Limit>,
}

#[derive(Debug)]
struct FileBudget {
    time: Duration,
    ticks_left: u128,
    memory: usize,
    memory_before: usize,
}

impl Budget {
    pub fn new(memory: usize) -> Self {
        Self { memory, memory_now: 0, call: Duration::ZERO, ticks_left: 0, file: None, hit: None }
    }

    /// Begins a call that may take this long.
    pub fn begin_call(&mut self, time: Duration) {
        self.call = time;
        self.ticks_left = ticks(time);
        self.file = None;
        self.hit = None;
    }

    /// Begins a file that may take this long and add this much memory.
    pub fn begin_file(&mut self, time: Duration, memory: usize) {
        self.file = Some(FileBudget { time, ticks_left: ticks(time), memory, memory_before: self.memory_now });
    }

    /// Called at each tick of a running guest.
    pub fn is_over(&mut self) -> bool {
        self.ticks_left = self.ticks_left.saturating_sub(1);
        if self.ticks_left == 0 {
            self.hit = Some(Limit::Time(self.call));
        }
        if let Some(file) = &mut self.file {
            file.ticks_left = file.ticks_left.saturating_sub(1);
            if file.ticks_left == 0 {
                self.hit = Some(Limit::FileTime(file.time));
            }
        }
        self.hit.is_some()
    }

    pub fn hit(&self) -> Option<Limit> {
        self.hit
    }
}

fn ticks(time: Duration) -> u128 {
    time.as_millis() / TICK.as_millis()
}

impl ResourceLimiter for Budget {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let wanted = self.memory_now.saturating_add(desired.saturating_sub(current));
        let file = self.file.as_ref().filter(|file| wanted - file.memory_before > file.memory);
        self.hit = match file {
            _ if wanted > self.memory => Some(Limit::Memory(self.memory)),
            Some(file) => Some(Limit::FileMemory(file.memory)),
            None => None,
        };
        if self.hit.is_some() {
            // An error stops the guest here; a mere refusal would let it go on and fail in a way of its own.
            return Err(wasmtime::Error::msg("more memory than the guest may have"));
        }
        self.memory_now = wanted;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MOST_TABLE_ELEMENTS)
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

/// Most entries of a table of functions. A Rust guest has a few thousand and never adds any.
const MOST_TABLE_ELEMENTS: usize = 100_000;

/// Most core modules, tables and memories that a component is made of. A Rust guest has about five.
const MOST_PARTS: usize = 100;
