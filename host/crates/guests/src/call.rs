//! Calls engines and scorers, synchronously.
//!
//! An instance of these worlds lives for many calls and never waits for anything, so a call runs on the blocking thread of
//! its caller, without the thread, the timeout and the yields of [`run`](crate::run). Its time is counted in ticks during
//! which it ran, not by the clock: a busy machine must not stop an engine. The [`Budget`] in the store's state holds the
//! limits.

use crate::executor::{Executor, TICK};
use crate::run::reason;
use sandbox::limits::memory::Meter;
use std::time::Duration;
use wasmtime::{AsContextMut, ResourceLimiter, Store, UpdateDeadline};

/// A call did not return. The instance must not be used again.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("the {guest} crashed in `{function}`: {}", reason(.source))]
    Crashed { guest: &'static str, function: &'static str, source: wasmtime::Error },
    #[error("the {guest} was stopped in `{function}` after {limit}")]
    Stopped { guest: &'static str, function: &'static str, limit: Limit },
}

/// The state of a store whose guest has a budget.
pub trait Budgeted {
    const GUEST: &'static str;
    fn budget(&mut self) -> &mut Budget;
}

/// Creates a store that stops its guest when the budget is used up.
pub fn store<S: Budgeted + 'static>(executor: &Executor, state: S) -> Store<S> {
    let mut store = Store::new(&executor.engine, state);
    store.limiter(|state| state.budget());
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut store| {
        Ok(if store.data_mut().budget().tick() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
    });
    store
}

/// Calls a guest. The caller has started its budget.
pub fn call<S: Budgeted + 'static, T>(
    executor: &Executor,
    store: &mut Store<S>,
    function: &'static str,
    body: impl FnOnce(&mut Store<S>) -> wasmtime::Result<T>,
) -> Result<T, Broken> {
    let _ticking = executor.ticker.tick();
    store.as_context_mut().set_epoch_deadline(1);
    body(store).map_err(|source| match store.data_mut().budget().hit() {
        Some(limit) => Broken::Stopped { guest: S::GUEST, function, limit },
        None => Broken::Crashed { guest: S::GUEST, function, source },
    })
}

/// A limit that stopped a guest. Memory is in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    #[error("{} ms", .0.as_millis())]
    Time(Duration),
    #[error("{} MiB of memory", .0 >> 20)]
    Memory(usize),
    /// Of the last file it read.
    #[error("{} ms with one file", .0.as_millis())]
    FileTime(Duration),
    #[error("{} MiB of memory for one file", .0 >> 20)]
    FileMemory(usize),
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
