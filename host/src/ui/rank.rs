//! What a task is answered with, and what each scorer gives the candidates: as `skillcell match --json` tells it.

use super::Shown;
use super::answer::{failed, json, parameter};
use crate::catalog::AskError;
use crate::listening::Answer;
use crate::mcp::tools::get_skill::FoundView;
use crate::scorers::explanation::Explanation;
use crate::scorers::panel::{Panel, answer};
use hyper::StatusCode;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct RankView {
    #[serde(flatten)]
    answer: FoundView,
    explain: Option<Explanation>,
}

pub async fn rank(shown: &Shown, query: &str) -> Result<Answer, AskError> {
    let task = parameter(query, "task").filter(|task| !task.trim().is_empty());
    let Some(task) = task else {
        return Ok(failed(StatusCode::BAD_REQUEST, "the task is empty\nhint: say what is to be done"));
    };
    let panel = match panel(shown).await {
        Ok(panel) => panel,
        Err(reason) => return Ok(failed(StatusCode::INTERNAL_SERVER_ERROR, &reason)),
    };
    let (found, explain) = answer(&shown.catalog, Some(panel), task).await?;
    Ok(json(&RankView { answer: FoundView::plain(found), explain }))
}

/// The scorers of the question before, unless a file of theirs is another one now.
async fn panel(shown: &Shown) -> Result<Arc<Panel>, String> {
    let mut kept = shown.panel.lock().await;
    if let Some(panel) = kept.as_ref().filter(|panel| panel.is_current()) {
        return Ok(Arc::clone(panel));
    }
    let (config, cache) = (Arc::clone(&shown.config), shown.cache.clone());
    let loaded = tokio::task::spawn_blocking(move || Panel::load(&config, cache)).await;
    let panel = Arc::new(loaded.map_err(|panic| panic.to_string())?.map_err(|error| format!("{error:#}"))?);
    *kept = Some(Arc::clone(&panel));
    Ok(panel)
}
