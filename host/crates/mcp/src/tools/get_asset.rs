//! `get_asset`: one file of a skill.

use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, Result, failed};
use crate::server::Server;
use analytics::Event;
use base::printable::{printable, quoted, visible};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bindings::catalog::{AssetError, FoundAsset};
use bindings::library::{Oversize, ReadError};
use call::Call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use views::found::OnDisk;

#[derive(Deserialize, JsonSchema)]
pub struct GetAsset {
    skill_path: String,
    file: String,
}

impl Tool for GetAsset {
    const NAME: &'static str = "get_asset";
    const TITLE: &'static str = "Read a declared file of a skill";
    const PURPOSE: &'static str = "Read a file that a skill's `assets` or `scripts` name.";
    const HINTS: Hints = &[(ToolName::SkillResource, "read its other files")];

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let Self { skill_path: skill, file } = self;
        let (name, path) = (skill.clone(), file.clone());
        let lists_files = !server.surface.only_declared_scripts;
        let asked = server.catalog.ask_fresh(
            move |engine, snapshot| {
                let mut found = match engine.asset_of(&name, &path)? {
                    Ok(found) => found,
                    Err(AssetError::NoFile(declared)) => {
                        let on_disk = OnDisk::of(engine, snapshot, &name)?;
                        let files = on_disk.map(OnDisk::into_files).filter(|_| lists_files).unwrap_or_default();
                        let more: Vec<String> = files.into_iter().filter(|file| !declared.contains(file)).collect();
                        return Ok(Err(AssetError::NoFile([declared, more].concat())));
                    }
                    Err(error) => return Ok(Err(error)),
                };
                let settings = engine.settings_of(found.asset.folder.root)?;
                found.sources.extend(settings.sources);
                Ok(Ok((snapshot.read(&found.asset, settings.assets.max_size_bytes), found)))
            },
            |answer| answer.as_ref().ok().map(|(_, found)| found.sources.clone()),
        );
        Ok(match asked.await.map_err(failed)? {
            Ok((Ok(bytes), found)) => {
                call.usage.record(asset_served(&found, bytes.len()));
                answer::json(&AssetView::new(found, bytes))
            }
            Ok((Err(error), found)) => {
                answer::refused(unreadable(&found, &error, server.terms.operator.max_size_bytes))
            }
            Err(AssetError::NoSkill(error)) => answer::no_skill(&skill, &error),
            Err(AssetError::UnsafePath) => answer::refused(traversal(&file)),
            Err(AssetError::NoFile(offered)) => answer::refused(not_found(&skill, &file, &offered)),
        })
    }
}

#[derive(Serialize)]
struct AssetView {
    skill_path: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_base64: Option<String>,
    size_bytes: usize,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_from: Option<String>,
}

impl AssetView {
    fn new(found: FoundAsset, bytes: Vec<u8>) -> Self {
        let size_bytes = bytes.len();
        let (content, content_base64) = match String::from_utf8(bytes) {
            Ok(text) if !found.asset.binary => (Some(text), None),
            Ok(text) => (None, Some(STANDARD.encode(text))),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        Self {
            skill_path: visible(found.address),
            file: visible(found.asset.file),
            mime_type: content_base64.is_some().then_some(found.media_type),
            content,
            content_base64,
            size_bytes,
            r#type: visible(found.asset.kind),
            resolved_from: found.asset.inherited_from.map(visible),
        }
    }
}

pub fn asset_served(found: &FoundAsset, size_bytes: usize) -> Event {
    Event::AssetServed {
        skill_path: found.address.clone(),
        file: found.asset.file.clone(),
        asset_type: found.asset.kind.clone(),
        is_inherited: found.asset.inherited_from.is_some(),
        size_bytes,
    }
}

pub fn traversal(file: &str) -> String {
    let file = printable(file);
    format!(
        "path traversal: `{file}` leaves the skill\nhint: use a path below its resource folder, such as `assets/logo.svg`"
    )
}

fn not_found(skill: &str, file: &str, offered: &[String]) -> String {
    let (skill, file) = (printable(skill), printable(file));
    match offered {
        [] => format!("asset `{file}` not found in `{skill}`, which has no files"),
        _ => format!("asset `{file}` not found in `{skill}`\nhint: it offers {}", quoted(offered)),
    }
}

/// Explains why a file is not served. The limit of its root may be lower than the operator's.
pub fn unreadable(found: &FoundAsset, error: &ReadError, operator_limit: u64) -> String {
    let file = printable(&found.asset.file);
    let owner = printable(found.asset.inherited_from.as_ref().unwrap_or(&found.address));
    let (what, hint) = match error {
        ReadError::NotFound if found.declared => (
            format!("is declared by `{owner}` but missing on disk"),
            "the skill's author has to add the file or remove the entry",
        ),
        ReadError::NotFound | ReadError::NotText(_) | ReadError::Quarantined(_) => {
            ("no longer exists".to_owned(), "load the skill again")
        }
        ReadError::TooLarge(Oversize { size, limit }) => (
            format!("has {size} bytes, and the limit is {limit}"),
            if *limit < operator_limit {
                "the `config.yaml` of its root sets the limit with `assets.max_size_bytes`"
            } else {
                "raise `assets.max_size_bytes` or MAX_FILE_SIZE_MB"
            },
        ),
        ReadError::OutsideRoot => (
            "is a link that leaves the skill, so it is not served".to_owned(),
            "the skill's author has to replace the link with the file",
        ),
        ReadError::NotAFile => ("is not a regular file".to_owned(), "if it is a folder, request a file inside it"),
        ReadError::NoPermission => ("may not be read by the server".to_owned(), "check its permissions"),
        ReadError::Failed(message) => (format!("could not be read: {message}"), "check the disk"),
    };
    format!("asset `{file}` {what}\nhint: {hint}")
}
