//! The shape of the answer to `skills_search`.

use crate::skill::SkillView;
use base::printable::visible;
use bindings::catalog::Hit;
use bindings::types::SkillModel;
use catalog::{AskError, Catalog};
use serde::Serialize;

pub const DEFAULT_LIMIT: u32 = 10;
pub const MAX_HITS: u32 = 25;

/// Every word is searched in every skill.
const MAX_WORDS: usize = 100;

/// Why a search has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is invalid.
    #[error("{0}")]
    Query(String),
    #[error(transparent)]
    Catalog(#[from] AskError),
}

#[derive(Serialize)]
pub struct SearchView {
    pub query: String,
    limit: u32,
    pub total: u32,
    pub results: Vec<HitView>,
}

impl SearchView {
    /// Searches the current skills.
    pub async fn of(
        catalog: &Catalog,
        query: String,
        model: Option<SkillModel>,
        limit: u32,
    ) -> Result<Self, SearchError> {
        let words = query.split_ascii_whitespace().count();
        if words == 0 {
            return Err(SearchError::Query("query must contain a word".to_owned()));
        }
        if words > MAX_WORDS {
            return Err(SearchError::Query(format!("query has {words} words, and must have at most {MAX_WORDS}")));
        }
        let wanted = query.clone();
        let found = catalog.rank_all(move |ranker, _| ranker.search(&wanted, model, limit)).await?;
        let hit = |hit: Hit| HitView { skill: hit.skill.into(), score: hit.score, excerpt: visible(hit.excerpt) };
        Ok(Self { query, limit, total: found.total, results: found.hits.into_iter().map(hit).collect() })
    }
}

#[derive(Serialize)]
pub struct HitView {
    #[serde(flatten)]
    pub skill: SkillView,
    pub score: u32,
    pub excerpt: String,
}
