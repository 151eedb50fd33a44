//! One issue with all details.

use crate::graphql::Linear;
use crate::lines::{facts, titled};
use crate::queries::ISSUE;
use integration_kit::json::{Json, Value, json};
use integration_kit::text::{Answer, count};
use integration_kit::{QueryError, time};

/// Maximum number of characters of a description.
const DESCRIPTION_CHARS: usize = 4000;

/// Maximum number of characters of a comment.
const COMMENT_CHARS: usize = 1000;

pub fn answer(linear: &Linear, key: &str) -> Result<String, QueryError> {
    linear.report(&format!("reading issue {key}"));
    let what = format!("issue {key} in Linear");
    let data = linear.query(ISSUE, &json!({"id": key}), &what)?;
    let issue = data.at("issue").ok_or(QueryError::NotFound(what))?;
    let mut answer = Answer::new(&titled(issue));
    answer.section(&facts(issue, linear.now).join(", "));
    answer.line(&origin(issue, linear.now));
    for (name, path) in [("Branch", "branchName"), ("Address", "url")] {
        if let Some(value) = issue.text(path) {
            answer.line(&format!("{name}: {value}"));
        }
    }
    if let Some(parent) = issue.at("parent") {
        answer.line(&format!("Part of {}", titled(parent)));
    }
    if let Some(description) = issue.text("description") {
        answer.section("Description").quote(description, DESCRIPTION_CHARS);
    }
    list_children(&mut answer, issue.list("children.nodes"));
    list_comments(&mut answer, issue, linear.now);
    Ok(answer.finish())
}

/// As in `Team Engineering (ENG), created 3 weeks ago by ada, estimate 3`.
fn origin(issue: &Value, now: u64) -> String {
    let mut origin = Vec::new();
    if let (Some(name), Some(key)) = (issue.text("team.name"), issue.text("team.key")) {
        origin.push(format!("Team {name} ({key})"));
    }
    let by = issue.text("creator.displayName").map(|name| format!(" by {name}")).unwrap_or_default();
    origin.extend(issue.text("createdAt").map(|moment| format!("created {}{by}", time::ago(moment, now))));
    origin.extend(issue.at("estimate").and_then(Value::as_f64).map(|estimate| format!("estimate {estimate}")));
    origin.join(", ")
}

fn list_children(answer: &mut Answer, children: &[Value]) {
    if !children.is_empty() {
        answer.section(&count(children.len(), "sub-issue"));
    }
    for child in children {
        answer.item(&format!("{}: {}", titled(child), child.text("state.name").unwrap_or("in an unknown state")));
    }
}

/// Linear returns the newest first; a conversation is read in the other direction.
fn list_comments(answer: &mut Answer, issue: &Value, now: u64) {
    let mut comments: Vec<&Value> = issue.list("comments.nodes").iter().collect();
    comments.sort_by_key(|comment| comment.text("createdAt").unwrap_or_default());
    if !comments.is_empty() {
        answer.section(&count(comments.len(), "comment"));
    }
    for comment in &comments {
        let author = comment.text("user.displayName").or_else(|| comment.text("botActor.name"));
        let moment = time::ago(comment.text("createdAt").unwrap_or("at an unknown time"), now);
        answer.item(&format!("{}, {moment}", author.unwrap_or("an unknown user")));
        answer.quote(comment.text("body").unwrap_or_default(), COMMENT_CHARS);
    }
    if issue.is("comments.pageInfo.hasNextPage") {
        answer.note(&format!("There are more: only the last {} comments were read.", comments.len()));
    }
}
