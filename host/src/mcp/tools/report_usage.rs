//! `report_usage`: whether a skill helped.

use crate::analytics::Event;
use crate::bindings::catalog::Called;
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::{Arguments, WrongArguments};
use crate::mcp::server::Skillcell;
use crate::printable::printable;
use crate::worlds::engine::EngineInstance;
use serde::Serialize;
use std::sync::Arc;

/// How much of a comment is logged.
const LOGGED_LETTERS: usize = 200;

pub async fn report_usage(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let name = arguments.required_text("skill_path")?;
    let useful = arguments.boolean("useful")?.ok_or_else(|| WrongArguments("useful is required".to_owned()))?;
    let comment = arguments.text("comment")?;
    arguments.finish()?;
    let wanted = name.clone();
    let question = move |engine: &mut EngineInstance, _: &Arc<Snapshot>| engine.skill_of(&wanted, Called::ByPath);
    let found = server.catalog.ask_fresh(question, |found| Some(vec![found.as_ref().ok()?.summary.file.clone()]));
    let address = match found.await? {
        Ok(skill) => skill.summary.address,
        Err(error) => return Ok(Answer::no_skill(&name, &error)),
    };
    let verdict = if useful { "useful" } else { "not useful" };
    let shown = comment.as_deref().filter(|_| server.config.analytics.include_text);
    let shown = shown.map(logged).unwrap_or_default();
    tracing::info!("feedback: `{}` was {verdict}{shown}", printable(&address));
    let recorded = server.usage.raise(Event::SkillFeedback { skill_path: address.clone(), useful, comment });
    let message = if recorded {
        format!("Feedback recorded for {address}")
    } else {
        format!("Feedback for {address} could not be written to disk\nhint: the server's log says why")
    };
    Ok(Answer::json(&Recorded { recorded, message }))
}

/// The beginning of a comment, as it is logged.
fn logged(comment: &str) -> String {
    let start: String = comment.chars().take(LOGGED_LETTERS).collect();
    format!(": {}", printable(&start))
}

#[derive(Serialize)]
struct Recorded {
    recorded: bool,
    message: String,
}
