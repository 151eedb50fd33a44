//! World `integration`: answers questions about one external service.

use crate::executor::Executor;
use crate::imports::{self, LimitedLog, log_guest};
use crate::load::{LoadError, World};
use crate::run::{End, Lost, Outcome, Run};
use base::digest::Sha256;
use base::place::Place;
use base::printable::printable_up_to;
use bindings::integration::{Integration as Guest, IntegrationPre};
use bindings::query::{QueryError, Question};
use bindings::{log, progress};
use sandbox::gate::{self, Gate};
use sandbox::limits::memory::Meter;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
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

/// Log messages for one question.
const MAX_LOG_LINES: u32 = 50;

/// Progress reports for one question.
const MAX_REPORTS: u32 = 200;

/// In characters.
const MAX_REPORT_LENGTH: usize = 200;

/// Passed to the host in one call: bodies of requests, texts, and the answer.
const MAX_TRANSFER_BYTES: usize = 4 << 20;

/// Questions that it can suggest. Together they fit on one screen.
const MAX_QUESTIONS: usize = 40;

/// In characters.
const MAX_QUESTION_LENGTH: usize = 120;

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

/// Compiled and linked, not running. Lives until its file changes.
#[derive(Clone)]
pub struct Integration {
    pub name: Arc<str>,
    /// The digest of its file, or of its bundled native code.
    pub digest: Sha256,
    executor: Arc<Executor>,
    ready: IntegrationPre<IntegrationState>,
}

/// Receives progress reports as they arrive.
pub type Report = Arc<dyn Fn(String) + Send + Sync>;

/// Everything that an integration can reach.
pub struct IntegrationState {
    handles: ResourceTable,
    /// Empty: no files, no environment, no output.
    wasi: WasiCtx,
    http: WasiHttpCtx,
    gate: Gate,
    log: LimitedLog,
    report: Report,
    reports_left: u32,
    meter: Meter,
}

impl IntegrationWorld {
    /// `executor` is made by [`Executor::for_scripts`].
    pub fn new(executor: Arc<Executor>) -> wasmtime::Result<Self> {
        let mut linker: Linker<IntegrationState> = Linker::new(&executor.engine);
        imports::add_async(&mut linker)?;
        insecure_seed::add_to_linker::<_, WasiRandom>(&mut linker, |state| state.ctx().ctx.random())?;
        gate::add_to_linker(&mut linker)?;
        log::add_to_linker::<_, HasSelf<LimitedLog>>(&mut linker, |state| &mut state.log)?;
        progress::add_to_linker::<_, HasSelf<IntegrationState>>(&mut linker, |state| state)?;
        Ok(Self { executor, linker })
    }

    pub fn bundled(&self, bundled: &skillcell_artifacts::Integration) -> Result<Integration, LoadError> {
        let link = |component: &Component| self.link(component);
        let ready = World::INTEGRATION.load_bundled(&self.executor, bundled.name, bundled.code, link)?;
        Ok(self.integration(bundled.name, Sha256::of(bundled.code), ready))
    }

    /// Loads an integration from a file. Takes a second or two if it has to be compiled: not for a thread that answers
    /// requests.
    pub fn from_file(&self, name: &str, path: &Path, pinned: Option<Sha256>) -> Result<Integration, LoadError> {
        let link = |component: &Component| self.link(component);
        let (ready, digest) = World::INTEGRATION.load_file(&self.executor, Place::new(path, name), pinned, link)?;
        Ok(self.integration(name, digest, ready))
    }

    fn link(&self, component: &Component) -> wasmtime::Result<IntegrationPre<IntegrationState>> {
        IntegrationPre::new(self.linker.instantiate_pre(component)?)
    }

    fn integration(&self, name: &str, digest: Sha256, ready: IntegrationPre<IntegrationState>) -> Integration {
        Integration { name: name.into(), digest, executor: Arc::clone(&self.executor), ready }
    }
}

/// What an integration answers.
#[derive(Debug)]
pub enum Reply {
    Answer(String),
    /// Why there is no answer, and other questions if it did not understand this one.
    NoAnswer(QueryError, Vec<String>),
}

impl Integration {
    /// Asks a fresh instance, until it answers, hits a limit or is cancelled.
    pub async fn ask(
        &self,
        question: Question,
        gate: Gate,
        report: Report,
        limits: Limits,
        cancelled: CancellationToken,
    ) -> Result<Outcome<Reply>, Lost> {
        let body = async move |guest: Guest, store: &mut Store<IntegrationState>| {
            Ok(match guest.skillcell_plugin_query().call_ask(&mut *store, &question).await? {
                Ok(text) => Reply::Answer(text),
                Err(QueryError::NotUnderstood) => {
                    Reply::NoAnswer(QueryError::NotUnderstood, questions(&guest, store).await?)
                }
                Err(error) => Reply::NoAnswer(error, Vec::new()),
            })
        };
        self.drive(gate, report, limits, cancelled, body).await
    }

    /// Lists questions that it understands.
    pub async fn questions(&self, gate: Gate, limits: Limits) -> Result<End<Vec<String>>, Lost> {
        let body = async move |guest: Guest, store: &mut Store<IntegrationState>| questions(&guest, store).await;
        Ok(self.drive(gate, Arc::new(|_| {}), limits, CancellationToken::new(), body).await?.end)
    }

    async fn drive<T: Send + 'static>(
        &self,
        gate: Gate,
        report: Report,
        limits: Limits,
        cancelled: CancellationToken,
        body: impl AsyncFnOnce(Guest, &mut Store<IntegrationState>) -> wasmtime::Result<T> + Send + 'static,
    ) -> Result<Outcome<T>, Lost> {
        let (name, ready) = (Arc::clone(&self.name), self.ready.clone());
        let run = Run {
            name: "integration",
            engine: ready.engine().clone(),
            executor: Arc::clone(&self.executor),
            time: limits.time,
            fuel: limits.fuel,
            cancelled,
            meter: |state: &mut IntegrationState| &mut state.meter,
        };
        let state = move || IntegrationState::new(gate, name, report, limits.memory);
        let body = async move |store: &mut Store<IntegrationState>| {
            store.set_hostcall_fuel(MAX_TRANSFER_BYTES);
            let guest = ready.instantiate_async(&mut *store).await?;
            body(guest, store).await
        };
        run.drive(state, body, |_| ()).await
    }
}

async fn questions(guest: &Guest, store: &mut Store<IntegrationState>) -> wasmtime::Result<Vec<String>> {
    let all = guest.skillcell_plugin_query().call_questions(store).await?;
    Ok(all.iter().take(MAX_QUESTIONS).map(|question| printable_up_to(question, MAX_QUESTION_LENGTH)).collect())
}

impl IntegrationState {
    fn new(gate: Gate, name: Arc<str>, report: Report, memory: usize) -> Self {
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MAX_HEADER_BYTES);
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MAX_HANDLES);
        let wasi = WasiCtx::builder().insecure_random_seed(SEED).build();
        let write = |level, line: &str| log_guest!("integration", level, "{line}");
        let log = LimitedLog { name, lines_left: MAX_LOG_LINES, unit: "question", write };
        Self { handles, wasi, http, gate, log, report, reports_left: MAX_REPORTS, meter: Meter::new(memory) }
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

impl progress::Host for IntegrationState {
    fn report(&mut self, message: String) -> wasmtime::Result<()> {
        if let Some(left) = self.reports_left.checked_sub(1) {
            self.reports_left = left;
            (self.report)(printable_up_to(message.trim(), MAX_REPORT_LENGTH));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
