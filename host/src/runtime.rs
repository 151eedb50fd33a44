//! Running guests: one compiler setting, one clock for deadlines, one way to call.

pub mod budget;
pub mod call;
pub mod ticker;

use ticker::Ticker;
use wasmtime::{Config, Engine};

/// Half of what a thread has.
const GUEST_STACK: usize = 1 << 20;

/// Until the process ends: the wasmtime engine and the clock that deadlines are measured by.
pub struct Runtime {
    engine: Engine,
    ticker: Ticker,
}

impl Runtime {
    pub fn new() -> wasmtime::Result<Self> {
        Self::with(&skillcell_artifacts::compiler::config())
    }

    /// For guests whose steps are counted.
    pub fn metered() -> wasmtime::Result<Self> {
        let mut config = skillcell_artifacts::compiler::script_config();
        // They run on the stack of the thread that calls them.
        config.max_wasm_stack(GUEST_STACK);
        Self::with(&config)
    }

    fn with(config: &Config) -> wasmtime::Result<Self> {
        let engine = Engine::new(config)?;
        Ok(Self { ticker: Ticker::start(engine.clone()), engine })
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
