//! Compiling and linking guests that come from files.

use super::cache::{self, Code};
use super::{Entry, Guest, Runtimes};
use crate::bindings::script::ScriptRuntimePre;
use crate::bindings::wasi_files;
use crate::sandbox::gate;
use crate::sandbox::p1;
use crate::sandbox::p2::FilesData;
use crate::sandbox::state::ScriptState;
use crate::sha256::Sha256;
use std::sync::Arc;
use wasmtime::component::{self, Component, HasData, ResourceTable};
use wasmtime::{Engine, Linker, Module};
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView as _};
use wasmtime_wasi::p2::bindings::{CommandPre, cli, clocks, io, random, sockets};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};

/// Largest component that the operator may name, in bytes. A whole JavaScript engine has less than ten million.
pub const LARGEST_RUNTIME: u64 = 32 << 20;

/// Largest script that is WebAssembly, in bytes.
pub const LARGEST_PROGRAM: u64 = 8 << 20;

/// Largest function, in bytes. The compiler takes much more memory and time for one large function than for many small ones;
/// the main loop of an interpreter has about a quarter of this.
const LARGEST_FUNCTION: usize = 512 << 10;

/// The export that makes a component a runtime.
const SCRIPT: &str = "skillcell:plugin/script@0.1.0";

/// Why a guest cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    #[error("the {name} runtime in this binary does not load: {reason}")]
    Bundled { name: &'static str, reason: Arc<str> },
    #[error("it is no WebAssembly component or module")]
    NotWebAssembly,
    #[error("it has {size} bytes, and the limit is {limit}")]
    TooLarge { size: u64, limit: u64 },
    #[error("it has a function of {size} bytes, and the limit is {LARGEST_FUNCTION}")]
    LargeFunction { size: usize },
    #[error("compiling it was given up")]
    GivenUp,
    #[error("it is not valid WebAssembly: {0}")]
    Invalid(Arc<str>),
    #[error("it is no script-runtime: it does not export `{SCRIPT}`")]
    NoRuntime,
    #[error("it is no program: it exports neither `wasi:cli/run` nor `_start`")]
    NoProgram,
    #[error("it needs something that scripts do not have: {0}")]
    Misfit(Arc<str>),
}

/// What a file of WebAssembly is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It interprets scripts.
    Runtime,
    /// It is the script.
    Program,
}

impl Role {
    /// The most bytes that are read and compiled.
    pub fn largest(self) -> u64 {
        match self {
            Self::Runtime => LARGEST_RUNTIME,
            Self::Program => LARGEST_PROGRAM,
        }
    }
}

impl Runtimes {
    /// A guest that is ready, without any work.
    pub fn ready(&self, digest: &Sha256, role: Role) -> Option<Guest> {
        self.kept(digest).filter(|guest| guest.fits(role))
    }

    /// A guest from the bytes of a file. Compiles them unless that was done before, which can take seconds: not for a
    /// thread that answers requests.
    pub fn load(&self, bytes: &[u8], digest: Sha256, role: Role) -> Result<Guest, LoadError> {
        if let Some(guest) = self.ready(&digest, role) {
            return Ok(guest);
        }
        let (size, limit) = (bytes.len() as u64, role.largest());
        if size > limit {
            return Err(LoadError::TooLarge { size, limit });
        }
        check_functions(bytes)?;
        let guest = match (bytes.get(..8), role) {
            (Some(b"\0asm\x0d\0\x01\0"), Role::Runtime) => {
                let component = self.component(bytes, &digest)?;
                let ready = self.components.instantiate_pre(&component).map_err(misfit)?;
                Guest::Runtime(Arc::new(ScriptRuntimePre::new(ready).map_err(|_| LoadError::NoRuntime)?))
            }
            (Some(b"\0asm\x0d\0\x01\0"), Role::Program) => {
                let component = self.component(bytes, &digest)?;
                let ready = self.components.instantiate_pre(&component).map_err(misfit)?;
                Guest::Command(Arc::new(CommandPre::new(ready).map_err(|_| LoadError::NoProgram)?))
            }
            (Some(b"\0asm\x01\0\0\0"), Role::Program) => {
                let module = self.module(bytes, &digest)?;
                if module.get_export("_start").and_then(|export| export.func().cloned()).is_none() {
                    return Err(LoadError::NoProgram);
                }
                Guest::Module(Arc::new(self.modules.instantiate_pre(&module).map_err(misfit)?), Entry::Start)
            }
            (Some(b"\0asm\x01\0\0\0"), Role::Runtime) => return Err(LoadError::NoRuntime),
            _ => return Err(LoadError::NotWebAssembly),
        };
        self.keep(digest, &guest);
        Ok(guest)
    }

    fn component(&self, bytes: &[u8], digest: &Sha256) -> Result<Component, LoadError> {
        let compile = |engine: &Engine| engine.precompile_component(bytes);
        let open = |code: Code| code.component(&self.engine);
        cache::compiled(self.cache.as_deref(), &self.engine, digest, compile, open).map_err(invalid)
    }

    fn module(&self, bytes: &[u8], digest: &Sha256) -> Result<Module, LoadError> {
        let compile = |engine: &Engine| engine.precompile_module(bytes);
        let open = |code: Code| code.module(&self.engine);
        cache::compiled(self.cache.as_deref(), &self.engine, digest, compile, open).map_err(invalid)
    }
}

impl Guest {
    fn fits(&self, role: Role) -> bool {
        matches!((self, role), (Self::Runtime(_), Role::Runtime) | (Self::Command(_) | Self::Module(..), Role::Program))
    }
}

/// Refuses what the compiler would take too long for.
pub fn check_functions(bytes: &[u8]) -> Result<(), LoadError> {
    for part in wasmparser::Parser::new(0).parse_all(bytes) {
        let part = part.map_err(|error| LoadError::Invalid(error.message().into()))?;
        if let wasmparser::Payload::CodeSectionEntry(body) = part {
            let size = body.range().len();
            if size > LARGEST_FUNCTION {
                return Err(LoadError::LargeFunction { size });
            }
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn invalid(error: wasmtime::Error) -> LoadError {
    LoadError::Invalid(error.root_cause().to_string().into())
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn misfit(error: wasmtime::Error) -> LoadError {
    LoadError::Misfit(error.to_string().into())
}

/// What components may import: all of `wasi:cli/imports`, with our own files, and HTTP through the gate. Sockets are there
/// and are all refused.
pub fn component_linker(engine: &Engine) -> wasmtime::Result<component::Linker<ScriptState>> {
    let mut linker = component::Linker::new(engine);
    let l = &mut linker;
    io::error::add_to_linker::<ScriptState, Streams>(l, |state| state.ctx().table)?;
    io::poll::add_to_linker::<ScriptState, Streams>(l, |state| state.ctx().table)?;
    io::streams::add_to_linker::<ScriptState, Streams>(l, |state| state.ctx().table)?;
    wasi_files::types::add_to_linker::<_, FilesData>(l, ScriptState::files)?;
    wasi_files::preopens::add_to_linker::<_, FilesData>(l, ScriptState::files)?;
    clocks::wall_clock::add_to_linker::<_, WasiClocks>(l, ScriptState::clocks)?;
    clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(l, ScriptState::clocks)?;
    random::random::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    cli::exit::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::environment::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::stdin::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::stdout::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::stderr::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::terminal_stdin::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::terminal_stdout::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    cli::terminal_stderr::add_to_linker::<_, WasiCli>(l, ScriptState::cli)?;
    sockets::tcp::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::udp::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::udp_create_socket::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::instance_network::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    sockets::network::add_to_linker::<_, WasiSockets>(
        l,
        &sockets::network::LinkOptions::default(),
        ScriptState::sockets,
    )?;
    sockets::ip_name_lookup::add_to_linker::<_, WasiSockets>(l, ScriptState::sockets)?;
    gate::add_to_linker(l)?;
    Ok(linker)
}

/// Marks the data of the `wasi:io` import for the linker.
struct Streams;

impl HasData for Streams {
    type Data<'state> = &'state mut ResourceTable;
}

/// What core modules may import: WASI 0.1.
pub fn module_linker(engine: &Engine) -> wasmtime::Result<Linker<ScriptState>> {
    let mut linker = Linker::new(engine);
    p1::add_to_linker(&mut linker)?;
    Ok(linker)
}
