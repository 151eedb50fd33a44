//! Single skills by name: asked of an engine once per name and generation.

use crate::cache::{MAX_NAME_LENGTH, Resolved};
use crate::left_right::Published;
use crate::read_through::Settled;
use crate::{AskError, Catalog, FRESH_TRIES, Ranker, Scope};
use bindings::catalog::{FoundSkill, LookupError, LookupKind};
use bindings::types::Location;
use library::snapshot::Snapshot;
use std::sync::Arc;
use std::time::Instant;

/// A skill with the text of its file as it is on disk.
#[derive(Debug, Clone)]
pub struct Served {
    pub skill: Arc<FoundSkill>,
    pub text: Arc<str>,
}

impl Catalog {
    /// The skill of this name, with its file as it is on disk now.
    pub async fn skill(&self, name: &str) -> Result<Result<Served, LookupError>, AskError> {
        let arrived = Instant::now();
        for _ in 0..FRESH_TRIES {
            let (resolved, published) = self.resolve(name).await?;
            let (answer, scope) = match &resolved {
                Ok(skill) => self.served(skill, &published),
                // That there is no such skill is said only after a full scan.
                Err(error) => (Err(error.clone()), Some(Scope::DirtyThenFull)),
            };
            match self.settle(&published, scope, resolved.is_ok(), arrived).await {
                Settled::Current => return Ok(answer),
                Settled::Outdated => {}
                Settled::Late => {
                    let answer = self.read_skill_through(name, &resolved).await?;
                    // That the skill is gone says something about all files: its file may have moved.
                    if answer.is_ok() || !self.catch_up(arrived, Scope::DirtyThenFull).await {
                        return Ok(answer);
                    }
                }
            }
        }
        // The files keep changing, so the newest generation has to do.
        let (resolved, published) = self.resolve(name).await?;
        Ok(resolved.and_then(|skill| self.served(&skill, &published).0))
    }

    async fn resolve(&self, name: &str) -> Result<(Resolved, Published), AskError> {
        let published = self.inner.slots.published();
        if let Some(resolved) = self.inner.cache.skill(published.generation, name) {
            return Ok((resolved, published));
        }
        if let Some((skill, published)) = self.known_skill(name)? {
            let resolved = Ok(Arc::new(skill));
            self.inner.cache.keep_skill(published.generation, name, &resolved);
            return Ok((resolved, published));
        }
        let wanted = name.to_owned();
        let asked = self.ask_slot(move |loaded, published| {
            Ok((loaded.engine.skill_of(&wanted, LookupKind::Name)?, published.clone()))
        });
        let (resolved, published) = asked.await?;
        let resolved = resolved.map(Arc::new);
        self.inner.cache.keep_skill(published.generation, name, &resolved);
        Ok((resolved, published))
    }

    /// Looks the name up on this thread if an engine is free, which takes less time than to wake another thread.
    fn known_skill(&self, name: &str) -> Result<Option<(FoundSkill, Published)>, AskError> {
        if name.len() > MAX_NAME_LENGTH {
            return Ok(None);
        }
        let Some(lease) = self.inner.slots.try_lease() else { return Ok(None) };
        let known = self.ask_now(lease, |loaded, published| {
            let skill = loaded.engine.known_skill(name, LookupKind::Name)?;
            Ok(skill.map(|skill| (skill, published.clone())))
        });
        Ok(known?)
    }

    /// Compares with the disk on this thread, a handful of system calls. On a remote file system they may block, so other tasks
    /// are moved out of the way first.
    fn served(&self, skill: &Arc<FoundSkill>, published: &Published) -> (Result<Served, LookupError>, Option<Scope>) {
        let Location { root, .. } = &skill.summary.file;
        let is_local = published.snapshot.root(*root).is_some_and(|root| root.is_local);
        let compare = || {
            let scope = self.scope_for(&published.snapshot, std::slice::from_ref(&skill.summary.file));
            let served = self.served_from(&published.snapshot, skill);
            (served.ok_or_else(|| LookupError::Unknown(Vec::new())), scope)
        };
        if is_local { compare() } else { tokio::task::block_in_place(compare) }
    }

    /// Resolves the name with its skill's file as it is on disk now, for when the next generation is late.
    async fn read_skill_through(
        &self,
        name: &str,
        resolved: &Resolved,
    ) -> Result<Result<Served, LookupError>, AskError> {
        let (name, catalog) = (name.to_owned(), self.clone());
        let files = resolved.iter().map(|skill| skill.summary.file.clone()).collect();
        let question = move |ranker: &mut Ranker<'_>, snapshot: &Arc<Snapshot>| {
            Ok(ranker.engine.skill_of(&name, LookupKind::Name)?.and_then(|skill| {
                let served = catalog.served_from(snapshot, &Arc::new(skill));
                served.ok_or_else(|| LookupError::Unknown(Vec::new()))
            }))
        };
        let sources = |answer: &Result<Served, LookupError>| {
            answer.as_ref().ok().map(|served| vec![served.skill.summary.file.clone()])
        };
        self.read_through(question, sources, files).await
    }

    fn served_from(&self, snapshot: &Snapshot, skill: &Arc<FoundSkill>) -> Option<Served> {
        let Location { root, path } = &skill.summary.file;
        let text = snapshot.root(*root)?.file(path, self.inner.builder.terms.file_limit).text.clone().ok()?;
        Some(Served { skill: Arc::clone(skill), text })
    }
}
