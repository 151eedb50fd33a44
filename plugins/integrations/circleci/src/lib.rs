//! Answers questions about builds in CircleCI.
//!
//! [`asked`] says what a question wants, [`project`] which project it is about. [`circle`] is what CircleCI is asked for, and
//! [`build`] finds the build that is meant. The answers are in [`failed`], [`failed_tests`], [`runs`] and [`status`].

pub mod asked;
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

use asked::{Asked, Scope, Topic, understand};
use build::Build;
use circle::Circle;
use integration_kit::http::Http;
use integration_kit::service::Service;
use integration_kit::{Integration, QueryError, Question};
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
        let asked = understand(&question.text).ok_or(QueryError::NotUnderstood)?;
        let project = Project::of(question)?;
        let service = Service::new(http, &question.address, question.now);
        let answer = answer(&Circle { service, project, progress }, &asked, question)?;
        Ok(match asked.note {
            Some(note) => format!("{answer}\n\n({note})"),
            None => answer,
        })
    }
}

fn answer(circle: &Circle, asked: &Asked, question: &Question) -> Result<String, QueryError> {
    let here = &question.repository;
    let build = || Build::find(circle, &asked.scope, here).map(|build| build.only(asked.part.as_deref()));
    match (asked.topic, &asked.scope) {
        (Topic::FailedTests, Scope::Job(number)) => failed_tests::answer_job(circle, *number),
        (_, Scope::Job(number)) => status::answer_job(circle, *number),
        (Topic::FailedTests, _) => failed_tests::answer(circle, &build()?),
        (Topic::FailedJobs, _) => failed::answer(circle, &build()?),
        (Topic::Status, _) => status::answer(circle, &build()?),
        (Topic::Runs, scope) => runs::answer(circle, scope, asked.runs, false, here),
        (Topic::FailedRuns, scope) => runs::answer(circle, scope, asked.runs, true, here),
    }
}
