//! What was used on this machine, as `skillcell stats` counts it.

use super::Shown;
use super::answer::{failed, json};
use crate::analytics::{Summary, summary};
use crate::listening::Answer;
use hyper::StatusCode;
use serde::Serialize;

#[derive(Serialize)]
struct UsageView {
    #[serde(flatten)]
    summary: Summary,
    /// Whether servers count now, and where they send it.
    enabled: bool,
    endpoint: Option<String>,
    /// The operator's file.
    file: String,
}

pub async fn usage(shown: &Shown) -> Answer {
    let config = shown.config.clone();
    let counted = tokio::task::spawn_blocking(move || UsageView {
        summary: config.places.as_ref().map(|places| summary(&places.records)).unwrap_or_default(),
        enabled: config.analytics.enabled,
        endpoint: config.analytics.endpoint.as_ref().map(|endpoint| endpoint.shown.clone()),
        file: config.grants.file.display().to_string(),
    });
    match counted.await {
        Ok(view) => json(&view),
        Err(panic) => failed(StatusCode::INTERNAL_SERVER_ERROR, &panic.to_string()),
    }
}
