//! Problems in `skills_list`, `list --json` and the page.

use base::printable::visible;
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
        let Problem { location, line, severity, code, message, advice, .. } = problem;
        let (root, severity) = (label(roots, location.root), severity_name(severity));
        let (file, message, advice) = (visible(location.path), visible(message), visible(advice));
        Self { root, file, line, severity, code, message, advice }
    }
}

impl From<ScorerProblem> for ProblemView {
    fn from(problem: ScorerProblem) -> Self {
        let ScorerProblem { name, code, message, advice } = problem;
        let (root, severity) = ("scorer".to_owned(), severity_name(Severity::Warning));
        Self { root, file: name, line: None, severity, code: code.to_owned(), message, advice }
    }
}

pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

pub fn label(roots: &[SkillRoot], number: u32) -> String {
    roots.get(number as usize).map(|root| root.label.clone()).unwrap_or_default()
}
