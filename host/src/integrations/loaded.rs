//! Components that were loaded, each until its file changes.

use crate::config::{Integration, Source};
use crate::sandbox::run::Lost;
use crate::worlds::integration::{self, IntegrationWorld, LoadError};
use crate::worlds::plugin_file::FileState;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The file that a component is from. Nothing for what is in this binary.
type Stamp = Option<FileState>;

pub struct Loaded {
    shared: Arc<Shared>,
}

struct Shared {
    world: IntegrationWorld,
    ready: Mutex<HashMap<String, (Stamp, integration::Integration)>>,
    /// One compilation at a time: it takes all cores and much memory.
    compiling: Mutex<()>,
}

impl Loaded {
    pub fn new(world: IntegrationWorld) -> Self {
        Self { shared: Arc::new(Shared { world, ready: Mutex::default(), compiling: Mutex::default() }) }
    }

    /// The component of an integration. Loads it if that was not done yet, which can take seconds.
    pub async fn get(&self, integration: &Integration) -> Result<Result<integration::Integration, LoadError>, Lost> {
        let shared = Arc::clone(&self.shared);
        let (name, source) = (integration.name.clone(), integration.source.clone());
        tokio::task::spawn_blocking(move || shared.get(&name, &source)).await.map_err(|_| Lost)
    }
}

impl Shared {
    fn get(&self, name: &str, source: &Source) -> Result<integration::Integration, LoadError> {
        let stamp = match source {
            Source::Bundled(_) => None,
            Source::File { path, .. } => FileState::of(path),
        };
        if let Some(ready) = self.kept(name, stamp) {
            return Ok(ready);
        }
        let _turn = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = self.kept(name, stamp) {
            return Ok(ready);
        }
        let loaded = match source {
            Source::Bundled(bundled) => self.world.bundled(*bundled)?,
            Source::File { path, sha256 } => self.world.from_file(name, path, *sha256)?,
        };
        self.ready().insert(name.to_owned(), (stamp, loaded.clone()));
        Ok(loaded)
    }

    fn kept(&self, name: &str, stamp: Stamp) -> Option<integration::Integration> {
        self.ready().get(name).filter(|(since, _)| *since == stamp).map(|(_, ready)| ready.clone())
    }

    fn ready(&self) -> MutexGuard<'_, HashMap<String, (Stamp, integration::Integration)>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
