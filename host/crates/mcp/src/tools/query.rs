//! `query`: a question to an outside service.

use super::{Hints, Tool, ToolName, read_only};
use crate::answer::{self, Answer, Result, invalid};
use crate::server::{Server, Shared};
use crate::texts::Texts;
use base::printable::{printable, quoted};
use call::Call;
use integrations::options::Integration;
use integrations::{IntegrationError, QueryAnswer};
use rmcp::model::{self, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// The longest question, in characters.
const MAX_LENGTH: usize = 4_000;

#[derive(Deserialize, JsonSchema)]
pub struct Query {
    query: String,
    integration: String,
}

impl Tool for Query {
    const NAME: &'static str = "query";
    const TITLE: &'static str = "Ask GitHub, CircleCI or Linear";
    const PURPOSE: &'static str = "Ask a service about the current repository: pull requests, checks, builds, issues.";
    const HINTS: Hints = &[(ToolName::SkillsSearch, "search skills")];

    fn annotations() -> ToolAnnotations {
        read_only().open_world(true)
    }

    fn customize(tool: &mut model::Tool, server: &Shared, _: &Texts) {
        let options = server.integrations.options();
        let names = [options.askable_names(), options.names()].into_iter().find(|names| !names.is_empty());
        if let Some(names) = names {
            Arc::make_mut(&mut tool.input_schema)["properties"]["integration"]["enum"] = json!(names);
        }
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let (integration, question) = self.check(server)?;
        let asked = server.integrations.ask(integration, question, call).await;
        let failed = |error: IntegrationError| answer::internal(server.audience(), |who| error.for_audience(who));
        Ok(match asked.map_err(failed)? {
            QueryAnswer::Text(text) => answer::text(text),
            QueryAnswer::Refused(refusal) => answer::refused(refusal.for_audience(server.audience())),
        })
    }
}

impl Query {
    fn check<'a>(&'a self, server: &'a Server) -> Result<(&'a Integration, &'a str)> {
        let (question, name) = (self.query.trim(), &self.integration);
        for (argument, value) in [("query", question), ("integration", name.trim())] {
            if value.is_empty() {
                return Err(invalid(format!("{argument} is required")));
            }
        }
        let length = self.query.chars().count();
        if length > MAX_LENGTH {
            return Err(invalid(format!("query has {length} characters, and must have at most {MAX_LENGTH}")));
        }
        let options = server.integrations.options();
        if let Some(integration) = options.get(name) {
            return Ok((integration, question));
        }
        let (name, enabled) = (printable(name), options.names().join(", "));
        Err(invalid(if enabled.is_empty() {
            let all: Vec<String> = options.all.iter().map(|known| known.name.clone()).collect();
            format!(
                "integration is `{name}`, and no integration is enabled\nhint: set `enabled: true` for one of {} under `integrations:` in the operator's file",
                quoted(&all)
            )
        } else {
            format!("integration is `{name}`, and must be one of {enabled}")
        }))
    }
}
