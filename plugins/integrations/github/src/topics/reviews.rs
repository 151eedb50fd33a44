//! Who approved a pull request, who requested changes, and whose review is pending.

use crate::hub::Hub;
use crate::people::{Verdicts, asked_for_review, author, verdicts};
use crate::pull::{self, Pull};
use crate::topics::comments::Comments;
use integration_kit::QueryError;
use integration_kit::json::{Json, Value};
use integration_kit::service::paging::Pages;
use integration_kit::text::Answer;

/// Maximum number of characters of a review.
const REVIEW_CHARS: usize = 500;

pub fn answer(hub: &Hub, pull: &Pull) -> Result<String, QueryError> {
    let reviews = read(hub, pull)?;
    let mut answer =
        Answer::new(&format!("Review status of pull request {} of {}", pull::title(&pull.value), pull.repo));
    show(hub, pull, &reviews, &mut answer);
    Ok(answer.finish())
}

/// Answers with the review status, followed by all comments.
pub fn with_comments(hub: &Hub, pull: &Pull) -> Result<String, QueryError> {
    let reviews = read(hub, pull)?;
    let comments = Comments::read(hub, pull, &reviews)?;
    let heading = format!("Review status and comments of pull request {} of {}", pull::title(&pull.value), pull.repo);
    let mut answer = Answer::new(&heading);
    show(hub, pull, &reviews, &mut answer);
    comments.show(hub, &mut answer, false);
    Ok(answer.finish())
}

/// Reads all reviews of a pull request, in chronological order.
pub fn read(hub: &Hub, pull: &Pull) -> Result<Pages, QueryError> {
    let (repo, number) = (&pull.repo, pull.number);
    hub.progress(&format!("reading reviews of pull request #{number}"));
    let what = format!("reviews of pull request #{number} of {repo}");
    hub.list(&repo.path(&format!("/pulls/{number}/reviews")), "", &what)
}

fn show(hub: &Hub, pull: &Pull, reviews: &Pages, answer: &mut Answer) {
    let verdicts = verdicts(&reviews.items, author(&pull.value));
    let waiting = asked_for_review(&pull.value);
    pull::introduce(hub, pull, answer);
    answer.line(&format!("Reviews: {}", summary(&verdicts, &waiting)));
    if let Some(merging) = merging(&pull.value) {
        answer.line(&format!("Merging: {merging}"));
    }
    let head = pull.value.text("head.sha");
    group(hub, answer, "Approved", &verdicts.approved, head);
    group(hub, answer, "Requested changes", &verdicts.changes_requested, head);
    group(hub, answer, "Only commented", &verdicts.commented, head);
    group(hub, answer, "Dismissed", &verdicts.dismissed, head);
    if !waiting.is_empty() {
        answer.section("Still asked for a review");
        for name in &waiting {
            answer.item(name);
        }
    }
    answer.note_cut(reviews.cut, reviews.items.len(), "reviews");
}

/// Summarizes all reviews.
pub fn summary(verdicts: &Verdicts, waiting: &[String]) -> &'static str {
    let (approved, refused) = (!verdicts.approved.is_empty(), !verdicts.changes_requested.is_empty());
    match (approved, refused, waiting.is_empty()) {
        (_, true, _) => "changes requested",
        (true, false, true) => "approved",
        (true, false, false) => "approved, more reviews asked for",
        (false, false, false) => "waiting for review",
        (false, false, true) if !verdicts.commented.is_empty() => "commented, not approved",
        (false, false, true) if !verdicts.dismissed.is_empty() => "dismissed, not approved",
        (false, false, true) => "none, and none requested",
    }
}

/// Whether GitHub would merge the pull request, if it is open and GitHub knows.
pub fn merging(pull: &Value) -> Option<&'static str> {
    if pull.text("state") != Some("open") {
        return None;
    }
    Some(match pull.text("mergeable_state")? {
        "clean" | "has_hooks" => "can be merged",
        "unstable" => "can be merged, but some checks do not pass",
        "dirty" => "has conflicts with the base branch",
        "blocked" => "blocked, by missing reviews, required checks or rules of the base branch",
        "behind" => "behind the base branch, which must be merged into it first",
        "draft" => "blocked, because it is a draft",
        _ => return None,
    })
}

fn group(hub: &Hub, answer: &mut Answer, title: &str, reviews: &[&Value], head: Option<&str>) {
    if reviews.is_empty() {
        return;
    }
    answer.section(title);
    for review in reviews {
        let when = hub.age(review.text("submitted_at"));
        let is_old = head.is_some() && review.text("commit_id").is_some_and(|commit| Some(commit) != head);
        let since = if is_old { ", before the last push" } else { "" };
        answer.item(&format!("{}{when}{since}", author(review)));
        answer.quote(review.text("body").unwrap_or_default(), REVIEW_CHARS);
    }
}
