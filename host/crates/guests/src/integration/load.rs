//! Loads an integration: a bundled one, or a component that the operator configures.

use super::{IntegrationState, IntegrationWorld};
use crate::executor::Executor;
use crate::load::{LoadError, World};
use base::digest::Sha256;
use base::place::Place;
use bindings::integration::IntegrationPre;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::Component;

/// Compiled and linked, not running. Lives until its file changes.
#[derive(Clone)]
pub struct Integration {
    pub name: Arc<str>,
    /// The digest of its file, or of its bundled native code.
    pub digest: Sha256,
    pub(super) executor: Arc<Executor>,
    pub(super) ready: IntegrationPre<IntegrationState>,
}

impl IntegrationWorld {
    pub fn bundled(&self, bundled: &skillcell_artifacts::Integration) -> Result<Integration, LoadError> {
        let link = |component: &Component| self.link(component);
        let ready = World::INTEGRATION.load_bundled(&self.executor, bundled.name, bundled.code, link)?;
        Ok(self.integration(bundled.name, Sha256::of(bundled.code), ready))
    }

    /// Loads an integration from a file. Takes a second or two if it has to be compiled: not for a thread that answers
    /// requests.
    pub fn from_file(&self, name: &str, path: &Path, pinned: Option<Sha256>) -> Result<Integration, LoadError> {
        let link = |component: &Component| self.link(component);
        let (ready, digest) = World::INTEGRATION.load_file(&self.executor, Place::new(path, name), pinned, link)?;
        Ok(self.integration(name, digest, ready))
    }

    fn link(&self, component: &Component) -> wasmtime::Result<IntegrationPre<IntegrationState>> {
        IntegrationPre::new(self.linker.instantiate_pre(component)?)
    }

    fn integration(&self, name: &str, digest: Sha256, ready: IntegrationPre<IntegrationState>) -> Integration {
        Integration { name: name.into(), digest, executor: Arc::clone(&self.executor), ready }
    }
}
