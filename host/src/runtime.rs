//! Running guests: one compiler setting, one clock for deadlines, one way to call.

pub mod budget;
pub mod call;
pub mod ticker;

use ticker::Ticker;
use wasmtime::Engine;

/// Until the process ends: the wasmtime engine and the clock that deadlines are measured by.
pub struct Runtime {
    engine: Engine,
    ticker: Ticker,
}

impl Runtime {
    pub fn new() -> wasmtime::Result<Self> {
        let engine = Engine::new(&skillcell_artifacts::compiler::config())?;
        Ok(Self { ticker: Ticker::start(engine.clone()), engine })
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
