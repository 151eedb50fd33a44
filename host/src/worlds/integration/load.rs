//! Loading an integration: one in the binary, or a component that the operator names.

use super::{IntegrationState, IntegrationWorld};
use crate::bindings::integration::IntegrationPre;
use crate::integrations::bundled::Bundled;
use crate::runtime::ticker::Ticker;
use crate::sha256::Sha256;
use crate::worlds::plugin_file::{self, PluginFileError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::component::Component;

/// The export that makes a component an integration.
const QUERY: &str = "skillcell:plugin/query@0.1.0";

/// Until its file changes: compiled and linked, not running.
#[derive(Clone)]
pub struct Integration {
    pub name: Arc<str>,
    /// Of its file, or of its native code in this binary.
    pub digest: Sha256,
    pub(super) ticker: Arc<Ticker>,
    pub(super) ready: IntegrationPre<IntegrationState>,
}

/// Why a component cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the component `{path}` is not used: {reason}", path = path.display())]
    File { path: PathBuf, reason: PluginFileError },
    #[error("the integration `{name}` in this binary does not load: {reason}\nhint: build skillcell again")]
    Bundled { name: &'static str, reason: String },
}

impl IntegrationWorld {
    /// An integration that was compiled into this binary.
    pub fn bundled(&self, which: Bundled) -> Result<Integration, LoadError> {
        let name = which.name();
        let broken = |error: wasmtime::Error| LoadError::Bundled { name, reason: format!("{error:#}") };
        #[expect(unsafe_code, reason = "native code, but made by our own build and part of this very binary")]
        // SAFETY: the bytes come from `precompile_component` of the same wasmtime and are never written.
        let component = unsafe { Component::deserialize(&self.engine, which.code()) }.map_err(broken)?;
        self.link(&component, name, Sha256::of(which.code())).map_err(broken)
    }

    /// An integration from a file, which must have this digest if one is pinned. Compiles it unless that was done before,
    /// which takes a second or two: not for a thread that answers requests.
    pub fn from_file(&self, name: &str, path: &Path, pinned: Option<Sha256>) -> Result<Integration, LoadError> {
        let wrong = |reason| LoadError::File { path: path.to_owned(), reason };
        let (component, digest) =
            plugin_file::compile(path, pinned, QUERY, &self.engine, self.cache.as_deref()).map_err(wrong)?;
        let misfit = |error: wasmtime::Error| wrong(PluginFileError::Misfit(format!("{error:#}")));
        self.link(&component, name, digest).map_err(misfit)
    }

    fn link(&self, component: &Component, name: &str, digest: Sha256) -> wasmtime::Result<Integration> {
        let ready = IntegrationPre::new(self.linker.instantiate_pre(component)?)?;
        Ok(Integration { name: name.into(), digest, ticker: Arc::clone(&self.ticker), ready })
    }
}
