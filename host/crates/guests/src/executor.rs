//! Compiles and runs guests: the wasmtime engine, the cache of compiled code, and the clock of deadlines.

use crate::cache::Cache;
use crate::ticker::Ticker;
use skillcell_artifacts::compiler;
use std::sync::Arc;
use wasmtime::{Config, Engine};

/// Half of a thread's stack.
const CALL_STACK_BYTES: usize = 1 << 20;

/// Lives until the process ends.
pub struct Executor {
    engine: Engine,
    ticker: Ticker,
    cache: Option<Arc<Cache>>,
}

impl Executor {
    /// For engines, which are limited by time and memory.
    pub fn for_engines(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        Self::new(&compiler::config(), cache)
    }

    /// For scorers, which are also limited by fuel.
    pub fn for_scorers(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let mut config = compiler::script_config();
        // They run on the stack of the calling thread.
        config.max_wasm_stack(CALL_STACK_BYTES);
        Self::new(&config, cache)
    }

    /// For scripts and integrations, which are limited by fuel and have stacks of their own.
    pub fn for_scripts(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        Self::new(&compiler::script_config(), cache)
    }

    fn new(config: &Config, cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let engine = Engine::new(config)?;
        Ok(Self { ticker: Ticker::start(engine.clone()), engine, cache })
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn ticker(&self) -> &Ticker {
        &self.ticker
    }

    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_deref()
    }
}
