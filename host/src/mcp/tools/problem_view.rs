//! The shape that `skills_list` gives what is wrong with skills.

use crate::bindings::types::{Problem, Severity};
use crate::library::roots::SkillRoot;
use crate::scorers::Trouble;
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
            severity: severity_word(problem.severity),
            code: problem.code,
            message: problem.message,
            advice: problem.advice,
        }
    }
}

impl From<Trouble> for ProblemView {
    fn from(trouble: Trouble) -> Self {
        Self {
            root: "scorer".to_owned(),
            file: trouble.name,
            line: None,
            severity: severity_word(Severity::Warning),
            code: trouble.code.to_owned(),
            message: trouble.message,
            advice: trouble.advice,
        }
    }
}

/// How bad a problem is, in a word.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// What a root is called.
pub fn label(roots: &[SkillRoot], number: u32) -> String {
    roots.get(number as usize).map(|root| root.label.clone()).unwrap_or_default()
}
