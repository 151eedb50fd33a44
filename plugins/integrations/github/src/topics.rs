//! Answers, one file per kind of question.

pub mod checks;
pub mod comments;
pub mod issue;
pub mod issues;
pub mod me;
pub mod overview;
pub mod pulls;
pub mod repository;
pub mod reviews;

use crate::hub::Hub;
use crate::pull::{self, Found, Pull};
use crate::rules::Topic;
use integration_kit::QueryError;

pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    match hub.intent.topic {
        // The number may be that of an issue.
        Topic::Comments if hub.intent.number.is_some() && !hub.intent.has("pr") && !hub.intent.has("review") => {
            issue::comments(hub)
        }
        Topic::Comments => of_pull(hub, comments::answer),
        Topic::CommentsAndReviews => of_pull(hub, reviews::with_comments),
        Topic::Reviews => of_pull(hub, reviews::answer),
        Topic::Pull => of_pull(hub, overview::answer),
        Topic::Pulls => pulls::answer(hub),
        Topic::PullsToReview => pulls::to_review(hub),
        Topic::Checks => checks::answer(hub),
        Topic::Issues => issues::answer(hub),
        Topic::Issue | Topic::Numbered => issue::answer(hub),
        Topic::Repository => repository::answer(hub),
        Topic::Me => me::answer(hub),
    }
}

fn of_pull(hub: &Hub, answer: impl FnOnce(&Hub, &Pull) -> Result<String, QueryError>) -> Result<String, QueryError> {
    match pull::find(hub)? {
        Found::One(pull) => answer(hub, &pull),
        Found::Several(text) => Ok(text),
    }
}
