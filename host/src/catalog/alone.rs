//! Answers made from a few files alone, for requests that must not wait while everything is brought in anew.

use super::building::{Builder, listings};
use super::remembered::{Index, is_called_like};
use super::{Catalog, Shared};
use crate::bindings::catalog::Called;
use crate::bindings::types::{Location, Summary};
use crate::library::snapshot::{Files, Folders, RootSnapshot, Snapshot};
use crate::library::surroundings::surroundings;
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Most small engines at a time. More would only wait for each other.
pub const AT_ONCE: usize = 4;

/// Most skills that a small engine is given because they share a name with those that matter.
const MOST_NAMESAKES: usize = 100;

/// What an answer was made from.
pub struct Sources {
    pub files: Vec<Location>,
    /// The skills in these files, as they are called in the catalog.
    pub skills: Vec<Summary>,
}

impl Sources {
    /// Asks the engine that answered how it calls the skills in these files.
    pub fn of(files: Vec<Location>, engine: &mut EngineInstance, builder: &Builder) -> Result<Self, Broken> {
        let mut skills = Vec::new();
        for file in &files {
            skills.extend(builder.skill_in(engine, file)?);
        }
        Ok(Self { files, skills })
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
        let Sources { files, skills } = sources;
        let first = self.builder.small(files)?;
        if let Some((mut engine, snapshot)) = first
            && self.builder.calls_alike(&mut engine, skills)?
        {
            return Ok(Some((engine, snapshot)));
        }
        // What a skill is called depends on who else has its names.
        let Some(index) = self.remembered.last_index() else { return Ok(None) };
        let files: Vec<Location> = files.iter().cloned().chain(namesakes(&index, skills)).collect();
        let Some((mut engine, snapshot)) = self.builder.small(&files)? else { return Ok(None) };
        Ok(self.builder.calls_alike(&mut engine, skills)?.then_some((engine, snapshot)))
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

    fn calls_alike(&self, engine: &mut EngineInstance, skills: &[Summary]) -> Result<bool, Broken> {
        for skill in skills {
            if !self.skill_in(engine, &skill.file)?.is_some_and(|now| is_called_like(skill, &now)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The skill in a file, if there is one.
    fn skill_in(&self, engine: &mut EngineInstance, file: &Location) -> Result<Option<Summary>, Broken> {
        let Some(root) = self.terms.roots.get(file.root as usize) else { return Ok(None) };
        let found = engine.skill_of(&format!("{}:{}", root.label, file.path), Called::ByPath)?;
        let is_same = |found: &Summary| (found.file.root, &found.file.path) == (file.root, &file.path);
        Ok(found.ok().map(|found| found.summary).filter(is_same))
    }
}

/// Files of skills that share a name with one of these, or have a path above it.
fn namesakes(index: &Index, skills: &[Summary]) -> impl Iterator<Item = Location> {
    let mut names: HashSet<String> = HashSet::new();
    for skill in skills {
        names.extend(names_of(skill));
        let path = skill.skill_path.to_lowercase();
        names.extend(path.match_indices('/').map(|(slash, _)| path[..slash].to_owned()));
    }
    let shares_one = move |skill: &Summary| names_of(skill).iter().any(|name| names.contains(name));
    let found = index.skills.iter().filter(move |skill| shares_one(skill.summary()));
    found.map(|skill| skill.file.clone()).take(MOST_NAMESAKES)
}

fn names_of(skill: &Summary) -> [String; 4] {
    let last = skill.uri.rsplit('/').next().unwrap_or_default();
    [&skill.name, &skill.install_name, &skill.skill_path, last].map(str::to_lowercase)
}
