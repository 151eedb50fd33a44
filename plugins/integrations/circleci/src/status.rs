//! The status of a build or one job.

use crate::build::{Build, Section, took};
use crate::circle::Circle;
use crate::state::{self, State};
use integration_kit::json::Json;
use integration_kit::text::{Answer, count};
use integration_kit::{QueryError, time};

pub fn answer(circle: &Circle, build: &Build) -> Result<String, QueryError> {
    let name = &circle.project.name;
    let sections = build.sections(circle)?;
    let meant = sections.iter().flat_map(|section| &section.jobs).map(State::of).max();
    let state = meant.filter(|_| build.is_part()).unwrap_or_else(|| build.state());
    let mut answer = Answer::new(&format!("Build of {name} {}: {}", build.place, state.word()));
    build.introduce(&mut answer, circle);
    for Section { workflow, jobs } in &sections {
        let name = workflow.text("name").unwrap_or("without a name");
        answer.section(&format!("Workflow {name}: {}{}", state::word(workflow), took(workflow)));
        for job in jobs {
            let name = job.text("name").unwrap_or("without a name");
            let is_approval = job.text("type") == Some("approval") && State::of(job) == State::OnHold;
            let happened = if is_approval { "waits for approval" } else { state::word(job) };
            answer.item(&format!("{name}: {happened}{}", took(job)));
        }
    }
    if build.workflows.is_empty() && build.state() == State::NotRun {
        answer.note("Nothing was to be run for this pipeline.");
    }
    Ok(answer.finish())
}

pub fn answer_job(circle: &Circle, number: u64) -> Result<String, QueryError> {
    let job = circle.job(number)?;
    let mut answer = Answer::new(&format!("Job {number} of {}: {}", circle.project.name, state::word(&job)));
    let name = job.text("name").unwrap_or("without a name");
    let workflow = job.text("latest_workflow.name").map(|name| format!(" in workflow {name}")).unwrap_or_default();
    answer.section(&format!("{name}{workflow}{}", took(&job)));
    if let Some(started) = job.text("started_at") {
        answer.line(&format!("Started {}", time::ago(started, circle.service.now())));
    }
    let runs = job.list("parallel_runs");
    let failed = runs.iter().filter(|run| State::of(run) == State::Failed).count();
    if runs.len() > 1 {
        answer.line(&format!("{failed} of {} failed", count(runs.len(), "parallel run")));
    }
    for message in job.list("messages") {
        answer.item(message.text("message").unwrap_or_default());
    }
    if let Some(page) = job.text("web_url") {
        answer.line(page);
    }
    Ok(answer.finish())
}
