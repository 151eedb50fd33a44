//! What is wrong with the files of the roots, grouped by kind, and the skills that are not served because they are hidden.

use super::UiState;
use base::printable::visible;
use bindings::catalog::Code;
use bindings::types::{Problem, Severity};
use catalog::{AskError, HiddenSkills};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use views::problem::{ProblemView, severity_name};

/// Problems of one kind in a response. `skillcell lint` lists them all.
const MAX_OF_A_KIND: usize = 1_000;

pub async fn problems(state: &UiState) -> Result<Value, AskError> {
    let question = state.catalog.ask_all(|engine, _| Ok((engine.problems(u32::MAX)?, engine.codes()?)));
    let (problems, codes) = question.await?;
    let hidden = state.catalog.hidden_skills(Arc::clone(&state.roots)).await?;
    let total = problems.len();
    let mut kinds: BTreeMap<String, Vec<Problem>> = BTreeMap::new();
    for problem in problems {
        kinds.entry(problem.code.clone()).or_default().push(problem);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, problems)| (Reverse(has_error(problems)), Reverse(problems.len())));
    Ok(json!({
        "total": total,
        "kinds": kinds.into_iter().map(|(code, problems)| kind_view(&code, problems, &codes, state)).collect::<Vec<_>>(),
        "hidden": hidden.iter().map(hidden_view).collect::<Vec<_>>(),
    }))
}

fn has_error(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

fn kind_view(code: &str, problems: Vec<Problem>, codes: &[Code], state: &UiState) -> Value {
    let known = codes.iter().find(|known| known.name == code);
    let severity = if has_error(&problems) { Severity::Error } else { Severity::Warning };
    let count = problems.len();
    let listed = problems.into_iter().take(MAX_OF_A_KIND).map(|problem| ProblemView::new(problem, &state.roots));
    json!({
        "code": code,
        "summary": known.map(|known| known.summary.as_str()),
        "severity": severity_name(severity),
        "count": count,
        "problems": listed.collect::<Vec<_>>(),
    })
}

fn hidden_view(hidden: &HiddenSkills) -> Value {
    json!({"folder": visible(hidden.folder.display().to_string()), "skills": hidden.skills})
}
