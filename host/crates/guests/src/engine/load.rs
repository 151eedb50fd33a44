//! Loads an engine: the bundled one, or a component that the operator configures.

use super::lending::{Library, Log};
use super::{EngineState, EngineWorld};
use crate::executor::Executor;
use crate::imports;
use crate::load::{LoadError, World};
use base::place::Place;
use bindings::engine::EnginePre;
use bindings::{library, log};
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::{Component, Linker};

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
}

/// Links the imports of world `engine`. The standard streams lead nowhere.
fn link(executor: &Executor, component: &Component) -> wasmtime::Result<EnginePre<EngineState>> {
    let mut linker = Linker::new(executor.engine());
    imports::add_sync(&mut linker)?;
    library::add_to_linker::<_, Library>(&mut linker, EngineState::library)?;
    log::add_to_linker::<_, Log>(&mut linker, |_| Log)?;
    EnginePre::new(linker.instantiate_pre(component)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_has_no_clock_no_random_no_network_and_no_folder() {
        let executor = Arc::new(Executor::for_engines(None).unwrap());
        let world = EngineWorld::bundled(Arc::clone(&executor)).unwrap();
        let described = world.ready.instance_pre().component().component_type();
        let imports: Vec<String> = described.imports(executor.engine()).map(|(name, _)| name.to_owned()).collect();
        let allowed =
            ["skillcell:plugin/types@", "skillcell:plugin/library@", "skillcell:plugin/log@", "wasi:cli/", "wasi:io/"];
        let other = imports.iter().find(|name| !allowed.iter().any(|start| name.starts_with(start)));
        assert_eq!(other, None, "ARCHITECTURE.md promises that the engine is offline, timeless and without folders");
        assert!(imports.iter().any(|name| name.starts_with("skillcell:plugin/library@")), "{imports:?}");
    }
}
