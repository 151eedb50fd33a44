//! Answers questions about builds in CircleCI.
//!
//! [`intent`] parses the question and [`project`] identifies the project. [`circle`] is the API client, and [`build`]
//! finds the build that is meant. The answers are in [`failed`], [`failed_tests`], [`runs`] and [`status`].

pub mod intent;
pub mod project;
pub mod circle;
pub mod state;
pub mod build;
pub mod failed;
pub mod failed_tests;
pub mod runs;
pub mod status;
#[cfg(test)]
mod tests;

use build::Build;
use circle::Circle;
use integration_kit::http::Http;
use integration_kit::service::Service;
use integration_kit::{Integration, QueryError, Question};
use intent::{Intent, Scope, Topic, understand};
use project::Project;

/// The integration with CircleCI.
pub struct CircleCi;

integration_kit::export_integration!(crate::CircleCi);

impl Integration for CircleCi {
    const QUESTIONS: &'static [&'static str] = &[
        "Get failed CI checks",
        "What tests failed in the last build?",
        "Get build status for this branch",
        "Get build status for this commit",
        "Get build status for branch main",
        "Show recent pipeline runs",
        "Show the last 5 pipelines on all branches",
        "List failed builds",
        "Show pipeline #412",
        "What tests failed in job 1843?",
    ];

    fn ask(question: &Question, http: &dyn Http, progress: &dyn Fn(&str)) -> Result<String, QueryError> {
        let intent = understand(&question.text).ok_or(QueryError::NotUnderstood)?;
        let project = Project::of(question)?;
        let service = Service::new(http, &question.address, question.now);
        let answer = answer(&Circle { service, project, progress }, &intent, question)?;
        Ok(match intent.note {
            Some(note) => format!("{answer}\n\n({note})"),
            None => answer,
        })
    }
}

fn answer(circle: &Circle, intent: &Intent, question: &Question) -> Result<String, QueryError> {
    let here = &question.repository;
    let build = || Build::find(circle, &intent.scope, here).map(|build| build.only(intent.part.as_deref()));
    match (intent.topic, &intent.scope) {
        (Topic::FailedTests, Scope::Job(number)) => failed_tests::answer_job(circle, *number),
        (_, Scope::Job(number)) => status::answer_job(circle, *number),
        (Topic::FailedTests, _) => failed_tests::answer(circle, &build()?),
        (Topic::FailedJobs, _) => failed::answer(circle, &build()?),
        (Topic::Status, _) => status::answer(circle, &build()?),
        (Topic::Runs, scope) => runs::answer(circle, scope, intent.runs, false, here),
        (Topic::FailedRuns, scope) => runs::answer(circle, scope, intent.runs, true, here),
    }
}
