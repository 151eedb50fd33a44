//! World `scorer`: a component that ranks skills in place of the engine's own scorer.

mod load;
mod prepared;
#[cfg(test)]
mod tests;

pub use load::{Bundled, LoadError, Scorer};
pub use prepared::{Failure, Prepared};

use crate::bindings::log::{self, Level};
use crate::runtime::Runtime;
use crate::runtime::budget::Budget;
use crate::runtime::call::Budgeted;
use crate::sandbox::runtimes::Cache;
use crate::worlds::imports::{self, log_line};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::random::insecure_seed;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// What one call of a scorer may use up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time for an answer.
    pub time: Duration,
    /// Time to begin, or to take in changes: tables that grow take their time. Questions are answered from the generation before
    /// meanwhile; only the first ones after the start wait for it.
    pub update_time: Duration,
    /// Steps, as wasmtime counts them. Whoever takes so many is out of time on most machines.
    pub fuel: u64,
    /// Most memory of the instance, in bytes.
    pub memory: usize,
    /// Most bytes of an answer: a few hundred for each of 100,000 skills.
    pub answer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let [time, update_time] = [80, 500].map(Duration::from_millis);
        Self { time, update_time, fuel: 1_000_000_000, memory: 512 << 20, answer: 48 << 20 }
    }
}

/// What the hash maps of Rust begin with. The same for everybody, so that a scorer has no source of chance.
const SEED: u128 = 0;

/// Most lines that a scorer may log in one call.
const LINES: u32 = 20;

/// Until the process ends: what every scorer is compiled and linked with.
pub struct ScorerWorld {
    runtime: Arc<Runtime>,
    linker: Linker<ScorerState>,
    cache: Option<Arc<Cache>>,
    pub limits: Limits,
}

/// Everything a scorer can reach.
pub struct ScorerState {
    handles: ResourceTable,
    /// Empty: no files, no environment, nowhere to write.
    wasi: WasiCtx,
    lines: Lines,
    budget: Budget,
}

impl ScorerWorld {
    pub fn new(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let runtime = Arc::new(Runtime::metered()?);
        let mut linker = Linker::new(runtime.engine());
        imports::add_to_linker(&mut linker)?;
        log::add_to_linker::<_, Log>(&mut linker, |state: &mut ScorerState| &mut state.lines)?;
        insecure_seed::add_to_linker::<_, WasiRandom>(&mut linker, |state| state.ctx().ctx.random())?;
        Ok(Self { runtime, linker, cache, limits: Limits::default() })
    }
}

impl ScorerState {
    fn new(name: Arc<str>, memory: usize) -> Self {
        Self {
            handles: ResourceTable::new(),
            wasi: WasiCtx::builder().insecure_random_seed(SEED).build(),
            lines: Lines { name, left: 0 },
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

/// The log of a scorer, and how much of it the call that runs may still write.
struct Lines {
    name: Arc<str>,
    left: u32,
}

struct Log;

impl HasData for Log {
    type Data<'state> = &'state mut Lines;
}

impl log::Host for Lines {
    fn write(&mut self, level: Level, line: String) -> wasmtime::Result<()> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(()) };
        self.left = left;
        let (name, line) = (&self.name, log_line(&line));
        match level {
            Level::Debug => tracing::debug!(target: "scorer", "{name}: {line}"),
            Level::Info => tracing::info!(target: "scorer", "{name}: {line}"),
            Level::Warn => tracing::warn!(target: "scorer", "{name}: {line}"),
        }
        if left == 0 {
            tracing::debug!(target: "scorer", "{name}: further lines of this call are dropped");
        }
        Ok(())
    }
}
