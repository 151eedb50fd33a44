//! The guests that run scripts: the runtimes in this binary, those the operator names, and scripts that are WebAssembly.

mod bundled;
pub mod cache;
mod load;

pub use bundled::lend_library;
pub use cache::Cache;
pub use load::{LoadError, Role, check_functions};

use crate::bindings::script::ScriptRuntimePre;
use crate::runtime::ticker::Ticker;
use crate::sandbox::state::ScriptState;
use crate::sha256::Sha256;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wasmtime::{Engine, InstancePre, Linker, Store, component};
use wasmtime_wasi::p2::bindings::CommandPre;

/// Most guests from files that are kept ready.
const MOST_KEPT: usize = 32;

/// A language that this binary can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    Shell,
}

impl Language {
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Shell => "shell",
        }
    }

    /// By its own name, or by the command that other servers start.
    pub fn called(name: &str) -> Option<Self> {
        match name {
            "python" | "python3" => Some(Self::Python),
            "javascript" | "node" | "npx tsx" | "tsx" => Some(Self::JavaScript),
            "shell" | "bash" | "sh" => Some(Self::Shell),
            _ => None,
        }
    }
}

/// Until the process ends: the wasmtime engines, what guests may import, and the guests loaded so far.
pub struct Runtimes {
    engine: Engine,
    ticker: Arc<Ticker>,
    components: component::Linker<ScriptState>,
    modules: Linker<ScriptState>,
    bundled: [OnceLock<Result<Guest, LoadError>>; 3],
    loaded: Mutex<HashMap<Sha256, Guest>>,
    cache: Option<Arc<Cache>>,
}

/// Until its file changes: compiled and linked, not running.
#[derive(Clone)]
pub enum Guest {
    /// A component that interprets scripts.
    Runtime(Arc<ScriptRuntimePre<ScriptState>>),
    /// A script that is a component itself.
    Command(Arc<CommandPre<ScriptState>>),
    /// A core module: CPython, or a script.
    Module(Arc<InstancePre<ScriptState>>, Entry),
}

/// Where a core module begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Ends by returning or by `proc_exit`.
    Start,
    /// Returns an exit code.
    Python,
}

impl Guest {
    pub fn engine(&self) -> &Engine {
        match self {
            Self::Runtime(ready) => ready.engine(),
            Self::Command(ready) => ready.engine(),
            Self::Module(ready, _) => ready.module().engine(),
        }
    }

    /// Begins and runs to the end, with a fresh instance. Returns the exit code.
    pub async fn call(&self, store: &mut Store<ScriptState>, file: &str) -> wasmtime::Result<i32> {
        match self {
            Self::Runtime(ready) => {
                let runtime = ready.instantiate_async(&mut *store).await?;
                Ok(runtime.skillcell_plugin_script().call_run(store, file).await?.into())
            }
            Self::Command(ready) => {
                let command = ready.instantiate_async(&mut *store).await?;
                Ok(i32::from(command.wasi_cli_run().call_run(store).await?.is_err()))
            }
            Self::Module(ready, entry) => {
                let instance = ready.instantiate_async(&mut *store).await?;
                match entry {
                    Entry::Start => {
                        let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
                        start.call_async(store, ()).await?;
                        Ok(0)
                    }
                    Entry::Python => {
                        let run = instance.get_typed_func::<(), i32>(&mut *store, "bashkit_run")?;
                        run.call_async(store, ()).await
                    }
                }
            }
        }
    }
}

impl Runtimes {
    pub fn new(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let engine = Engine::new(&skillcell_artifacts::compiler::script_config())?;
        Ok(Self {
            ticker: Arc::new(Ticker::start(engine.clone())),
            components: load::component_linker(&engine)?,
            modules: load::module_linker(&engine)?,
            engine,
            bundled: Default::default(),
            loaded: Mutex::default(),
            cache,
        })
    }

    /// What components are compiled with.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The clock by which guests come up for air.
    pub fn ticker(&self) -> Arc<Ticker> {
        Arc::clone(&self.ticker)
    }

    /// A runtime of this binary. The first call loads it, which takes some milliseconds.
    pub fn bundled(&self, language: Language) -> Result<Guest, LoadError> {
        self.bundled[language as usize].get_or_init(|| bundled::load(self, language)).clone()
    }

    fn kept(&self, digest: &Sha256) -> Option<Guest> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned()
    }

    fn keep(&self, digest: Sha256, guest: &Guest) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.len() >= MOST_KEPT {
            loaded.clear();
        }
        loaded.insert(digest, guest.clone());
    }
}
