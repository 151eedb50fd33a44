//! Answers questions about a repository on GitHub or GitHub Enterprise through its REST API.
//!
//! [`intent`] parses the question using [`rules`]. [`Hub`] is the API client, [`pull`] finds the pull request that is
//! meant, and each file of [`topics`] answers one kind of question. Only GET requests are sent.

pub mod rules;
pub mod intent;
pub mod hub;
pub mod pull;
pub mod people;
pub mod topics;

use crate::hub::Hub;
use crate::intent::Intent;
use integration_kit::http::Http;
use integration_kit::{Integration, QueryError, Question};

pub struct GitHub;

impl Integration for GitHub {
    const QUESTIONS: &'static [&'static str] = &[
        "Get comments on this PR",
        "Get review comments on PR #42",
        "Get review status for PR #123",
        "Get review comments and approval status",
        "List open pull requests",
        "List my pull requests",
        "Which pull requests are waiting for my review?",
        "Show this PR",
        "Show failing checks on this branch",
        "Show all checks of PR #123",
        "Get issues assigned to me",
        "List open issues",
        "Show issue #7",
        "Describe this repository",
        "Who am I?",
        "Show failing checks on branch main of octo-org/hello",
    ];

    fn ask(question: &Question, http: &dyn Http, progress: &dyn Fn(&str)) -> Result<String, QueryError> {
        let intent = Intent::of(&question.text).ok_or(QueryError::NotUnderstood)?;
        let note = intent.parsed.note();
        let answer = topics::answer(&Hub::new(question, intent, http, progress))?;
        Ok(match note {
            Some(note) => format!("{answer}\n\n({note})"),
            None => answer,
        })
    }
}

integration_kit::export_integration!(crate::GitHub);

#[cfg(test)]
mod tests;
