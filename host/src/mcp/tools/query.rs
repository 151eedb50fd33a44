//! `query`: a question to a service outside.

use crate::integrations;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::{Arguments, WrongArguments};
use crate::mcp::server::Skillcell;
use crate::printable::{printable, quoted};
use crate::scripts::Progress;
use crate::worlds::integration::Report;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

/// Longest question, in characters.
const LONGEST: usize = 4_000;

pub async fn query(
    server: &Skillcell,
    mut arguments: Arguments,
    cancelled: CancellationToken,
    progress: Progress,
) -> Result<Answer, ToolError> {
    let question = arguments.required_text("query")?;
    let name = arguments.required_text("integration")?;
    arguments.finish()?;
    for (name, value) in [("query", &question), ("integration", &name)] {
        if value.trim().is_empty() {
            return Err(WrongArguments(format!("{name} is required")).into());
        }
    }
    let length = question.chars().count();
    if length > LONGEST {
        let message = format!("query has {length} characters, and must have at most {LONGEST}");
        return Err(WrongArguments(message).into());
    }
    let Some(integration) = server.config.integrations.named(&name) else {
        let names = server.config.integrations.names().join(", ");
        let message = match names.as_str() {
            "" => {
                let all: Vec<String> = server.config.integrations.all.iter().map(|known| known.name.clone()).collect();
                format!(
                    "integration is `{}`, and none is switched on\nhint: set `enabled: true` for one of {} under `integrations:` in the operator's file",
                    printable(&name),
                    quoted(&all)
                )
            }
            names => format!("integration is `{}`, and must be one of {names}", printable(&name)),
        };
        return Err(WrongArguments(message).into());
    };
    let told = AtomicU32::new(0);
    let report: Report = Arc::new(move |message| {
        progress(f64::from(told.fetch_add(1, Ordering::Relaxed) + 1), message);
    });
    Ok(match server.integrations.ask(integration, question.trim(), cancelled, report).await? {
        integrations::Answer::Text(text) => Answer::Text(text),
        integrations::Answer::Refused(message) => Answer::Refused(server.shown_message(message)),
    })
}
