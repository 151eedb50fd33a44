//! Reviewers and authors of a pull request.

use integration_kit::json::{Json, Value};

/// The final verdict of each reviewer.
#[derive(Debug, Default)]
pub struct Verdicts<'a> {
    pub approved: Vec<&'a Value>,
    pub changes_requested: Vec<&'a Value>,
    pub dismissed: Vec<&'a Value>,
    /// Reviewers who only commented.
    pub commented: Vec<&'a Value>,
}

/// Returns the author of something.
pub fn author(value: &Value) -> &str {
    value.text("user.login").unwrap_or("an unknown user")
}

/// Sorts reviews, given in chronological order, by the final verdict of their authors. A comment does not revoke a
/// verdict, and the author of the pull request is not a reviewer.
pub fn verdicts<'a>(reviews: &'a [Value], pull_author: &str) -> Verdicts<'a> {
    let mut last: Vec<&Value> = Vec::new();
    for review in reviews {
        let person = author(review);
        if person == pull_author || matches!(review.text("state"), None | Some("PENDING")) {
            continue;
        }
        match last.iter_mut().find(|known| author(known) == person) {
            None => last.push(review),
            Some(_) if review.text("state") == Some("COMMENTED") => {}
            Some(known) => *known = review,
        }
    }
    let mut verdicts = Verdicts::default();
    for review in last {
        match review.text("state").unwrap_or_default() {
            "APPROVED" => verdicts.approved.push(review),
            "CHANGES_REQUESTED" => verdicts.changes_requested.push(review),
            "DISMISSED" => verdicts.dismissed.push(review),
            _ => verdicts.commented.push(review),
        }
    }
    verdicts
}

/// Returns the people and teams whose requested review is pending.
pub fn asked_for_review(pull: &Value) -> Vec<String> {
    let people = pull.list("requested_reviewers").iter().filter_map(|person| person.text("login")).map(str::to_owned);
    let teams = pull.list("requested_teams").iter().filter_map(|team| team.text("name").or(team.text("slug")));
    people.chain(teams.map(|team| format!("team {team}"))).collect()
}

/// Formats the names of reviewers, as in `ada, bob`.
pub fn names(reviews: &[&Value]) -> String {
    reviews.iter().map(|review| author(review)).collect::<Vec<_>>().join(", ")
}
