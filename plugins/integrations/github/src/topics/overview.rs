//! Overview of one pull request.

use crate::hub::Hub;
use crate::people::{asked_for_review, author, verdicts};
use crate::pull::{self, Pull};
use crate::topics::issue::labels;
use crate::topics::reviews::{self, merging, summary};
use integration_kit::QueryError;
use integration_kit::json::Json;
use integration_kit::text::{Answer, count};
use integration_kit::time::ago;

/// Maximum number of characters of a description.
const BODY_CHARS: usize = 4_000;

pub fn answer(hub: &Hub, pull: &Pull) -> Result<String, QueryError> {
    let (repo, value) = (&pull.repo, &pull.value);
    let reviews = reviews::read(hub, pull)?;

    let mut answer = Answer::new(&format!("Pull request {} of {repo}", pull::title(value)));
    pull::introduce(hub, pull, &mut answer);
    let waiting = asked_for_review(value);
    answer.line(&format!("Reviews: {}", summary(&verdicts(&reviews.items, author(value)), &waiting)));
    if !waiting.is_empty() {
        answer.line(&format!("Still asked for a review: {}", waiting.join(", ")));
    }
    if let Some(merging) = merging(value) {
        answer.line(&format!("Merging: {merging}"));
    }
    if let Some(merged) = value.text("merged_at") {
        let by = value.text("merged_by.login").map(|login| format!(" by {login}")).unwrap_or_default();
        answer.line(&format!("Merged: {}{by}", ago(merged, hub.now())));
    }
    if let (Some(files), Some(added), Some(removed)) =
        (value.number("changed_files"), value.number("additions"), value.number("deletions"))
    {
        let commits = count(value.number("commits").unwrap_or_default(), "commit");
        answer.line(&format!("Changes: {commits}, {}, {added} lines added, {removed} removed", count(files, "file")));
    }
    let talk = value.number("comments").unwrap_or_default();
    let on_lines = value.number("review_comments").unwrap_or_default();
    answer.line(&format!("Comments: {talk} in the conversation, {on_lines} on lines"));
    labels(&mut answer, value);
    if let Some(updated) = value.text("updated_at") {
        answer.line(&format!("Last change: {}", ago(updated, hub.now())));
    }
    if let Some(body) = value.text("body") {
        answer.section("Description").quote(body, BODY_CHARS);
    }
    Ok(answer.finish())
}
