//! `skill`: a skill by name, verbatim.

use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, Result, failed};
use crate::server::{Server, Shared};
use crate::texts::Texts;
use analytics::Event;
use base::printable::printable;
use call::Call;
use rmcp::model;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct Skill {
    name: String,
}

impl Tool for Skill {
    const NAME: &'static str = "skill";
    const TITLE: &'static str = "Load a skill";
    const PURPOSE: &'static str = "Load a skill by its name.";
    const HINTS: Hints = &[(ToolName::GetSkill, "find one for a task")];

    fn customize(tool: &mut model::Tool, _: &Shared, texts: &Texts) {
        if let (Some(description), Some(catalog)) = (&mut tool.description, &texts.tool_catalog) {
            *description = format!("{description}\n\n{catalog}").into();
        }
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let served = match server.catalog.skill(&self.name).await.map_err(failed)? {
            Ok(served) => served,
            Err(error) => return Ok(answer::no_skill(&self.name, &error)),
        };
        call.usage.record(Event::served_by_name(&served.skill.summary.address));
        if !server.surface.skill_header {
            return Ok(answer::text(&*served.text));
        }
        let name = printable(&served.skill.summary.display_name);
        let folder = server.shown_folder(&served.skill);
        Ok(answer::text(format!("Loading: {name}\nBase directory: {folder}\n\n{}", served.text)))
    }
}
