//! The audit trail, the newest line first, and whether it is whole.

use super::Shown;
use super::answer::{failed, json, parameter};
use crate::audit::Audit;
use crate::config::places::Places;
use crate::config::variable;
use crate::listening::Answer;
use hyper::StatusCode;
use serde::Serialize;
use serde_json::{Value, json as value};

/// Lines that the page is told unless it asks for another number, and at most.
const USUAL: usize = 100;
const MOST: usize = 10_000;

#[derive(Default, Serialize)]
struct AuditView {
    folder: String,
    /// Why there is no record.
    trouble: Option<String>,
    lines: usize,
    /// What shows that somebody tampered with it.
    faults: Vec<String>,
    entries: Vec<Value>,
}

pub async fn audit(shown: &Shown, query: &str) -> Answer {
    let last = parameter(query, "last").and_then(|last| last.parse().ok()).unwrap_or(USUAL).min(MOST);
    let places = shown.config.places.clone();
    // A long record takes a while to be checked.
    match tokio::task::spawn_blocking(move || view(places.as_ref(), last)).await {
        Ok(view) => json(&view),
        Err(panic) => failed(StatusCode::INTERNAL_SERVER_ERROR, &panic.to_string()),
    }
}

fn view(places: Option<&Places>, last: usize) -> AuditView {
    let Some(places) = places else {
        let trouble = Some(format!("{}, so there is no audit record", Places::missing(variable)));
        return AuditView { trouble, ..AuditView::default() };
    };
    let folder = places.audit().display().to_string();
    let read = || -> anyhow::Result<AuditView> {
        let audit = Audit::open(&places.audit(), &places.audit_key())?;
        let (lines, verdict) = (audit.lines()?, audit.verify()?);
        Ok(AuditView {
            folder: folder.clone(),
            trouble: None,
            lines: lines.len(),
            faults: verdict.faults.iter().map(ToString::to_string).collect(),
            entries: lines.iter().rev().take(last).map(|line| entry(line)).collect(),
        })
    };
    read().unwrap_or_else(|error| AuditView {
        folder: folder.clone(),
        trouble: Some(format!("{error:#}")),
        ..AuditView::default()
    })
}

/// A line as it was written, and what somebody made of it where it is none.
fn entry(line: &str) -> Value {
    let read = serde_json::from_str(line).ok().filter(Value::is_object);
    read.unwrap_or_else(|| value!({"kind": "unreadable", "text": line}))
}
