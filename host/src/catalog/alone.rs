//! One file by itself, for a request that must not wait while everything is brought in anew.

use super::building::{Builder, listings};
use crate::bindings::types::{Location, Summary};
use crate::library::snapshot::{Files, Folders, RootSnapshot, Snapshot};
use std::sync::Arc;

impl Builder {
    /// The skill that a file is on disk at this moment, and its text. A small engine reads it that is given nothing else,
    /// so all that depends on other files is missing.
    pub fn alone(&self, file: &Location) -> Option<(Summary, Arc<str>)> {
        let Location { root: number, path } = file;
        let folder = Arc::new(self.terms.roots.get(*number as usize)?.open().ok()?);
        let root = |other: u32| {
            let folder = (other == *number).then(|| Arc::clone(&folder));
            RootSnapshot::new(folder, Folders::new(), Files::new())
        };
        let snapshot = Arc::new(Snapshot { roots: (0..=*number).map(root).collect() });
        let text = snapshot.root(*number)?.file(path, self.terms.file_limit).text.clone().ok()?;
        let mut engine = self.world.instantiate(&self.terms).ok()?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        engine.update(snapshot, &listings(*number, [(folder, vec![name.to_owned()])])).ok()?;
        let summary = engine.skills(None, None, 0, 1).ok()?.skills.pop()?;
        Some((summary, text))
    }
}
