//! Single skills by their name: asked of an engine once for each generation.

use super::alone::Sources;
use super::fresh::Checked;
use super::looking::Look;
use super::pair::Published;
use super::remembered::Found;
use super::waiting::Waiting;
use super::{AskError, Catalog, FRESH_TRIES};
use crate::bindings::catalog::{Called, FoundSkill, LookupError};
use crate::bindings::types::{Location, Summary};
use crate::library::snapshot::Snapshot;
use crate::worlds::engine::EngineInstance;
use std::sync::Arc;

/// A skill as its file is on disk, and where that is.
#[derive(Debug, Clone)]
pub struct Served {
    pub skill: Arc<FoundSkill>,
    pub text: Arc<str>,
}

impl Catalog {
    /// The skill of this name, with its file as it is on disk now. The engine is asked only once for each name and
    /// generation.
    pub async fn skill(&self, name: &str) -> Result<Result<Served, LookupError>, AskError> {
        let mut waiting = Waiting::new();
        for _ in 0..FRESH_TRIES {
            let (found, published) = self.find_skill(name).await?;
            let (answer, look, sources) = match found {
                Ok(skill) => {
                    let (served, look) = self.served(&skill, &published);
                    let Summary { file, .. } = &skill.summary;
                    let sources = Sources { files: vec![file.clone()], skills: vec![skill.summary.clone()] };
                    (served, look, Some(sources))
                }
                // That there is no such skill is said only after a look at everything.
                Err(error) => (Err(error), Some(Look::UntilFound), None),
            };
            let checked = Checked { answer, published, look, sources };
            let (wanted, limit) = (name.to_owned(), self.shared.builder.terms.file_limit);
            let anew = move |_: &_, engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
                let found = engine.skill_of(&wanted, Called::ByName)?;
                Ok(found.ok().map(|skill| served_from(snapshot, &Arc::new(skill), limit)))
            };
            if let Some(answer) = Box::pin(self.settle(checked, &mut waiting, anew)).await {
                return Ok(answer);
            }
        }
        // The files keep changing, so the newest that is known has to do.
        let (found, published) = self.find_skill(name).await?;
        Ok(found.and_then(|skill| self.served(&skill, &published).0))
    }

    async fn find_skill(&self, name: &str) -> Result<(Found, Published), AskError> {
        let published = self.shared.pair.published();
        if let Some(found) = self.shared.remembered.skill(published.generation, name) {
            return Ok((found, published));
        }
        let wanted = name.to_owned();
        let asked = self
            .ask_of(move |seated, published| Ok((seated.engine.skill_of(&wanted, Called::ByName)?, published.clone())));
        let (found, published) = asked.await?;
        let found = found.map(Arc::new);
        self.shared.remembered.keep_skill(published.generation, name, &found);
        Ok((found, published))
    }

    /// Looks at the disk without leaving the thread: it is a handful of calls that take a microsecond each. A disk of another
    /// machine may take its time, and then nobody else waits with it.
    fn served(&self, skill: &Arc<FoundSkill>, published: &Published) -> (Result<Served, LookupError>, Option<Look>) {
        let limit = self.shared.builder.terms.file_limit;
        let Location { root, .. } = &skill.summary.file;
        let is_local = published.snapshot.root(*root).is_some_and(|root| root.is_local);
        let look = || {
            let look = self.needed_look(&published.snapshot, std::slice::from_ref(&skill.summary.file));
            (served_from(&published.snapshot, skill, limit), look)
        };
        if is_local { look() } else { tokio::task::block_in_place(look) }
    }
}

/// A skill with its file as a snapshot has it.
fn served_from(snapshot: &Snapshot, skill: &Arc<FoundSkill>, limit: u64) -> Result<Served, LookupError> {
    let Location { root, path } = &skill.summary.file;
    let text = snapshot.root(*root).and_then(|root| root.file(path, limit).text.clone().ok());
    let text = text.ok_or_else(|| LookupError::Unknown(Vec::new()))?;
    Ok(Served { skill: Arc::clone(skill), text })
}
