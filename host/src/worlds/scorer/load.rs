//! Loading a scorer: one in the binary, or a component that the operator names.

use super::{Limits, ScorerState, ScorerWorld};
use crate::bindings::scorer::ScorerPre;
use crate::runtime::Runtime;
use crate::sandbox::runtimes::cache::{self, Code};
use crate::sandbox::runtimes::check_functions;
use crate::sha256::Sha256;
use crate::worlds::exports::Exports;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::Engine;
use wasmtime::component::Component;

/// The export that makes a component a scorer.
pub const SCORING: &str = "skillcell:plugin/scoring@0.1.0";

/// Largest component that is compiled, in bytes. One with a whole JavaScript engine in it has about twelve million.
const LARGEST_COMPONENT: u64 = 32 << 20;

/// A scorer that is in this binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bundled {
    Bm25,
    Hybrid,
}

impl Bundled {
    pub const ALL: [Self; 2] = [Self::Bm25, Self::Hybrid];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Hybrid => "hybrid",
        }
    }

    /// It as native code.
    pub fn code(self) -> &'static [u8] {
        match self {
            Self::Bm25 => skillcell_artifacts::BM25,
            Self::Hybrid => skillcell_artifacts::HYBRID,
        }
    }
}

/// Until its file changes: compiled and linked, not running.
pub struct Scorer {
    /// Its name in this binary, or that of its file.
    pub name: Arc<str>,
    /// Of its file.
    pub digest: Option<Sha256>,
    pub(super) runtime: Arc<Runtime>,
    pub(super) ready: ScorerPre<ScorerState>,
    pub(super) limits: Limits,
}

/// Why a component cannot be the scorer.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "cannot read the scorer `{path}`: {reason}\nhint: name a component of world `scorer`, or `keyword`, `bm25` or `hybrid`"
    )]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("the scorer `{path}` has {size} bytes, and the limit is {LARGEST_COMPONENT}\nhint: build it for size")]
    TooLarge { path: PathBuf, size: u64 },
    #[error(
        "the digest of the scorer `{path}` is {found}, and {pinned} is pinned\nhint: put the pinned file back, or pin `{found}` if you trust the new one"
    )]
    OtherDigest { path: PathBuf, found: Sha256, pinned: Sha256 },
    #[error(
        "`{path}` is no WebAssembly component: {reason}\nhint: `skillcell plugin new NAME --kind scorer` writes a project that builds one"
    )]
    NotAComponent { path: PathBuf, reason: String },
    #[error(
        "`{path}` is no scorer: it exports {exports}, and this server needs `{SCORING}`\nhint: build it against world `scorer` in `wit/`"
    )]
    WrongWorld { path: PathBuf, exports: String },
    #[error(
        "`{path}` is a scorer for `{version}`, and this server speaks `{SCORING}`\nhint: build it against the `wit/` of this server"
    )]
    WrongVersion { path: PathBuf, version: String },
    #[error("`{path}` does not fit world `scorer`: {reason}\nhint: a scorer gets texts, a log and nothing else")]
    Misfit { path: PathBuf, reason: String },
    #[error("the scorer `{name}` in this binary does not load: {reason}\nhint: build skillcell again")]
    Bundled { name: &'static str, reason: String },
}

impl ScorerWorld {
    /// A scorer that was compiled into this binary.
    pub fn bundled(&self, which: Bundled) -> Result<Scorer, LoadError> {
        let name = which.name();
        let broken = |error: wasmtime::Error| LoadError::Bundled { name, reason: format!("{error:#}") };
        #[expect(unsafe_code, reason = "native code, but made by our own build and part of this very binary")]
        // SAFETY: the bytes come from `precompile_component` of the same wasmtime and are never written.
        let component = unsafe { Component::deserialize(self.runtime.engine(), which.code()) }.map_err(broken)?;
        self.link(&component, name.into(), None).map_err(broken)
    }

    /// A scorer from a file, which must have this digest if one is pinned. Compiles it unless that was done before, which
    /// takes a second or two: not for a thread that answers requests.
    pub fn from_file(&self, path: &Path, pinned: Option<Sha256>) -> Result<Scorer, LoadError> {
        let owned = || path.to_owned();
        let bytes = read(path).map_err(|reason| LoadError::Unreadable { path: owned(), reason })?;
        if bytes.len() as u64 > LARGEST_COMPONENT {
            let size = std::fs::metadata(path).map_or(bytes.len() as u64, |file| file.len());
            return Err(LoadError::TooLarge { path: owned(), size });
        }
        let found = Sha256::of(&bytes);
        if let Some(pinned) = pinned.filter(|pinned| *pinned != found) {
            return Err(LoadError::OtherDigest { path: owned(), found, pinned });
        }
        let no_component = |reason| LoadError::NotAComponent { path: owned(), reason };
        check_functions(&bytes).map_err(|error| no_component(error.to_string()))?;
        let engine = self.runtime.engine();
        let compile = |engine: &Engine| engine.precompile_component(&bytes);
        let open = |code: Code| code.component(engine);
        let component = cache::compiled(self.cache.as_deref(), engine, &found, compile, open)
            .map_err(|error| no_component(error.root_cause().to_string()))?;
        match Exports::of(&component, engine, SCORING) {
            Exports::Wanted => {}
            Exports::OtherVersion(version) => return Err(LoadError::WrongVersion { path: owned(), version }),
            Exports::Others(exports) => return Err(LoadError::WrongWorld { path: owned(), exports }),
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        self.link(&component, name.into(), Some(found))
            .map_err(|error| LoadError::Misfit { path: owned(), reason: format!("{error:#}") })
    }

    fn link(&self, component: &Component, name: Arc<str>, digest: Option<Sha256>) -> wasmtime::Result<Scorer> {
        let ready = ScorerPre::new(self.linker.instantiate_pre(component)?)?;
        Ok(Scorer { name, digest, runtime: Arc::clone(&self.runtime), ready, limits: self.limits })
    }
}

/// All of a file, or a little more than is allowed.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST_COMPONENT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
