//! One check run or commit status.

use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, line};
use integration_kit::time::{ago, between};

/// Maximum number of characters of a failed check's summary.
const SUMMARY_CHARS: usize = 1_500;

/// Maximum number of annotations shown per check.
const ANNOTATIONS: usize = 10;

pub struct Run {
    pub name: String,
    pub outcome: Outcome,
    /// The number of the check run, if it has annotations.
    pub annotated: Option<u64>,
    /// The outcome as reported by GitHub.
    word: String,
    by: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    link: Option<String>,
    finished: Option<String>,
    took: Option<String>,
}

/// The outcome of a check, most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Failed,
    Running,
    Passed,
    Skipped,
}

impl Outcome {
    pub fn title(self) -> &'static str {
        match self {
            Self::Failed => "Failing",
            Self::Running => "Not finished",
            Self::Passed => "Passing",
            Self::Skipped => "Skipped or neutral",
        }
    }

    /// Converts the status and conclusion of a check run.
    fn of_check_run(status: &str, conclusion: Option<&str>) -> Self {
        match (status, conclusion) {
            (_, Some("success")) => Self::Passed,
            (_, Some("neutral" | "skipped" | "stale")) | ("completed", None) => Self::Skipped,
            // Failed, timed out, cancelled, action required, startup failure.
            (_, Some(_)) => Self::Failed,
            (_, None) => Self::Running,
        }
    }

    fn of_status(state: &str) -> Self {
        match state {
            "success" => Self::Passed,
            "pending" => Self::Running,
            _ => Self::Failed,
        }
    }
}

impl Run {
    pub fn of_check_run(run: &Value) -> Self {
        let status = run.text("status").unwrap_or("completed");
        let conclusion = run.text("conclusion");
        let noted = run.number("output.annotations_count").unwrap_or_default() > 0;
        Self {
            name: owned(run.text("name")).unwrap_or_else(|| "a check without a name".to_owned()),
            outcome: Outcome::of_check_run(status, conclusion),
            annotated: run.number("id").filter(|_| noted),
            word: conclusion.unwrap_or(status).replace('_', " "),
            by: owned(run.text("app.name")),
            title: owned(run.text("output.title")),
            summary: owned(run.text("output.summary").or_else(|| run.text("output.text"))),
            link: owned(run.text("html_url").or_else(|| run.text("details_url"))),
            finished: owned(run.text("completed_at").or_else(|| run.text("started_at"))),
            took: between(run.text("started_at"), run.text("completed_at")),
        }
    }

    pub fn of_status(status: &Value) -> Self {
        let state = status.text("state").unwrap_or("pending");
        Self {
            name: owned(status.text("context")).unwrap_or_else(|| "a status without a name".to_owned()),
            outcome: Outcome::of_status(state),
            annotated: None,
            word: state.to_owned(),
            by: owned(status.text("creator.login")),
            title: owned(status.text("description")),
            summary: None,
            link: owned(status.text("target_url")),
            finished: owned(status.text("updated_at")),
            took: None,
        }
    }

    /// Adds one line for a check that passes, and all details for one that fails.
    pub fn show(&self, now: u64, annotations: &[Value], answer: &mut Answer) {
        let by = self.by.as_deref().map(|by| format!(" ({by})")).unwrap_or_default();
        let started = if self.outcome == Outcome::Running { "started " } else { "" };
        let when =
            self.finished.as_deref().map(|moment| format!(", {started}{}", ago(moment, now))).unwrap_or_default();
        let took = self
            .took
            .as_deref()
            .filter(|_| self.outcome != Outcome::Skipped)
            .map(|took| format!(" after {took}"))
            .unwrap_or_default();
        answer.item(&format!("{}{by}: {}{took}{when}", self.name, self.word));
        if self.outcome == Outcome::Failed {
            if let Some(title) = &self.title {
                answer.detail(title);
            }
            answer.quote(self.summary.as_deref().unwrap_or_default(), SUMMARY_CHARS);
            annotations.iter().take(ANNOTATIONS).for_each(|annotation| {
                answer.detail(&annotation_line(annotation));
            });
            if annotations.len() > ANNOTATIONS {
                answer.detail(&format!("and {} more annotations", annotations.len() - ANNOTATIONS));
            }
        }
        if let Some(link) = self.link.as_deref().filter(|_| matches!(self.outcome, Outcome::Failed | Outcome::Running))
        {
            answer.detail(link);
        }
    }
}

/// As in `src/main.rs:12: failure: mismatched types`.
fn annotation_line(annotation: &Value) -> String {
    let path = annotation.text("path").unwrap_or("unknown file");
    let at = annotation.number("start_line").map(|line| format!(":{line}")).unwrap_or_default();
    let level = annotation.text("annotation_level").unwrap_or("notice");
    let message = annotation.text("message").or_else(|| annotation.text("title")).unwrap_or_default();
    integration_kit::text::cut(&format!("{path}{at}: {level}: {}", line(message)), 400)
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}
