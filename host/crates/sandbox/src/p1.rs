//! WASI 0.1 for core modules: CPython and older `.wasm` scripts. A thin translation of [`super::files`].
//!
//! Pointers and lengths come from the guest and may be anything; those outside its memory result in `EFAULT`.

/// Adds imports to a linker. Each gets the guest's memory and the state of its store before its own parameters.
macro_rules! imports {
    ($linker:ident;
     $(fn $name:ident($memory:pat_param, $state:pat_param $(, $parameter:ident: $type:ty)*) $body:block)*) => {
        $($linker.func_wrap(
            super::MODULE,
            stringify!($name),
            |mut call: wasmtime::Caller<'_, crate::state::ScriptState>, $($parameter: $type),*| {
                super::with(&mut call, |$memory, $state| $body)
            },
        )?;)*
    };
}

mod abi;
mod memory;
mod descriptors;
mod paths;
mod system;

pub use descriptors::Descriptors;

use crate::limits::time::RunEnded;
use crate::state::ScriptState;
use abi::Result;
use memory::GuestMemory;
use wasmtime::{Caller, Extern, Linker};

const MODULE: &str = "wasi_snapshot_preview1";

/// Adds everything that a module may import from WASI 0.1.
pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    descriptors::add_to_linker(linker)?;
    paths::add_to_linker(linker)?;
    system::add_to_linker(linker)
}

/// Runs the body of an import with access to both the guest's memory and the host's state.
fn with(
    caller: &mut Caller<'_, ScriptState>,
    body: impl FnOnce(&mut GuestMemory<'_>, &mut ScriptState) -> Result,
) -> wasmtime::Result<i32> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        return Err(wasmtime::Error::msg("the module does not export a memory"));
    };
    let (bytes, state) = memory.data_and_store_mut(caller);
    let result = body(&mut GuestMemory(bytes), state);
    if state.stop.is_due() {
        return Err(RunEnded.into());
    }
    Ok(result.map_or_else(|error| error.0, |()| 0))
}
