//! Resources: skills and their files by `skill://` URI, byte for byte.

use crate::answer::{Result, failed};
use crate::catalog_text::plain_line;
use crate::paging;
use crate::server::Server;
use crate::surface::Surface;
use crate::tools::{asset_served, unreadable};
use analytics::Event;
use base::percent;
use base::printable::{printable, printable_text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bindings::catalog::ResourcePart;
use bindings::types::{Location, SkillModel, Summary};
use call::Call;
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::files::{self, media_type};
use library::snapshot::Snapshot;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::object;
use serde_json::json;

/// Skills per page.
const PAGE_SIZE: usize = 1_000;

/// The most bytes of one collection.
const MAX_BYTES: u64 = 16 << 20;

/// The URI templates. Completion knows their variables by name.
pub const DOCUMENT: &str = "skill://{+skill}";
pub const COLLECTION: &str = "skill://{+skill}/";
pub const FILE: &str = "skill://{+skill}/{+file}";

pub async fn list(server: &Server, cursor: Option<&str>) -> Result<ListResourcesResult> {
    let index = server.fresh_index().await?;
    let page = paging::skills(&index.skills, cursor, PAGE_SIZE)?;
    let listed = page.items.iter().flat_map(|skill| {
        let document = Resource::new(document_uri(&server.surface, skill), plain_line(document_name(skill)))
            .with_title(plain_line(&skill.display_name))
            .with_description(verbatim(&skill.description))
            .with_mime_type("text/markdown");
        let collection = server.surface.short_uris.then(|| {
            let uri = format!("{}/", document_uri(&server.surface, skill));
            Resource::new(uri, format!("{}/", plain_line(&skill.display_name)))
                .with_description(format!("All files of {}", plain_line(&skill.display_name)))
        });
        std::iter::once(document).chain(collection)
    });
    Ok(ListResourcesResult { next_cursor: page.next, ..ListResourcesResult::with_all_items(listed.collect()) })
}

/// Returns text verbatim, because clients compare it with the front matter, unless it contains unsafe characters.
pub fn verbatim(text: &str) -> String {
    let is_harmless = !text.contains('\t') && printable_text(text) == text;
    if is_harmless { text.to_owned() } else { plain_line(text) }
}

/// Returns the URI of a skill's document, in the form that this surface lists.
pub fn document_uri(surface: &Surface, skill: &Summary) -> String {
    if surface.short_uris { short_uri(skill) } else { format!("{}/SKILL.md", skill.uri) }
}

/// Returns the name in a skill's document. For a tree skill it is generated from the URI.
pub fn document_name(skill: &Summary) -> &str {
    match skill.model {
        SkillModel::Folder => &skill.name,
        SkillModel::Tree => skill.uri.rsplit('/').next().unwrap_or(&skill.name),
    }
}

fn short_uri(skill: &Summary) -> String {
    let uri = uri_of("skill:/", &skill.display_name);
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

/// Reads a resource for a caller, and records that.
pub async fn serve(server: &Server, uri: &str, call: &Call) -> Result<Vec<ResourceContents>> {
    if let Some(file) = server.scripts.kept_file(&call.caller, uri) {
        return Ok(vec![contents(uri.to_owned(), &file.path, file.bytes.to_vec())]);
    }
    let (contents, event) = find(server, uri).await?;
    call.usage.record(event);
    Ok(contents)
}

/// Reads a resource for the server itself.
pub async fn read(server: &Server, uri: &str) -> Result<Vec<ResourceContents>> {
    Ok(find(server, uri).await?.0)
}

async fn find(server: &Server, uri: &str) -> Result<(Vec<ResourceContents>, Event)> {
    let wanted = uri.to_owned();
    let limit = server.terms.operator.max_size_bytes;
    let asked = server.catalog.ask_fresh(
        move |engine, snapshot| read_part(engine, snapshot, &wanted, limit),
        |found| found.as_ref().map(|(_, sources)| sources.clone()),
    );
    match asked.await.map_err(failed)? {
        Some((Ok(served), _)) => Ok(served),
        Some((Err(why), _)) => Err(ErrorData::internal_error(why, Some(json!({"uri": uri})))),
        None => {
            let message = format!("there is no resource `{}`: see resources/list and skills/list", printable(uri));
            // rmcp replaces the code for newer clients.
            Err(ErrorData::resource_not_found(message, Some(json!({"uri": uri}))))
        }
    }
}

/// Contents, with the event to record when they are served; or why they cannot be read.
type Outcome = Result<(Vec<ResourceContents>, Event), String>;

/// Reads what a URI names, with the files that it depends on. An unknown URI depends on all files.
fn read_part(
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
    uri: &str,
    operator_limit: u64,
) -> Result<Option<(Outcome, Vec<Location>)>, Broken> {
    let Some(found) = engine.resource_of(uri)? else { return Ok(None) };
    let summary = &found.skill.summary;
    let settings = engine.settings_of(summary.file.root)?;
    let limit = settings.assets.max_size_bytes;
    let (outcome, mut sources) = match &found.part {
        ResourcePart::Document | ResourcePart::Collection => {
            let Some(document) = engine.document_of(&summary.file)? else { return Ok(None) };
            let contents = if found.part == ResourcePart::Document {
                vec![ResourceContents::text(document.text, uri).with_mime_type("text/markdown")]
            } else {
                collection(engine, snapshot, summary, document.text, limit)?
            };
            (Ok((contents, Event::served_by_name(&summary.address))), document.sources)
        }
        ResourcePart::File(path) => {
            let Ok(asset) = engine.asset_of(&summary.address, path)? else { return Ok(None) };
            let outcome = match snapshot.read(&asset.asset, limit) {
                Ok(bytes) => {
                    let event = asset_served(&asset, bytes.len());
                    // The requested URI, of which a file has several.
                    Ok((vec![contents(uri.to_owned(), path, bytes)], event))
                }
                Err(error) => Err(unreadable(&asset, &error, operator_limit)),
            };
            (outcome, asset.sources)
        }
    };
    sources.extend(settings.sources);
    Ok(Some((outcome, sources)))
}

/// Returns the URI of a file of a skill. The engine encodes the URI of the skill itself in the same way.
pub fn uri_of(skill: &str, path: &str) -> String {
    format!("{skill}/{}", percent::encode(path))
}

/// Returns a file byte for byte: text if the bytes are UTF-8, else base64.
pub fn contents(uri: String, path: &str, bytes: Vec<u8>) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(media_type(path, true)),
        Err(error) => {
            ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri).with_mime_type(media_type(path, false))
        }
    }
}

/// Reads all files of a skill. The number of those that do not fit is in `_meta`.
fn collection(
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
    skill: &Summary,
    document: String,
    limit: u64,
) -> Result<Vec<ResourceContents>, Broken> {
    let mut all = Vec::new();
    // The document of a tree skill is not in its resource folder.
    if skill.model == SkillModel::Tree {
        all.push(contents(uri_of(&skill.uri, "SKILL.md"), "SKILL.md", document.into_bytes()));
    }
    let opened = engine.files_of(&skill.file)?.and_then(|belonging| files::open(snapshot, &belonging));
    let mut omitted = 0;
    let mut room = MAX_BYTES;
    for (folder, file) in opened.iter().flat_map(|opened| opened.files.iter().map(|file| (&opened.folder, file))) {
        match folder.read(&file.path, limit.min(room)) {
            Ok(bytes) => {
                room -= bytes.len() as u64;
                all.push(contents(uri_of(&skill.uri, &file.path), &file.path, bytes));
            }
            Err(_) => omitted += 1,
        }
    }
    if omitted > 0
        && let Some(last) = all.pop()
    {
        all.push(last.with_meta(MetaObject(object!({"skillcell/filesLeftOut": omitted}))));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_encoded() {
        assert_eq!(uri_of("skill://a", "docs/été #1.md"), "skill://a/docs/%C3%A9t%C3%A9%20%231.md");
    }
}
