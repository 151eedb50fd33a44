//! Problems in `skills_list`, `list --json` and the page.

use bindings::types::{Problem, Severity};
use catalog::scorers::ScorerProblem;
use library::roots::SkillRoot;
use serde::Serialize;

#[derive(Serialize)]
pub struct ProblemView {
    root: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    severity: &'static str,
    code: String,
    message: String,
    advice: String,
}

impl ProblemView {
    pub fn new(problem: Problem, roots: &[SkillRoot]) -> Self {
        Self {
            root: label(roots, problem.location.root),
            file: problem.location.path,
            line: problem.line,
            severity: severity_name(problem.severity),
            code: problem.code,
            message: problem.message,
            advice: problem.advice,
        }
    }
}

impl From<ScorerProblem> for ProblemView {
    fn from(problem: ScorerProblem) -> Self {
        Self {
            root: "scorer".to_owned(),
            file: problem.name,
            line: None,
            severity: severity_name(Severity::Warning),
            code: problem.code.to_owned(),
            message: problem.message,
            advice: problem.advice,
        }
    }
}

pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// The label of a root.
pub fn label(roots: &[SkillRoot], number: u32) -> String {
    roots.get(number as usize).map(|root| root.label.clone()).unwrap_or_default()
}
