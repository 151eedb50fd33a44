//! The extension `io.modelcontextprotocol/skills`: skills with complete manifests, and folders of resources.

use crate::answer::{Result, failed, invalid};
use crate::paging;
use crate::resources::uri_of;
use crate::server::Server;
use base::digest::Sha256;
use base::printable::{printable, visible};
use bindings::catalog::{Document, ResourcePart, SkillFiles};
use bindings::types::{Location, SkillModel, Summary};
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::files::{self, SkillFile, SkillFolder, media_type};
use library::snapshot::Snapshot;
use rmcp::ErrorData;
use rmcp::model::JsonObject;
use rmcp::object;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const NAME: &str = "io.modelcontextprotocol/skills";

/// The largest skill that the extension allows.
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 << 20;

/// Skills, and entries of a folder, per page.
const PAGE_SIZE: usize = 100;
const FOLDER_PAGE_SIZE: usize = 1_000;

/// Answers a method of the extension. Returns `None` for any other method.
pub async fn answer(server: &Server, method: &str, params: Option<&Value>) -> Result<Option<JsonObject>> {
    let text = |name: &str| match params.and_then(|params| params.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(invalid(format!("{name} must be a string"))),
    };
    let uri = || text("uri")?.ok_or_else(|| invalid("uri is required"));
    let mut answer = match method {
        "skills/list" => list(server, text("cursor")?).await?,
        "skills/get" => get(server, uri()?).await?,
        "resources/directory/read" => folder(server, uri()?, text("cursor")?).await?,
        _ => return Ok(None),
    };
    // Files may change at any moment, and clients are notified when they do.
    answer.insert("ttlMs".to_owned(), json!(0));
    answer.insert("cacheScope".to_owned(), json!("private"));
    Ok(Some(answer))
}

async fn list(server: &Server, cursor: Option<&str>) -> Result<JsonObject> {
    let index = server.fresh_index().await?;
    server.state.unlisted.retain(&index.skills);
    let page = paging::skills(&index.skills, cursor, PAGE_SIZE)?;
    let skills: Vec<Summary> = page.items.iter().map(|skill| skill.summary().clone()).collect();
    let asked = server.catalog.ask(move |engine, snapshot| {
        let data: Result<Vec<_>, Broken> = skills.into_iter().map(|skill| SkillData::of(engine, skill)).collect();
        Ok((data?, Arc::clone(snapshot)))
    });
    let (data, snapshot) = asked.await.map_err(failed)?;
    let mut skills = Vec::new();
    for (file, described) in describe_all(server, data, snapshot).await? {
        match described {
            Ok(skill) => {
                server.state.unlisted.remove(&file);
                skills.push(skill);
            }
            Err(reason) => server.state.unlisted.insert(&file, reason),
        }
    }
    Ok(with_cursor(object!({"skills": skills}), page.next))
}

fn with_cursor(mut page: JsonObject, next: Option<String>) -> JsonObject {
    page.extend(next.map(|next| ("nextCursor".to_owned(), Value::String(next))));
    page
}

async fn get(server: &Server, uri: &str) -> Result<JsonObject> {
    let unknown = || invalid(format!("there is no skill `{}`: see skills/list", printable(uri)));
    let wanted = uri.to_owned();
    let asked = server.catalog.ask_fresh(
        move |engine, snapshot| {
            let found = engine.resource_of(&wanted)?.filter(|found| found.part == ResourcePart::Document);
            let Some(found) = found else { return Ok(None) };
            Ok(Some((SkillData::of(engine, found.skill.summary)?, Arc::clone(snapshot))))
        },
        |found| found.as_ref().map(|(data, _)| data.sources.clone()),
    );
    let (data, snapshot) = asked.await.map_err(failed)?.ok_or_else(unknown)?;
    let (_, described) = describe_all(server, vec![data], snapshot).await?.pop().ok_or_else(unknown)?;
    let not_served = |reason| invalid(format!("the skill `{}` is not served by this method: {reason}", printable(uri)));
    Ok(object!({"skill": described.map_err(not_served)?}))
}

/// Why a skill is not among those of the extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotListed {
    #[error("it has more than {MAX_FILES} files or {MAX_BYTES} bytes")]
    TooLarge,
    #[error("{0}")]
    OffFormat(String),
    #[error("its files changed while they were read")]
    Changed,
}

/// What an engine knows about a skill.
struct SkillData {
    skill: Summary,
    document: Option<Document>,
    files: Option<SkillFiles>,
    /// The largest file that is served.
    limit: u64,
    /// The files that all this depends on.
    sources: Vec<Location>,
}

impl SkillData {
    fn of(engine: &mut EngineInstance, skill: Summary) -> Result<Self, Broken> {
        let document = engine.document_of(&skill.file)?;
        let settings = engine.settings_of(skill.file.root)?;
        let made_from = document.as_ref().map_or_else(|| vec![skill.file.clone()], |document| document.sources.clone());
        let sources = made_from.into_iter().chain(settings.sources).collect();
        let limit = settings.assets.max_size_bytes;
        Ok(Self { document, files: engine.files_of(&skill.file)?, limit, sources, skill })
    }

    fn open_files(&self, snapshot: &Snapshot) -> Option<SkillFolder> {
        files::open(snapshot, self.files.as_ref()?)
    }
}

/// Describes skills with the digests of all their files. Reading them takes a while, so it does not block an engine, and
/// only one such request runs at a time.
async fn describe_all(
    server: &Server,
    skills: Vec<SkillData>,
    snapshot: Arc<Snapshot>,
) -> Result<Vec<(Location, Result<Value, NotListed>)>> {
    let _hashing = server.state.hashing.lock().await;
    let described = tokio::task::spawn_blocking(move || {
        skills.into_iter().map(|data| (data.skill.file.clone(), describe(&snapshot, &data))).collect()
    });
    described.await.map_err(|panic| ErrorData::internal_error(format!("skills could not be read: {panic}"), None))
}

fn describe(snapshot: &Snapshot, data: &SkillData) -> Result<Value, NotListed> {
    let document = data.document.as_ref().ok_or(NotListed::Changed)?;
    // Clients of the extension are strict: one invalid skill makes them reject the whole list.
    if let Some(rule) = &document.off_format {
        return Err(NotListed::OffFormat(rule.clone()));
    }
    let frontmatter = all_visible(serde_json::from_str(&document.frontmatter).unwrap_or_default());
    let resources = manifest(snapshot, data, document.text.as_bytes())?;
    Ok(json!({"uri": format!("{}/SKILL.md", data.skill.uri), "frontmatter": frontmatter, "resources": resources}))
}

/// Makes every text of a value safe to show.
fn all_visible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(text)),
        Value::Array(values) => values.into_iter().map(all_visible).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (visible(name), all_visible(value))).collect())
        }
        value => value,
    }
}

/// Lists every file of a skill once.
fn manifest(snapshot: &Snapshot, data: &SkillData, document: &[u8]) -> Result<Vec<Value>, NotListed> {
    let entry = |path: &str, bytes: &[u8]| json!({"uri": uri_of(&data.skill.uri, path), "digest": Sha256::of(bytes).to_string(), "size": bytes.len()});
    let mut resources = vec![entry("SKILL.md", document)];
    let mut room = MAX_BYTES.checked_sub(document.len() as u64).ok_or(NotListed::TooLarge)?;
    let Some(opened) = data.open_files(snapshot) else { return Ok(resources) };
    if opened.files.len() > MAX_FILES {
        return Err(NotListed::TooLarge);
    }
    for file in opened.files.iter().filter(|file| file.path != "SKILL.md") {
        if file.size > room {
            return Err(NotListed::TooLarge);
        }
        if file.size > data.limit {
            return Err(NotListed::OffFormat("one of its files exceeds the size limit of the server".to_owned()));
        }
        let bytes = opened.folder.read(&file.path, room).map_err(|_| NotListed::Changed)?;
        room -= bytes.len() as u64;
        resources.push(entry(&file.path, &bytes));
    }
    Ok(resources)
}

/// Lists the direct children of a folder of a skill.
async fn folder(server: &Server, uri: &str, cursor: Option<&str>) -> Result<JsonObject> {
    let wanted = uri.to_owned();
    let asked = server.catalog.ask_fresh(
        move |engine, snapshot| {
            // The URI of a skill names a folder, that of its document does not.
            let found = engine.resource_of(&wanted)?.filter(|_| !wanted.ends_with("/SKILL.md"));
            let Some(found) = found else { return Ok(None) };
            let data = SkillData::of(engine, found.skill.summary)?;
            Ok(Some((children(snapshot, &data, &found.part), data)))
        },
        |found| found.as_ref().map(|(_, data)| data.sources.clone()),
    );
    let found = asked.await.map_err(failed)?.filter(|(children, _)| !children.is_empty());
    let (children, data) = found.ok_or_else(|| {
        let uri_text = printable(uri);
        let message = format!("`{uri_text}` is not a folder: use `skill://PATH` of a skill, or a folder below it");
        ErrorData::invalid_params(message, Some(json!({"uri": uri})))
    })?;
    let names: Vec<&str> = children.keys().map(String::as_str).collect();
    let page = paging::names(&names, cursor, FOLDER_PAGE_SIZE)?;
    let skill = &data.skill.uri;
    let resource = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let media = if children[*path].is_some() { media_type(path, true) } else { "inode/directory" };
        let mut resource = object!({"uri": uri_of(skill, path), "name": visible(name.to_owned()), "mimeType": media});
        resource.extend(children[*path].map(|size| ("size".to_owned(), size.into())));
        Value::Object(resource)
    };
    let resources: Vec<Value> = page.items.iter().map(resource).collect();
    Ok(with_cursor(object!({"resources": resources}), page.next))
}

/// Entries of a folder by their path below the resource folder. Folders have no size.
type Children = BTreeMap<String, Option<u64>>;

fn children(snapshot: &Snapshot, data: &SkillData, part: &ResourcePart) -> Children {
    let inside = match part {
        ResourcePart::Document | ResourcePart::Collection => String::new(),
        ResourcePart::File(path) => format!("{path}/"),
    };
    let mut files = data.open_files(snapshot).map(|opened| opened.files).unwrap_or_default();
    if let (SkillModel::Tree, Some(document)) = (data.skill.model, &data.document) {
        files.push(SkillFile { path: "SKILL.md".to_owned(), size: document.text.len() as u64 });
    }
    let mut children = Children::new();
    for file in files {
        let Some(rest) = file.path.strip_prefix(&inside) else { continue };
        match rest.split_once('/') {
            Some((name, _)) => children.insert(format!("{inside}{name}"), None),
            None => children.insert(file.path, Some(file.size)),
        };
    }
    children
}
