//! Compiles and runs guests: the wasmtime engine, the cache of compiled code, and the clock of deadlines.

use crate::cache::Cache;
use skillcell_artifacts::compiler;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use wasmtime::{Config, Engine, OptLevel};

/// The interval between two checks of a deadline.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Half of a thread's stack.
const CALL_STACK_BYTES: usize = 1 << 20;

/// Of the image of a memory that is mostly empty. A denser one is at most twice as large as its data.
const MAX_SPARSE_IMAGE_BYTES: u64 = 1 << 20;

/// Lives until the process ends.
pub struct Executor {
    pub(crate) engine: Engine,
    pub(crate) ticker: Arc<Ticker>,
    pub(crate) cache: Option<Arc<Cache>>,
    content_compiler: OnceLock<Engine>,
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
        Ok(Self { ticker: Ticker::start(engine.clone()), engine, cache, content_compiler: OnceLock::new() })
    }

    /// Compiles programs of skills. Takes one thread, and leaves out the optimizations, whose cost is harder to bound; what it
    /// makes runs in the engine for scripts.
    pub(crate) fn content_compiler(&self) -> &Engine {
        self.content_compiler.get_or_init(|| {
            let mut config = compiler::script_config();
            config.cranelift_opt_level(OptLevel::None);
            config.parallel_compilation(false);
            config.memory_guaranteed_dense_image_size(MAX_SPARSE_IMAGE_BYTES);
            Engine::new(&config).expect("the settings of the engine for scripts, which was created")
        })
    }
}

/// Advances the epoch of an engine while guests run, which makes them check their deadlines. Its thread sleeps while none
/// runs, so that an idle server does not wake the machine. It is woken only from that sleep, because calls of a guest may
/// take no longer than waking a thread.
#[derive(Default)]
pub(crate) struct Ticker {
    state: Mutex<TickerState>,
    started: Condvar,
}

#[derive(Default)]
struct TickerState {
    running: usize,
    is_asleep: bool,
}

/// Keeps the clock ticking until it is dropped.
pub(crate) struct Ticking<'ticker>(&'ticker Ticker);

impl Ticker {
    fn start(engine: Engine) -> Arc<Self> {
        let ticker = Arc::new(Self::default());
        let of_thread = Arc::clone(&ticker);
        let run = move || loop {
            let mut state = of_thread.state();
            while state.running == 0 {
                state.is_asleep = true;
                state = of_thread.started.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_asleep = false;
            drop(state);
            std::thread::park_timeout(TICK);
            engine.increment_epoch();
        };
        std::thread::Builder::new().name("ticker".to_owned()).spawn(run).expect("the system can start a thread");
        ticker
    }

    pub fn tick(&self) -> Ticking<'_> {
        let mut state = self.state();
        state.running += 1;
        let is_asleep = std::mem::take(&mut state.is_asleep);
        drop(state);
        if is_asleep {
            self.started.notify_one();
        }
        Ticking(self)
    }

    fn state(&self) -> MutexGuard<'_, TickerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}
