//! `report_usage`: whether a skill helped.

use super::{Tool, read_only};
use crate::answer::{self, Answer, Result, failed};
use crate::server::Server;
use analytics::Event;
use base::printable::printable;
use bindings::catalog::LookupKind;
use call::Call;
use rmcp::model::ToolAnnotations;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longer comments are truncated in the log.
const MAX_LOGGED_CHARACTERS: usize = 200;

#[derive(Deserialize, JsonSchema)]
pub struct ReportUsage {
    skill_path: String,
    useful: bool,
    comment: Option<String>,
}

impl Tool for ReportUsage {
    const NAME: &'static str = "report_usage";
    const TITLE: &'static str = "Report whether a skill helped";
    const PURPOSE: &'static str = "Report whether a skill helped.";

    fn annotations() -> ToolAnnotations {
        read_only().read_only(false).idempotent(false)
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let Self { skill_path: name, useful, comment } = self;
        let wanted = name.clone();
        let asked = server.catalog.ask_fresh(
            move |engine, _| engine.skill_of(&wanted, LookupKind::Path),
            |found| Some(vec![found.as_ref().ok()?.summary.file.clone()]),
        );
        let skill_path = match asked.await.map_err(failed)? {
            Ok(skill) => skill.summary.address,
            Err(error) => return Ok(answer::no_skill(&name, &error)),
        };
        let verdict = if useful { "useful" } else { "not useful" };
        let logged = comment.as_deref().filter(|_| call.usage.includes_text()).map(truncated).unwrap_or_default();
        tracing::info!("feedback: `{}` was {verdict}{logged}", printable(&skill_path));
        let recorded = call.usage.record(Event::SkillFeedback { skill_path: skill_path.clone(), useful, comment });
        let message = if recorded {
            format!("Feedback recorded for {skill_path}")
        } else {
            format!("Feedback for {skill_path} could not be written to disk\nhint: the server's log says why")
        };
        Ok(answer::json(&Recorded { recorded, message }))
    }
}

fn truncated(comment: &str) -> String {
    let start: String = comment.chars().take(MAX_LOGGED_CHARACTERS).collect();
    format!(": {}", printable(&start))
}

#[derive(Serialize)]
struct Recorded {
    recorded: bool,
    message: String,
}
