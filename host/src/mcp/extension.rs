//! The extension `io.modelcontextprotocol/skills`: skills with complete manifests, and folders of resources.

use crate::bindings::catalog::{Document, ResourcePart, SkillFiles};
use crate::bindings::types::{Location, SkillModel, Summary};
use crate::library::files::{self, SkillFile, media_type};
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::ToolError;
use crate::mcp::contents::uri_of;
use crate::mcp::paging;
use crate::mcp::server::Skillcell;
use crate::printable::printable;
use crate::runtime::call::Broken;
use crate::sha256::Sha256;
use crate::worlds::engine::EngineInstance;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const NAME: &str = "io.modelcontextprotocol/skills";

/// Largest skill of the extension.
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 << 20;

/// Skills, and entries of a folder, in one answer.
const PAGE: usize = 100;
const FOLDER_PAGE: usize = 1_000;

/// The answer to one of the extension's methods, or nothing for another method.
pub async fn answer(
    server: &Skillcell,
    method: &str,
    params: Option<&Value>,
) -> Result<Option<Map<String, Value>>, ErrorData> {
    let text = |name: &str| match params.and_then(|params| params.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(ErrorData::invalid_params(format!("{name} must be a string"), None)),
    };
    let uri = || text("uri")?.ok_or_else(|| ErrorData::invalid_params("uri is required", None));
    let mut answer = match method {
        "skills/list" => list(server, text("cursor")?).await?,
        "skills/get" => get(server, uri()?).await?,
        "resources/directory/read" => folder(server, uri()?, text("cursor")?).await?,
        _ => return Ok(None),
    };
    // What is on disk may change at any moment, and clients are told when it does.
    answer.insert("ttlMs".to_owned(), json!(0));
    answer.insert("cacheScope".to_owned(), json!("private"));
    Ok(Some(answer))
}

async fn list(server: &Skillcell, cursor: Option<&str>) -> Result<Map<String, Value>, ErrorData> {
    let index = server.fresh_index().await?;
    server.left_out.keep_only(&index.skills);
    let page = paging::skills(&index.skills, cursor, PAGE)?;
    let skills: Vec<Summary> = page.items.iter().map(|skill| skill.summary().clone()).collect();
    let asked = server.catalog.ask(move |engine, snapshot| {
        let known: Result<Vec<_>, Broken> = skills.into_iter().map(|skill| Known::of(engine, skill)).collect();
        Ok((known?, Arc::clone(snapshot)))
    });
    let (known, snapshot) = asked.await.map_err(ToolError::from)?;
    let mut skills = Vec::new();
    for (file, described) in describe_all(server, known, snapshot).await? {
        match described {
            Ok(skill) => {
                server.left_out.clear(&file);
                skills.push(skill);
            }
            Err(reason) => server.left_out.note(&file, reason),
        }
    }
    let mut answer = Map::new();
    answer.insert("skills".to_owned(), Value::Array(skills));
    if let Some(next) = page.next {
        answer.insert("nextCursor".to_owned(), Value::String(next));
    }
    Ok(answer)
}

async fn get(server: &Skillcell, uri: &str) -> Result<Map<String, Value>, ErrorData> {
    let unknown = || {
        ErrorData::invalid_params(
            format!("there is no skill `{}`: skills/list tells what there is", printable(uri)),
            None,
        )
    };
    let wanted = uri.to_owned();
    let question = move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
        let found = engine.resource_of(&wanted)?.filter(|found| found.part == ResourcePart::Document);
        let Some(found) = found else { return Ok(None) };
        Ok(Some((Known::of(engine, found.skill.summary)?, Arc::clone(snapshot))))
    };
    let asked = server.catalog.ask_fresh(question, |found| found.as_ref().map(|(known, _)| known.sources.clone()));
    let (known, snapshot) = asked.await.map_err(ToolError::from)?.ok_or_else(unknown)?;
    let (_, described) = describe_all(server, vec![known], snapshot).await?.pop().ok_or_else(unknown)?;
    let skill = described.map_err(|reason| {
        ErrorData::invalid_params(
            format!("the skill `{}` is not served by this method: {reason}", printable(uri)),
            None,
        )
    })?;
    Ok(Map::from_iter([("skill".to_owned(), skill)]))
}

/// Why a skill is not among those of the extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotListed {
    #[error("it has more than {MOST_FILES} files or {MOST_BYTES} bytes")]
    TooLarge,
    #[error("{0}")]
    OffFormat(String),
    #[error("its files changed while they were read")]
    WentAway,
}

/// What an engine knows about a skill.
struct Known {
    skill: Summary,
    document: Option<Document>,
    belonging: Option<SkillFiles>,
    /// Largest file that is served.
    limit: u64,
    /// The files that decide about all this.
    sources: Vec<Location>,
}

impl Known {
    fn of(engine: &mut EngineInstance, skill: Summary) -> Result<Self, Broken> {
        let document = engine.document_of(&skill.file)?;
        let settings = engine.settings_of(skill.file.root)?;
        let made_from = document.as_ref().map_or_else(|| vec![skill.file.clone()], |document| document.sources.clone());
        let sources = made_from.into_iter().chain(settings.sources).collect();
        let limit = settings.assets.max_size_bytes;
        Ok(Self { document, belonging: engine.files_of(&skill.file)?, limit, sources, skill })
    }
}

/// Skills with the digests of all their files. Reading them takes a while, so it keeps no engine waiting, and only one such
/// request works at a time.
async fn describe_all(
    server: &Skillcell,
    known: Vec<Known>,
    snapshot: Arc<Snapshot>,
) -> Result<Vec<(Location, Result<Value, NotListed>)>, ErrorData> {
    let _alone = server.hashing.lock().await;
    let described = tokio::task::spawn_blocking(move || {
        known.into_iter().map(|known| (known.skill.file.clone(), describe(&snapshot, &known))).collect()
    });
    described.await.map_err(|panic| ErrorData::internal_error(format!("skills could not be read: {panic}"), None))
}

fn describe(snapshot: &Snapshot, known: &Known) -> Result<Value, NotListed> {
    let Known { skill, document, belonging, limit, .. } = known;
    let document = document.as_ref().ok_or(NotListed::WentAway)?;
    // Clients of the extension are strict: one skill that breaks the format costs them the whole list.
    if let Some(rule) = &document.off_format {
        return Err(NotListed::OffFormat(rule.clone()));
    }
    let frontmatter: Value = serde_json::from_str(&document.frontmatter).unwrap_or_default();
    let resources = manifest(snapshot, skill, belonging.as_ref(), document.text.as_bytes(), *limit)?;
    Ok(json!({"uri": format!("{}/SKILL.md", skill.uri), "frontmatter": frontmatter, "resources": resources}))
}

/// Every file of the skill once.
fn manifest(
    snapshot: &Snapshot,
    skill: &Summary,
    belonging: Option<&SkillFiles>,
    document: &[u8],
    limit: u64,
) -> Result<Vec<Value>, NotListed> {
    let entry = |path: &str, bytes: &[u8]| json!({"uri": uri_of(&skill.uri, path), "digest": Sha256::of(bytes).to_string(), "size": bytes.len()});
    let mut resources = vec![entry("SKILL.md", document)];
    let mut room = MOST_BYTES.checked_sub(document.len() as u64).ok_or(NotListed::TooLarge)?;
    let opened = belonging.and_then(|belonging| files::open(snapshot, belonging));
    let Some(opened) = opened else { return Ok(resources) };
    if opened.files.len() > MOST_FILES {
        return Err(NotListed::TooLarge);
    }
    for file in opened.files.iter().filter(|file| file.path != "SKILL.md") {
        if file.size > room {
            return Err(NotListed::TooLarge);
        }
        if file.size > limit {
            return Err(NotListed::OffFormat("one of its files is larger than what the server hands out".to_owned()));
        }
        let bytes = opened.folder.read(&file.path, room).map_err(|_| NotListed::WentAway)?;
        room -= bytes.len() as u64;
        resources.push(entry(&file.path, &bytes));
    }
    Ok(resources)
}

/// What is directly inside a folder of a skill.
async fn folder(server: &Skillcell, uri: &str, cursor: Option<&str>) -> Result<Map<String, Value>, ErrorData> {
    let wanted = uri.to_owned();
    let question = move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
        // A document is named by its skill, which is a folder, and by its file, which is none.
        let found = engine.resource_of(&wanted)?.filter(|_| !wanted.ends_with("/SKILL.md"));
        let Some(found) = found else { return Ok(None) };
        let known = Known::of(engine, found.skill.summary)?;
        Ok(Some((children(snapshot, &known, &found.part), known)))
    };
    let asked = server.catalog.ask_fresh(question, |found| found.as_ref().map(|(_, known)| known.sources.clone()));
    let found = asked.await.map_err(ToolError::from)?.filter(|(children, _)| !children.is_empty());
    let (children, known) = found.ok_or_else(|| {
        ErrorData::invalid_params(
            format!("`{}` is no folder: name a skill as `skill://PATH`, or a folder below it", printable(uri)),
            Some(json!({"uri": uri})),
        )
    })?;
    let names: Vec<&str> = children.keys().map(String::as_str).collect();
    let page = paging::names(&names, cursor, FOLDER_PAGE)?;
    let skill = &known.skill.uri;
    let resource = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        match &children[*path] {
            Some(size) => {
                let media = media_type(path, true);
                json!({"uri": uri_of(skill, path), "name": name, "mimeType": media, "size": size})
            }
            None => json!({"uri": uri_of(skill, path), "name": name, "mimeType": "inode/directory"}),
        }
    };
    let mut answer = Map::new();
    answer.insert("resources".to_owned(), page.items.iter().map(resource).collect());
    if let Some(next) = page.next {
        answer.insert("nextCursor".to_owned(), Value::String(next));
    }
    Ok(answer)
}

/// Entries of a folder by their path below the resource folder: files with their size, folders without.
type Children = BTreeMap<String, Option<u64>>;

fn children(snapshot: &Snapshot, known: &Known, part: &ResourcePart) -> Children {
    let inside = match part {
        ResourcePart::Document | ResourcePart::Collection => String::new(),
        ResourcePart::File(path) => format!("{path}/"),
    };
    let opened = known.belonging.as_ref().and_then(|belonging| files::open(snapshot, belonging));
    let mut files = opened.map(|opened| opened.files).unwrap_or_default();
    if let (SkillModel::Tree, Some(document)) = (known.skill.model, &known.document) {
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
