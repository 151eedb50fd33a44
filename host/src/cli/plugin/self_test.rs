//! Tests a plugin in the sandbox with the calls that a server makes.

mod engine;
mod runtime;
mod scorer;
mod skills;

pub use engine::engine;
pub use runtime::runtime;
pub use scorer::scorer;

use super::report::PassedTest;
use crate::compose;
use base::environment::variable;
use base::place::Audience;
use base::user_folders::UserFolders;
use guests::cache::Cache;
use guests::executor::Executor;
use guests::integration::IntegrationWorld;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

#[derive(Default)]
pub struct Outcome {
    pub passed: Vec<PassedTest>,
    /// The first failure, which ends the tests.
    pub problem: Option<String>,
    pub remarks: Vec<String>,
}

impl Outcome {
    /// Runs tests that add to the outcome, until all are done or one fails.
    fn collect(work: impl FnOnce(&mut Self) -> Result<(), String>) -> Self {
        let mut outcome = Self::default();
        outcome.problem = work(&mut outcome).err();
        outcome
    }
}

/// Loads an integration. Queries need a configured service, as in `skillcell integration test`.
pub fn integration(file: &Path) -> Outcome {
    Outcome::collect(|outcome| {
        let start = Instant::now();
        let executor = Arc::new(Executor::for_scripts(cache()).map_err(wasm_error)?);
        let world = IntegrationWorld::new(executor).map_err(wasm_error)?;
        world.from_file("checked", file, None).map_err(|error| error.for_audience(Audience::Local))?;
        outcome.passed.push(PassedTest::since(start, "it loads"));
        outcome.remarks.push("`skillcell integration test` queries the configured services".to_owned());
        Ok(())
    })
}

fn cache() -> Option<Arc<Cache>> {
    compose::code_cache(UserFolders::find(variable).as_ref())
}

/// WebAssembly does not start, which is not the fault of the plugin.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn wasm_error(error: wasmtime::Error) -> String {
    format!("cannot start WebAssembly: {error:#}")
}
