//! `skills_list`: every skill with its metadata.

use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, MAX_BYTES, Result, failed};
use crate::server::{Server, Shared};
use crate::texts::Texts;
use base::printable::counted;
use call::Call;
use rmcp::model::{self, JsonObject};
use rmcp::object;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use views::list::{ListOptions, ListView};

/// The most problems in one answer.
const MAX_PROBLEMS: u32 = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillsList {
    query: Option<String>,
    include_body: Option<bool>,
    offset: Option<u32>,
}

impl Tool for SkillsList {
    const NAME: &'static str = "skills_list";
    const DOTTED_NAME: &'static str = "skills.list";
    const TITLE: &'static str = "List all skills";
    const PURPOSE: &'static str = "List all skills, or those whose name or description contains `query`.";
    const HINTS: Hints = &[(ToolName::GetSkill, "get the one for a task")];

    fn output_schema() -> Option<JsonObject> {
        let mut skill = skill_schema();
        skill["properties"]["body"] = json!({"type": "string"});
        Some(object!({
            "type": "object",
            "properties": {
                "skills": {"type": "array", "items": skill},
                "note": {"type": "string"},
                "problems": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "root": {"type": "string"},
                        "file": {"type": "string"},
                        "line": {"type": "integer"},
                        "severity": {"type": "string"},
                        "code": {"type": "string"},
                        "message": {"type": "string"},
                        "advice": {"type": "string"},
                    },
                    "required": ["root", "file", "severity", "code", "message", "advice"],
                }},
            },
            "required": ["skills"],
        }))
    }

    fn customize(tool: &mut model::Tool, server: &Shared, _: &Texts) {
        if server.surface.skills_per_page == usize::MAX {
            let properties = Arc::make_mut(&mut tool.input_schema)["properties"].as_object_mut();
            properties.expect("a schema of an object has properties").remove("offset");
        }
    }

    async fn call(self, server: &Server, _: &Call) -> Result<Answer> {
        let options = ListOptions {
            query: self.query,
            with_bodies: self.include_body.unwrap_or_default(),
            offset: self.offset.unwrap_or_default(),
            max_skills: server.surface.skills_per_page,
            model: server.surface.only_model,
            max_bytes: MAX_BYTES,
            max_problems: MAX_PROBLEMS,
        };
        let list = ListView::of(&server.catalog, &server.terms.roots, options, server.state.unlisted.problems())
            .await
            .map_err(failed)?;
        let mut line = counted(list.total, "skill");
        if let Some(note) = &list.note {
            line = format!("{line}; {note}");
        }
        Ok(answer::data(line, &list))
    }
}

/// The schema of a skill in structured answers. It is open, so that a later version may add fields.
pub fn skill_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "installName": {"type": "string"},
            "meta": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
                "required": ["name", "description"],
            },
            "skillPath": {"type": "string"},
            "skillFile": {"type": "string"},
        },
        "required": ["installName", "meta", "skillPath", "skillFile"],
    })
}
