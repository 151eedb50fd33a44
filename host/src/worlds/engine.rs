//! World `engine`: the component that understands skills.

mod lending;
mod load;

pub use lending::LentRoot;
pub use load::LoadError;

use crate::bindings::catalog::{
    Answer, AssetError, Called, Change, Code, Document, Duplicates, Explained, FoundAsset, FoundResource, FoundScript,
    FoundSkill, LookupError, Mention, Node, OperatorSettings, Page, Reference, Request, ReviewPage, ReviewRequest,
    ScriptError, SearchResult, Settings, SkillFiles, TextDelta,
};
use crate::bindings::engine::{Engine, EnginePre};
use crate::bindings::types::{Location, Problem, SkillModel, Summary};
use crate::library::snapshot::Snapshot;
use crate::runtime::Runtime;
use crate::runtime::budget::Budget;
use crate::runtime::call::{self, Broken, Budgeted};
use crate::set_aside::SetAside;
use lending::Lender;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// Time for an answer. The slowest question on 10,000 skills takes a few hundredths of this.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// Time to take in changes, at most the files of a very large library.
const UPDATE_TIME: Duration = Duration::from_mins(10);

/// Time to put all skills on the shelf; grows with the catalog and runs beside the requests.
const ARRANGE_TIME: Duration = Duration::from_mins(1);

/// Time for one file of at most a megabyte. Usual ones take a ten-thousandth of it.
const FILE_TIME: Duration = Duration::from_secs(2);

/// Memory that one file may add.
const FILE_MEMORY: usize = 64 << 20;

/// Most memory of an engine: a catalog of 100,000 skills needs about a third.
const ENGINE_MEMORY: usize = 2 << 30;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Until the process ends: a loaded engine, ready to be instantiated.
pub struct EngineWorld {
    runtime: Arc<Runtime>,
    ready: EnginePre<EngineState>,
}

/// What every instance of a server's engine is lent.
#[derive(Clone)]
pub struct Terms {
    pub roots: Arc<[crate::library::roots::SkillRoot]>,
    pub set_aside: Arc<SetAside>,
    /// Largest file that is handed out, in bytes.
    pub file_limit: u64,
    /// What the operator said, where content may say something too.
    pub operator: OperatorSettings,
    pub duplicates: Duplicates,
}

/// Until it breaks or the process ends: one engine with its catalog.
pub struct EngineInstance {
    number: u64,
    /// How often it was given changes.
    updates: u64,
    runtime: Arc<Runtime>,
    store: Store<EngineState>,
    engine: Engine,
}

/// Everything an engine can reach.
pub struct EngineState {
    handles: ResourceTable,
    /// Empty: no files, no environment, nowhere to write.
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
    /// An engine over these roots with an empty catalog.
    pub fn instantiate(&self, terms: &Terms) -> Result<EngineInstance, Broken> {
        let state = EngineState {
            handles: ResourceTable::new(),
            wasi: WasiCtx::builder().build(),
            lender: Lender::new(terms.clone()),
            budget: Budget::new(ENGINE_MEMORY),
        };
        let mut store = call::store(&self.runtime, state);
        store.set_hostcall_fuel(ENGINE_MEMORY);
        store.data_mut().budget.begin_call(ANSWER_TIME);
        let engine = call::call(&self.runtime, &mut store, "open", |store| {
            let engine = self.ready.instantiate(&mut *store)?;
            let state = store.data_mut();
            let roots = state.lender.lend_all(&mut state.handles)?;
            engine.skillcell_plugin_catalog().call_open(&mut *store, &roots, &terms.operator, terms.duplicates)?;
            Ok(engine)
        })?;
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(EngineInstance { number, updates: 0, runtime: Arc::clone(&self.runtime), store, engine })
    }
}

/// An engine broke while it took in changes.
pub struct BrokenUpdate {
    pub broken: Broken,
    /// The file it pulled last.
    pub file: Option<Location>,
}

impl EngineInstance {
    /// No other instance of this process has it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// As long as it is the same, so are all answers.
    pub fn state(&self) -> (u64, u64) {
        (self.number, self.updates)
    }

    /// Takes in changes. From now on the engine is handed files of this snapshot.
    pub fn update(&mut self, snapshot: Arc<Snapshot>, changes: &[Change]) -> Result<(), BrokenUpdate> {
        self.updates += 1;
        let lender = &mut self.store.data_mut().lender;
        lender.start(snapshot);
        let updated = self.call("update", UPDATE_TIME, |engine, store| engine.call_update(store, changes));
        updated.map_err(|broken| BrokenUpdate { broken, file: self.store.data_mut().lender.stop() })?;
        self.store.data_mut().lender.stop();
        let arranged = self.call("arrange", ARRANGE_TIME, |engine, store| engine.call_arrange(store));
        arranged.map_err(|broken| BrokenUpdate { broken, file: None })
    }

    pub fn problems(&mut self, most: u32) -> Result<Vec<Problem>, Broken> {
        self.ask("problems", |engine, store| engine.call_problems(store, most))
    }

    pub fn skills(
        &mut self,
        filter: Option<&str>,
        model: Option<SkillModel>,
        start: u32,
        most: u32,
    ) -> Result<Page, Broken> {
        self.ask("skills", |engine, store| engine.call_skills(store, filter, model, start, most))
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

    pub fn explain(&mut self, context: &str, scores: Option<&[f64]>, most: u32) -> Result<Vec<Explained>, Broken> {
        self.ask("explain", |engine, store| engine.call_explain(store, context, scores, most))
    }

    pub fn text_changes(&mut self, anew: bool, most_bytes: u32) -> Result<TextDelta, Broken> {
        self.ask("text-changes", |engine, store| engine.call_text_changes(store, anew, most_bytes))
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

    pub fn skill_of(&mut self, name: &str, called: Called) -> Result<Result<FoundSkill, LookupError>, Broken> {
        self.ask("skill-of", |engine, store| engine.call_skill_of(store, name, called))
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

    pub fn references_of(&mut self, file: &Location) -> Result<Vec<Reference>, Broken> {
        self.ask("references-of", |engine, store| engine.call_references_of(store, file))
    }

    pub fn codes(&mut self) -> Result<Vec<Code>, Broken> {
        self.ask("codes", |engine, store| engine.call_codes(store))
    }

    pub fn review(&mut self, request: &ReviewRequest) -> Result<ReviewPage, Broken> {
        self.ask("review", |engine, store| engine.call_review(store, request))
    }

    pub fn mentions(&mut self, most: u32) -> Result<Vec<Mention>, Broken> {
        self.ask("mentions", |engine, store| engine.call_mentions(store, most))
    }

    fn ask<T>(
        &mut self,
        function: &'static str,
        question: impl FnOnce(&crate::bindings::catalog::Guest, &mut Store<EngineState>) -> wasmtime::Result<T>,
    ) -> Result<T, Broken> {
        self.call(function, ANSWER_TIME, question)
    }

    fn call<T>(
        &mut self,
        function: &'static str,
        time: Duration,
        body: impl FnOnce(&crate::bindings::catalog::Guest, &mut Store<EngineState>) -> wasmtime::Result<T>,
    ) -> Result<T, Broken> {
        self.store.data_mut().budget.begin_call(time);
        let guest = self.engine.skillcell_plugin_catalog();
        call::call(&self.runtime, &mut self.store, function, |store| body(guest, store))
    }
}
