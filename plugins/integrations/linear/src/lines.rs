//! Formats issues as lines of an answer.

use integration_kit::json::{Json, Value};
use integration_kit::text::Answer;
use integration_kit::time;

/// Sorts issues in progress first, then by urgency; or by urgency first, if a priority was requested.
pub fn sort(issues: &mut [Value], by_priority: bool) {
    issues.sort_by_cached_key(|issue| {
        let states = ["started", "unstarted", "triage", "backlog", "completed", "canceled"];
        let state = issue.text("state.type").unwrap_or_default();
        let state = states.iter().position(|known| *known == state).unwrap_or(states.len());
        // 0 means no priority.
        let priority = issue.number("priority").filter(|priority| *priority > 0).unwrap_or(5);
        let priority = usize::try_from(priority).unwrap_or(usize::MAX);
        if by_priority { (priority, state) } else { (state, priority) }
    });
}

/// Adds an issue on three lines: title, facts, URL.
pub fn list(answer: &mut Answer, issue: &Value, now: u64) {
    answer.item(&titled(issue)).detail(&facts(issue, now).join(", "));
    if let Some(url) = issue.text("url") {
        answer.detail(url);
    }
}

/// As in `ENG-123 Keep the session`.
pub fn titled(issue: &Value) -> String {
    let key = issue.text("identifier").unwrap_or("?");
    format!("{key} {}", issue.text("title").unwrap_or("without a title"))
}

/// Returns the short facts about an issue.
pub fn facts(issue: &Value, now: u64) -> Vec<String> {
    let mut facts = vec![issue.text("state.name").unwrap_or("in an unknown state").to_owned()];
    facts.extend(issue.text("priorityLabel").filter(|label| *label != "No priority").map(str::to_owned));
    facts.push(issue.text("assignee.displayName").unwrap_or("unassigned").to_owned());
    facts.extend(issue.text("dueDate").map(|date| format!("due {date}")));
    facts.extend(issue.number("cycle.number").map(|number| format!("cycle {number}")));
    facts.extend(issue.text("project.name").map(|name| format!("project {name}")));
    let labels: Vec<_> = issue.list("labels.nodes").iter().filter_map(|label| label.text("name")).collect();
    if !labels.is_empty() {
        facts.push(format!("labels [{}]", labels.join(", ")));
    }
    facts.extend(issue.text("updatedAt").map(|moment| format!("updated {}", time::ago(moment, now))));
    facts
}

/// Returns the date of a timestamp, as in `2026-03-02`.
pub fn day(moment: &str) -> &str {
    moment.split('T').next().unwrap_or_default()
}

/// Formats a share from 0 to 1, as in `45 % done`.
pub fn done(thing: &Value) -> Option<String> {
    let share = thing.at("progress").and_then(Value::as_f64).filter(|share| share.is_finite())?;
    Some(format!("{:.0} % done", share.clamp(0.0, 1.0) * 100.0))
}

/// Capitalizes the first letter.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
