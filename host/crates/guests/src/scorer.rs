//! World `scorer`: ranks skills instead of the engine's own scorer.

mod load;
mod prepared;
#[cfg(test)]
mod tests;

pub use load::{Bundled, Scorer};
pub use prepared::{Failure, Prepared};

use crate::budget::Budget;
use crate::cache::Cache;
use crate::call::Budgeted;
use crate::executor::Executor;
use crate::imports::{self, log_guest, log_line};
use bindings::log::{self, Level};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::random::insecure_seed;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// The limits of a scorer. All but `memory` apply to one call.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The time of a `score`.
    pub time: Duration,
    /// The time to start, and of an `update`. It delays only the first answers after the start: later ones come from the
    /// previous generation meanwhile.
    pub update_time: Duration,
    /// A call that uses this much is out of time on most machines.
    pub fuel: u64,
    /// The memory of the instance, in bytes.
    pub memory: usize,
    /// The size of an answer, in bytes: a few hundred for each of 100,000 skills.
    pub answer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let [time, update_time] = [80, 500].map(Duration::from_millis);
        Self { time, update_time, fuel: 1_000_000_000, memory: 512 << 20, answer: 48 << 20 }
    }
}

/// Seeds the hash maps of Rust. Fixed, so that a scorer has no source of random numbers.
const SEED: u128 = 0;

/// Log messages of one call.
const MAX_LOG_LINES: u32 = 20;

/// Compiles and links scorers. Lives until the process ends.
pub struct ScorerWorld {
    executor: Arc<Executor>,
    linker: Linker<ScorerState>,
    pub limits: Limits,
}

/// Everything that a scorer can reach.
pub struct ScorerState {
    handles: ResourceTable,
    /// Empty: no files, no environment, no output.
    wasi: WasiCtx,
    log: LimitedLog,
    budget: Budget,
}

impl ScorerWorld {
    pub fn new(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let executor = Arc::new(Executor::for_scorers(cache)?);
        let mut linker = Linker::new(executor.engine());
        imports::add_sync(&mut linker)?;
        log::add_to_linker::<_, Log>(&mut linker, |state: &mut ScorerState| &mut state.log)?;
        insecure_seed::add_to_linker::<_, WasiRandom>(&mut linker, |state| state.ctx().ctx.random())?;
        Ok(Self { executor, linker, limits: Limits::default() })
    }
}

impl ScorerState {
    fn new(name: Arc<str>, memory: usize) -> Self {
        Self {
            handles: ResourceTable::new(),
            wasi: WasiCtx::builder().insecure_random_seed(SEED).build(),
            log: LimitedLog { name, lines_left: 0 },
            budget: Budget::new(memory),
        }
    }
}

impl Budgeted for ScorerState {
    const GUEST: &'static str = "scorer";
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }
}

impl WasiView for ScorerState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.handles }
    }
}

/// The log of a scorer, and how much the current call may still write.
struct LimitedLog {
    name: Arc<str>,
    lines_left: u32,
}

struct Log;

impl HasData for Log {
    type Data<'state> = &'state mut LimitedLog;
}

impl log::Host for LimitedLog {
    fn write(&mut self, level: Level, line: String) -> wasmtime::Result<()> {
        let Some(left) = self.lines_left.checked_sub(1) else { return Ok(()) };
        self.lines_left = left;
        let name = &self.name;
        log_guest!("scorer", level, "{name}: {}", log_line(&line));
        if left == 0 {
            tracing::debug!(target: "scorer", "{name}: further messages of this call are dropped");
        }
        Ok(())
    }
}
