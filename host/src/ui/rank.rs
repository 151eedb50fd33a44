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
    // Loaded for each question, so that a scorer whose file changed is the new one.
    let (config, cache) = (Arc::clone(&shown.config), shown.cache.clone());
    let panel = match tokio::task::spawn_blocking(move || Panel::load(&config, cache)).await {
        Ok(Ok(panel)) => panel,
        Ok(Err(error)) => return Ok(failed(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error:#}"))),
        Err(panic) => return Ok(failed(StatusCode::INTERNAL_SERVER_ERROR, &panic.to_string())),
    };
    let (found, explain) = answer(&shown.catalog, Some(panel), task).await?;
    Ok(json(&RankView { answer: FoundView::plain(found), explain }))
}
