//! The audit trail, newest entry first, and whether it is intact.

use super::UiState;
use super::response::{json_blocking, parameter};
use audit::{Audit, Stage};
use base::environment::variable;
use base::user_folders::UserFolders;
use http_server::HttpResponse;
use serde::Serialize;
use serde_json::{Value, json};

const DEFAULT_LINES: usize = 100;
const MAX_LINES: usize = 10_000;

#[derive(Default, Serialize)]
struct AuditView {
    folder: String,
    /// Why the record cannot be read.
    error: Option<String>,
    lines: usize,
    /// Evidence of tampering.
    faults: Vec<String>,
    /// What rotation removed.
    removed: Vec<String>,
    /// Without the beginnings of what has ended.
    entries: Vec<Value>,
}

pub async fn audit(state: &UiState, query: &str) -> HttpResponse {
    let last = parameter(query, "last").and_then(|last| last.parse().ok()).unwrap_or(DEFAULT_LINES).min(MAX_LINES);
    let folders = state.config.user_folders.clone();
    json_blocking(move || view(folders.as_ref(), last)).await
}

fn view(folders: Option<&UserFolders>, last: usize) -> AuditView {
    let Some(folders) = folders else {
        let error = Some(format!("{}, so there is no audit record", UserFolders::why_missing(variable)));
        return AuditView { error, ..AuditView::default() };
    };
    let folder = folders.audit().display().to_string();
    let read = || -> anyhow::Result<AuditView> {
        let audit = Audit::open(&folders.audit(), &folders.audit_key())?;
        let (mut lines, verdict) = (audit.lines()?, audit.verify()?);
        lines.retain(|line| line.stage != Stage::Ended);
        Ok(AuditView {
            folder: folder.clone(),
            error: None,
            lines: lines.len(),
            faults: verdict.faults.iter().map(ToString::to_string).collect(),
            removed: verdict.removed.iter().map(ToString::to_string).collect(),
            entries: lines.iter().rev().take(last).map(|line| entry(&line.text)).collect(),
        })
    };
    read().unwrap_or_else(|error| {
        let error = Some(format!("{error:#}"));
        AuditView { folder: folder.clone(), error, ..AuditView::default() }
    })
}

/// Parses a line; one that was tampered with may not be valid JSON.
fn entry(line: &str) -> Value {
    let read = serde_json::from_str(line).ok().filter(Value::is_object);
    read.unwrap_or_else(|| json!({"kind": "unreadable", "text": line}))
}
