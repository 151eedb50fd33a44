//! What scripts can import.

use crate::imports;
use sandbox::p2::{FilesData, bindings as files};
use sandbox::state::ScriptState;
use sandbox::{gate, p1};
use wasmtime::{Engine, Linker, component};
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView as _};
use wasmtime_wasi::p2::bindings::{clocks, random, sockets};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};

/// For components: all of `wasi:cli/imports`, with the sandbox's own files, and HTTP through the gate. Sockets can be
/// imported, but every use is denied.
pub fn component_linker(engine: &Engine) -> wasmtime::Result<component::Linker<ScriptState>> {
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

/// For core modules: WASI 0.1.
pub fn module_linker(engine: &Engine) -> wasmtime::Result<Linker<ScriptState>> {
    let mut linker = Linker::new(engine);
    p1::add_to_linker(&mut linker)?;
    Ok(linker)
}
