//! Answers about single skills that are never older than the question.
//!
//! The files that an answer was made from are compared with the disk. If one changed, the answer waits for the next
//! generation, but not for long, and not at all while one is being made or git has paused the task. Then the engine gets the
//! changes of these files alone, answers, and is rolled back.

use crate::left_right::{Loaded, Published};
use crate::refresh::{Outcome, Patience};
use crate::{AskError, Catalog, FRESH_TRIES, Inner, Ranker, Scope};
use bindings::catalog::Change;
use bindings::types::Location;
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::scan;
use library::snapshot::Snapshot;
use library::stamp::Freshness;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a question about one skill waits for a refresh. A few changes take no longer.
const ONE_SKILL_WAIT: Duration = Duration::from_millis(25);

/// How long a question about all skills waits for a refresh to begin that it asked for, and then for its end.
const BEGIN_WAIT: Duration = Duration::from_secs(1);
const END_WAIT: Duration = Duration::from_secs(10);

/// What is known about an answer after its files were compared with the disk.
pub enum Settled {
    /// There is no newer one.
    Current,
    /// A newer generation is served: ask again.
    Outdated,
    /// The next generation takes longer than the question may wait.
    Late,
}

impl Catalog {
    /// Asks a question whose answer is made from a few files. An answer without sources, such as that there is no such skill,
    /// is given only after a full scan.
    pub async fn ask_fresh<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        self.rank_fresh(move |ranker, snapshot| question(ranker.engine, snapshot), sources).await
    }

    /// Like [`ask_fresh`](Self::ask_fresh), for a question that ranks skills.
    pub async fn rank_fresh<T: Send + 'static>(
        &self,
        question: impl Fn(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        let arrived = Instant::now();
        for _ in 0..FRESH_TRIES {
            let (ask, sources_of, catalog) = (question.clone(), sources.clone(), self.clone());
            let asked = self.ask_slot(move |loaded, published| {
                let answer = ask(&mut catalog.inner.ranker(loaded), &published.snapshot)?;
                let files = sources_of(&answer);
                let scope = match &files {
                    Some(files) => catalog.scope_for(&published.snapshot, files),
                    None => Some(Scope::DirtyThenFull),
                };
                Ok((answer, published.clone(), scope, files))
            });
            let (answer, published, scope, files) = asked.await?;
            match self.settle(&published, scope, files.is_some(), arrived).await {
                Settled::Current => return Ok(answer),
                Settled::Outdated => {}
                Settled::Late => {
                    let files = files.unwrap_or_default();
                    let answer = self.read_through(question.clone(), sources.clone(), files).await?;
                    // An answer without sources says something about all files, of which one may have moved.
                    if sources(&answer).is_some() || !self.catch_up(arrived, Scope::DirtyThenFull).await {
                        return Ok(answer);
                    }
                }
            }
        }
        self.rank(question).await
    }

    /// Waits until an answer is known to be current, for as long as it may.
    pub(crate) async fn settle(
        &self,
        published: &Published,
        scope: Option<Scope>,
        is_about_one: bool,
        arrived: Instant,
    ) -> Settled {
        let Some(scope) = scope.filter(|scope| !self.inner.frozen && !published.is_as_new_as(arrived, *scope)) else {
            return Settled::Current;
        };
        let caught_up = if is_about_one {
            let ticket = self.request_refresh(scope, arrived, Patience::Short);
            timeout(ONE_SKILL_WAIT, ticket.done).await.is_ok_and(|done| done == Ok(Outcome::Served))
        } else {
            self.catch_up(arrived, scope).await
        };
        if published.generation != self.inner.slots.published().generation {
            Settled::Outdated
        } else if caught_up || !is_about_one {
            Settled::Current
        } else {
            Settled::Late
        }
    }

    /// Waits until everything that was on disk when a question arrived is served. Gives up when that fails or takes too long.
    pub(crate) async fn catch_up(&self, arrived: Instant, scope: Scope) -> bool {
        if self.inner.frozen || self.inner.slots.published().is_as_new_as(arrived, scope) {
            return true;
        }
        let ticket = self.request_refresh(scope, arrived, Patience::Long);
        if timeout(BEGIN_WAIT, ticket.begun).await.is_err() {
            return false;
        }
        timeout(END_WAIT, ticket.done).await.is_ok_and(|done| done == Ok(Outcome::Served))
    }

    /// Asks with these files, and those that decide about them, as they are on disk now. If the answer is then made from others
    /// that changed too, asks again with them.
    pub(crate) async fn read_through<T: Send + 'static>(
        &self,
        question: impl Fn(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>> + Send + 'static,
        mut files: Vec<Location>,
    ) -> Result<T, AskError> {
        let catalog = self.clone();
        let asked = self.ask_slot(move |loaded, published| {
            let inner = &catalog.inner;
            let mut further_tries = 1..FRESH_TRIES;
            loop {
                let compared = [&files[..], &loaded.engine.dependencies_of(&files)?].concat();
                let patch = scan::patch(&inner.builder.terms.roots, &published.snapshot, &compared);
                let snapshot = Arc::new(patch.snapshot);
                inner.patch(loaded, &snapshot, &patch.changes)?;
                let answer = question(&mut inner.ranker(loaded), &snapshot)?;
                inner.patch(loaded, &published.snapshot, &patch.undo)?;
                let mut others = sources(&answer).unwrap_or_default();
                others.retain(|file| !compared.contains(file));
                if further_tries.next().is_none() || catalog.scope_for(&published.snapshot, &others).is_none() {
                    return Ok(answer);
                }
                files.extend(others);
            }
        });
        asked.await
    }

    /// How much to scan for newer versions of these files; nothing when they are on disk as they are served.
    pub(crate) fn scope_for(&self, snapshot: &Snapshot, files: &[Location]) -> Option<Scope> {
        if self.inner.frozen {
            return None;
        }
        match snapshot.freshness(&self.inner.builder.terms.roots, files) {
            Freshness::Fresh => None,
            Freshness::Racy => Some(Scope::Dirty),
            Freshness::Stale => Some(Scope::DirtyThenFull),
        }
    }
}

impl Inner {
    /// Gives an engine that is in service some changes. Its scorer follows when it ranks next.
    fn patch(&self, loaded: &mut Loaded, snapshot: &Arc<Snapshot>, changes: &[Change]) -> Result<(), Broken> {
        if changes.is_empty() {
            return Ok(());
        }
        loaded.engine.update(Arc::clone(snapshot), changes).map_err(|broken| {
            self.builder.blame(snapshot, &broken);
            broken.broken
        })?;
        loaded.is_scorer_behind = true;
        Ok(())
    }
}
