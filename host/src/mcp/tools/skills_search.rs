//! `skills_search`: skills that contain every word of a query.

use super::skill_view::SkillView;
use crate::bindings::catalog::Hit;
use crate::bindings::types::SkillModel;
use crate::catalog::Catalog;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::{Arguments, WrongArguments};
use crate::mcp::server::Skillcell;
use crate::printable::counted;
use serde::Serialize;

/// Hits in an answer unless the caller says otherwise, and the most.
pub const USUAL_LIMIT: u32 = 10;
pub const MOST_HITS: u32 = 25;

/// Most words of a query. Every word is looked for in every skill.
const MOST_WORDS: usize = 100;

pub async fn skills_search(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let query = arguments.required_text("query")?;
    let limit = arguments.integer("limit", 1..=MOST_HITS)?.unwrap_or(USUAL_LIMIT);
    arguments.finish()?;
    let found = SearchView::of(&server.catalog, query, server.surface().only_model, limit).await?;
    let line = format!("{} of {}", found.results.len(), counted(found.total as usize, "matching skill"));
    Ok(Answer::data(line, &found))
}

#[derive(Serialize)]
pub struct SearchView {
    pub query: String,
    limit: u32,
    pub total: u32,
    pub results: Vec<HitView>,
}

impl SearchView {
    /// What is found now.
    pub async fn of(
        catalog: &Catalog,
        query: String,
        model: Option<SkillModel>,
        limit: u32,
    ) -> Result<Self, ToolError> {
        match query.split_ascii_whitespace().count() {
            0 => return Err(WrongArguments("query must contain a word".to_owned()).into()),
            1..=MOST_WORDS => {}
            words => {
                return Err(
                    WrongArguments(format!("query has {words} words, and must have at most {MOST_WORDS}")).into()
                );
            }
        }
        let wanted = query.clone();
        let found = catalog.rank_all(move |ranker, _| ranker.search(&wanted, model, limit)).await?;
        let hit = |hit: Hit| HitView { skill: hit.skill.into(), score: hit.score, excerpt: hit.excerpt };
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
