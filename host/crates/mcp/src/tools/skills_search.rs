//! `skills_search`: the skills that contain every word of a query.

use super::skills_list::skill_schema;
use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, Result, failed, invalid};
use crate::server::Server;
use base::printable::counted;
use call::Call;
use rmcp::model::JsonObject;
use rmcp::object;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use views::search::{DEFAULT_LIMIT, MAX_HITS, SearchError, SearchView};

#[derive(Deserialize, JsonSchema)]
pub struct SkillsSearch {
    #[schemars(length(min = 1))]
    query: String,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_HITS))]
    limit: u32,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

impl Tool for SkillsSearch {
    const NAME: &'static str = "skills_search";
    const DOTTED_NAME: &'static str = "skills.search";
    const TITLE: &'static str = "Search the text of skills";
    const PURPOSE: &'static str = "Find skills that contain every word of `query`.";
    const HINTS: Hints = &[(ToolName::GetSkill, "get the one for a task")];

    fn output_schema() -> Option<JsonObject> {
        let mut hit = skill_schema();
        hit["properties"]["score"] = json!({"type": "integer"});
        hit["properties"]["excerpt"] = json!({"type": "string"});
        hit["required"].as_array_mut()?.extend(["score".into(), "excerpt".into()]);
        Some(object!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer"},
                "total": {"type": "integer"},
                "results": {"type": "array", "items": hit},
            },
            "required": ["query", "limit", "total", "results"],
        }))
    }

    async fn call(self, server: &Server, _: &Call) -> Result<Answer> {
        let found = SearchView::of(&server.catalog, self.query, server.surface.only_model, self.limit).await;
        let found = found.map_err(|error| match error {
            SearchError::Query(wrong) => invalid(wrong),
            SearchError::Catalog(error) => failed(error),
        })?;
        let line = format!("{} of {}", found.results.len(), counted(found.total as usize, "matching skill"));
        Ok(answer::data(line, &found))
    }
}
