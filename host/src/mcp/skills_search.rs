//! `skills_search`: skills that contain every word of a query.

use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::{Arguments, WrongArguments};
use crate::mcp::server::Skillcell;
use crate::mcp::wire::SkillView;
use serde::Serialize;

/// Hits in an answer unless the caller says otherwise, and the most.
const USUAL_LIMIT: u32 = 10;
pub const MOST_HITS: u32 = 25;

pub async fn skills_search(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let query = arguments.required_text("query")?;
    let limit = arguments.integer("limit", 1..=MOST_HITS)?.unwrap_or(USUAL_LIMIT);
    arguments.finish()?;
    if query.trim().is_empty() {
        return Err(WrongArguments("query must contain a word".to_owned()).into());
    }
    let wanted = query.clone();
    let found = server.catalog.ask_all(move |engine| engine.search(&wanted, limit)).await?.answer;
    let hit = |hit: crate::bindings::catalog::Hit| HitView {
        skill: hit.skill.into(),
        score: hit.score,
        excerpt: hit.excerpt,
    };
    let results: Vec<HitView> = found.hits.into_iter().map(hit).collect();
    let line = format!("{} of {} matching skills", results.len(), found.total);
    Ok(Answer::data(line, &SearchView { query, limit, total: found.total, results }))
}

#[derive(Serialize)]
struct SearchView {
    query: String,
    limit: u32,
    total: u32,
    results: Vec<HitView>,
}

#[derive(Serialize)]
struct HitView {
    #[serde(flatten)]
    skill: SkillView,
    score: u32,
    excerpt: String,
}
