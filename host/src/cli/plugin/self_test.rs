//! Tests a plugin in the sandbox with the calls that a server makes. The first failure ends the tests.

mod runtime;
mod scorer;
mod skills;

pub use runtime::runtime;
pub use scorer::scorer;

use super::check::Report;
use crate::compose;
use crate::config::{self, CliArgs};
use base::environment::variable;
use base::place::Audience;
use base::user_folders::UserFolders;
use guests::cache::Cache;
use guests::call::Broken;
use guests::engine::EngineWorld;
use guests::executor::Executor;
use guests::integration::IntegrationWorld;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Opens an empty catalog with default settings.
pub fn engine(file: &Path, report: &mut Report) -> Result<(), String> {
    let start = Instant::now();
    let executor = Arc::new(Executor::for_engines(cache()).map_err(wasm_error)?);
    let world = EngineWorld::from_file(executor, file).map_err(|error| error.for_audience(Audience::Local))?;
    report.pass(start, "it loads");
    let start = Instant::now();
    let defaults = config::resolve_in(CliArgs::default(), &|_| None, Path::new("/"));
    let terms = compose::terms(&defaults.map_err(|error| error.to_string())?, Arc::new([]));
    let broken = |broken: Broken| broken.to_string();
    let mut engine = world.instantiate(&terms).map_err(broken)?;
    engine.update(Arc::default(), &[]).map_err(|update| update.broken.to_string())?;
    let skills = engine.skills(None, None, 0, 1).map_err(broken)?.total;
    if skills > 0 {
        return Err(format!("it reports {skills} skills in an empty catalog"));
    }
    report.pass(start, "it opens an empty catalog");
    Ok(())
}

/// Loads an integration. Queries need a configured service, as in `skillcell integration test`.
pub fn integration(file: &Path, report: &mut Report) -> Result<(), String> {
    let start = Instant::now();
    let executor = Arc::new(Executor::for_scripts(cache()).map_err(wasm_error)?);
    let world = IntegrationWorld::new(executor).map_err(wasm_error)?;
    world.from_file("checked", file, None).map_err(|error| error.for_audience(Audience::Local))?;
    report.pass(start, "it loads");
    report.remarks.push("`skillcell integration test` queries the configured services".to_owned());
    Ok(())
}

fn cache() -> Option<Arc<Cache>> {
    compose::code_cache(UserFolders::find(variable).as_ref())
}

/// WebAssembly does not start, which is not the fault of the plugin.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn wasm_error(error: wasmtime::Error) -> String {
    format!("cannot start WebAssembly: {error:#}")
}
