//! The usage of skills on this machine, like `skillcell stats`.

use super::UiState;
use super::response::json_blocking;
use analytics::{Summary, summary};
use http_server::HttpResponse;
use serde::Serialize;

#[derive(Serialize)]
struct UsageView {
    #[serde(flatten)]
    summary: Summary,
    /// Whether analytics is enabled, and where events are sent.
    enabled: bool,
    endpoint: Option<String>,
    /// The operator's file.
    file: String,
}

pub async fn usage(state: &UiState) -> HttpResponse {
    let config = state.config.clone();
    json_blocking(move || UsageView {
        summary: config.user_folders.as_ref().map(|folders| summary(&folders.records)).unwrap_or_default(),
        enabled: config.analytics.enabled,
        endpoint: config.analytics.endpoint.as_ref().map(|endpoint| endpoint.redacted.clone()),
        file: config.grants.file.display().to_string(),
    })
    .await
}
