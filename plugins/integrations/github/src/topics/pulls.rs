//! Lists of pull requests.

use crate::hub::{Hub, Repo};
use crate::people::{Verdicts, asked_for_review, author, names, verdicts};
use crate::pull;
use crate::topics::reviews::summary;
use integration_kit::QueryError;
use integration_kit::http::encode;
use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, count};

/// Maximum number of pull requests whose reviews are read, each with one request. The host allows 50 in total.
const WITH_REVIEWS: usize = 20;

pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    let repo = hub.repo()?;
    let intent = &hub.intent;
    let person = if intent.has("mine") { Some(hub.login()?) } else { intent.person.clone() };
    let branch = if intent.has("branch") { hub.branch() } else { None };
    let state = if intent.has("merged") || intent.has("closed") { "closed" } else { "open" };
    hub.progress(&format!("reading {state} pull requests of {repo}"));
    let order = if state == "open" { "sort=created" } else { "sort=updated" };
    let path = repo.path(&format!("/pulls?state={state}&{order}&direction=desc"));
    let pages = hub.list(&path, "", &format!("pull requests of {repo}"))?;
    let read = pages.items.len();
    let mut pulls = pages.items;
    let is_whose = |pull: &Value| match &person {
        None => true,
        Some(person) if intent.has("assigned") => {
            pull.list("assignees").iter().any(|assignee| is(assignee, "login", person))
        }
        Some(person) => is(pull, "user.login", person),
    };
    let is_on = |pull: &Value, branch| is(pull, "head.ref", branch) || is(pull, "base.ref", branch);
    pulls.retain(|pull| {
        is_whose(pull)
            && branch.is_none_or(|branch| is_on(pull, branch))
            && (!intent.has("merged") || pull.at("merged_at").is_some())
            && (!intent.has("draft") || pull.is("draft"))
    });

    let kind = if intent.has("merged") { "merged" } else { state };
    let draft = if intent.has("draft") { "draft " } else { "" };
    let role = if intent.has("assigned") { "assigned to" } else { "by" };
    let by = person.as_deref().map(|person| format!(" {role} {person}")).unwrap_or_default();
    let on = branch.map(|branch| format!(" from or into branch `{branch}`")).unwrap_or_default();
    let mut answer =
        Answer::new(&heading(pulls.len(), &format!("{kind} {draft}pull request"), &format!("{by}{on} in {repo}")));
    let with_reviews = state == "open";
    show(hub, &repo, &pulls, with_reviews, &mut answer);
    answer.note_cut(pages.cut, read, "pull requests");
    Ok(answer.finish())
}

/// Lists open pull requests that wait for a review by the user or one of their teams.
pub fn to_review(hub: &Hub) -> Result<String, QueryError> {
    let repo = hub.repo()?;
    let login = hub.login()?;
    hub.progress(&format!("looking for pull requests of {repo} that wait for {login}"));
    let search = encode(&format!("is:pr is:open repo:{repo} review-requested:{login}"));
    let pages = hub.list(&format!("/search/issues?q={search}"), "items", &format!("pull requests of {repo}"))?;
    let mut answer = Answer::new(&heading(
        pages.items.len(),
        "open pull request",
        &format!(" waiting for a review by {login} in {repo}"),
    ));
    show(hub, &repo, &pages.items, false, &mut answer);
    answer.note_cut(pages.cut, pages.items.len(), "pull requests");
    Ok(answer.finish())
}

/// Whether a field has this text, ignoring case.
fn is(value: &Value, path: &str, text: &str) -> bool {
    value.text(path).is_some_and(|found| found.eq_ignore_ascii_case(text))
}

fn heading(number: usize, things: &str, rest: &str) -> String {
    let counted = if number == 0 { format!("No {things}s") } else { count(number, things) };
    format!("{counted}{rest}")
}

fn show(hub: &Hub, repo: &Repo, pulls: &[Value], with_reviews: bool, answer: &mut Answer) {
    if pulls.is_empty() {
        return;
    }
    if with_reviews {
        hub.progress(&format!("reading reviews of {}", count(pulls.len().min(WITH_REVIEWS), "pull request")));
    }
    answer.section(if hub.intent.has("merged") || hub.intent.has("closed") {
        "Last changed first"
    } else {
        "Newest first"
    });
    let mut reviews_known = with_reviews;
    for (at, pull) in pulls.iter().enumerate() {
        let state = match pull::state(pull) {
            "open" => String::new(),
            state => format!(", {state}"),
        };
        let age = hub.age(pull.text("created_at"));
        answer.item(&format!("{}, by {}{age}{state}", pull::title(pull), author(pull)));
        if reviews_known && at < WITH_REVIEWS {
            match reviews(hub, repo, pull) {
                Ok(line) => {
                    answer.detail(&line);
                }
                // The list is useful without reviews, and the next request would fail too.
                Err(error) => {
                    answer.note(&format!("Reviews could not be read for all of them: {}.", reason(&error)));
                    reviews_known = false;
                }
            }
        }
        let branches = if pull.at("head").is_some() { format!("{}, ", pull::branches(pull)) } else { String::new() };
        answer.detail(&format!("{branches}{}", pull.text("html_url").unwrap_or_default()));
    }
    if with_reviews && pulls.len() > WITH_REVIEWS {
        answer.note(&format!("Reviews are shown for the newest {WITH_REVIEWS} only."));
    }
}

/// As in `reviews: changes requested by carol; approved by bob; still asked: dave`.
fn reviews(hub: &Hub, repo: &Repo, pull: &Value) -> Result<String, QueryError> {
    let number = pull.number("number").unwrap_or_default();
    let reviews = hub.first_page(&repo.path(&format!("/pulls/{number}/reviews")), "reviews")?;
    let verdicts: Verdicts = verdicts(&reviews.items, author(pull));
    let waiting = asked_for_review(pull);
    let mut parts = Vec::new();
    if !verdicts.changes_requested.is_empty() {
        parts.push(format!("changes requested by {}", names(&verdicts.changes_requested)));
    }
    if !verdicts.approved.is_empty() {
        parts.push(format!("approved by {}", names(&verdicts.approved)));
    }
    if !waiting.is_empty() {
        parts.push(format!("still asked: {}", waiting.join(", ")));
    }
    let text = if parts.is_empty() { summary(&verdicts, &waiting).to_owned() } else { parts.join("; ") };
    Ok(format!("reviews: {text}"))
}

fn reason(error: &QueryError) -> String {
    match error {
        QueryError::RateLimited(_) => "GitHub allows no more requests for now".to_owned(),
        QueryError::Forbidden(text)
        | QueryError::Unauthorized(text)
        | QueryError::Failed(text)
        | QueryError::Unreachable(text) => text.clone(),
        other => format!("{other:?}"),
    }
}
