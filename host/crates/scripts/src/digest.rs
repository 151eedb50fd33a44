//! The digest of a skill: of its text and all files that its scripts see.

use base::digest::Sha256;
use bindings::catalog::LookupKind;
use bindings::types::Location;
use bytes::Bytes;
use catalog::{AskError, Catalog};
use guests::engine::EngineInstance;
use library::reading;
use library::resources::{Entry, EntryKind, ResourceFolder, Target};
use library::scan;
use library::snapshot::Snapshot;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Limits of a skill that can be pinned, the same as for the skills extension of MCP.
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 << 20;

const MAX_DEPTH: usize = 16;

/// The files of a skill at one moment, with their digest.
pub struct SkillContents {
    pub digest: Sha256,
    /// By path below the resource folder. A script of a pinned skill runs on these bytes.
    pub files: BTreeMap<String, Bytes>,
}

/// Why a skill has no digest.
#[derive(Debug, thiserror::Error)]
pub enum DigestError {
    #[error("it has more than {MAX_FILES} files or {MAX_BYTES} bytes")]
    TooLarge,
    #[error("`{0}` cannot be read")]
    Unreadable(String),
}

impl SkillContents {
    /// Reads all files of the resource folder except hidden ones, which scripts do not see. `script_bytes` were read before and
    /// are used instead of the file, because they are what runs.
    pub fn read(
        folder: &ResourceFolder,
        skill_text: &str,
        script: &str,
        script_bytes: &Bytes,
    ) -> Result<Self, DigestError> {
        let mut files = collect_files(folder)?;
        files.insert(script.to_owned(), script_bytes.clone());
        Ok(Self::of(skill_text, files))
    }

    fn of(skill_text: &str, files: BTreeMap<String, Bytes>) -> Self {
        let mut manifest = format!("{}\n", Sha256::of(skill_text.as_bytes()));
        for (path, bytes) in &files {
            // A path cannot contain NUL, so the manifest is unambiguous.
            manifest.extend([&Sha256::of(bytes).to_string(), "\0", path, "\0"]);
        }
        Self { digest: Sha256::of(manifest.as_bytes()), files }
    }
}

/// Returns the current digest of a skill, for pinning a grant. `None` if it has no resource folder.
pub async fn digest_of(catalog: &Catalog, address: &str) -> Result<Option<Result<Sha256, DigestError>>, AskError> {
    let address = address.to_owned();
    let question = move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
        let Ok(found) = engine.skill_of(&address, LookupKind::Path)? else { return Ok(None) };
        let Some(Ok(folder)) = found.resources.map(|resources| snapshot.open(&resources)) else { return Ok(None) };
        let Location { root, path } = &found.summary.file;
        let text = snapshot.root(*root).and_then(|root| root.file(path, u64::MAX).text.clone().ok());
        Ok(Some(
            collect_files(&folder).map(|files| SkillContents::of(text.as_deref().unwrap_or_default(), files).digest),
        ))
    };
    catalog.ask(question).await
}

fn collect_files(folder: &ResourceFolder) -> Result<BTreeMap<String, Bytes>, DigestError> {
    let (mut files, mut remaining) = (BTreeMap::new(), MAX_BYTES);
    collect_below(folder, "", 0, &mut files, &mut remaining)?;
    Ok(files)
}

fn collect_below(
    folder: &ResourceFolder,
    path: &str,
    depth: usize,
    files: &mut BTreeMap<String, Bytes>,
    remaining: &mut u64,
) -> Result<(), DigestError> {
    if depth > MAX_DEPTH {
        return Err(DigestError::TooLarge);
    }
    let unreadable = || DigestError::Unreadable(path.to_owned());
    for Entry { name, kind } in folder.entries(path).map_err(|_| unreadable())? {
        let name = name.ok_or_else(unreadable)?;
        if reading::is_hidden(&name) {
            continue;
        }
        let below = scan::join(path, &name);
        if kind == EntryKind::Folder {
            collect_below(folder, &below, depth + 1, files, remaining)?;
            continue;
        }
        // The target of a link to a folder is in the digest under its own path, or not part of the skill.
        let is_omitted = || folder.leads_to_hidden(&below) || folder.target(&below) == Some(Target::Folder);
        if kind == EntryKind::Link && is_omitted() {
            continue;
        }
        let bytes = folder.read(&below, *remaining).map_err(|_| DigestError::Unreadable(below.clone()))?;
        *remaining -= bytes.len() as u64;
        files.insert(below, bytes.into());
        if files.len() > MAX_FILES {
            return Err(DigestError::TooLarge);
        }
    }
    Ok(())
}
