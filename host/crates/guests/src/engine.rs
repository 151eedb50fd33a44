//! World `engine`: parses and indexes skills.

mod lending;

pub use lending::Quarantine;

use crate::call::{self, Broken, Budget, Budgeted};
use crate::executor::Executor;
use crate::imports;
use crate::load::{LoadError, World};
use ::library::roots::SkillRoot;
use ::library::snapshot::Snapshot;
use base::place::Place;
use base::printable::original;
use bindings::catalog::{
    Answer, AssetError, Change, Code, Document, Duplicates, Explained, FoundAsset, FoundResource, FoundScript,
    FoundSkill, LookupError, LookupKind, Mention, Node, OperatorSettings, Page, Reference, Request, ReviewPage,
    ReviewRequest, ScriptError, SearchResult, Settings, SkillFiles, TextDelta,
};
use bindings::engine::{Engine, EnginePre};
use bindings::types::{Location, Problem, SkillModel, Summary};
use bindings::{library, log};
use lending::Lender;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
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
    pub roots: Arc<[SkillRoot]>,
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
    pub fn bundled(executor: Arc<Executor>) -> Result<Self, LoadError> {
        let link = |component: &Component| link(&executor, component);
        let ready = World::ENGINE.load_bundled(&executor, "skillcell-engine", skillcell_artifacts::ENGINE, link)?;
        Ok(Self { executor, ready })
    }

    /// Loads an engine from a file. Takes a second or two if it has to be compiled.
    pub fn from_file(executor: Arc<Executor>, path: &Path) -> Result<Self, LoadError> {
        let link = |component: &Component| link(&executor, component);
        let (ready, _) = World::ENGINE.load_file(&executor, Place::file(path), None, link)?;
        Ok(Self { executor, ready })
    }

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

/// Links the imports of world `engine`. The standard streams lead nowhere.
fn link(executor: &Executor, component: &Component) -> wasmtime::Result<EnginePre<EngineState>> {
    let mut linker = Linker::new(&executor.engine);
    imports::add_sync(&mut linker)?;
    library::add_to_linker::<_, HasSelf<EngineState>>(&mut linker, |state| state)?;
    log::add_to_linker::<_, HasSelf<EngineState>>(&mut linker, |state| state)?;
    EnginePre::new(linker.instantiate_pre(component)?)
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
        self.store.data_mut().lender.start_update(snapshot);
        let updated = self.call("update", MAX_UPDATE_TIME, |engine, store| engine.call_update(store, changes));
        let file = self.store.data_mut().lender.end_update();
        updated.map_err(|broken| BrokenUpdate { broken, file })?;
        let arranged = self.call("arrange", MAX_ARRANGE_TIME, |engine, store| engine.call_arrange(store));
        arranged.map_err(|broken| BrokenUpdate { broken, file: None })
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

/// Defines a method for each function that the host calls with the time of an answer. `wit/catalog.wit` documents them.
macro_rules! questions {
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty = $call:ident $name:literal;)*) => {
        impl EngineInstance {
            $(pub fn $method(&mut self, $($argument: $type),*) -> Result<$answer, Broken> {
                self.call($name, MAX_ANSWER_TIME, |engine, store| engine.$call(store, $($argument),*))
            })*
        }
    };
}

questions! {
    problems(max: u32) -> Vec<Problem> = call_problems "problems";
    skills(filter: Option<&str>, model: Option<SkillModel>, start: u32, max: u32) -> Page = call_skills "skills";
    body(file: &Location) -> String = call_body "body";
    search(query: &str, model: Option<SkillModel>, limit: u32, scores: Option<&[f64]>)
        -> SearchResult = call_search "search";
    explain(context: &str, scores: Option<&[f64]>, max: u32) -> Vec<Explained> = call_explain "explain";
    text_changes(restart: bool, max_bytes: u32) -> TextDelta = call_text_changes "text-changes";
    settings_of(root: u32) -> Settings = call_settings_of "settings-of";
    rearranged() -> Option<Vec<Location>> = call_rearranged "rearranged";
    prepare_search(max: u32) -> bool = call_prepare_search "prepare-search";
    skill_in(file: &Location) -> Option<Summary> = call_skill_in "skill-in";
    resource_of(uri: &str) -> Option<FoundResource> = call_resource_of "resource-of";
    document_of(file: &Location) -> Option<Document> = call_document_of "document-of";
    files_of(file: &Location) -> Option<SkillFiles> = call_files_of "files-of";
    is_skill_document(path: &str) -> bool = call_is_skill_document "is-skill-document";
    dependencies_of(files: &[Location]) -> Vec<Location> = call_dependencies_of "dependencies-of";
    resource_folders() -> Vec<Location> = call_resource_folders "resource-folders";
    references_of(file: &Location) -> Vec<Reference> = call_references_of "references-of";
    codes() -> Vec<Code> = call_codes "codes";
    review(request: &ReviewRequest) -> ReviewPage = call_review "review";
    mentions(max: u32) -> Vec<Mention> = call_mentions "mentions";
}

/// Questions about a name. It may be written as lists show it, with escapes.
impl EngineInstance {
    pub fn find(&mut self, request: &Request, scores: Option<&[f64]>) -> Result<Result<Answer, LookupError>, Broken> {
        let exact = match request.chosen.as_deref().map(original) {
            Some(Cow::Owned(chosen)) => Some(Request { chosen: Some(chosen), ..request.clone() }),
            _ => None,
        };
        let request = exact.as_ref().unwrap_or(request);
        self.call("find", MAX_ANSWER_TIME, |engine, store| engine.call_find(store, request, scores))
    }

    pub fn tree(&mut self, path: Option<&str>) -> Result<Result<Vec<Node>, LookupError>, Broken> {
        let path = path.map(original);
        self.call("tree", MAX_ANSWER_TIME, |engine, store| engine.call_tree(store, path.as_deref()))
    }

    pub fn script_of(&mut self, skill: &str, file: &str) -> Result<Result<FoundScript, ScriptError>, Broken> {
        let (skill, file) = (original(skill), original(file));
        self.call("script-of", MAX_ANSWER_TIME, |engine, store| engine.call_script_of(store, &skill, &file))
    }

    pub fn asset_of(&mut self, skill: &str, file: &str) -> Result<Result<FoundAsset, AssetError>, Broken> {
        let (skill, file) = (original(skill), original(file));
        self.call("asset-of", MAX_ANSWER_TIME, |engine, store| engine.call_asset_of(store, &skill, &file))
    }

    pub fn known_skill(&mut self, name: &str, kind: LookupKind) -> Result<Option<FoundSkill>, Broken> {
        let name = original(name);
        self.call("known-skill", MAX_ANSWER_TIME, |engine, store| engine.call_known_skill(store, &name, kind))
    }

    pub fn skill_of(&mut self, name: &str, kind: LookupKind) -> Result<Result<FoundSkill, LookupError>, Broken> {
        let name = original(name);
        self.call("skill-of", MAX_ANSWER_TIME, |engine, store| engine.call_skill_of(store, &name, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_has_no_clock_no_random_no_network_and_no_folder() {
        let executor = Arc::new(Executor::for_engines(None).unwrap());
        let world = EngineWorld::bundled(Arc::clone(&executor)).unwrap();
        let described = world.ready.instance_pre().component().component_type();
        let imports: Vec<String> = described.imports(&executor.engine).map(|(name, _)| name.to_owned()).collect();
        let allowed =
            ["skillcell:plugin/types@", "skillcell:plugin/library@", "skillcell:plugin/log@", "wasi:cli/", "wasi:io/"];
        let other = imports.iter().find(|name| !allowed.iter().any(|start| name.starts_with(start)));
        assert_eq!(other, None, "ARCHITECTURE.md promises that the engine is offline, timeless and without folders");
        assert!(imports.iter().any(|name| name.starts_with("skillcell:plugin/library@")), "{imports:?}");
    }
}
