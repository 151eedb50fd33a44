//! One issue with its comments.

use crate::hub::{Hub, Repo};
use crate::people::author;
use crate::pull::{self, Pull};
use crate::topics::issues::names;
use crate::topics::{comments, overview};
use integration_kit::QueryError;
use integration_kit::json::{Json, Value};
use integration_kit::service::paging::Pages;
use integration_kit::text::Answer;
use integration_kit::time::ago;

/// Maximum number of characters of a description.
const BODY_CHARS: usize = 4_000;

/// Maximum number of characters of a comment.
const COMMENT_CHARS: usize = 1_500;

/// Answers with an issue, or with an overview of a pull request.
pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    issue_or_pull(hub, overview::answer)
}

/// Answers with an issue, or with the comments of a pull request.
pub fn comments(hub: &Hub) -> Result<String, QueryError> {
    issue_or_pull(hub, comments::answer)
}

fn issue_or_pull(
    hub: &Hub,
    of_pull: impl FnOnce(&Hub, &Pull) -> Result<String, QueryError>,
) -> Result<String, QueryError> {
    let repo = hub.repo()?;
    let number = hub.intent.number.ok_or(QueryError::NotUnderstood)?;
    hub.progress(&format!("reading issue #{number} of {repo}"));
    let issue = hub.get(&repo.path(&format!("/issues/{number}")), &format!("issue #{number} of {repo}"))?;
    // The API also returns pull requests as issues.
    if issue.at("pull_request").is_some() {
        return of_pull(hub, &pull::by_number(hub, repo, number)?);
    }
    of_issue(hub, &repo, number, &issue)
}

fn of_issue(hub: &Hub, repo: &Repo, number: u64, issue: &Value) -> Result<String, QueryError> {
    let has_comments = issue.number("comments") != Some(0);
    let comments = if has_comments {
        hub.progress(&format!("reading comments of issue #{number}"));
        let what = format!("comments of issue #{number} of {repo}");
        hub.list(&repo.path(&format!("/issues/{number}/comments")), "", &what)?
    } else {
        Pages::default()
    };

    let title = issue.text("title").unwrap_or("without a title");
    let mut answer = Answer::new(&format!("Issue #{number} \"{title}\" of {repo}"));
    let age = hub.age(issue.text("created_at"));
    answer.line(&format!("{}, by {}{age}", state(issue), author(issue)));
    answer.line(issue.text("html_url").unwrap_or_default());
    labels(&mut answer, issue);
    if let Some(closed) = issue.text("closed_at") {
        answer.line(&format!("Closed: {}", ago(closed, hub.now())));
    }
    if let Some(body) = issue.text("body") {
        answer.section("Description").quote(body, BODY_CHARS);
    }
    if !comments.items.is_empty() {
        answer.section("Comments");
    }
    for comment in &comments.items {
        let when = hub.age(comment.text("created_at"));
        answer.item(&format!("{}{when}", author(comment)));
        answer.quote(comment.text("body").unwrap_or("(no text)"), COMMENT_CHARS);
    }
    answer.note_cut(comments.cut, comments.items.len(), "comments");
    Ok(answer.finish())
}

fn state(issue: &Value) -> String {
    let state = issue.text("state").unwrap_or("open");
    match issue.text("state_reason").filter(|_| state == "closed") {
        Some(reason) => format!("closed as {}", reason.replace('_', " ")),
        None => state.to_owned(),
    }
}

/// Adds lines about labels, people and the milestone, if there are any.
pub fn labels(answer: &mut Answer, issue: &Value) {
    let labels = names(issue.list("labels"), "name");
    if !labels.is_empty() {
        answer.line(&format!("Labels: {labels}"));
    }
    let assignees = names(issue.list("assignees"), "login");
    if !assignees.is_empty() {
        answer.line(&format!("Assigned to: {assignees}"));
    }
    if let Some(milestone) = issue.text("milestone.title") {
        answer.line(&format!("Milestone: {milestone}"));
    }
}
