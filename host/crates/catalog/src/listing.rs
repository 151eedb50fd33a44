//! All skills as a list: asked of an engine once for each generation, a page at a time.

use crate::cache::{Cache, Index, Listed, is_called_like};
use crate::{AskError, Catalog, FRESH_TRIES, Scope};
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
#[derive(Debug, PartialEq, Eq)]
enum Rest {
    /// The skills at these positions, whose text changed since an earlier list.
    Edited(Vec<usize>),
    /// Everything after what is there.
    Further,
    Nothing,
}

impl Draft {
    /// Begins with what an earlier list says, as far as that is known to be true.
    fn begin(generation: u64, cache: &Cache) -> Self {
        let last = cache.last_index();
        let edited = last.and_then(|last| Some((cache.edits(last.generation, generation)?, last)));
        let Some((files, last)) = edited else { return Self::empty(generation) };
        let files: HashSet<(u32, &str)> = files.iter().map(|file| (file.root, file.path.as_str())).collect();
        let is_edited = |skill: &Listed| files.contains(&(skill.file.root, skill.file.path.as_str()));
        let positions: Vec<usize> =
            (0..last.skills.len()).filter(|position| is_edited(&last.skills[*position])).collect();
        // A file that was not a skill may be one now.
        if positions.len() < files.len() {
            return Self::empty(generation);
        }
        Self { generation, skills: last.skills.clone(), rest: Rest::Edited(positions) }
    }

    fn empty(generation: u64) -> Self {
        Self { generation, skills: Vec::new(), rest: Rest::Further }
    }

    /// Asks for a few more skills.
    fn go_on(mut self, engine: &mut EngineInstance, most: usize) -> Result<Self, Broken> {
        match &mut self.rest {
            Rest::Edited(positions) => {
                for position in positions.split_off(positions.len().saturating_sub(most)) {
                    let skill = &mut self.skills[position];
                    match engine.skill_in(&skill.file)? {
                        Some(now) if is_called_like(skill, &now) => *skill = Listed::new(now),
                        // That may have changed what others are called.
                        _ => return Self::empty(self.generation).go_on(engine, most),
                    }
                }
                if positions.is_empty() {
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
