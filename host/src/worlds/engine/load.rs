//! Loading an engine: the one in the binary, or a component that the operator names.

use super::lending::{Library, Log};
use super::{EngineState, EngineWorld};
use crate::bindings::engine::EnginePre;
use crate::bindings::{library, log};
use crate::runtime::Runtime;
use crate::worlds::exports::Exports;
use crate::worlds::imports;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::component::{Component, Linker};

/// The export that makes a component an engine.
const CATALOG: &str = "skillcell:plugin/catalog@0.1.0";

/// Largest engine component that is compiled, in bytes. Ours has half a megabyte.
const LARGEST_COMPONENT: u64 = 64 << 20;

/// Why a component cannot be the engine.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read the engine `{path}`: {reason}\nhint: build one with `just build-engine`")]
    Unreadable { path: PathBuf, reason: std::io::Error },
    #[error("the engine `{path}` has {size} bytes, and the limit is {LARGEST_COMPONENT}")]
    TooLarge { path: PathBuf, size: u64 },
    #[error("`{path}` is no WebAssembly component: {reason}\nhint: build one with `just build-engine`")]
    NotAComponent { path: PathBuf, reason: String },
    #[error(
        "`{path}` is no engine: it exports {exports}, and this server needs `{CATALOG}`\nhint: build it against world `engine` in `wit/`"
    )]
    WrongWorld { path: PathBuf, exports: String },
    #[error(
        "`{path}` is an engine for `{version}`, and this server speaks `{CATALOG}`\nhint: build it against the `wit/` of this server"
    )]
    WrongVersion { path: PathBuf, version: String },
    #[error(
        "`{path}` does not fit world `engine`: {reason}\nhint: an engine gets root handles, a log and nothing else"
    )]
    Misfit { path: PathBuf, reason: String },
    #[error("the engine in this binary does not load: {0}\nhint: build skillcell again")]
    Bundled(String),
}

impl EngineWorld {
    /// The engine that was compiled into this binary.
    pub fn bundled(runtime: Arc<Runtime>) -> Result<Self, LoadError> {
        let broken = |error: wasmtime::Error| LoadError::Bundled(format!("{error:#}"));
        #[expect(unsafe_code, reason = "native code, but made by our own build and part of this very binary")]
        // SAFETY: the bytes come from `precompile_component` of the same wasmtime and are never written.
        let component =
            unsafe { Component::deserialize(runtime.engine(), skillcell_artifacts::ENGINE) }.map_err(broken)?;
        Self::new(runtime, &component).map_err(broken)
    }

    /// An engine from a file. Compiles it, so this takes a second or two.
    pub fn from_file(runtime: Arc<Runtime>, path: &Path) -> Result<Self, LoadError> {
        let unreadable = |reason| LoadError::Unreadable { path: path.to_owned(), reason };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > LARGEST_COMPONENT {
            return Err(LoadError::TooLarge { path: path.to_owned(), size });
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let component = Component::from_binary(runtime.engine(), &bytes).map_err(|error| LoadError::NotAComponent {
            path: path.to_owned(),
            reason: error.root_cause().to_string(),
        })?;
        check_exports(&runtime, path, &component)?;
        Self::new(runtime, &component)
            .map_err(|error| LoadError::Misfit { path: path.to_owned(), reason: format!("{error:#}") })
    }

    fn new(runtime: Arc<Runtime>, component: &Component) -> wasmtime::Result<Self> {
        let ready = EnginePre::new(linker(&runtime)?.instantiate_pre(component)?)?;
        Ok(Self { runtime, ready })
    }
}

/// Only what world `engine` imports, and the standard streams that every Rust guest asks for, which lead nowhere.
fn linker(runtime: &Runtime) -> wasmtime::Result<Linker<EngineState>> {
    let mut linker = Linker::new(runtime.engine());
    imports::add_to_linker(&mut linker)?;
    library::add_to_linker::<_, Library>(&mut linker, EngineState::library)?;
    log::add_to_linker::<_, Log>(&mut linker, |_| Log)?;
    Ok(linker)
}

fn check_exports(runtime: &Runtime, path: &Path, component: &Component) -> Result<(), LoadError> {
    let path = path.to_owned();
    match Exports::of(component, runtime.engine(), CATALOG) {
        Exports::Wanted => Ok(()),
        Exports::OtherVersion(version) => Err(LoadError::WrongVersion { path, version }),
        Exports::Others(exports) => Err(LoadError::WrongWorld { path, exports }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_has_no_clock_no_random_no_network_and_no_folder() {
        let runtime = Runtime::new().unwrap();
        #[expect(unsafe_code, reason = "our own compiled code")]
        // SAFETY: see `EngineWorld::bundled`.
        let component = unsafe { Component::deserialize(runtime.engine(), skillcell_artifacts::ENGINE) }.unwrap();
        let described = component.component_type();
        let imports: Vec<String> = described.imports(runtime.engine()).map(|(name, _)| name.to_owned()).collect();
        let allowed =
            ["skillcell:plugin/types@", "skillcell:plugin/library@", "skillcell:plugin/log@", "wasi:cli/", "wasi:io/"];
        let other = imports.iter().find(|name| !allowed.iter().any(|start| name.starts_with(start)));
        assert_eq!(other, None, "ARCHITECTURE.md promises that the engine is offline, timeless and without folders");
        assert!(imports.iter().any(|name| name.starts_with("skillcell:plugin/library@")), "{imports:?}");
    }
}
