//! Which jobs of a build failed.

use crate::build::{Build, Job, took};
use crate::circle::Circle;
use crate::state::{self, State};
use integration_kit::QueryError;
use integration_kit::json::Json;
use integration_kit::text::Answer;

pub fn answer(circle: &Circle, build: &Build) -> Result<String, QueryError> {
    let jobs = build.jobs(circle)?;
    let failed: Vec<&Job> = jobs.iter().filter(|job| State::of(&job.job) == State::Failed).collect();
    let name = &circle.project.name;
    let mut answer = Answer::new(&if failed.is_empty() {
        format!("No failed jobs of {name} {}", build.place)
    } else {
        format!("Failed jobs of {name} {}: {} of {}", build.place, failed.len(), jobs.len())
    });
    build.introduce(&mut answer, circle);
    if !failed.is_empty() {
        answer.section("Jobs");
    }
    for job in &failed {
        list(&mut answer, job, circle);
    }
    for workflow in &build.workflows {
        let has_reason = failed.iter().any(|job| std::ptr::eq(job.workflow, workflow));
        if State::of(workflow) == State::Failed && !has_reason && !build.is_part() {
            let name = workflow.text("name").unwrap_or("without a name");
            answer.item(&format!("workflow {name}: {}", state::word(workflow)));
        }
    }
    if build.state().is_open() {
        answer.note("The pipeline is not finished, so other jobs may fail yet.");
    }
    Ok(answer.finish())
}

/// Adds a failed job and its web page.
pub fn list(answer: &mut Answer, job: &Job, circle: &Circle) {
    let workflow = job.workflow.text("name").unwrap_or("without a name");
    let number = job.number().map(|number| format!(", job {number}")).unwrap_or_default();
    let happened = format!("{}{}", state::word(&job.job), took(&job.job));
    answer.item(&format!("{}: {happened} (workflow {workflow}{number})", job.name()));
    if let Some(page) = job.page(circle) {
        answer.detail(&page);
    }
}
