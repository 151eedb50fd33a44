//! What commands that touch skills begin with: the roots, the engine, the sandbox.

use crate::audit::{Audit, Record};
use crate::catalog::{Catalog, Look};
use crate::config::places::Places;
use crate::config::{Config, ScorerChoice, variable};
use crate::git::{self, Repositories};
use crate::integrations::Integrations;
use crate::library::roots::{self, SkillRoot};
use crate::runtime::Runtime;
use crate::sandbox::runtimes::{Cache, Runtimes};
use crate::scorers::Scorers;
use crate::scripts::Scripts;
use crate::set_aside::SetAside;
use crate::worlds::engine::{EngineWorld, Terms};
use crate::worlds::integration::IntegrationWorld;
use crate::worlds::scorer::ScorerWorld;
use anyhow::Context as _;
use std::io::ErrorKind;
use std::sync::Arc;

/// Everything that answers questions about skills and runs their scripts.
pub struct Opened {
    pub catalog: Catalog,
    pub config: Arc<Config>,
    pub terms: Terms,
    pub scripts: Scripts,
    pub integrations: Integrations,
}

/// Threads for a command.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")
}

/// Opens everything, asks one question and ends.
pub fn once<T>(config: Config, question: impl AsyncFnOnce(&Opened) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let runtime = runtime()?;
    let answered = runtime.block_on(async { question(&ready(config).await?).await });
    runtime.shutdown_background();
    answered
}

/// Opens everything and reads all skills, for a command that asks once. A clone that is missing is made.
pub async fn ready(mut config: Config) -> anyhow::Result<Opened> {
    git::ask_credential_helper(&mut config.git);
    let opened = tokio::task::spawn_blocking(move || open(config)).await??;
    let repositories = Repositories::new(&opened.config.git, opened.config.roots.names_folders());
    repositories.first_clones(&opened.catalog).await;
    opened.catalog.bring_in(Look::Everything).await;
    Ok(opened)
}

/// Loads the engine over the roots. Compiling one from a file takes a while.
pub fn open(config: Config) -> anyhow::Result<Opened> {
    let roots: Arc<[SkillRoot]> = roots::choose(&config.roots)?.into();
    for root in roots.iter() {
        let path = root.path();
        match root.open() {
            Ok(_) => tracing::info!("root `{}` is {}", root.label, path.display()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("root `{}` at {} cannot be read: {error}", root.label, path.display()),
        }
    }
    let broken = |error: wasmtime::Error| anyhow::anyhow!("cannot start WebAssembly: {error:#}");
    let runtime = Arc::new(Runtime::new().map_err(broken)?);
    let world = match &config.engine {
        Some(file) => EngineWorld::from_file(runtime, file)?,
        None => EngineWorld::bundled(runtime)?,
    };
    let config = Arc::new(config);
    let terms = Terms {
        roots: Arc::clone(&roots),
        set_aside: Arc::new(SetAside::default()),
        file_limit: config.operator.max_size_bytes,
        operator: config.operator.clone(),
        duplicates: config.surface.duplicates,
    };
    let cache = cache(config.places.as_ref());
    let scorers = match &config.scorer {
        ScorerChoice::Keyword => None,
        choice => Scorers::open(ScorerWorld::new(cache.clone()).map_err(broken)?, choice)?,
    };
    let catalog = Catalog::new(world, terms.clone(), scorers);
    let runtimes = Arc::new(Runtimes::new(cache.clone()).map_err(broken)?);
    let record = Arc::new(record(&config));
    let integrations = IntegrationWorld::new(&runtimes, cache).map_err(broken)?;
    let integrations = Integrations::new(Arc::clone(&config), integrations, Arc::clone(&record));
    let scripts = Scripts::new(catalog.clone(), Arc::clone(&config), roots, runtimes, record);
    Ok(Opened { catalog, config, terms, scripts, integrations })
}

/// Without a place for it, code is compiled anew each time.
pub fn cache(places: Option<&Places>) -> Option<Arc<Cache>> {
    let places = places?;
    Cache::open(&places.native_code(), &places.cache_key())
        .inspect_err(|error| tracing::warn!("compiled code is not kept: {error}"))
        .ok()
        .map(Arc::new)
}

/// Without a home folder there is no record, which is told and accepted. A record that cannot be kept stops scripts and
/// questions, and nothing else.
pub fn record(config: &Config) -> Record {
    let Some(places) = &config.places else {
        tracing::warn!("{}, so there is no audit record", Places::missing(variable));
        return Record::Nowhere;
    };
    match Audit::open(&places.audit(), &places.audit_key()) {
        Ok(audit) => Record::Kept(audit),
        Err(error) => {
            tracing::warn!("no script will run and nothing will be asked: {error}");
            Record::Broken(error.to_string())
        }
    }
}
