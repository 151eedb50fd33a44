//! Loaded components, each until its file changes.

use crate::options::{Integration, Source};
use guests::integration::{self, IntegrationWorld};
use guests::load::{FileState, LoadError};
use guests::run::Lost;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The file of a component. `None` for a bundled one.
type Stamp = Option<FileState>;

pub struct ComponentCache {
    world: IntegrationWorld,
    components: Mutex<HashMap<String, (Stamp, integration::Integration)>>,
    /// One compilation at a time: it takes all cores and much memory.
    compiling: Mutex<()>,
}

impl ComponentCache {
    pub fn new(world: IntegrationWorld) -> Arc<Self> {
        Arc::new(Self { world, components: Mutex::default(), compiling: Mutex::default() })
    }

    /// Returns the component of an integration. Loading it for the first time can take seconds.
    pub async fn get(
        self: &Arc<Self>,
        integration: &Integration,
    ) -> Result<Result<integration::Integration, LoadError>, Lost> {
        let cache = Arc::clone(self);
        let (name, source) = (integration.name.clone(), integration.source.clone());
        tokio::task::spawn_blocking(move || cache.load(&name, &source)).await.map_err(|_| Lost)
    }

    fn load(&self, name: &str, source: &Source) -> Result<integration::Integration, LoadError> {
        let stamp = match source {
            Source::Bundled(_) => None,
            Source::File { path, .. } => FileState::of(path),
        };
        if let Some(cached) = self.cached(name, stamp) {
            return Ok(cached);
        }
        let _guard = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = self.cached(name, stamp) {
            return Ok(cached);
        }
        let loaded = match source {
            Source::Bundled(bundled) => self.world.bundled(bundled.artifact())?,
            Source::File { path, sha256 } => self.world.from_file(name, path, *sha256)?,
        };
        let mut components = self.components.lock().unwrap_or_else(PoisonError::into_inner);
        components.insert(name.to_owned(), (stamp, loaded.clone()));
        Ok(loaded)
    }

    fn cached(&self, name: &str, stamp: Stamp) -> Option<integration::Integration> {
        let components = self.components.lock().unwrap_or_else(PoisonError::into_inner);
        components.get(name).filter(|(known, _)| *known == stamp).map(|(_, component)| component.clone())
    }
}
