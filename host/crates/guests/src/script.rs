//! World `script-runtime`: runs scripts, in an interpreter or, if they are WebAssembly, by themselves.

mod cpython;
mod load;
mod nested;
mod run;

pub use bashkit_cpython_wasm::PYTHON_VERSION;
pub use cpython::{argv as python_argv, mount as mount_python};
pub use load::Role;
pub use run::{Finished, Job};

use crate::cache::NativeCode;
use crate::executor::Executor;
use crate::imports;
use crate::load::{LoadError, World};
use base::digest::Sha256;
use bindings::script::ScriptRuntimePre;
use sandbox::p2::{FilesData, bindings as files};
use sandbox::state::ScriptState;
use sandbox::{gate, p1};
use skillcell_artifacts::RUNTIMES;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use wasmtime::component::{self, Component};
use wasmtime::{Engine, InstancePre, Linker, Store};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView as _};
use wasmtime_wasi::p2::bindings::{CommandPre, clocks, random, sockets};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};
use wasmtime_wasi::{I32Exit, WasiView as _};

/// A bundled runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language(usize);

impl Language {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..RUNTIMES.len()).map(Self)
    }

    pub fn name(self) -> &'static str {
        RUNTIMES[self.0].name
    }

    /// The extensions of its scripts, with the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        RUNTIMES[self.0].extensions
    }

    /// Finds a runtime by its name, or by the command that other servers start.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|language| language.name() == name || RUNTIMES[language.0].aliases.contains(&name))
    }

    /// CPython comes in a separate crate, and needs its library among the files of a script.
    pub fn is_cpython(self) -> bool {
        RUNTIMES[self.0].is_cpython
    }

    /// Native code for this target, as it is embedded.
    pub fn compressed(self) -> &'static [u8] {
        RUNTIMES[self.0].compressed
    }

    fn code(self) -> io::Result<NativeCode> {
        RUNTIMES[self.0].code().map(NativeCode::bundled)
    }
}

/// Compiles, links and runs scripts. Lives until the process ends.
pub struct ScriptWorld {
    /// For the imports that start another guest.
    this: Weak<Self>,
    executor: Arc<Executor>,
    components: component::Linker<ScriptState>,
    modules: Linker<ScriptState>,
    bundled: Vec<OnceLock<Result<Guest, LoadError>>>,
    loaded: Mutex<HashMap<Sha256, Guest>>,
}

/// Compiled and linked, not running. Lives until its file changes.
#[derive(Clone)]
pub enum Guest {
    /// A component that interprets scripts.
    Runtime(Arc<ScriptRuntimePre<ScriptState>>),
    /// A script that is a component.
    Command(Arc<CommandPre<ScriptState>>),
    /// A script that is a core module. Ends by returning or by `proc_exit`.
    Module(Arc<InstancePre<ScriptState>>),
    /// A core module that returns an exit code.
    CPython(Arc<InstancePre<ScriptState>>),
}

impl Guest {
    /// Whether the script is WebAssembly, and runs by itself.
    fn is_program(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Module(_))
    }

    fn engine(&self) -> &Engine {
        match self {
            Self::Runtime(ready) => ready.engine(),
            Self::Command(ready) => ready.engine(),
            Self::Module(ready) | Self::CPython(ready) => ready.module().engine(),
        }
    }

    /// Runs a script in a fresh instance. Returns its exit code.
    async fn call(&self, store: &mut Store<ScriptState>, file: &str) -> wasmtime::Result<i32> {
        self.start(store, file).await.or_else(|error| match error.downcast_ref() {
            // A code that does not fit is not a success.
            Some(I32Exit(code)) => Ok(u8::try_from(*code).unwrap_or(u8::MAX).into()),
            None => Err(error),
        })
    }

    async fn start(&self, store: &mut Store<ScriptState>, file: &str) -> wasmtime::Result<i32> {
        match self {
            Self::Runtime(ready) => {
                let runtime = ready.instantiate_async(&mut *store).await?;
                Ok(runtime.skillcell_plugin_script().call_run(store, file).await?.into())
            }
            Self::Command(ready) => {
                let command = ready.instantiate_async(&mut *store).await?;
                Ok(i32::from(command.wasi_cli_run().call_run(store).await?.is_err()))
            }
            Self::Module(ready) => {
                let instance = ready.instantiate_async(&mut *store).await?;
                instance.get_typed_func::<(), ()>(&mut *store, "_start")?.call_async(store, ()).await?;
                Ok(0)
            }
            Self::CPython(ready) => {
                let instance = ready.instantiate_async(&mut *store).await?;
                instance.get_typed_func::<(), i32>(&mut *store, "bashkit_run")?.call_async(store, ()).await
            }
        }
    }
}

impl ScriptWorld {
    /// `executor` is made by [`Executor::for_scripts`].
    pub fn new(executor: Arc<Executor>) -> wasmtime::Result<Arc<Self>> {
        let (mut components, modules) = (component_linker(&executor.engine)?, module_linker(&executor.engine)?);
        let mut failure = None;
        let world = Arc::new_cyclic(|this| {
            failure = nested::add_to_linker(&mut components, this.clone()).err();
            let bundled = RUNTIMES.iter().map(|_| OnceLock::new()).collect();
            Self { this: this.clone(), executor, components, modules, bundled, loaded: Mutex::default() }
        });
        failure.map_or(Ok(world), Err)
    }

    /// Returns a bundled runtime. The first call loads it, which takes some 50 ms.
    pub fn bundled(&self, language: Language) -> Result<Guest, LoadError> {
        let load = || {
            let code = language.code()?;
            if language.is_cpython() {
                return cpython::load(&code, &self.this);
            }
            self.link_runtime(&code.component(&self.executor.engine)?)
        };
        let load = || load().map_err(|error| World::SCRIPT_RUNTIME.bundled_error(language.name(), &error));
        self.bundled[language.0].get_or_init(load).clone()
    }

    fn link_runtime(&self, component: &Component) -> wasmtime::Result<Guest> {
        let ready = ScriptRuntimePre::new(self.components.instantiate_pre(component)?)?;
        Ok(Guest::Runtime(Arc::new(ready)))
    }
}

/// What a component can import: all of `wasi:cli/imports`, with the sandbox's own files, and HTTP through the gate. Sockets can be
/// imported, but every use is denied.
fn component_linker(engine: &Engine) -> wasmtime::Result<component::Linker<ScriptState>> {
    let mut linker = component::Linker::new(engine);
    let l = &mut linker;
    imports::add_async(l)?;
    files::types::add_to_linker::<_, FilesData>(l, ScriptState::files)?;
    files::preopens::add_to_linker::<_, FilesData>(l, ScriptState::files)?;
    clocks::wall_clock::add_to_linker::<_, WasiClocks>(l, ScriptState::clocks)?;
    clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(l, ScriptState::clocks)?;
    random::random::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    sockets::tcp::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::udp::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::udp_create_socket::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::instance_network::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    let options = sockets::network::LinkOptions::default();
    sockets::network::add_to_linker::<_, WasiSockets>(l, &options, ScriptState::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    gate::add_to_linker(l)?;
    Ok(linker)
}

/// What a core module can import: WASI 0.1.
fn module_linker(engine: &Engine) -> wasmtime::Result<Linker<ScriptState>> {
    let mut linker = Linker::new(engine);
    p1::add_to_linker(&mut linker)?;
    Ok(linker)
}
