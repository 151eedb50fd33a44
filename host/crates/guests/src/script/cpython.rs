//! CPython: a core module from a separate crate, with its own settings and library.
//!
//! The module starts from a snapshot in which most of the standard library is loaded. What it lacks is in `cpython/lib`: nested runs, and
//! stand-ins for modules that need processes or sockets. Scripts that can need them start with `cpython/boot.py`, which adds
//! that folder; others save the time.

mod bridge;
mod http;
mod imports;
mod nested;

use super::{Guest, ScriptWorld, module_linker};
use crate::cache::NativeCode;
use bashkit_cpython_wasm::{STDLIB_PREFIX, STDLIB_ZIP, STDLIB_ZIP_PATH};
use bytes::Bytes;
use sandbox::files::Files;
use sandbox::files::memory::Memory;
use std::sync::{Arc, Weak};
use wasmtime::Engine;

const BOOT: &str = include_str!("cpython/boot.py");

/// By path below the folder that `boot.py` adds.
const LIBRARY: &[(&str, &str)] = &[
    ("_nested.py", include_str!("cpython/lib/_nested.py")),
    ("_futures/process.py", include_str!("cpython/lib/_futures/process.py")),
    ("_futures/thread.py", include_str!("cpython/lib/_futures/thread.py")),
    ("_http/server.py", include_str!("cpython/lib/_http/server.py")),
    ("multiprocessing.py", include_str!("cpython/lib/multiprocessing.py")),
    ("socketserver.py", include_str!("cpython/lib/socketserver.py")),
    ("ssl.py", include_str!("cpython/lib/ssl.py")),
    ("unittest/__init__.py", include_str!("cpython/lib/unittest/__init__.py")),
    ("unittest/mock.py", include_str!("cpython/lib/unittest/mock.py")),
    ("webbrowser.py", include_str!("cpython/lib/webbrowser.py")),
];

/// Mounts the library in the file tree of a script, unless it is there already.
pub fn mount(files: &mut Files) {
    let at = STDLIB_PREFIX.trim_start_matches('/');
    if !files.is_mounted(at) {
        let name = STDLIB_ZIP_PATH.rsplit('/').next().unwrap_or(STDLIB_ZIP_PATH);
        let stdlib = (name.to_owned(), Bytes::from_static(STDLIB_ZIP));
        let own = LIBRARY.iter().map(|(name, text)| (format!("skillcell/{name}"), Bytes::from_static(text.as_bytes())));
        files.mount(at, Memory::frozen(own.chain([stdlib])));
    }
}

/// Returns the command line for the arguments of `python3`, of which the first is a script with this source.
pub fn argv(arguments: &[String], source: Option<&[u8]>) -> Vec<String> {
    let boot: &[&str] = if source.is_some_and(imports::are_plain) { &[] } else { &["-c", BOOT] };
    ["python3"].iter().chain(boot).map(|text| (*text).to_owned()).chain(arguments.iter().cloned()).collect()
}

pub fn load(code: &NativeCode, world: &Weak<ScriptWorld>) -> wasmtime::Result<Guest> {
    let engine = Engine::new(&bashkit_cpython_wasm::engine_config())?;
    let module = code.module(&engine)?;
    let mut linker = module_linker(&engine)?;
    bridge::add_to_linker(&mut linker, world.clone())?;
    Ok(Guest::CPython(Arc::new(linker.instantiate_pre(&module)?)))
}
