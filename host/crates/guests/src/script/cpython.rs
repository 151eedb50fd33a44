//! CPython: a core module from a separate crate, with its own settings and library.

mod http;

use super::{Guest, module_linker};
use bashkit_cpython_wasm::{STDLIB_PREFIX, STDLIB_ZIP, STDLIB_ZIP_PATH};
use bytes::Bytes;
use sandbox::files::Files;
use sandbox::files::memory::Memory;
use std::sync::Arc;
use wasmtime::Engine;

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
    http::add_to_linker(&mut linker)?;
    Ok(Guest::CPython(Arc::new(linker.instantiate_pre(&module)?)))
}
