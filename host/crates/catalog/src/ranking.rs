//! Questions whose answer depends on how well skills fit.

use crate::left_right::Loaded;
use crate::scorers::Scorers;
use crate::{AskError, Catalog, Inner};
use bindings::catalog::{Answer, LookupError, Request, SearchResult};
use bindings::types::SkillModel;
use guests::call::Broken;
use guests::engine::EngineInstance;
use guests::scorer::Prepared;
use library::snapshot::Snapshot;
use std::sync::Arc;

/// An engine with the scorer that follows it. Without one, or when it fails, the engine's own scorer ranks.
pub struct Ranker<'slot> {
    pub engine: &'slot mut EngineInstance,
    scorer: &'slot mut Option<Prepared>,
    scorers: Option<&'slot Scorers>,
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

impl Inner {
    pub(crate) fn ranker<'slot>(&'slot self, loaded: &'slot mut Loaded) -> Ranker<'slot> {
        Ranker { engine: &mut loaded.engine, scorer: &mut loaded.scorer, scorers: self.scorers.as_ref() }
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
}
