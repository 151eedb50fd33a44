//! World `integration`: answers questions about one external service.

mod ask;
mod feedback;
mod load;

pub use ask::Reply;
pub use feedback::Report;
pub use load::Integration;

use crate::executor::Executor;
use crate::imports;
use crate::run::Metered;
use bindings::{log, progress};
use feedback::{Feedback, FeedbackData};
use sandbox::gate::{self, Gate};
use sandbox::meter::Meter;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::random::insecure_seed;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// Seeds the hash maps of Rust. Fixed, so that an integration has no source of random numbers.
const SEED: u128 = 0;

/// Of requests, responses and streams that an integration holds at once.
const MAX_HANDLES: usize = 1_024;

/// Of one set of headers, which the host stores.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// The limits of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// Memories and tables of the guest together, in bytes.
    pub memory: usize,
    /// About one unit per WebAssembly instruction.
    pub fuel: u64,
}

impl Limits {
    pub fn new(time: Duration) -> Self {
        // Reading the largest responses takes a few billion units of fuel.
        Self { time, memory: 128 << 20, fuel: 100_000_000_000 }
    }
}

/// Compiles and links integrations. Lives until the process ends.
pub struct IntegrationWorld {
    executor: Arc<Executor>,
    linker: Linker<IntegrationState>,
}

/// Everything that an integration can reach.
pub struct IntegrationState {
    handles: ResourceTable,
    /// Empty: no files, no environment, no output.
    wasi: WasiCtx,
    http: WasiHttpCtx,
    gate: Gate,
    feedback: Feedback,
    meter: Meter,
}

impl IntegrationWorld {
    /// `executor` is made by [`Executor::for_scripts`].
    pub fn new(executor: Arc<Executor>) -> wasmtime::Result<Self> {
        let mut linker: Linker<IntegrationState> = Linker::new(executor.engine());
        imports::add_async(&mut linker)?;
        insecure_seed::add_to_linker::<_, WasiRandom>(&mut linker, |state| state.ctx().ctx.random())?;
        gate::add_to_linker(&mut linker)?;
        log::add_to_linker::<_, FeedbackData>(&mut linker, |state| &mut state.feedback)?;
        progress::add_to_linker::<_, FeedbackData>(&mut linker, |state| &mut state.feedback)?;
        Ok(Self { executor, linker })
    }
}

impl IntegrationState {
    fn new(gate: Gate, feedback: Feedback, memory: usize) -> Self {
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MAX_HEADER_BYTES);
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MAX_HANDLES);
        let wasi = WasiCtx::builder().insecure_random_seed(SEED).build();
        Self { handles, wasi, http, gate, feedback, meter: Meter::new(memory) }
    }
}

impl Metered for IntegrationState {
    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
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
