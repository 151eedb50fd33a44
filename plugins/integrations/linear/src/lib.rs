//! Answers questions about issues, cycles and projects in Linear.
//!
//! [`intent`] parses the question, and [`criteria`] selects issues. [`queries`] are sent through [`graphql`]. The
//! answers are in [`issues`], [`issue`] and [`projects`], formatted with [`lines`].

pub mod intent;
pub mod criteria;
pub mod queries;
pub mod graphql;
pub mod lines;
pub mod issues;
pub mod issue;
pub mod projects;
#[cfg(test)]
mod tests;

use graphql::Linear as Service;
use integration_kit::http::Http;
use integration_kit::{Integration, Missing, QueryError, Question};
use intent::{Topic, key_in, understand};

/// The integration with Linear.
pub struct Linear;

integration_kit::export_integration!(crate::Linear);

impl Integration for Linear {
    const QUESTIONS: &'static [&'static str] = &[
        "Get my assigned issues",
        "Show issues in the current sprint",
        "Show issues in the current cycle of team ENG",
        "List high priority bugs",
        "Get project status",
        "Get status of project Login",
        "Get issues related to authentication",
        "Show ENG-123",
        "Get the issue of this branch",
        "List unassigned urgent issues",
    ];

    fn ask(question: &Question, http: &dyn Http, progress: &dyn Fn(&str)) -> Result<String, QueryError> {
        let intent = understand(&question.text).ok_or(QueryError::NotUnderstood)?;
        let linear = Service::new(http, question, progress);
        let answer = match &intent.topic {
            Topic::Issue(key) => issue::answer(&linear, key),
            Topic::IssueOfBranch => issue::answer(&linear, &key_of_branch(question)?),
            Topic::Issues(criteria) => issues::answer(&linear, criteria),
            Topic::Search { term, criteria } => issues::search(&linear, term, criteria),
            Topic::Projects { name, mine } => projects::answer(&linear, name, *mine),
        }?;
        Ok(match intent.note {
            Some(note) => format!("{answer}\n\n({note})"),
            None => answer,
        })
    }
}

/// As in `feature/eng-123-login`.
fn key_of_branch(question: &Question) -> Result<String, QueryError> {
    let branch = question.repository.branch.as_deref().ok_or(QueryError::Missing(Missing::Branch))?;
    let key = key_in(branch).map(str::to_uppercase);
    key.ok_or_else(|| {
        QueryError::NotFound(format!("the key of an issue, such as ENG-123, in the name of branch {branch}"))
    })
}
