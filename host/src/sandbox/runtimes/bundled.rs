//! The runtimes in this binary.

use super::{Entry, Guest, Language, LoadError, Runtimes, load};
use crate::bindings::script::ScriptRuntimePre;
use crate::sandbox::files::Files;
use crate::sandbox::files::memory::Memory;
use bashkit_cpython_wasm::{STDLIB_PREFIX, STDLIB_ZIP, STDLIB_ZIP_PATH};
use bytes::Bytes;
use std::sync::Arc;
use wasmtime::component::Component;
use wasmtime::{Caller, Engine, Extern, Linker};

const NO_NETWORK: &str =
    "the python runtime has no network: a `.js` script can use `fetch` with hosts that are granted";

pub fn load(runtimes: &Runtimes, language: Language) -> Result<Guest, LoadError> {
    let loaded = match language {
        Language::Python => python(),
        Language::JavaScript => component(runtimes, skillcell_artifacts::JAVASCRIPT),
        Language::Shell => component(runtimes, skillcell_artifacts::SHELL),
    };
    loaded.map_err(|error| LoadError::Bundled { name: language.name(), reason: format!("{error:#}").into() })
}

/// Puts what CPython needs into the tree of a script.
pub fn lend_library(files: &mut Files) {
    let name = STDLIB_ZIP_PATH.rsplit('/').next().unwrap_or(STDLIB_ZIP_PATH);
    let library = Memory::frozen([(name.to_owned(), Bytes::from_static(STDLIB_ZIP))]);
    files.mount(STDLIB_PREFIX.trim_start_matches('/'), library);
}

fn component(runtimes: &Runtimes, code: &[u8]) -> wasmtime::Result<Guest> {
    #[expect(unsafe_code, reason = "native code, but made by our own build and part of this very binary")]
    // SAFETY: the bytes come from `precompile_component` of the same wasmtime and are never written.
    let component = unsafe { Component::deserialize(&runtimes.engine, code) }?;
    Ok(Guest::Runtime(Arc::new(ScriptRuntimePre::new(runtimes.components.instantiate_pre(&component)?)?)))
}

/// CPython is a core module with settings of its own, and so has an engine of its own.
fn python() -> wasmtime::Result<Guest> {
    let engine = Engine::new(&bashkit_cpython_wasm::engine_config())?;
    let module = bashkit_cpython_wasm::load_module(&engine)?;
    let mut linker = load::module_linker(&engine)?;
    refuse_requests(&mut linker)?;
    Ok(Guest::Module(Arc::new(linker.instantiate_pre(&module)?), Entry::Python))
}

/// CPython's `http.client` asks the host for requests. It is told why there are none.
fn refuse_requests(linker: &mut Linker<crate::sandbox::state::ScriptState>) -> wasmtime::Result<()> {
    type Call<'a> = Caller<'a, crate::sandbox::state::ScriptState>;
    /// The answer that Python turns into a `ConnectionError` with our text.
    const NETWORK_ERROR: i32 = 1;
    let write = |call: &mut Call<'_>, at: u32, bytes: &[u8]| match call.get_export("memory") {
        Some(Extern::Memory(memory)) => memory.write(call, at as usize, bytes).is_ok(),
        _ => false,
    };
    linker.func_wrap("bashkit", "http_request", move |mut call: Call<'_>, _: u32, _: u32, _: i64, length: u32| {
        call.data().denials.note(format!("send a request: {NO_NETWORK}"));
        let size = u32::try_from(NO_NETWORK.len()).expect("a sentence");
        write(&mut call, length, &size.to_le_bytes());
        NETWORK_ERROR
    })?;
    linker.func_wrap("bashkit", "http_take", move |mut call: Call<'_>, into: u32, length: i32| {
        let fits = usize::try_from(length).is_ok_and(|length| length == NO_NETWORK.len());
        i32::from(fits && !write(&mut call, into, NO_NETWORK.as_bytes()))
    })?;
    Ok(())
}
