//! Lists of issues.

use crate::hub::Hub;
use crate::people::author;
use integration_kit::QueryError;
use integration_kit::http::encode;
use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, count};

pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    let intent = &hub.intent;
    let state = if intent.has("closed") { "closed" } else { "open" };
    let person = if intent.has("mine") { Some(hub.login()?) } else { intent.person.clone() };
    // Without a repository, the user's issues are still available.
    let everywhere =
        intent.has("everywhere") || (intent.has("mine") && matches!(hub.repo(), Err(QueryError::Missing(_))));
    let label = intent.label.as_deref().or_else(|| intent.has("bug").then_some("bug"));
    let by_author = intent.has("created") || (intent.person.is_some() && !intent.has("assigned"));

    let mut filters = vec![format!("state={state}")];
    if everywhere {
        filters.push(format!("filter={}", if by_author { "created" } else { "assigned" }));
    } else if let Some(person) = &person {
        filters.push(format!("{}={}", if by_author { "creator" } else { "assignee" }, encode(person)));
    }
    filters.extend(label.map(|label| format!("labels={}", encode(label))));
    let (place, path) = if everywhere {
        ("all repositories".to_owned(), format!("/issues?{}", filters.join("&")))
    } else {
        let repo = hub.repo()?;
        (repo.to_string(), repo.path(&format!("/issues?{}", filters.join("&"))))
    };
    hub.progress(&format!("reading issues of {place}"));
    let pages = hub.list(&path, "", &format!("issues of {place}"))?;
    // The API also returns pull requests as issues.
    let issues: Vec<_> = pages.items.iter().filter(|issue| issue.at("pull_request").is_none()).collect();

    let labelled = label.map(|label| format!(" labelled `{label}`")).unwrap_or_default();
    let whose = match (&person, by_author) {
        (Some(person), true) => format!(" opened by {person}"),
        (Some(person), false) => format!(" assigned to {person}"),
        (None, _) => String::new(),
    };
    let counted =
        if issues.is_empty() { format!("No {state} issues") } else { count(issues.len(), &format!("{state} issue")) };
    let mut answer = Answer::new(&format!("{counted}{labelled}{whose} in {place}"));
    if !issues.is_empty() {
        answer.section("Newest first");
    }
    for issue in &issues {
        show(hub, issue, everywhere, &mut answer);
    }
    answer.note_cut(pages.cut, issues.len(), "issues");
    Ok(answer.finish())
}

fn show(hub: &Hub, issue: &Value, with_repository: bool, answer: &mut Answer) {
    let repository = issue.text("repository.full_name").filter(|_| with_repository).unwrap_or_default();
    let number = issue.number("number").unwrap_or_default();
    let age = hub.age(issue.text("created_at"));
    let title = issue.text("title").unwrap_or("without a title");
    answer.item(&format!("{repository}#{number} \"{title}\", by {}{age}", author(issue)));
    let labels = names(issue.list("labels"), "name");
    let assignees = names(issue.list("assignees"), "login");
    let comments = issue.number("comments").filter(|number| *number > 0).map(|number| count(number, "comment"));
    let parts = [
        (!labels.is_empty()).then(|| format!("labels: {labels}")),
        (!assignees.is_empty()).then(|| format!("assigned to {assignees}")),
        issue.text("milestone.title").map(|milestone| format!("milestone {milestone}")),
        comments,
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        answer.detail(&parts.join("; "));
    }
    answer.detail(issue.text("html_url").unwrap_or_default());
}

/// Joins a field of several items, as in `bug, urgent`. Labels may be plain strings.
pub fn names(things: &[Value], field: &str) -> String {
    let names = things.iter().filter_map(|thing| thing.text(field).or_else(|| thing.text("")));
    names.collect::<Vec<_>>().join(", ")
}
