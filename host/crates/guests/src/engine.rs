//! World `engine`: parses and indexes skills.

mod lending;
mod load;
mod quarantine;

pub use quarantine::Quarantine;

use crate::budget::Budget;
use crate::call::{self, Broken, Budgeted};
use crate::executor::Executor;
use bindings::catalog::{
    Answer, AssetError, Change, Code, Document, Duplicates, Explained, FoundAsset, FoundResource, FoundScript,
    FoundSkill, LookupError, LookupKind, Mention, Node, OperatorSettings, Page, Reference, Request, ReviewPage,
    ReviewRequest, ScriptError, SearchResult, Settings, SkillFiles, TextDelta,
};
use bindings::engine::{Engine, EnginePre};
use bindings::types::{Location, Problem, SkillModel, Summary};
use lending::Lender;
use library::snapshot::Snapshot;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// The slowest query on 10,000 skills takes a few hundredths of this.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(5);

/// Enough for all files of a very large library.
const MAX_UPDATE_TIME: Duration = Duration::from_mins(10);

/// Indexing takes longer for larger catalogs, and does not delay requests.
const MAX_ARRANGE_TIME: Duration = Duration::from_mins(1);

/// A typical file takes a ten-thousandth of this; the largest has a megabyte.
const MAX_FILE_TIME: Duration = Duration::from_secs(2);

/// Memory that one file may add, in bytes.
const MAX_FILE_MEMORY: usize = 64 << 20;

/// In bytes. A catalog of 100,000 skills needs about a third.
const MAX_MEMORY: usize = 2 << 30;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A loaded engine, ready to be instantiated. Lives until the process ends.
pub struct EngineWorld {
    executor: Arc<Executor>,
    ready: EnginePre<EngineState>,
}

/// What every engine of a server is lent.
#[derive(Clone)]
pub struct Terms {
    pub roots: Arc<[library::roots::SkillRoot]>,
    pub quarantine: Arc<Quarantine>,
    /// Size of the largest file that an engine can read, in bytes.
    pub file_limit: u64,
    /// Settings that content may lower or fill in.
    pub operator: OperatorSettings,
    pub duplicates: Duplicates,
}

/// One engine with its catalog. Lives until it breaks.
pub struct EngineInstance {
    number: u64,
    updates: u64,
    executor: Arc<Executor>,
    store: Store<EngineState>,
    engine: Engine,
}

/// Everything that an engine can reach.
pub struct EngineState {
    handles: ResourceTable,
    /// Empty: no files, no environment, no output.
    wasi: WasiCtx,
    lender: Lender,
    budget: Budget,
}

impl Budgeted for EngineState {
    const GUEST: &'static str = "engine";
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }
}

impl WasiView for EngineState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.handles }
    }
}

impl EngineWorld {
    /// Starts an engine with an empty catalog.
    pub fn instantiate(&self, terms: &Terms) -> Result<EngineInstance, Broken> {
        let state = EngineState {
            handles: ResourceTable::new(),
            wasi: WasiCtx::builder().build(),
            lender: Lender::new(terms.clone()),
            budget: Budget::new(MAX_MEMORY),
        };
        let mut store = call::store(&self.executor, state);
        store.set_hostcall_fuel(MAX_MEMORY);
        store.data_mut().budget.start_call(MAX_ANSWER_TIME);
        let engine = call::call(&self.executor, &mut store, "open", |store| {
            let engine = self.ready.instantiate(&mut *store)?;
            let state = store.data_mut();
            let roots = state.lender.lend_all(&mut state.handles)?;
            engine.skillcell_plugin_catalog().call_open(&mut *store, &roots, &terms.operator, terms.duplicates)?;
            Ok(engine)
        })?;
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(EngineInstance { number, updates: 0, executor: Arc::clone(&self.executor), store, engine })
    }
}

/// An engine broke during an update.
pub struct BrokenUpdate {
    pub broken: Broken,
    /// The last file it read.
    pub file: Option<Location>,
}

impl EngineInstance {
    /// Unique in this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// While this is equal, all answers are.
    pub fn state(&self) -> (u64, u64) {
        (self.number, self.updates)
    }

    /// Applies changes. From now on the engine reads the files of this snapshot.
    pub fn update(&mut self, snapshot: Arc<Snapshot>, changes: &[Change]) -> Result<(), BrokenUpdate> {
        self.updates += 1;
        let lender = &mut self.store.data_mut().lender;
        lender.start_update(snapshot);
        let updated = self.call("update", MAX_UPDATE_TIME, |engine, store| engine.call_update(store, changes));
        updated.map_err(|broken| BrokenUpdate { broken, file: self.store.data_mut().lender.end_update() })?;
        self.store.data_mut().lender.end_update();
        let arranged = self.call("arrange", MAX_ARRANGE_TIME, |engine, store| engine.call_arrange(store));
        arranged.map_err(|broken| BrokenUpdate { broken, file: None })
    }

    pub fn problems(&mut self, max: u32) -> Result<Vec<Problem>, Broken> {
        self.ask("problems", |engine, store| engine.call_problems(store, max))
    }

    pub fn skills(
        &mut self,
        filter: Option<&str>,
        model: Option<SkillModel>,
        start: u32,
        max: u32,
    ) -> Result<Page, Broken> {
        self.ask("skills", |engine, store| engine.call_skills(store, filter, model, start, max))
    }

    pub fn body(&mut self, file: &Location) -> Result<String, Broken> {
        self.ask("body", |engine, store| engine.call_body(store, file))
    }

    pub fn search(
        &mut self,
        query: &str,
        model: Option<SkillModel>,
        limit: u32,
        scores: Option<&[f64]>,
    ) -> Result<SearchResult, Broken> {
        self.ask("search", |engine, store| engine.call_search(store, query, model, limit, scores))
    }

    pub fn find(&mut self, request: &Request, scores: Option<&[f64]>) -> Result<Result<Answer, LookupError>, Broken> {
        self.ask("find", |engine, store| engine.call_find(store, request, scores))
    }

    pub fn explain(&mut self, context: &str, scores: Option<&[f64]>, max: u32) -> Result<Vec<Explained>, Broken> {
        self.ask("explain", |engine, store| engine.call_explain(store, context, scores, max))
    }

    pub fn text_changes(&mut self, restart: bool, max_bytes: u32) -> Result<TextDelta, Broken> {
        self.ask("text-changes", |engine, store| engine.call_text_changes(store, restart, max_bytes))
    }

    pub fn tree(&mut self, path: Option<&str>) -> Result<Result<Vec<Node>, LookupError>, Broken> {
        self.ask("tree", |engine, store| engine.call_tree(store, path))
    }

    pub fn script_of(&mut self, skill: &str, file: &str) -> Result<Result<FoundScript, ScriptError>, Broken> {
        self.ask("script-of", |engine, store| engine.call_script_of(store, skill, file))
    }

    pub fn settings_of(&mut self, root: u32) -> Result<Settings, Broken> {
        self.ask("settings-of", |engine, store| engine.call_settings_of(store, root))
    }

    pub fn asset_of(&mut self, skill: &str, file: &str) -> Result<Result<FoundAsset, AssetError>, Broken> {
        self.ask("asset-of", |engine, store| engine.call_asset_of(store, skill, file))
    }

    pub fn skill_of(&mut self, name: &str, kind: LookupKind) -> Result<Result<FoundSkill, LookupError>, Broken> {
        self.ask("skill-of", |engine, store| engine.call_skill_of(store, name, kind))
    }

    pub fn skill_in(&mut self, file: &Location) -> Result<Option<Summary>, Broken> {
        self.ask("skill-in", |engine, store| engine.call_skill_in(store, file))
    }

    pub fn resource_of(&mut self, uri: &str) -> Result<Option<FoundResource>, Broken> {
        self.ask("resource-of", |engine, store| engine.call_resource_of(store, uri))
    }

    pub fn document_of(&mut self, file: &Location) -> Result<Option<Document>, Broken> {
        self.ask("document-of", |engine, store| engine.call_document_of(store, file))
    }

    pub fn files_of(&mut self, file: &Location) -> Result<Option<SkillFiles>, Broken> {
        self.ask("files-of", |engine, store| engine.call_files_of(store, file))
    }

    pub fn is_skill_document(&mut self, path: &str) -> Result<bool, Broken> {
        self.ask("is-skill-document", |engine, store| engine.call_is_skill_document(store, path))
    }

    pub fn dependencies_of(&mut self, files: &[Location]) -> Result<Vec<Location>, Broken> {
        self.ask("dependencies-of", |engine, store| engine.call_dependencies_of(store, files))
    }

    pub fn resource_folders(&mut self) -> Result<Vec<Location>, Broken> {
        self.ask("resource-folders", |engine, store| engine.call_resource_folders(store))
    }

    pub fn references_of(&mut self, file: &Location) -> Result<Vec<Reference>, Broken> {
        self.ask("references-of", |engine, store| engine.call_references_of(store, file))
    }

    pub fn codes(&mut self) -> Result<Vec<Code>, Broken> {
        self.ask("codes", |engine, store| engine.call_codes(store))
    }

    pub fn review(&mut self, request: &ReviewRequest) -> Result<ReviewPage, Broken> {
        self.ask("review", |engine, store| engine.call_review(store, request))
    }

    pub fn mentions(&mut self, max: u32) -> Result<Vec<Mention>, Broken> {
        self.ask("mentions", |engine, store| engine.call_mentions(store, max))
    }

    fn ask<T>(
        &mut self,
        function: &'static str,
        query: impl FnOnce(&bindings::catalog::Guest, &mut Store<EngineState>) -> wasmtime::Result<T>,
    ) -> Result<T, Broken> {
        self.call(function, MAX_ANSWER_TIME, query)
    }

    fn call<T>(
        &mut self,
        function: &'static str,
        time: Duration,
        body: impl FnOnce(&bindings::catalog::Guest, &mut Store<EngineState>) -> wasmtime::Result<T>,
    ) -> Result<T, Broken> {
        self.store.data_mut().budget.start_call(time);
        let guest = self.engine.skillcell_plugin_catalog();
        call::call(&self.executor, &mut self.store, function, |store| body(guest, store))
    }
}
