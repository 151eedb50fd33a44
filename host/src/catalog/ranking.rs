//! Questions whose answer depends on how well skills fit.

use super::pair::Seated;
use super::{AskError, Catalog, Shared};
use crate::bindings::catalog::{Answer, LookupError, Request, SearchResult};
use crate::bindings::types::SkillModel;
use crate::library::snapshot::Snapshot;
use crate::runtime::call::Broken;
use crate::scorers::Scorers;
use crate::worlds::engine::EngineInstance;
use crate::worlds::scorer::Prepared;
use std::sync::Arc;

/// An engine with the scorer that follows it. Without one, or when it fails, the engine's own scorer ranks.
pub struct Ranker<'seat> {
    pub engine: &'seat mut EngineInstance,
    scorer: &'seat mut Option<Prepared>,
    scorers: Option<&'seat Scorers>,
}

impl Ranker<'_> {
    /// The skill for a task.
    pub fn find(&mut self, request: &Request) -> Result<Result<Answer, LookupError>, Broken> {
        let scores = self.scores(&request.context);
        self.engine.find(request, scores.as_deref())
    }

    /// Skills that contain every word of a query, those first that fit it best.
    pub fn search(&mut self, query: &str, model: Option<SkillModel>, limit: u32) -> Result<SearchResult, Broken> {
        let scores = self.scores(query);
        self.engine.search(query, model, limit, scores.as_deref())
    }

    fn scores(&mut self, task: &str) -> Option<Vec<f64>> {
        self.scorers?.scores(self.scorer, task)
    }
}

impl Shared {
    pub(super) fn ranker<'seat>(&'seat self, seated: &'seat mut Seated) -> Ranker<'seat> {
        Ranker { engine: &mut seated.engine, scorer: &mut seated.scorer, scorers: self.scorers.as_ref() }
    }
}

impl Catalog {
    /// Asks one engine and its scorer. Waits as `ask` does.
    pub(super) async fn rank<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        let shared = Arc::clone(&self.shared);
        self.ask_of(move |seated, published| question(&mut shared.ranker(seated), &published.snapshot)).await
    }
}
