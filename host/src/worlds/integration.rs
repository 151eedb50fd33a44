//! World `integration`: a component that answers questions about a service outside.

mod asking;
mod load;
mod voice;

pub use asking::{Asked, End};
pub use load::{Integration, LoadError};
pub use voice::Report;

use crate::bindings::{log, progress};
use crate::runtime::ticker::Ticker;
use crate::sandbox::gate::{self, Gate};
use crate::sandbox::meter::Meter;
use crate::sandbox::runtimes::{Cache, Runtimes};
use crate::worlds::imports;
use std::sync::Arc;
use std::time::Duration;
use voice::{Voice, VoiceData};
use wasmtime::Engine;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::random::insecure_seed;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// What the hash maps of Rust begin with. The same for everybody, so that an integration has no source of chance.
const SEED: u128 = 0;

/// Most things of the host that an integration holds at once: requests, answers, streams.
const MOST_HANDLES: usize = 1_024;

/// Largest set of headers, in bytes. They are kept by the host.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// What one question may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// Memory and tables of the guest together, in bytes.
    pub memory: usize,
    /// Steps of WebAssembly, about one per instruction.
    pub fuel: u64,
}

impl Limits {
    pub fn new(time: Duration) -> Self {
        // Reading the largest answers takes a few thousand million steps.
        Self { time, memory: 128 << 20, fuel: 100_000_000_000 }
    }
}

/// Until the process ends: what every integration is compiled and linked with.
pub struct IntegrationWorld {
    engine: Engine,
    ticker: Arc<Ticker>,
    linker: Linker<IntegrationState>,
    cache: Option<Arc<Cache>>,
}

/// Everything that an integration can reach.
pub struct IntegrationState {
    handles: ResourceTable,
    /// Empty: no files, no environment, nowhere to write.
    wasi: WasiCtx,
    http: WasiHttpCtx,
    gate: Gate,
    voice: Voice,
    meter: Meter,
}

impl IntegrationWorld {
    /// Shares the engine and the clock of the scripts.
    pub fn new(runtimes: &Runtimes, cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let engine = runtimes.engine().clone();
        let mut linker: Linker<IntegrationState> = Linker::new(&engine);
        imports::add_waiting_to_linker(&mut linker)?;
        insecure_seed::add_to_linker::<_, WasiRandom>(&mut linker, |state| state.ctx().ctx.random())?;
        gate::add_to_linker(&mut linker)?;
        log::add_to_linker::<_, VoiceData>(&mut linker, |state| &mut state.voice)?;
        progress::add_to_linker::<_, VoiceData>(&mut linker, |state| &mut state.voice)?;
        Ok(Self { engine, ticker: runtimes.ticker(), linker, cache })
    }
}

impl IntegrationState {
    fn new(gate: Gate, voice: Voice, memory: usize) -> Self {
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MOST_HEADER_BYTES);
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MOST_HANDLES);
        let wasi = WasiCtx::builder().insecure_random_seed(SEED).build();
        Self { handles, wasi, http, gate, voice, meter: Meter::new(memory) }
    }
}

impl WasiView for IntegrationState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.handles }
    }
}

impl WasiHttpView for IntegrationState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.gate, table: &mut self.handles, ctx: &mut self.http }
    }
}

#[cfg(test)]
mod tests;
