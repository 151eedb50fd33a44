//! Questions whose answer depends on how well skills fit, and the scorer in both slots: it follows the engines, and is
//! replaced when it failed or its file changed.

use crate::left_right::Loaded;
use crate::scorers::{ScorerProblem, Scorers};
use crate::{AskError, Catalog, Inner};
use bindings::catalog::{Answer, LookupError, LookupKind, Request, SearchResult};
use bindings::types::{SkillModel, Summary};
use guests::call::Broken;
use guests::engine::EngineInstance;
use guests::scorer::{Prepared, Scorer};
use library::snapshot::Snapshot;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How often the scorer's file is checked.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// An engine with the scorer that follows it. Without one, or when it fails, the engine's own scorer ranks.
pub struct Ranker<'slot> {
    pub engine: &'slot mut EngineInstance,
    scorer: &'slot mut Option<Prepared>,
    is_scorer_behind: &'slot mut bool,
    scorers: Option<&'slot Scorers>,
    searched: &'slot Notify,
}

impl Ranker<'_> {
    /// The skill for a task.
    pub fn find(&mut self, request: &Request) -> Result<Result<Answer, LookupError>, Broken> {
        let scores = self.scores(&request.context)?;
        self.engine.find(request, scores.as_deref())
    }

    /// The skills that come closest to a task, best first; those that have nothing to do with it are left out.
    pub fn nearest(&mut self, task: &str, max: u32) -> Result<Vec<Summary>, Broken> {
        let scores = self.scores(task)?;
        let mut nearest = Vec::new();
        for explained in self.engine.explain(task, scores.as_deref(), max)?.iter().filter(|skill| skill.score > 0.0) {
            nearest.extend(self.engine.skill_of(&explained.address, LookupKind::Path)?.ok().map(|skill| skill.summary));
        }
        Ok(nearest)
    }

    /// Skills that contain every word of a query, those first that fit it best.
    pub fn search(&mut self, query: &str, model: Option<SkillModel>, limit: u32) -> Result<SearchResult, Broken> {
        let scores = self.scores(query)?;
        self.searched.notify_one();
        self.engine.search(query, model, limit, scores.as_deref())
    }

    fn scores(&mut self, task: &str) -> Result<Option<Vec<f64>>, Broken> {
        let Some(scorers) = self.scorers else { return Ok(None) };
        if std::mem::take(self.is_scorer_behind) && self.scorer.is_some() {
            *self.scorer = scorers.follow(self.engine, self.scorer.take())?;
        }
        Ok(scorers.scores(self.scorer, task))
    }
}

impl Catalog {
    /// Asks one engine and its scorer. Waits as `ask` does.
    pub(crate) async fn rank<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        let inner = Arc::clone(&self.inner);
        self.ask_slot(move |loaded, published| question(&mut inner.ranker(loaded), &published.snapshot)).await
    }

    /// Problems of the scorer.
    pub fn scorer_problems(&self) -> Vec<ScorerProblem> {
        self.inner.scorers.as_ref().map(Scorers::problems).unwrap_or_default()
    }

    /// Prepares another instance whenever one failed, and replaces the scorer when its file changes. Requests never wait for it.
    pub async fn keep_scoring(self) {
        let Some(scorers) = &self.inner.scorers else { return };
        let follows_file = scorers.has_file() && !self.inner.frozen;
        let mut checks = tokio::time::interval(CHECK_EVERY);
        checks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = scorers.failure() => self.change_slots(Inner::prepare_missing_scorers),
                _ = checks.tick(), if follows_file => self.check_scorer().await,
            }
        }
    }

    async fn check_scorer(&self) {
        let inner = Arc::clone(&self.inner);
        let checked = tokio::task::spawn_blocking(move || inner.scorers.as_ref()?.check());
        if let Ok(Some(scorer)) = checked.await {
            self.change_slots(move |inner| inner.replace_scorer(&scorer));
        }
    }
}

impl Inner {
    pub(crate) fn ranker<'slot>(&'slot self, loaded: &'slot mut Loaded) -> Ranker<'slot> {
        let Loaded { engine, scorer, is_scorer_behind, .. } = loaded;
        Ranker { engine, scorer, is_scorer_behind, scorers: self.scorers.as_ref(), searched: &self.searched }
    }

    /// Lets a scorer follow an engine that is about to serve. An engine that breaks while it reports its skills is rebuilt and
    /// does without.
    pub(crate) fn follow(
        &self,
        number: usize,
        mut engine: EngineInstance,
        before: Option<Prepared>,
        snapshot: &Arc<Snapshot>,
    ) -> Result<(EngineInstance, Option<Prepared>), Broken> {
        let Some(scorers) = &self.scorers else { return Ok((engine, None)) };
        let started = Instant::now();
        match scorers.follow(&mut engine, before) {
            Ok(scorer) => {
                if let Some(scorer) = &scorer {
                    let (known, time) = (scorer.known(), started.elapsed());
                    tracing::debug!("the scorer of engine {number} knows {known} skills after {time:?}");
                }
                Ok((engine, scorer))
            }
            Err(broken) => {
                tracing::warn!("{broken}; a new engine replaces it");
                Ok((self.builder.build(snapshot)?, None))
            }
        }
    }

    /// One slot after the other, so that one always serves.
    fn prepare_missing_scorers(&self) {
        for number in self.slots.which(|loaded| loaded.is_some_and(|loaded| loaded.scorer.is_none())) {
            if self.scorers.as_ref().is_some_and(|scorers| scorers.current().is_some()) {
                self.prepare_scorer(number);
            }
        }
    }

    /// Gives a slot the current scorer.
    fn prepare_scorer(&self, number: usize) {
        let Some(Loaded { engine, scorer, generation, .. }) = self.slots.take(number) else { return };
        match self.follow(number, engine, scorer, &self.slots.published().snapshot) {
            Ok((engine, scorer)) => self.slots.put(number, Loaded::new(engine, scorer, generation)),
            Err(broken) => self.fail(&broken.to_string()),
        }
    }

    /// Makes another scorer the current one as soon as one slot has it. If it fails there, the previous one stays.
    fn replace_scorer(&self, next: &Arc<Scorer>) {
        let Some(scorers) = &self.scorers else { return };
        self.fill_empty_slots();
        let [first, second] = self.slots.order();
        if let Some(mut loaded) = self.slots.take(first) {
            match next.prepare(&mut loaded.engine) {
                Ok(Ok(prepared)) => loaded = Loaded::new(loaded.engine, Some(prepared), loaded.generation),
                Ok(Err(failure)) => {
                    scorers.refuse(&failure.to_string());
                    // The engine sent what changed to the refused scorer, so the one before can no longer follow it.
                    self.slots.put(first, Loaded::new(loaded.engine, None, loaded.generation));
                    return self.prepare_missing_scorers();
                }
                Err(broken) => {
                    scorers.refuse(&broken.to_string());
                    return self.fill_empty_slots();
                }
            }
            scorers.adopt(Arc::clone(next));
            self.slots.put(first, loaded);
        } else {
            scorers.adopt(Arc::clone(next));
        }
        self.prepare_scorer(second);
        tracing::info!("skills are ranked by the new `{}` from now on", next.name);
    }
}
