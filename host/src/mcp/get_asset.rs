//! `get_asset`: one file of a skill.

use crate::bindings::catalog::{AssetError, FoundAsset};
use crate::bindings::library::{Oversize, ReadError};
use crate::library::reading;
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::{Answer, ToolError, quoted};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

pub async fn get_asset(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let skill = arguments.required_text("skill_path")?;
    let file = arguments.required_text("file")?;
    arguments.finish()?;

    let (name, path) = (skill.clone(), file.clone());
    let sources = |found: &Result<FoundAsset, AssetError>| found.as_ref().ok().map(|found| found.sources.clone());
    let answered = server.catalog.ask_fresh(move |engine| engine.asset_of(&name, &path), sources).await?;
    let found = match answered.answer {
        Ok(found) => found,
        Err(AssetError::NoSkill(error)) => return Ok(Answer::no_skill(&skill, &error)),
        Err(AssetError::UnsafePath) => return Ok(Answer::Refused(traversal(&file))),
        Err(AssetError::NoFile(offered)) => return Ok(Answer::Refused(not_found(&skill, &file, &offered))),
    };
    Ok(match read(&answered.snapshot, &found, server.config.file_limit) {
        Ok(bytes) => Answer::json(&AssetView::new(found, bytes)),
        Err(error) => Answer::Refused(unreadable(&found, &error)),
    })
}

fn read(snapshot: &Snapshot, found: &FoundAsset, limit: u64) -> Result<Vec<u8>, ReadError> {
    let location = &found.asset.location;
    let folder = snapshot.root(location.root).and_then(|root| root.folder.as_ref()).ok_or(ReadError::NotFound)?;
    Ok(reading::read(folder, &location.path, limit)?.bytes)
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
        let text =
            if found.asset.binary { Err(bytes) } else { String::from_utf8(bytes).map_err(|error| error.into_bytes()) };
        let (content, content_base64) = match text {
            Ok(text) => (Some(text), None),
            Err(bytes) => (None, Some(STANDARD.encode(bytes))),
        };
        Self {
            skill_path: found.address,
            file: found.asset.file,
            mime_type: content_base64.is_some().then_some(found.media_type),
            content,
            content_base64,
            size_bytes,
            r#type: found.asset.kind,
            resolved_from: found.asset.inherited_from,
        }
    }
}

fn traversal(file: &str) -> String {
    format!(
        "path traversal: `{}` leaves the skill\nhint: use a path below its resource folder, such as `assets/logo.svg`",
        file.escape_debug()
    )
}

fn not_found(skill: &str, file: &str, offered: &[String]) -> String {
    let file = file.escape_debug();
    match offered {
        [] => format!("asset `{file}` not found: `{skill}` offers no files"),
        _ => format!("asset `{file}` not found in `{skill}`\nhint: it offers {}", quoted(offered)),
    }
}

fn unreadable(found: &FoundAsset, error: &ReadError) -> String {
    let file = &found.asset.file;
    let owner = found.asset.inherited_from.as_ref().unwrap_or(&found.address);
    match error {
        ReadError::NotFound if found.declared => {
            format!(
                "asset `{file}` is declared by `{owner}` but missing on disk\nhint: the skill's author has to add the file or remove the entry"
            )
        }
        ReadError::TooLarge(Oversize { size, limit }) => {
            format!(
                "asset `{file}` has {size} bytes, and the limit is {limit}\nhint: raise `assets.max_size_bytes` or MAX_FILE_SIZE_MB"
            )
        }
        ReadError::OutsideRoot => format!("asset `{file}` is a link that leaves its root, so it is not served"),
        ReadError::NotAFile => {
            format!("asset `{file}` is no regular file\nhint: ask for a file inside it if it is a folder")
        }
        ReadError::NoPermission => format!("asset `{file}` may not be read by the server\nhint: check its permissions"),
        ReadError::Failed(message) => format!("asset `{file}` could not be read: {message}"),
        ReadError::NotFound | ReadError::NotText(_) | ReadError::SetAside(_) => format!("asset `{file}` went away"),
    }
}
