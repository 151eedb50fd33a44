//! Wires up what commands that touch skills need: roots, engine, scripts and integrations.

use crate::config::Config;
use crate::lockdown;
use anyhow::Context as _;
use audit::{Audit, Record};
use base::environment::variable;
use base::place::{Audience, LocalReason};
use base::user_folders::UserFolders;
use catalog::scorers::options::ScorerChoice;
use catalog::scorers::{ModelProblem, Scorers};
use catalog::{Catalog, Scope};
use git::{self, Repositories};
use guests::cache::Cache;
use guests::engine::{EngineWorld, Quarantine, Terms};
use guests::executor::Executor;
use guests::integration::IntegrationWorld;
use guests::scorer::{Model, ScorerWorld};
use guests::script::ScriptWorld;
use integrations::Integrations;
use library::roots::{self, SkillRoot};
use packages::installed::Installed;
use packages::store::Store;
use scripts::Scripts;
use std::io::ErrorKind;
use std::sync::Arc;

/// Everything that serves skills and runs their scripts.
pub struct App {
    pub catalog: Catalog,
    pub config: Arc<Config>,
    pub terms: Terms,
    pub scripts: Scripts,
    pub integrations: Integrations,
}

/// Starts the threads of a command. From here on, no program can be started.
pub fn tokio_runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    // Before the first thread starts, so that it applies to all of them.
    lockdown::forbid_exec()?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")
}

/// Opens everything, runs one action and shuts down.
pub fn with_app<T>(mut config: Config, action: impl AsyncFnOnce(&App) -> anyhow::Result<T>) -> anyhow::Result<T> {
    git::ask_credential_helper(&mut config.git);
    let runtime = tokio_runtime()?;
    let result = runtime.block_on(async { action(&open_and_scan(config).await?).await });
    runtime.shutdown_background();
    result
}

/// Opens everything, clones missing repositories and reads all skills.
async fn open_and_scan(config: Config) -> anyhow::Result<App> {
    let app = tokio::task::spawn_blocking(move || open(config)).await??;
    let repositories = Repositories::new(&app.config.git, app.config.roots.names_folders());
    repositories.wait_for_first_clones(&app.catalog).await;
    app.catalog.refresh(Scope::Full).await;
    Ok(app)
}

/// Loads the engine over the roots. Slow if the engine comes from a file, which has to be compiled.
pub fn open(config: Config) -> anyhow::Result<App> {
    let roots: Arc<[SkillRoot]> = roots::resolve(&config.roots)?.into();
    for root in roots.iter() {
        let path = root.path();
        match root.open() {
            Ok(_) => tracing::info!("root `{}` is {}", root.label, path.display()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("root `{}` at {} cannot be read: {error}", root.label, path.display()),
        }
    }
    let cache = code_cache(config.user_folders.as_ref());
    // Each takes a few milliseconds, for which a client would wait.
    let (world, worlds) = std::thread::scope(|scope| {
        let worlds = scope.spawn(|| worlds_of_scripts(cache.clone()));
        (engine_world(&config, cache.clone()), worlds.join())
    });
    let world = world?;
    let (script_world, integration_world) =
        worlds.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(wasm_error)?;
    let config = Arc::new(config);
    let terms = terms(&config, Arc::clone(&roots));
    let scorers = match &config.scorers.choice {
        ScorerChoice::Keyword => None,
        choice => {
            let (model, problem) = model(&config, choice);
            let world = ScorerWorld::new(cache.clone()).map_err(wasm_error)?.with_model(model);
            Scorers::open(world, choice, problem)
        }
        .map_err(|error| anyhow::anyhow!(error.for_audience(Audience::Local)))?,
    };
    let catalog = Catalog::new(world, terms.clone(), scorers, config.frozen);
    let record = Arc::new(audit_record(&config));
    let integrations = integrations(&config, integration_world, Arc::clone(&record));
    let grants = Arc::clone(&config.grants);
    let packages = Installed::new(package_store(&config));
    let scripts = Scripts::new(catalog.clone(), config.scripts.clone(), grants, roots, script_world, packages, record);
    Ok(App { catalog, config, terms, scripts, integrations })
}

fn engine_world(config: &Config, cache: Option<Arc<Cache>>) -> anyhow::Result<EngineWorld> {
    let executor = Arc::new(Executor::for_engines(cache).map_err(wasm_error)?);
    let world = match &config.engine {
        Some(file) => EngineWorld::from_file(executor, file),
        None => EngineWorld::bundled(executor),
    };
    world.map_err(|error| anyhow::anyhow!(error.for_audience(Audience::Local)))
}

fn worlds_of_scripts(cache: Option<Arc<Cache>>) -> wasmtime::Result<(Arc<ScriptWorld>, IntegrationWorld)> {
    let executor = Arc::new(Executor::for_scripts(cache)?);
    Ok((ScriptWorld::new(Arc::clone(&executor))?, IntegrationWorld::new(executor)?))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` takes")]
pub fn wasm_error(error: wasmtime::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot start WebAssembly: {error:#}")
}

/// What an engine over these roots is lent.
pub fn terms(config: &Config, roots: Arc<[SkillRoot]>) -> Terms {
    Terms {
        roots,
        quarantine: Arc::new(Quarantine::default()),
        file_limit: config.operator.max_size_bytes,
        operator: config.operator.clone(),
        duplicates: config.surface.duplicates,
    }
}

pub fn integrations(config: &Config, world: IntegrationWorld, record: Arc<Record>) -> Integrations {
    let working_folder = config.roots.working_folder.clone();
    Integrations::new(Arc::clone(&config.integrations), working_folder, world, record)
}

/// The folder of the model. Without a home folder there is none.
pub fn model_store(config: &Config) -> Option<models::store::Store> {
    config.user_folders.as_ref().map(|folders| models::store::Store::at(folders.models()))
}

/// Reads the installed model for a scorer that may use it, or why that scorer has none.
fn model(config: &Config, choice: &ScorerChoice) -> (Option<Model>, Option<ModelProblem>) {
    if !choice.may_use_model() {
        return (None, None);
    }
    let asks = choice.compares_meanings();
    match installed_model(config) {
        Ok(None) => (None, asks.then_some(ModelProblem::Missing)),
        Ok(model) => (model, None),
        Err(reason) => (None, Some(ModelProblem::Unusable(reason))),
    }
}

/// Reads the installed model, if there is one.
pub fn installed_model(config: &Config) -> Result<Option<Model>, String> {
    let Some(store) = model_store(config) else { return Ok(None) };
    let installed = store.installed().map_err(|error| error.to_string())?;
    Ok(installed.map(|installed| installed.table.into()))
}

/// The folder of Python packages. Without a home folder there is none.
pub fn package_store(config: &Config) -> Option<Store> {
    config.user_folders.as_ref().map(|folders| Store::at(folders.packages()))
}

/// Opens the cache of compiled code. Without one, code is compiled on each start.
pub fn code_cache(folders: Option<&UserFolders>) -> Option<Arc<Cache>> {
    let folders = folders?;
    Cache::open(&folders.native_code(), &folders.cache_key())
        .inspect_err(|error| tracing::warn!("compiled code is not cached: {error}"))
        .ok()
        .map(Arc::new)
}

/// Opens the audit record. Without a home folder there is none, which only logs a warning; one that cannot be opened
/// disables scripts and queries.
pub fn audit_record(config: &Config) -> Record {
    let Some(folders) = &config.user_folders else {
        tracing::warn!("{}, so there is no audit record", UserFolders::why_missing(variable));
        return Record::Disabled;
    };
    match Audit::open(&folders.audit(), &folders.audit_key()) {
        Ok(audit) => Record::Writable(audit),
        Err(error) => {
            tracing::warn!("scripts and queries are disabled: {error}");
            Record::Broken(LocalReason(error.to_string()))
        }
    }
}
