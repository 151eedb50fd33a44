//! The one way from a file to a guest: size, pinned digest, kind, bounds of the compiler, compilation, exports, linking.

mod bounds;
mod error;

pub use bounds::Excess;
pub use error::{Fault, LoadError};

use crate::cache::{Cache, NativeCode};
use crate::executor::Executor;
use base::digest::Sha256;
use base::place::Place;
use bounds::Bounds;
use error::Source;
use library::stamp::Stamp;
use std::io::{self, Read as _};
use std::path::Path;
use wasmparser::Parser;
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

/// Of a component that the operator configures. A whole JavaScript engine has about twelve million bytes.
pub const MAX_COMPONENT_BYTES: u64 = 32 << 20;

/// Who chose a file that is loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The operator configured it.
    Operator,
    /// It is part of a skill.
    Content,
}

/// A world of `wit/worlds.wit`.
pub(crate) struct World {
    pub name: &'static str,
    /// The interface that makes a component a guest of this world.
    pub export: &'static str,
}

impl World {
    pub const ENGINE: Self = Self { name: "engine", export: "skillcell:plugin/catalog@0.1.1" };
    pub const SCORER: Self = Self { name: "scorer", export: "skillcell:plugin/scoring@0.1.1" };
    pub const SCRIPT_RUNTIME: Self = Self { name: "script-runtime", export: "skillcell:plugin/script@0.1.1" };
    pub const INTEGRATION: Self = Self { name: "integration", export: "skillcell:plugin/query@0.1.1" };

    /// Loads a component that is embedded in this binary.
    pub fn load_bundled<Linked>(
        &self,
        executor: &Executor,
        name: &'static str,
        code: &'static [u8],
        link: impl FnOnce(&Component) -> wasmtime::Result<Linked>,
    ) -> Result<Linked, LoadError> {
        let loaded = NativeCode::bundled(code).component(&executor.engine).and_then(|component| link(&component));
        loaded.map_err(|error| self.bundled_error(name, &error))
    }

    pub fn bundled_error(&self, name: &'static str, error: &wasmtime::Error) -> LoadError {
        LoadError { world: self.name, source: Source::Bundled(name), fault: Fault::Bundled(format!("{error:#}")) }
    }

    /// Loads the component in a file, and returns it with its digest. Compiles it unless it is cached, which takes a second
    /// or two: not for a thread that answers requests.
    pub fn load_file<Linked>(
        &self,
        executor: &Executor,
        file: Place,
        pinned: Option<Sha256>,
        link: impl FnOnce(&Component) -> wasmtime::Result<Linked>,
    ) -> Result<(Linked, Sha256), LoadError> {
        let load = || {
            let bytes = read(file.path(), MAX_COMPONENT_BYTES)?;
            let found = Sha256::of(&bytes);
            if let Some(pinned) = pinned.filter(|pinned| *pinned != found) {
                return Err(Fault::OtherDigest { found: Box::new(found), pinned });
            }
            Ok((self.load(executor, &bytes, &found, link)?, found))
        };
        load().map_err(|fault| LoadError { world: self.name, source: Source::File(file), fault })
    }

    /// Loads the component in `bytes`, which have this digest.
    pub fn load<Linked>(
        &self,
        executor: &Executor,
        bytes: &[u8],
        digest: &Sha256,
        link: impl FnOnce(&Component) -> wasmtime::Result<Linked>,
    ) -> Result<Linked, Fault> {
        if !Parser::is_component(bytes) {
            return Err(Fault::NotAComponent);
        }
        let component = executor.component(bytes, digest, Origin::Operator)?;
        self.check_exports(&executor.engine, &component)?;
        link(&component).map_err(|error| Fault::misfit(self.name, &error))
    }

    fn check_exports(&self, engine: &Engine, component: &Component) -> Result<(), Fault> {
        let exports = export_names(engine, component);
        // Components that were built for an older version have a smaller last number.
        let compatible = |name: &str| name.rsplit_once('.').map(|(version, _)| version.to_owned());
        if exports.iter().any(|name| compatible(name) == compatible(self.export)) {
            return Ok(());
        }
        let interface = |name: &str| name.split('@').next().unwrap_or(name).to_owned();
        match exports.iter().find(|name| interface(name) == interface(self.export)) {
            Some(version) => Err(Fault::OtherVersion { version: version.clone(), wanted: self.export }),
            None => Err(Fault::other_world(&exports, self.export)),
        }
    }
}

pub(crate) fn export_names(engine: &Engine, component: &Component) -> Vec<String> {
    component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect()
}

/// Reads a file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
    let unreadable = |error: io::Error| Fault::Unreadable(error.to_string());
    let check_size = |size| if size > limit { Err(Fault::TooLarge { size, limit }) } else { Ok(()) };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    // Reading a pipe would block.
    if !metadata.is_file() {
        return Err(Fault::Unreadable("it is not a file".to_owned()));
    }
    check_size(metadata.len())?;
    let mut bytes = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    check_size(bytes.len() as u64)?;
    Ok(bytes)
}

impl Executor {
    pub(crate) fn component(&self, bytes: &[u8], digest: &Sha256, origin: Origin) -> Result<Component, Fault> {
        self.compiled(bytes, digest, origin, Engine::precompile_component, NativeCode::component)
    }

    pub(crate) fn module(&self, bytes: &[u8], digest: &Sha256, origin: Origin) -> Result<Module, Fault> {
        self.compiled(bytes, digest, origin, Engine::precompile_module, NativeCode::module)
    }

    /// Opens code from the cache, or compiles it and adds it to the cache.
    fn compiled<T>(
        &self,
        bytes: &[u8],
        digest: &Sha256,
        origin: Origin,
        compile: impl FnOnce(&Engine, &[u8]) -> wasmtime::Result<Vec<u8>>,
        open: impl Fn(&NativeCode, &Engine) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        let compiler = match origin {
            Origin::Operator => &self.engine,
            Origin::Content => self.content_compiler(),
        };
        let name = Cache::file_name(compiler, digest);
        if let Some(code) = self.cache.as_ref().and_then(|cache| cache.get(&name))
            && let Ok(opened) = open(&code, &self.engine)
        {
            return Ok(opened);
        }
        self.validate(bytes, origin)?;
        let invalid = |error: wasmtime::Error| Fault::Invalid(error.root_cause().to_string());
        let code = NativeCode::compiled(compile(compiler, bytes).map_err(invalid)?);
        if let Some(cache) = &self.cache {
            cache.put(&name, &code);
        }
        open(&code, &self.engine).map_err(invalid)
    }

    /// Checks that a file is valid, and that it compiles within bounds.
    pub(crate) fn validate(&self, bytes: &[u8], origin: Origin) -> Result<(), Fault> {
        let bounds = match origin {
            Origin::Operator => Bounds::OPERATOR,
            Origin::Content => Bounds::CONTENT,
        };
        bounds::check(bytes, self.engine.get_wasm_features(), &bounds)
    }
}

/// The metadata of a file, which shows whether it changed since it was loaded.
#[derive(Debug, Clone, Copy)]
pub struct FileState(Stamp);

impl FileState {
    /// Returns `None` for a missing file.
    pub fn of(path: &Path) -> Option<Self> {
        rustix::fs::stat(path).ok().map(|stat| Self(Stamp::of(&stat)))
    }
}

impl PartialEq for FileState {
    fn eq(&self, other: &Self) -> bool {
        self.0.same_as(&other.0)
    }
}

impl Eq for FileState {}
