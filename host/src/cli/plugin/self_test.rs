//! Trying a plugin in the sandbox: each world is asked what skillcell would ask.

mod engine;
mod runtime;
mod scorer;
mod skills;

pub use engine::engine;
pub use runtime::runtime;
pub use scorer::scorer;

use super::report::Tried;
use crate::cli::open;
use crate::config::places::Places;
use crate::config::variable;
use crate::sandbox::runtimes::{Cache, Runtimes};
use crate::worlds::integration::IntegrationWorld;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What came of it.
#[derive(Default)]
pub struct Outcome {
    pub tried: Vec<Tried>,
    /// What went wrong. Nothing further was tried then.
    pub problem: Option<String>,
    pub remarks: Vec<String>,
}

impl Outcome {
    /// Goes through something that notes what went well, until it is done or something is wrong.
    fn of(work: impl FnOnce(&mut Self) -> Result<(), String>) -> Self {
        let mut outcome = Self::default();
        outcome.problem = work(&mut outcome).err();
        outcome
    }
}

/// An integration is loaded. Asking it needs a service, which `skillcell integration test` has.
pub fn integration(file: &Path) -> Outcome {
    Outcome::of(|outcome| {
        let began = Instant::now();
        let runtimes = Runtimes::new(cache()).map_err(no_sandbox)?;
        let world = IntegrationWorld::new(&runtimes, cache()).map_err(no_sandbox)?;
        world.from_file("checked", file, None).map_err(|error| error.to_string())?;
        outcome.tried.push(Tried::since(began, "it loads"));
        outcome.remarks.push("`skillcell integration test` asks the services that are configured".to_owned());
        Ok(())
    })
}

/// Where code is kept that was compiled before.
fn cache() -> Option<Arc<Cache>> {
    open::cache(Places::find(variable).as_ref())
}

/// WebAssembly does not start, which is no fault of the plugin.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn no_sandbox(error: wasmtime::Error) -> String {
    format!("cannot start WebAssembly: {error:#}")
}
