//! Resources: skills and their files by `skill://` URI, byte for byte.

use crate::analytics::Event;
use crate::bindings::catalog::ResourcePart;
use crate::bindings::types::{Location, SkillModel, Summary};
use crate::library::files;
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::ToolError;
use crate::mcp::catalog_text::plain_line;
use crate::mcp::contents::contents;
use crate::mcp::paging;
use crate::mcp::server::Skillcell;
use crate::mcp::surface::Surface;
use crate::mcp::tools::get_asset::{asset_served, unreadable};
use crate::printable::{escaped, printable};
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::object;
use serde_json::json;
use std::sync::Arc;

/// Skills in one answer.
const PAGE: usize = 1_000;

/// Most bytes of one collection.
const MOST_BYTES: u64 = 16 << 20;

/// The templates, and what their arguments are called.
pub const DOCUMENT: &str = "skill://{+skill}";
pub const COLLECTION: &str = "skill://{+skill}/";
pub const FILE: &str = "skill://{+skill}/{+file}";

pub async fn list(server: &Skillcell, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let index = server.fresh_index().await?;
    let page = paging::skills(&index.skills, cursor, PAGE)?;
    let listed = page.items.iter().flat_map(|skill| {
        let document = Resource::new(document_uri(server.surface(), skill), plain_line(document_name(skill)))
            .with_title(plain_line(&skill.shown_name))
            .with_description(word_for_word(&skill.description))
            .with_mime_type("text/markdown");
        let collection = server.surface().short_uris.then(|| {
            let uri = format!("{}/", document_uri(server.surface(), skill));
            Resource::new(uri, format!("{}/", plain_line(&skill.shown_name)))
                .with_description(format!("All files of {}", plain_line(&skill.shown_name)))
        });
        std::iter::once(document).chain(collection)
    });
    let mut result = ListResourcesResult::with_all_items(listed.collect());
    result.next_cursor = page.next;
    Ok(result)
}

/// Text as the front matter has it, because clients compare the two, unless it holds letters that must not be shown.
pub fn word_for_word(text: &str) -> String {
    let harmless = text.chars().all(|letter| letter == '\n' || escaped(letter).eq([letter]));
    if harmless { text.to_owned() } else { plain_line(text) }
}

/// Where the document of a skill is, in the form that this surface lists.
pub fn document_uri(surface: &Surface, skill: &Summary) -> String {
    if surface.short_uris { short_uri(skill) } else { format!("{}/SKILL.md", skill.uri) }
}

/// The name in a skill's document. A tree skill's is made for its URI.
pub fn document_name(skill: &Summary) -> &str {
    match skill.model {
        SkillModel::Folder => &skill.name,
        SkillModel::Tree => skill.uri.rsplit('/').next().unwrap_or(&skill.name),
    }
}

/// The name of a skill as a URI.
fn short_uri(skill: &Summary) -> String {
    let uri = crate::mcp::contents::uri_of("skill:/", &skill.shown_name);
    // A colon is fine in a path, and a reader expects `plugin:name`.
    uri.replace("%3A", ":")
}

pub fn templates() -> ListResourceTemplatesResult {
    let template =
        |uri: &str, name: &str, description: &str| ResourceTemplate::new(uri, name).with_description(description);
    ListResourceTemplatesResult::with_all_items(vec![
        template(DOCUMENT, "skill", "The instructions of a skill, by its name or path").with_mime_type("text/markdown"),
        template(COLLECTION, "skill-files", "All files of a skill at once"),
        template(FILE, "skill-file", "One file of a skill"),
    ])
}

/// Everything that a URI names, for a client.
pub async fn serve(server: &Skillcell, uri: &str) -> Result<Vec<ResourceContents>, ErrorData> {
    let (contents, event) = find(server, uri).await?;
    server.usage.raise(event);
    Ok(contents)
}

/// Everything that a URI names.
pub async fn read(server: &Skillcell, uri: &str) -> Result<Vec<ResourceContents>, ErrorData> {
    Ok(find(server, uri).await?.0)
}

async fn find(server: &Skillcell, uri: &str) -> Result<(Vec<ResourceContents>, Event), ErrorData> {
    let wanted = uri.to_owned();
    let limit = server.config.operator.max_size_bytes;
    let question = move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| look(engine, snapshot, &wanted, limit);
    let answered = server.catalog.ask_fresh(question, |looked| looked.as_ref().map(|(_, sources)| sources.clone()));
    match answered.await.map_err(ToolError::from)? {
        Some((Looked::Contents(contents, event), _)) => Ok((contents, event)),
        Some((Looked::Unreadable(why), _)) => Err(ErrorData::internal_error(why, Some(json!({"uri": uri})))),
        None => Err(not_found(uri)),
    }
}

/// No resource has this URI. Newer clients are sent another code, which rmcp sees to.
fn not_found(uri: &str) -> ErrorData {
    let message =
        format!("there is no resource `{}`: resources/list and skills/list tell what there is", printable(uri));
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

enum Looked {
    /// And what it means that a client has them.
    Contents(Vec<ResourceContents>, Event),
    Unreadable(String),
}

/// What a URI names, and the files that decide about it. Nothing when it names nothing: then all files have a say.
fn look(
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
    uri: &str,
    operator_limit: u64,
) -> Result<Option<(Looked, Vec<Location>)>, Broken> {
    let Some(found) = engine.resource_of(uri)? else { return Ok(None) };
    let summary = &found.skill.summary;
    let settings = engine.settings_of(summary.file.root)?;
    let limit = settings.assets.max_size_bytes;
    let served = Event::served_by_name(&summary.address);
    let (looked, mut sources) = match found.part {
        ResourcePart::Document => {
            let Some(document) = engine.document_of(&summary.file)? else { return Ok(None) };
            let contents = ResourceContents::text(document.text, uri).with_mime_type("text/markdown");
            (Looked::Contents(vec![contents], served), document.sources)
        }
        ResourcePart::Collection => {
            let Some(document) = engine.document_of(&summary.file)? else { return Ok(None) };
            let contents = collection(engine, snapshot, summary, document.text, limit)?;
            (Looked::Contents(contents, served), document.sources)
        }
        ResourcePart::File(path) => {
            let Ok(asset) = engine.asset_of(&summary.address, &path)? else { return Ok(None) };
            let looked = match snapshot.read(&asset.asset, limit) {
                Ok(bytes) => {
                    let event = asset_served(&asset, bytes.len());
                    let mut contents = contents(&summary.uri, &path, bytes);
                    set_uri(&mut contents, uri);
                    Looked::Contents(vec![contents], event)
                }
                Err(error) => Looked::Unreadable(unreadable(&asset, &error, operator_limit)),
            };
            (looked, asset.sources)
        }
    };
    sources.extend(settings.sources);
    Ok(Some((looked, sources)))
}

/// Answers carry the URI that was asked for.
fn set_uri(contents: &mut ResourceContents, asked: &str) {
    if let ResourceContents::TextResourceContents { uri, .. } | ResourceContents::BlobResourceContents { uri, .. } =
        contents
    {
        asked.clone_into(uri);
    }
}

/// All files of a skill. What does not fit is counted in `_meta`.
fn collection(
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
    skill: &Summary,
    document: String,
    limit: u64,
) -> Result<Vec<ResourceContents>, Broken> {
    let mut all = Vec::new();
    // The document of a tree skill is no file of its resource folder.
    if skill.model == SkillModel::Tree {
        all.push(contents(&skill.uri, "SKILL.md", document.into_bytes()));
    }
    let opened = engine.files_of(&skill.file)?.and_then(|belonging| files::open(snapshot, &belonging));
    let mut left_out = 0;
    let mut room = MOST_BYTES;
    for (folder, file) in opened.iter().flat_map(|opened| opened.files.iter().map(|file| (&opened.folder, file))) {
        match folder.read(&file.path, limit.min(room)) {
            Ok(bytes) => {
                room -= bytes.len() as u64;
                all.push(contents(&skill.uri, &file.path, bytes));
            }
            Err(_) => left_out += 1,
        }
    }
    if left_out > 0
        && let Some(last) = all.pop()
    {
        all.push(last.with_meta(MetaObject(object!({"skillcell/filesLeftOut": left_out}))));
    }
    Ok(all)
}
