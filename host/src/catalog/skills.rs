//! Single skills by their name, and all of them as a list: asked of an engine once for each generation.

use super::pair::Published;
use super::remembered::{Found, Index};
use super::{AskError, Catalog, FRESH_TRIES};
use crate::bindings::catalog::{Called, FoundSkill, LookupError};
use crate::library::snapshot::Freshness;
use std::sync::Arc;

/// A skill as its file is on disk, and where that is.
#[derive(Debug, Clone)]
pub struct Served {
    pub skill: Arc<FoundSkill>,
    pub text: Arc<str>,
}

/// Skills asked for at once.
const PAGE: u32 = 2_000;

impl Catalog {
    /// The skill of this name, with its file as it is on disk now. The engine is asked only once for each name and
    /// generation.
    pub async fn skill(&self, name: &str) -> Result<Result<Served, LookupError>, AskError> {
        let mut last = LookupError::Unknown(Vec::new());
        for _ in 0..FRESH_TRIES {
            let published = self.shared.pair.published();
            let found = match self.shared.remembered.skill(published.generation, name) {
                Some(found) => found,
                None => self.find_skill(name).await?,
            };
            let (served, freshness) = match found {
                Ok(skill) => self.served(skill, &published),
                // That there is no such skill is said only after a look at everything.
                Err(error) => {
                    last = error;
                    (None, Freshness::SameFiles)
                }
            };
            let good_enough = self.is_good_enough(freshness, published.generation).await;
            match served {
                Some(served) if good_enough => return Ok(Ok(served)),
                None if good_enough && freshness == Freshness::SameFiles => return Ok(Err(last)),
                _ => {}
            }
        }
        // The files keep changing, so the newest that is known has to do.
        let published = self.shared.pair.published();
        let found = self.find_skill(name).await?;
        Ok(found.and_then(|skill| self.served(skill, &published).0.ok_or(last)))
    }

    async fn find_skill(&self, name: &str) -> Result<Found, AskError> {
        let wanted = name.to_owned();
        let asked =
            self.ask_of(move |engine, published| Ok((engine.skill_of(&wanted, Called::ByName)?, published.generation)));
        let (found, generation) = asked.await?;
        let found = found.map(Arc::new);
        self.shared.remembered.keep_skill(generation, name, &found);
        Ok(found)
    }

    /// Looks at the disk without leaving the thread: it is a handful of calls that take a microsecond each.
    fn served(&self, skill: Arc<FoundSkill>, published: &Published) -> (Option<Served>, Freshness) {
        let terms = &self.shared.builder.terms;
        tokio::task::block_in_place(|| {
            let file = &skill.summary.file;
            let text = published.snapshot.root(file.root).map(|root| root.file(&file.path, terms.file_limit));
            let text = text.and_then(|file| file.text.clone().ok());
            let freshness = published.snapshot.freshness(&terms.roots, std::slice::from_ref(file));
            (text.map(|text| Served { skill, text }), freshness)
        })
    }

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
        let asked = self.ask_of(|engine, published| {
            let mut skills = Vec::new();
            loop {
                let start = u32::try_from(skills.len()).unwrap_or(u32::MAX);
                let page = engine.skills(None, None, start, PAGE)?;
                let done = page.skills.is_empty();
                skills.extend(page.skills);
                if done || skills.len() >= page.total as usize {
                    return Ok(Index { generation: published.generation, skills });
                }
            }
        });
        let index = Arc::new(asked.await?);
        self.shared.remembered.keep_index(&index);
        Ok(index)
    }

    /// The newest list of skills that anybody asked for, without waiting.
    pub fn last_index(&self) -> Option<Arc<Index>> {
        self.shared.remembered.last_index()
    }
}
