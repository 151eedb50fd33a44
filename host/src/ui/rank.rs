//! The answer to a task and the scores of all candidates, like `skillcell match --json`.

use super::UiState;
use super::response::{failure, json, parameter};
use crate::compose;
use catalog::AskError;
use catalog::scorers::panel::{Panel, answer};
use http_server::HttpResponse;
use hyper::StatusCode;
use serde_json::json as value;
use std::sync::Arc;
use views::found::FoundView;

pub async fn rank(state: &UiState, query: &str) -> Result<HttpResponse, AskError> {
    let task = parameter(query, "task").filter(|task| !task.trim().is_empty());
    let Some(task) = task else {
        return Ok(failure(StatusCode::BAD_REQUEST, "the task is empty\nhint: describe what to do"));
    };
    let panel = match panel(state).await {
        Ok(panel) => panel,
        Err(reason) => return Ok(failure(StatusCode::INTERNAL_SERVER_ERROR, &reason)),
    };
    let (found, explain) = answer(&state.catalog, Some(panel), task.clone()).await?;
    let view = FoundView::local(found, task, &state.catalog, &state.config.scripts, &state.roots);
    let mut view = value!(view.await?);
    view["explain"] = value!(explain);
    Ok(json(&view))
}

/// Returns the scorers of the last request. Reloads them if one of their files changed.
async fn panel(state: &UiState) -> Result<Arc<Panel>, String> {
    let mut cached = state.panel.lock().await;
    if let Some(panel) = cached.as_ref().filter(|panel| panel.is_current()) {
        return Ok(Arc::clone(panel));
    }
    let (config, cache) = (Arc::clone(&state.config), state.cache.clone());
    let loaded = tokio::task::spawn_blocking(move || {
        let model = compose::installed_model(&config).ok().flatten();
        Panel::load(&config.scorers, cache, model)
    })
    .await;
    let panel = Arc::new(loaded.map_err(|panic| panic.to_string())?.map_err(|error| format!("{error:#}"))?);
    *cached = Some(Arc::clone(&panel));
    Ok(panel)
}
