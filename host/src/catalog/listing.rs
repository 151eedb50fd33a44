//! All skills as a list: asked of an engine once for each generation, a page at a time.

use super::namesakes::Namesakes;
use super::remembered::{Index, Listed, Remembered, is_called_like};
use super::{AskError, Catalog, FRESH_TRIES};
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use std::collections::HashSet;
use std::sync::Arc;

/// Skills asked for at once. Between two pages others have their turn at the engine.
const PAGE: usize = 250;

impl Catalog {
    /// All skills as they are on disk now.
    pub async fn fresh_index(&self) -> Result<Arc<Index>, AskError> {
        self.look_first().await?;
        self.index().await
    }

    /// All skills of the generation that is served.
    pub async fn index(&self) -> Result<Arc<Index>, AskError> {
        if let Some(index) = self.shared.remembered.index(self.shared.pair.published().generation) {
            return Ok(index);
        }
        let mut generations = HashSet::new();
        let mut draft: Option<Draft> = None;
        loop {
            // Where generations come faster than pages, one engine has to stay until the end.
            let most = if generations.len() < FRESH_TRIES { PAGE } else { usize::MAX };
            let shared = Arc::clone(&self.shared);
            let asked = self.ask_of(move |seated, published| {
                let generation = published.generation;
                let begun = draft.filter(|draft| draft.generation == generation);
                let draft = begun.unwrap_or_else(|| Draft::begin(generation, &shared.remembered));
                draft.go_on(&mut seated.engine, most)
            });
            let further = asked.await?;
            if further.rest == Rest::Nothing {
                let Draft { generation, skills, namesakes, .. } = further;
                let index = Arc::new(Index { generation, skills, namesakes });
                self.shared.remembered.keep_index(&index);
                return Ok(index);
            }
            generations.insert(further.generation);
            draft = Some(further);
        }
    }

    /// The newest list of skills that anybody asked for, without waiting.
    pub fn last_index(&self) -> Option<Arc<Index>> {
        self.shared.remembered.last_index()
    }
}

/// A list of one generation that is being made.
struct Draft {
    generation: u64,
    skills: Vec<Arc<Listed>>,
    namesakes: Arc<Namesakes>,
    rest: Rest,
}

/// What is left to ask for.
#[derive(Debug, PartialEq, Eq)]
enum Rest {
    /// The skills at these positions, which have another text than in an earlier list.
    Edited(Vec<usize>),
    /// Everything behind what is there.
    Further,
    Nothing,
}

impl Draft {
    /// Begins with what an earlier list says, as far as that is known to be true.
    fn begin(generation: u64, remembered: &Remembered) -> Self {
        let last = remembered.last_index();
        let edited = last.and_then(|last| Some((remembered.edits(last.generation, generation)?, last)));
        let Some((files, last)) = edited else { return Self::empty(generation) };
        let files: HashSet<(u32, &str)> = files.iter().map(|file| (file.root, file.path.as_str())).collect();
        let is_edited = |skill: &Listed| files.contains(&(skill.file.root, skill.file.path.as_str()));
        let positions: Vec<usize> =
            (0..last.skills.len()).filter(|position| is_edited(&last.skills[*position])).collect();
        // What was no skill may be one now.
        if positions.len() < files.len() {
            return Self::empty(generation);
        }
        let (skills, namesakes) = (last.skills.clone(), Arc::clone(&last.namesakes));
        Self { generation, skills, namesakes, rest: Rest::Edited(positions) }
    }

    fn empty(generation: u64) -> Self {
        Self { generation, skills: Vec::new(), namesakes: Arc::default(), rest: Rest::Further }
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
