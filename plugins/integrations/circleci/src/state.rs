//! States of pipelines, workflows and jobs.

use integration_kit::json::{Json, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Succeeded,
    /// Waits for others that did not succeed, or was never meant to run.
    NotRun,
    Canceled,
    /// Waits for approval.
    OnHold,
    Running,
    /// Still running, and a part has failed.
    Failing,
    Failed,
}

impl State {
    /// Returns the state of a workflow or job.
    pub fn of(thing: &Value) -> Self {
        match thing.text("status").unwrap_or_default() {
            "success" => Self::Succeeded,
            "canceled" => Self::Canceled,
            "on_hold" => Self::OnHold,
            "running" | "queued" | "not_running" => Self::Running,
            "failing" => Self::Failing,
            "failed" | "error" | "unauthorized" | "timedout" | "infrastructure_fail" | "terminated-unknown" => {
                Self::Failed
            }
            _ => Self::NotRun,
        }
    }

    /// Returns the state of a pipeline: the worst of its workflows, or why it has none.
    pub fn of_pipeline(pipeline: &Value, workflows: &[Value]) -> Self {
        if !pipeline.list("errors").is_empty() || pipeline.text("state") == Some("errored") {
            return Self::Failed;
        }
        let waits = ["pending", "setup", "setup-pending"].contains(&pipeline.text("state").unwrap_or_default());
        let none = if waits { Self::Running } else { Self::NotRun };
        workflows.iter().map(Self::of).max().unwrap_or(none)
    }

    pub fn is_open(self) -> bool {
        matches!(self, Self::OnHold | Self::Running | Self::Failing)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::NotRun => "not run",
            Self::Canceled => "canceled",
            Self::OnHold => "on hold",
            Self::Running => "running",
            Self::Failing => "failing, and still running",
            Self::Failed => "failed",
        }
    }
}

/// Describes the status of a workflow or job in more detail than its state.
pub fn word(thing: &Value) -> &str {
    match thing.text("status").unwrap_or("unknown") {
        "queued" => "queued",
        "not_running" => "not started",
        "blocked" => "blocked by an earlier job",
        "error" => "failed with an error of its configuration",
        "unauthorized" => "not authorized",
        "timedout" => "timed out",
        "infrastructure_fail" => "failed because of CircleCI itself",
        "terminated-unknown" => "terminated for an unknown reason",
        status => match State::of(thing) {
            State::NotRun if status != "not_run" => status,
            state => state.word(),
        },
    }
}
