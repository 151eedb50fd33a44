//! Loads a scorer: a bundled one, or a component that the operator configures.

use super::{Limits, ScorerState, ScorerWorld};
use crate::executor::Executor;
use crate::load::{LoadError, World};
use base::digest::Sha256;
use base::place::Place;
use bindings::scorer::ScorerPre;
use skillcell_artifacts::SCORERS;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::Component;

/// A scorer in this binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled(usize);

impl Bundled {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SCORERS.len()).map(Self)
    }

    pub fn name(self) -> &'static str {
        SCORERS[self.0].name
    }

    /// Native code for this target.
    pub fn code(self) -> &'static [u8] {
        SCORERS[self.0].code
    }
}

/// Compiled and linked, not running. Lives until its file changes.
pub struct Scorer {
    /// The name of a bundled scorer, otherwise the name of the file.
    pub name: Arc<str>,
    /// The digest of the file. `None` for a bundled scorer.
    pub digest: Option<Sha256>,
    pub(super) executor: Arc<Executor>,
    pub(super) ready: ScorerPre<ScorerState>,
    pub(super) limits: Limits,
}

impl ScorerWorld {
    pub fn bundled(&self, which: Bundled) -> Result<Scorer, LoadError> {
        let (name, link) = (which.name(), |component: &Component| self.link(component));
        let ready = World::SCORER.load_bundled(&self.executor, name, which.code(), link)?;
        Ok(self.scorer(name.into(), None, ready))
    }

    /// Loads a scorer from a file. Takes a second or two if it has to be compiled: not for a thread that answers requests.
    pub fn from_file(&self, path: &Path, pinned: Option<Sha256>) -> Result<Scorer, LoadError> {
        let link = |component: &Component| self.link(component);
        let (ready, digest) = World::SCORER.load_file(&self.executor, Place::file(path), pinned, link)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(self.scorer(name.into(), Some(digest), ready))
    }

    fn link(&self, component: &Component) -> wasmtime::Result<ScorerPre<ScorerState>> {
        ScorerPre::new(self.linker.instantiate_pre(component)?)
    }

    fn scorer(&self, name: Arc<str>, digest: Option<Sha256>, ready: ScorerPre<ScorerState>) -> Scorer {
        Scorer { name, digest, executor: Arc::clone(&self.executor), ready, limits: self.limits }
    }
}
