//! The scorer on both seats: it follows the engines, and is exchanged when it failed or its file changed.

use super::pair::Seated;
use super::{Catalog, Shared};
use crate::library::snapshot::Snapshot;
use crate::runtime::call::Broken;
use crate::scorers::{Scorers, Trouble};
use crate::worlds::engine::EngineInstance;
use crate::worlds::scorer::{Prepared, Scorer};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the scorer's file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Catalog {
    /// Whether a scorer was chosen that is not the engine's own.
    pub fn has_scorer(&self) -> bool {
        self.shared.scorers.is_some()
    }

    /// What is wrong with the scorer.
    pub fn scorer_troubles(&self) -> Vec<Trouble> {
        self.shared.scorers.as_ref().map(Scorers::troubles).unwrap_or_default()
    }

    /// Prepares another instance whenever one failed, and exchanges the scorer when its file changes. No request waits.
    pub async fn keep_scoring(self) {
        let Some(scorers) = &self.shared.scorers else { return };
        let follows_file = scorers.has_file() && !self.shared.frozen.load(Ordering::Acquire);
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = scorers.failure() => self.work_on_seats(Shared::prepare_missing_scorers).await,
                _ = looks.tick(), if follows_file => self.look_at_scorer().await,
            }
        }
    }

    async fn look_at_scorer(&self) {
        let shared = Arc::clone(&self.shared);
        let looked = tokio::task::spawn_blocking(move || shared.scorers.as_ref()?.look());
        if let Ok(Some(scorer)) = looked.await {
            self.work_on_seats(move |shared| shared.exchange_scorer(&scorer)).await;
        }
    }

    /// Does something with the seats while nobody brings in changes.
    async fn work_on_seats(&self, work: impl FnOnce(&Shared) + Send + 'static) {
        let updating = Arc::clone(&self.shared.updating).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        let worked = tokio::task::spawn_blocking(move || {
            work(&shared);
            drop(updating);
        });
        if let Err(panic) = worked.await {
            tracing::error!("the scorer could not be prepared: {panic}");
        }
    }
}

impl Shared {
    /// Lets a scorer follow an engine that is about to serve. An engine that breaks while it tells of its skills is built anew
    /// and does without.
    pub(super) fn follow(
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
                tracing::warn!("{broken}; a fresh engine takes over");
                Ok((self.builder.build(snapshot)?, None))
            }
        }
    }

    /// One seat after the other, so that one always serves.
    fn prepare_missing_scorers(&self) {
        for number in self.pair.without_scorer() {
            if self.scorers.as_ref().is_some_and(|scorers| scorers.current().is_some()) {
                self.prepare_scorer(number);
            }
        }
    }

    /// Gives a seat the scorer that counts now.
    fn prepare_scorer(&self, number: usize) {
        let Some(Seated { engine, scorer, generation }) = self.pair.take(number) else { return };
        match self.follow(number, engine, scorer, &self.pair.published().snapshot) {
            Ok((engine, scorer)) => self.pair.seat(number, Seated { engine, scorer, generation }),
            Err(broken) => self.fail(&broken.to_string()),
        }
    }

    /// Makes another scorer the one that counts, as soon as one seat has it. If it fails there, the one before goes on.
    fn exchange_scorer(&self, next: &Arc<Scorer>) {
        let Some(scorers) = &self.scorers else { return };
        self.fill_empty_seats();
        let [first, second] = self.pair.order();
        if let Some(mut seated) = self.pair.take(first) {
            match next.prepare(&mut seated.engine) {
                Ok(Ok(prepared)) => seated.scorer = Some(prepared),
                Ok(Err(failure)) => {
                    scorers.refuse(&failure.to_string());
                    return self.pair.seat(first, seated);
                }
                Err(broken) => {
                    scorers.refuse(&broken.to_string());
                    return self.fill_empty_seats();
                }
            }
            scorers.adopt(Arc::clone(next));
            self.pair.seat(first, seated);
        } else {
            scorers.adopt(Arc::clone(next));
        }
        self.prepare_scorer(second);
        tracing::info!("skills are ranked by the new `{}` from now on", next.name);
    }
}
