//! Prompts: one that loads any skill by name, and one for each skill.

use crate::answer::{Result, failed, invalid};
use crate::catalog_text::plain_line;
use crate::paging;
use crate::resources;
use crate::server::Server;
use analytics::Event;
use base::printable::printable;
use call::Call;
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ContentBlock, EmbeddedResource, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt,
    PromptArgument, PromptMessage, ResourceContents, Role,
};
use serde_json::Value;

/// The prompt that loads any skill. A skill of this name has no prompt of its own.
pub const ANY_SKILL: &str = "skill";

/// Skills per page.
const PAGE_SIZE: usize = 1_000;

pub async fn list(server: &Server, cursor: Option<&str>) -> Result<ListPromptsResult> {
    let index = server.fresh_index().await?;
    let page = paging::skills(&index.skills, cursor, PAGE_SIZE)?;
    let mut prompts = Vec::with_capacity(page.items.len() + 1);
    if cursor.is_none() {
        let name = PromptArgument::new("name").with_description("Name of the skill").with_required(true);
        let description = server.texts(&index).prompt_description.clone();
        prompts.push(Prompt::new(ANY_SKILL, Some(description), Some(vec![name])).with_title("Load a skill"));
    }
    // A name that has to be escaped cannot be chosen.
    let own = page.items.iter().filter(|skill| plain_line(&skill.display_name) == skill.display_name);
    let own = own.filter(|skill| !skill.display_name.eq_ignore_ascii_case(ANY_SKILL));
    prompts.extend(own.map(|skill| Prompt::new(&skill.display_name, Some(plain_line(&skill.description)), None)));
    Ok(ListPromptsResult { next_cursor: page.next, ..ListPromptsResult::with_all_items(prompts) })
}

pub async fn get(server: &Server, request: GetPromptRequestParams, call: &Call) -> Result<GetPromptResult> {
    let mut arguments = request.arguments.unwrap_or_default();
    let name = if request.name == ANY_SKILL {
        match arguments.remove("name") {
            Some(Value::String(name)) => name,
            Some(_) => return Err(invalid("name must be a string")),
            None => return Err(invalid("name is required")),
        }
    } else {
        request.name
    };
    let served = server.catalog.skill(&name).await.map_err(failed)?;
    let skill = served.map_err(|error| invalid(catalog::no_skill(&printable(&name), &error)))?.skill;
    if let Some(other) = arguments.keys().next() {
        return Err(invalid(format!("{} is not an argument of this prompt", printable(other))));
    }
    let uri = resources::document_uri(&server.surface, &skill.summary);
    let Some(ResourceContents::TextResourceContents { text, .. }) = resources::read(server, &uri).await?.pop() else {
        return Err(ErrorData::internal_error("the skill no longer exists", None));
    };
    call.usage.record(Event::served_by_name(&skill.summary.address));
    let resource = ResourceContents::text(text, uri).with_mime_type("text/markdown");
    let annotations = Annotations::default().with_audience(vec![Role::Assistant]).with_priority(1.0);
    let block = ContentBlock::Resource(EmbeddedResource::new(resource).with_annotations(annotations));
    let message = PromptMessage::new(Role::User, block);
    Ok(GetPromptResult::new(vec![message]).with_description(plain_line(&skill.summary.description)))
}
