//! Answers made from a few files alone, for requests that must not wait while everything is brought in anew.

use super::building::{Builder, listings};
use super::remembered::{Index, is_called_like};
use super::{Catalog, Shared};
use crate::bindings::types::{Location, Summary};
use crate::library::snapshot::{Files, Folders, RootSnapshot, Snapshot};
use crate::library::surroundings::surroundings;
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most small engines at a time. More would only wait for each other.
pub const AT_ONCE: usize = 4;

/// What an answer was made from.
pub struct Sources {
    pub files: Vec<Location>,
    /// The skills in these files, as they are called in the catalog.
    pub skills: Vec<Summary>,
}

impl Sources {
    /// Asks the engine that answered how it calls the skills in these files.
    pub fn of(files: Vec<Location>, engine: &mut EngineInstance) -> Result<Self, Broken> {
        let mut skills = Vec::new();
        for file in &files {
            skills.extend(engine.skill_in(file)?);
        }
        Ok(Self { files, skills })
    }

    /// These files, and those of skills that have a say in what the skills in them are called.
    fn with_namesakes(&self, index: Option<&Index>) -> Vec<Location> {
        let Some(index) = index else { return self.files.clone() };
        let mut all: BTreeSet<(u32, &str)> = self.files.iter().map(|file| (file.root, file.path.as_str())).collect();
        for skill in &self.skills {
            all.extend(if self.are_below(&skill.file) { index.with_path_of(skill) } else { index.namesakes(skill) });
        }
        all.into_iter().map(|(root, path)| Location { root, path: path.to_owned() }).collect()
    }

    /// Whether some of these files are where a skill may inherit from this one.
    fn are_below(&self, file: &Location) -> bool {
        let (folder, name) = file.path.split_at(file.path.rfind('/').map_or(0, |slash| slash + 1));
        let is_below = |other: &Location| {
            other.root == file.root
                && other.path.starts_with(folder)
                && ![file.path.as_str(), "_root.md"].contains(&other.path.as_str())
        };
        ["_index.md", "_root.md"].contains(&name) && self.skills.iter().any(|skill| is_below(&skill.file))
    }
}

impl Catalog {
    /// Makes an answer again with a small engine that knows nothing but these files, as they are on disk now. Nothing when
    /// the skills in them went away or are called differently, because then all others have a say.
    pub(super) async fn ask_alone<T: Send + 'static>(
        &self,
        before: T,
        sources: Sources,
        anew: impl FnOnce(&T, &mut EngineInstance, &Arc<Snapshot>) -> Result<Option<T>, Broken> + Send + 'static,
    ) -> (T, Option<T>) {
        let turn = Arc::clone(&self.shared.alone).acquire_owned().await;
        let shared = Arc::clone(&self.shared);
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let answered = shared.small_engine(&sources).and_then(|small| match small {
                Some((mut engine, snapshot)) => anew(&before, &mut engine, &snapshot),
                None => Ok(None),
            });
            let now = answered.unwrap_or_else(|broken| {
                tracing::debug!("{broken}; the answer waits for the next generation");
                None
            });
            (before, now)
        });
        asked.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }
}

impl Shared {
    /// An engine over these files in which their skills are called as they are in the catalog.
    fn small_engine(&self, sources: &Sources) -> Result<Option<(EngineInstance, Arc<Snapshot>)>, Broken> {
        let index = self.remembered.last_index();
        let files = sources.with_namesakes(index.as_deref());
        let Some((mut engine, snapshot)) = self.builder.small(&files)? else { return Ok(None) };
        for skill in &sources.skills {
            let Some(now) = engine.skill_in(&skill.file)? else { return Ok(None) };
            // Of what a skill inherits from, answers say nothing but the address.
            let is_above = sources.are_below(&skill.file);
            if !(is_called_like(skill, &now) || is_above && skill.address == now.address) {
                return Ok(None);
            }
        }
        Ok(Some((engine, snapshot)))
    }
}

impl Builder {
    /// An engine that is given these files, as they are on disk at this moment, and what decides about them. Nothing if it
    /// cannot take them in.
    fn small(&self, files: &[Location]) -> Result<Option<(EngineInstance, Arc<Snapshot>)>, Broken> {
        let numbers: BTreeSet<u32> = files.iter().map(|file| file.root).collect();
        let root = |(number, root): (u32, &crate::library::roots::SkillRoot)| {
            let folder = numbers.contains(&number).then(|| root.open().ok()).flatten();
            RootSnapshot::new(folder.map(Arc::new), Folders::new(), Files::new())
        };
        let snapshot = Arc::new(Snapshot { roots: (0..).zip(self.terms.roots.iter()).map(root).collect() });
        let mut changes = Vec::new();
        for (number, root) in (0..).zip(self.terms.roots.iter()) {
            let Some(folder) = snapshot.root(number).and_then(|root| root.folder.as_ref()) else { continue };
            let here = files.iter().filter(|file| file.root == number).map(|file| file.path.as_str());
            let found = surroundings(root, folder, here);
            changes.extend(listings(number, found.iter().map(|(folder, files)| (folder.as_str(), files.clone()))));
        }
        let mut engine = self.world.instantiate(&self.terms)?;
        Ok(engine.update(Arc::clone(&snapshot), &changes).is_ok().then_some((engine, snapshot)))
    }
}
