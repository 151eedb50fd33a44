//! The time and memory of a synchronous call, and which limit it hit.

use crate::ticker::TICK;
use sandbox::meter::Meter;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// A limit that stopped a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The time of the whole call.
    Time(Duration),
    /// The memory of the instance, in bytes.
    Memory(usize),
    /// The time for the last file it read.
    FileTime(Duration),
    /// The memory for the last file it read, in bytes.
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

/// Part of a store's state: what the current call may still use.
#[derive(Debug)]
pub struct Budget {
    meter: Meter,
    call: Countdown,
    file: Option<FileBudget>,
    hit: Option<Limit>,
}

#[derive(Debug)]
struct FileBudget {
    time: Countdown,
    memory: usize,
    memory_before: usize,
}

/// Time in ticks.
#[derive(Debug)]
struct Countdown {
    time: Duration,
    ticks_left: u128,
}

impl Countdown {
    fn new(time: Duration) -> Self {
        Self { time, ticks_left: time.as_millis() / TICK.as_millis() }
    }

    /// Returns whether the time is over.
    fn tick(&mut self) -> bool {
        self.ticks_left = self.ticks_left.saturating_sub(1);
        self.ticks_left == 0
    }
}

impl Budget {
    pub fn new(memory: usize) -> Self {
        Self { meter: Meter::new(memory), call: Countdown::new(Duration::ZERO), file: None, hit: None }
    }

    pub fn start_call(&mut self, time: Duration) {
        self.call = Countdown::new(time);
        self.file = None;
        self.hit = None;
    }

    /// Limits the time and the additional memory of one file, until the next file or call.
    pub fn start_file(&mut self, time: Duration, memory: usize) {
        self.file = Some(FileBudget { time: Countdown::new(time), memory, memory_before: self.meter.total() });
    }

    /// Counts a tick of the running guest. Returns whether it has to stop.
    pub fn tick(&mut self) -> bool {
        if self.call.tick() {
            self.hit = Some(Limit::Time(self.call.time));
        }
        if let Some(file) = &mut self.file
            && file.time.tick()
        {
            self.hit = Some(Limit::FileTime(file.time.time));
        }
        self.hit.is_some()
    }

    pub fn hit(&self) -> Option<Limit> {
        self.hit.or(self.meter.was_hit().then_some(Limit::Memory(self.meter.limit())))
    }
}

impl ResourceLimiter for Budget {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let grown = self.meter.memory_growing(current, desired, maximum)?;
        if let Some(file) = &self.file
            && self.meter.total() - file.memory_before > file.memory
        {
            self.hit = Some(Limit::FileMemory(file.memory));
            return Err(wasmtime::Error::msg("the memory limit of one file is exceeded"));
        }
        Ok(grown)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.meter.table_growing(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        self.meter.instances()
    }

    fn tables(&self) -> usize {
        self.meter.tables()
    }

    fn memories(&self) -> usize {
        self.meter.memories()
    }
}
