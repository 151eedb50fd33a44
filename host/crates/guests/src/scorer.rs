//! World `scorer`: ranks skills instead of the engine's own scorer.

mod prepared;
#[cfg(test)]
mod tests;

pub use prepared::{Failure, Prepared};

use crate::cache::Cache;
use crate::call::{Budget, Budgeted};
use crate::executor::Executor;
use crate::imports::{self, LimitedLog, log_guest};
use crate::load::{LoadError, World};
use base::digest::Sha256;
use base::place::Place;
use bindings::scorer::ScorerPre;
use bindings::{log, model};
use skillcell_artifacts::SCORERS;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::random::insecure_seed;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// The limits of a scorer. All but `memory` apply to one call.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The time of a `score`.
    pub time: Duration,
    /// The time to start, and of an `update`. It delays only the first answers after the start: later ones come from the
    /// previous generation meanwhile.
    pub update_time: Duration,
    /// A call that uses this much is out of time on most machines.
    pub fuel: u64,
    /// The memory of the instance, in bytes.
    pub memory: usize,
    /// The size of an answer, in bytes: a few hundred for each of 100,000 skills.
    pub answer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let [time, update_time] = [80, 500].map(Duration::from_millis);
        Self { time, update_time, fuel: 1_000_000_000, memory: 512 << 20, answer: 48 << 20 }
    }
}

/// Seeds the hash maps of Rust. Fixed, so that a scorer has no source of random numbers.
const SEED: u128 = 0;

/// Log messages of one call.
const MAX_LOG_LINES: u32 = 20;

/// Compiles and links scorers. Lives until the process ends.
pub struct ScorerWorld {
    executor: Arc<Executor>,
    linker: Linker<ScorerState>,
    pub limits: Limits,
    model: Option<Model>,
}

/// The bytes of the installed word vectors, one copy for all instances.
pub type Model = Arc<[u8]>;

/// A scorer in this binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled(usize);

impl Bundled {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SCORERS.len()).map(Self)
    }

    pub fn name(self) -> &'static str {
        SCORERS[self.0].name
    }

    /// Native code for this target.
    pub fn code(self) -> &'static [u8] {
        SCORERS[self.0].code
    }
}

/// Compiled and linked, not running. Lives until its file changes.
pub struct Scorer {
    /// The name of a bundled scorer, otherwise the name of the file.
    pub name: Arc<str>,
    /// The digest of the file. `None` for a bundled scorer.
    pub digest: Option<Sha256>,
    executor: Arc<Executor>,
    ready: ScorerPre<ScorerState>,
    limits: Limits,
    model: Option<Model>,
}

/// Everything that a scorer can reach.
pub struct ScorerState {
    handles: ResourceTable,
    /// Empty: no files, no environment, no output.
    wasi: WasiCtx,
    log: LimitedLog,
    model: LentModel,
    budget: Budget,
}

/// The `model` import: read-only, and empty without a model.
struct LentModel(Option<Model>);

impl model::Host for LentModel {
    fn size(&mut self) -> wasmtime::Result<Option<u64>> {
        Ok(self.0.as_ref().map(|bytes| bytes.len() as u64))
    }

    fn read(&mut self, offset: u64, length: u32) -> wasmtime::Result<Vec<u8>> {
        let bytes = self.0.as_deref().unwrap_or_default();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(length as usize).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }
}

impl ScorerWorld {
    pub fn new(cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let executor = Arc::new(Executor::for_scorers(cache)?);
        let mut linker = Linker::new(&executor.engine);
        imports::add_sync(&mut linker)?;
        log::add_to_linker::<_, HasSelf<LimitedLog>>(&mut linker, |state: &mut ScorerState| &mut state.log)?;
        model::add_to_linker::<_, HasSelf<LentModel>>(&mut linker, |state: &mut ScorerState| &mut state.model)?;
        insecure_seed::add_to_linker::<_, WasiRandom>(&mut linker, |state| state.ctx().ctx.random())?;
        Ok(Self { executor, linker, limits: Limits::default(), model: None })
    }

    /// Lends a model to all scorers that are loaded from now on.
    pub fn with_model(self, model: Option<Model>) -> Self {
        Self { model, ..self }
    }

    pub fn bundled(&self, which: Bundled) -> Result<Scorer, LoadError> {
        let (name, link) = (which.name(), |component: &Component| self.link(component));
        let ready = World::SCORER.load_bundled(&self.executor, name, which.code(), link)?;
        Ok(self.scorer(name.into(), None, ready))
    }

    /// Loads a scorer from a file. Takes a second or two if it has to be compiled: not for a thread that answers requests.
    pub fn from_file(&self, path: &Path, pinned: Option<Sha256>) -> Result<Scorer, LoadError> {
        let link = |component: &Component| self.link(component);
        let (ready, digest) = World::SCORER.load_file(&self.executor, Place::file(path), pinned, link)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(self.scorer(name.into(), Some(digest), ready))
    }

    fn link(&self, component: &Component) -> wasmtime::Result<ScorerPre<ScorerState>> {
        ScorerPre::new(self.linker.instantiate_pre(component)?)
    }

    fn scorer(&self, name: Arc<str>, digest: Option<Sha256>, ready: ScorerPre<ScorerState>) -> Scorer {
        Scorer {
            name,
            digest,
            executor: Arc::clone(&self.executor),
            ready,
            limits: self.limits,
            model: self.model.clone(),
        }
    }
}

impl ScorerState {
    fn new(name: Arc<str>, memory: usize, model: Option<Model>) -> Self {
        let write = |level, line: &str| log_guest!("scorer", level, "{line}");
        Self {
            handles: ResourceTable::new(),
            wasi: WasiCtx::builder().insecure_random_seed(SEED).build(),
            log: LimitedLog { name, lines_left: 0, unit: "call", write },
            model: LentModel(model),
            budget: Budget::new(memory),
        }
    }
}

impl Budgeted for ScorerState {
    const GUEST: &'static str = "scorer";
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }
}

impl WasiView for ScorerState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.handles }
    }
}
