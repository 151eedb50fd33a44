//! The status of projects.

use crate::criteria::named;
use crate::graphql::Linear;
use crate::lines::{day, done};
use crate::queries::PROJECTS;
use integration_kit::json::{Json, Value, json};
use integration_kit::text::Answer;
use integration_kit::{QueryError, time};

/// Maximum number of pages of projects. A page has 50.
const PAGES: usize = 2;

/// Maximum number of characters of an update.
const UPDATE_CHARS: usize = 800;

/// Reports the projects of a name, or all that are neither completed nor canceled.
pub fn answer(linear: &Linear, name: &[String], mine: bool) -> Result<String, QueryError> {
    let mut filter =
        if name.is_empty() { json!({"status": {"type": {"nin": ["completed", "canceled"]}}}) } else { named(name) };
    if mine {
        filter["members"] = json!({"some": {"isMe": {"eq": true}}});
    }
    linear.report("reading projects");
    let what = format!("project {} in Linear", name.join(" "));
    let mut found = linear.list(PROJECTS, &json!({"filter": filter}), "projects", "the projects in Linear", PAGES)?;
    if found.items.is_empty() && !name.is_empty() {
        return Err(QueryError::NotFound(what));
    }
    found.items.sort_by_key(|project| order(project.text("status.type").unwrap_or_default()));
    let mut answer = Answer::new(&heading(name, mine, found.items.len()));
    for project in &found.items {
        list(&mut answer, project, linear.now);
    }
    answer.note_cut(found.cut, found.items.len(), "projects");
    Ok(answer.finish())
}

fn heading(name: &[String], mine: bool, count: usize) -> String {
    let whose = if mine { "my " } else { "" };
    if name.is_empty() {
        format!("Status of {whose}active projects in Linear: {count}")
    } else {
        format!("Status of {whose}projects in Linear named `{}`: {count}", name.join(" "))
    }
}

/// Active projects come first.
fn order(status: &str) -> usize {
    let order = ["started", "paused", "planned", "backlog", "completed", "canceled"];
    order.iter().position(|known| *known == status).unwrap_or(order.len())
}

fn list(answer: &mut Answer, project: &Value, now: u64) {
    answer.section(project.text("name").unwrap_or("A project without a name"));
    let mut facts = vec![project.text("status.name").unwrap_or("in an unknown state").to_owned()];
    facts.extend(project.text("health").map(|health| health_text(health).to_owned()));
    facts.extend(done(project));
    facts.push(project.text("lead.displayName").map_or_else(|| "no lead".to_owned(), |lead| format!("lead {lead}")));
    facts.extend(project.text("startDate").map(|date| format!("start {}", day(date))));
    facts.extend(project.text("targetDate").map(|date| format!("target {}", day(date))));
    answer.item(&facts.join(", "));
    match project.at("lastUpdate") {
        Some(update) => {
            let moment = time::ago(update.text("createdAt").unwrap_or("at an unknown time"), now);
            let author = update.text("user.displayName").map(|name| format!(" by {name}")).unwrap_or_default();
            let health = update.text("health").map(|health| format!(": {}", health_text(health))).unwrap_or_default();
            answer.item(&format!("last update {moment}{author}{health}"));
            answer.quote(update.text("body").unwrap_or_default(), UPDATE_CHARS);
        }
        None => {
            answer.item("no updates");
        }
    }
    if let Some(url) = project.text("url") {
        answer.item(url);
    }
}

fn health_text(health: &str) -> &str {
    match health {
        "onTrack" => "on track",
        "atRisk" => "at risk",
        "offTrack" => "off track",
        other => other,
    }
}
