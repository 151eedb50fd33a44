//! Loading a scorer: one in the binary, or a component that the operator names.

use super::{Limits, ScorerState, ScorerWorld};
use crate::bindings::scorer::ScorerPre;
use crate::runtime::Runtime;
use crate::sha256::Sha256;
use crate::worlds::plugin_file::{self, LARGEST, PluginFileError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::component::Component;

/// The export that makes a component a scorer.
pub const SCORING: &str = "skillcell:plugin/scoring@0.1.0";

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
    #[error("the scorer `{path}` has {size} bytes, and the limit is {LARGEST}\nhint: build it for size")]
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

impl LoadError {
    fn new(path: &Path, error: PluginFileError) -> Self {
        let path = path.to_owned();
        match error {
            PluginFileError::Unreadable(reason) => Self::Unreadable { path, reason },
            PluginFileError::TooLarge { size } => Self::TooLarge { path, size },
            PluginFileError::OtherDigest { found, pinned } => Self::OtherDigest { path, found, pinned },
            PluginFileError::NotAComponent(reason) => Self::NotAComponent { path, reason },
            PluginFileError::OtherWorld { exports, .. } => Self::WrongWorld { path, exports },
            PluginFileError::OtherVersion { version, .. } => Self::WrongVersion { path, version },
            PluginFileError::Misfit(reason) => Self::Misfit { path, reason },
        }
    }
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
        let cache = self.cache.as_deref();
        let (component, found) = plugin_file::compile(path, pinned, SCORING, self.runtime.engine(), cache)
            .map_err(|error| LoadError::new(path, error))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        self.link(&component, name.into(), Some(found))
            .map_err(|error| LoadError::Misfit { path: path.to_owned(), reason: format!("{error:#}") })
    }

    fn link(&self, component: &Component, name: Arc<str>, digest: Option<Sha256>) -> wasmtime::Result<Scorer> {
        let ready = ScorerPre::new(self.linker.instantiate_pre(component)?)?;
        Ok(Scorer { name, digest, runtime: Arc::clone(&self.runtime), ready, limits: self.limits })
    }
}
