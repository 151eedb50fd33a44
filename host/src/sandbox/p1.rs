//! WASI 0.1 for core modules: CPython, and `.wasm` scripts of the older kind. A thin translation of [`super::files`].
//!
//! Pointers and lengths come from the guest and may be anything; outside its memory they are answered with `EFAULT`.

mod bytes;
mod descriptors;
mod numbers;
mod paths;
mod system;

pub use descriptors::Descriptors;

use crate::sandbox::state::ScriptState;
use crate::sandbox::stop::Over;
use bytes::GuestBytes;
use numbers::Errno;
use wasmtime::{Caller, Extern, Linker};

const MODULE: &str = "wasi_snapshot_preview1";

/// Everything a module may import from WASI 0.1.
pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    descriptors::add_to_linker(linker)?;
    paths::add_to_linker(linker)?;
    system::add_to_linker(linker)
}

/// Runs the body of an import with the guest's memory and our state side by side.
fn with(
    caller: &mut Caller<'_, ScriptState>,
    body: impl FnOnce(&mut GuestBytes<'_>, &mut ScriptState) -> Result<(), Errno>,
) -> wasmtime::Result<i32> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        return Err(wasmtime::Error::msg("the module exports no memory"));
    };
    let (bytes, state) = memory.data_and_store_mut(caller);
    let answer = body(&mut GuestBytes(bytes), state);
    if state.stop.is_due() {
        return Err(Over.into());
    }
    Ok(match answer {
        Ok(()) => 0,
        Err(error) => error.0,
    })
}
