//! All skills as a list: asked of an engine once for each generation, a page at a time.

use crate::cache::{Cache, Index, Listed};
use crate::{AskError, Catalog, FRESH_TRIES, Scope};
use bindings::types::{Location, Summary};
use guests::call::Broken;
use guests::engine::EngineInstance;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// Skills per question. Between two pages the engine is free for other questions.
const PAGE: usize = 250;

impl Catalog {
    /// All skills as they are on disk now.
    pub async fn fresh_index(&self) -> Result<Arc<Index>, AskError> {
        let arrived = Instant::now();
        self.first_generation().await?;
        self.catch_up(arrived, Scope::Dirty).await;
        self.index().await
    }

    /// All skills of the generation that is served.
    pub async fn index(&self) -> Result<Arc<Index>, AskError> {
        if let Some(index) = self.inner.cache.index(self.inner.slots.published().generation) {
            return Ok(index);
        }
        let mut generations = HashSet::new();
        let mut draft: Option<Draft> = None;
        loop {
            // Where generations come faster than pages, one question has to cover the rest.
            let most = if generations.len() < FRESH_TRIES { PAGE } else { usize::MAX };
            let inner = Arc::clone(&self.inner);
            let asked = self.ask_slot(move |loaded, published| {
                let generation = published.generation;
                let begun = draft.filter(|draft| draft.generation == generation);
                let draft = begun.unwrap_or_else(|| Draft::begin(generation, &inner.cache));
                draft.go_on(&mut loaded.engine, most)
            });
            let further = asked.await?;
            if further.rest == Rest::Nothing {
                let Draft { generation, skills, .. } = further;
                let index = Arc::new(Index { generation, skills });
                self.inner.cache.keep_index(&index);
                return Ok(index);
            }
            generations.insert(further.generation);
            draft = Some(further);
        }
    }

    /// The newest list of skills that was asked for, without waiting.
    pub fn last_index(&self) -> Option<Arc<Index>> {
        self.inner.cache.last_index()
    }
}

/// A list of one generation that is being made.
struct Draft {
    generation: u64,
    skills: Vec<Arc<Listed>>,
    rest: Rest,
}

/// What is left to ask for.
#[derive(Debug, PartialEq)]
enum Rest {
    /// The skills in these files, which are not in the list.
    Missing(Vec<Location>),
    /// Everything after what is there.
    Further,
    Nothing,
}

impl Draft {
    /// Begins with what an earlier list says, as far as that is known to be true.
    fn begin(generation: u64, cache: &Cache) -> Self {
        let last = cache.last_index();
        let rearranged = last.and_then(|last| Some((cache.rearranged(last.generation, generation)?, last)));
        let Some((files, last)) = rearranged else {
            return Self { generation, skills: Vec::new(), rest: Rest::Further };
        };
        let mut seen = HashSet::new();
        let mut files = files;
        files.retain(|file| seen.insert((file.root, file.path.clone())));
        let is_same = |skill: &&Arc<Listed>| !seen.contains(&(skill.file.root, skill.file.path.clone()));
        let skills =
            if files.is_empty() { last.skills.clone() } else { last.skills.iter().filter(is_same).cloned().collect() };
        Self { generation, skills, rest: Rest::Missing(files) }
    }

    /// Asks for a few more skills.
    fn go_on(mut self, engine: &mut EngineInstance, most: usize) -> Result<Self, Broken> {
        match &mut self.rest {
            Rest::Missing(files) => {
                for file in files.split_off(files.len().saturating_sub(most)) {
                    let Some(skill) = engine.skill_in(&file)? else { continue };
                    let place = self.skills.partition_point(|other| place_of(other) < place_of(&skill));
                    self.skills.insert(place, Listed::new(skill));
                }
                if files.is_empty() {
                    self.rest = Rest::Nothing;
                }
            }
            Rest::Further => {
                let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
                let page = engine.skills(None, None, number(self.skills.len()), number(most))?;
                let is_last = page.skills.is_empty();
                self.skills.extend(page.skills.into_iter().map(Listed::new));
                if is_last || self.skills.len() >= page.total as usize {
                    self.rest = Rest::Nothing;
                }
            }
            Rest::Nothing => {}
        }
        Ok(self)
    }
}

/// The order of the list.
fn place_of(skill: &Summary) -> (&str, u32, u8, &str) {
    (&skill.skill_path, skill.file.root, skill.model as u8, &skill.file.path)
}
