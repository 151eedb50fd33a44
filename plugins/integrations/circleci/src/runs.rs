//! Recent pipelines.

use crate::build::{commit, since};
use crate::circle::Circle;
use crate::intent::{Runs, Scope};
use crate::state::{self, State};
use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, count, first_lines};
use integration_kit::{QueryError, Repository};

/// Maximum number of pipelines checked. Each takes a request for its state.
const MAX_PIPELINES: usize = 20;

/// Pages to get that many. A page has 20, sometimes fewer.
const PAGES: usize = 3;

pub fn answer(
    circle: &Circle,
    scope: &Scope,
    runs: Runs,
    only_failed: bool,
    here: &Repository,
) -> Result<String, QueryError> {
    let branch = match scope {
        Scope::Branch(branch) => Some(branch.as_str()),
        _ if runs.everywhere => None,
        _ => here.branch.as_deref(),
    };
    let wanted = runs.max.clamp(1, MAX_PIPELINES);
    let pipelines = circle.pipelines(branch, PAGES)?.items;
    let looked_at = if only_failed { MAX_PIPELINES } else { wanted };
    let mut shown = Vec::new();
    let mut seen = 0;
    for pipeline in pipelines.into_iter().take(looked_at) {
        if shown.len() == wanted {
            break;
        }
        let workflows = circle.workflows(&pipeline)?;
        let state = State::of_pipeline(&pipeline, &workflows);
        seen += 1;
        if !only_failed || matches!(state, State::Failed | State::Failing) {
            shown.push((pipeline, workflows, state));
        }
    }
    let place = branch.map_or_else(|| "on all branches".to_owned(), |branch| format!("on branch {branch}"));
    let kind = if only_failed { "Failed pipelines" } else { "Recent pipelines" };
    let mut answer = Answer::new(&format!("{kind} of {} {place}: {}", circle.project.name, shown.len()));
    answer.section(&circle.project.pages);
    for (pipeline, workflows, state) in &shown {
        list(&mut answer, circle, pipeline, workflows, *state, branch.is_none());
    }
    if seen == 0 {
        answer.note("There are no pipelines.");
    } else if only_failed {
        answer.note(&format!("Looked at the last {}.", count(seen, "pipeline")));
    }
    Ok(answer.finish())
}

fn list(answer: &mut Answer, circle: &Circle, pipeline: &Value, workflows: &[Value], state: State, names_branch: bool) {
    let number = pipeline.number("number").unwrap_or_default();
    let place = pipeline.text("vcs.branch").or_else(|| pipeline.text("vcs.tag"));
    let place = place.filter(|_| names_branch).map(|place| format!(" on {place}")).unwrap_or_default();
    answer.item(&format!("#{number}{place}: {}, {}", state.word(), since(pipeline, circle)));
    if let Some(commit) = commit(pipeline) {
        answer.detail(&commit);
    }
    for error in pipeline.list("errors") {
        let message = first_lines(error.text("message").unwrap_or_default(), 2);
        answer.detail(&format!("{} error: {message}", error.text("type").unwrap_or("unknown")));
    }
    let workflows: Vec<String> = workflows
        .iter()
        .map(|workflow| format!("{} {}", workflow.text("name").unwrap_or("a workflow"), state::word(workflow)))
        .collect();
    if !workflows.is_empty() {
        answer.detail(&workflows.join(", "));
    }
}
