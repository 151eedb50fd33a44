//! CPython: a core module from a separate crate, with its own settings and library.

use super::{Guest, module_linker};
use bashkit_cpython_wasm::{STDLIB_PREFIX, STDLIB_ZIP, STDLIB_ZIP_PATH};
use bytes::Bytes;
use sandbox::denials::Denial;
use sandbox::files::Files;
use sandbox::files::memory::Memory;
use sandbox::state::ScriptState;
use std::sync::Arc;
use wasmtime::{Caller, Engine, Extern, Linker};

const NO_NETWORK: &str =
    "the python runtime has no network: a `.js` script can use `fetch` with hosts that are granted";

/// Mounts the standard library in the file tree of a script.
pub fn mount_stdlib(files: &mut Files) {
    let name = STDLIB_ZIP_PATH.rsplit('/').next().unwrap_or(STDLIB_ZIP_PATH);
    let library = Memory::frozen([(name.to_owned(), Bytes::from_static(STDLIB_ZIP))]);
    files.mount(STDLIB_PREFIX.trim_start_matches('/'), library);
}

pub fn load() -> wasmtime::Result<Guest> {
    let engine = Engine::new(&bashkit_cpython_wasm::engine_config())?;
    let module = bashkit_cpython_wasm::load_module(&engine)?;
    let mut linker = module_linker(&engine)?;
    deny_requests(&mut linker)?;
    Ok(Guest::CPython(Arc::new(linker.instantiate_pre(&module)?)))
}

/// CPython's `http.client` asks the host to send requests. Each one fails with an explanation.
fn deny_requests(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    type Call<'a> = Caller<'a, ScriptState>;
    /// Python raises a `ConnectionError` with the text.
    const NETWORK_ERROR: i32 = 1;
    let write = |call: &mut Call<'_>, at: u32, bytes: &[u8]| match call.get_export("memory") {
        Some(Extern::Memory(memory)) => memory.write(call, at as usize, bytes).is_ok(),
        _ => false,
    };
    linker.func_wrap("bashkit", "http_request", move |mut call: Call<'_>, _: u32, _: u32, _: i64, length: u32| {
        call.data().granted.denials.note(Denial::NoNetwork("send a request", NO_NETWORK));
        let size = u32::try_from(NO_NETWORK.len()).expect("a short text");
        write(&mut call, length, &size.to_le_bytes());
        NETWORK_ERROR
    })?;
    linker.func_wrap("bashkit", "http_take", move |mut call: Call<'_>, into: u32, length: i32| {
        let fits = usize::try_from(length).is_ok_and(|length| length == NO_NETWORK.len());
        i32::from(fits && !write(&mut call, into, NO_NETWORK.as_bytes()))
    })?;
    Ok(())
}
