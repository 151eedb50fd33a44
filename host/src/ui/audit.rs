//! The audit trail, newest entry first and a page at a time, and whether it is intact.

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

/// Fields of the chain, which a search for words leaves out.
const CHAIN: [&str; 2] = ["before", "code"];

#[derive(Default, Serialize)]
struct AuditView {
    folder: String,
    /// Why the record cannot be read.
    error: Option<String>,
    /// Without the beginnings of what has ended.
    lines: usize,
    /// How many of them were asked for.
    matches: usize,
    /// Evidence of tampering.
    faults: Vec<String>,
    /// What rotation removed.
    removed: Vec<String>,
    /// A page of the matches.
    entries: Vec<Value>,
}

/// Which entries are asked for.
struct Selection {
    only: Option<Only>,
    /// All of them are in the values of an entry, in lower case.
    words: Vec<String>,
    skip: usize,
    last: usize,
}

#[derive(Clone, Copy)]
enum Only {
    Runs,
    Questions,
    Refusals,
}

pub async fn audit(state: &UiState, query: &str) -> HttpResponse {
    let selection = Selection::read(query);
    let folders = state.config.user_folders.clone();
    json_blocking(move || view(folders.as_ref(), &selection)).await
}

fn view(folders: Option<&UserFolders>, selection: &Selection) -> AuditView {
    let Some(folders) = folders else {
        let error = Some(format!("{}, so there is no audit record", UserFolders::why_missing(variable)));
        return AuditView { error, ..AuditView::default() };
    };
    let folder = folders.audit().display().to_string();
    let read = || -> anyhow::Result<AuditView> {
        let audit = Audit::open(&folders.audit(), &folders.audit_key())?;
        let (mut lines, verdict) = (audit.lines()?, audit.verify()?);
        lines.retain(|line| line.stage != Stage::Ended);
        let entries = lines.iter().rev().map(|line| entry(&line.text));
        let (mut matches, mut page) = (0, Vec::new());
        for entry in entries.filter(|entry| selection.has(entry)) {
            if matches >= selection.skip && page.len() < selection.last {
                page.push(entry);
            }
            matches += 1;
        }
        Ok(AuditView {
            folder: folder.clone(),
            error: None,
            lines: lines.len(),
            matches,
            faults: verdict.faults.iter().map(ToString::to_string).collect(),
            removed: verdict.removed.iter().map(ToString::to_string).collect(),
            entries: page,
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

impl Selection {
    fn read(query: &str) -> Self {
        let number = |name: &str| parameter(query, name).and_then(|number| number.parse().ok());
        let only = match parameter(query, "only").as_deref() {
            Some("runs") => Some(Only::Runs),
            Some("questions") => Some(Only::Questions),
            Some("refusals") => Some(Only::Refusals),
            _ => None,
        };
        let words = parameter(query, "find").unwrap_or_default().to_lowercase();
        Self {
            only,
            words: words.split_whitespace().map(str::to_owned).collect(),
            skip: number("skip").unwrap_or(0),
            last: number("last").unwrap_or(DEFAULT_LINES).min(MAX_LINES),
        }
    }

    fn has(&self, entry: &Value) -> bool {
        let kind = entry["kind"].as_str().unwrap_or_default();
        let is_wanted = match self.only {
            None => true,
            Some(Only::Runs) => kind.starts_with("run"),
            Some(Only::Questions) => kind.starts_with("query"),
            Some(Only::Refusals) => matches!(kind, "refusal" | "repeats") || was_refused_something(entry),
        };
        is_wanted && (self.words.is_empty() || self.has_words(entry))
    }

    fn has_words(&self, entry: &Value) -> bool {
        let mut text = String::new();
        for (_, value) in entry.as_object().into_iter().flatten().filter(|(name, _)| !CHAIN.contains(&name.as_str())) {
            add_values(value, &mut text);
        }
        let text = text.to_lowercase();
        self.words.iter().all(|word| text.contains(word.as_str()))
    }
}

/// Whether a run or a question went ahead without something that it wanted.
fn was_refused_something(entry: &Value) -> bool {
    let is_filled = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    let outcome = &entry["outcome"];
    is_filled(&entry["denials"])
        || is_filled(&outcome["denials"])
        || outcome["refusals"].as_u64().is_some_and(|count| count > 0)
}

/// Adds all texts and numbers inside a value, but not the names of fields.
fn add_values(value: &Value, text: &mut String) {
    match value {
        Value::Null => {}
        Value::String(string) => text.push_str(string),
        Value::Bool(_) | Value::Number(_) => text.push_str(&value.to_string()),
        Value::Array(list) => list.iter().for_each(|value| add_values(value, text)),
        Value::Object(fields) => fields.values().for_each(|value| add_values(value, text)),
    }
    text.push('\n');
}
