//! A skill as one number: all files that its scripts see, together.

use crate::bindings::catalog::Called;
use crate::bindings::types::Location;
use crate::catalog::{AskError, Catalog};
use crate::library::reading;
use crate::library::resources::{Entry, EntryKind, ResourceFolder, Target};
use crate::library::scan;
use crate::library::snapshot::Snapshot;
use crate::sha256::Sha256;
use crate::worlds::engine::EngineInstance;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest skill that can be pinned: as many files and bytes as the skills extension of MCP serves.
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 << 20;

/// Deepest folder that is looked into.
const DEEPEST: usize = 16;

/// The bytes of a skill at one moment.
pub struct Skill {
    pub digest: Sha256,
    /// By path below the resource folder. A script runs with these.
    pub files: BTreeMap<String, Bytes>,
}

/// Why a skill has no digest.
#[derive(Debug, thiserror::Error)]
pub enum NoDigest {
    #[error("it has more than {MOST_FILES} files or {MOST_BYTES} bytes")]
    TooLarge,
    #[error("`{0}` cannot be read")]
    Unreadable(String),
}

impl Skill {
    /// Reads all files of the resource folder but hidden ones, which no script sees. The script's own bytes were read before, and those are the ones that count.
    pub fn read(
        folder: &ResourceFolder,
        skill_text: &str,
        script: &str,
        script_bytes: &Bytes,
    ) -> Result<Self, NoDigest> {
        let mut files = gathered(folder)?;
        files.insert(script.to_owned(), script_bytes.clone());
        Ok(Self::of(skill_text, files))
    }

    fn of(skill_text: &str, files: BTreeMap<String, Bytes>) -> Self {
        let mut manifest = format!("{}\n", Sha256::of(skill_text.as_bytes()));
        for (path, bytes) in &files {
            // A path may hold anything but NUL, so nothing can pass for two lines.
            manifest.extend([&Sha256::of(bytes).to_string(), "\0", path, "\0"]);
        }
        Self { digest: Sha256::of(manifest.as_bytes()), files }
    }
}

/// The digest of a skill as it is now, which a grant may be pinned to. Nothing for one that has no files for scripts.
pub async fn digest_of(catalog: &Catalog, address: &str) -> Result<Option<Result<Sha256, NoDigest>>, AskError> {
    let address = address.to_owned();
    let question = move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
        let Ok(found) = engine.skill_of(&address, Called::ByPath)? else { return Ok(None) };
        let Some(Ok(folder)) = found.resources.map(|resources| snapshot.open(&resources)) else { return Ok(None) };
        let Location { root, path } = &found.summary.file;
        let text = snapshot.root(*root).and_then(|root| root.file(path, u64::MAX).text.clone().ok());
        Ok(Some(gathered(&folder).map(|files| Skill::of(text.as_deref().unwrap_or_default(), files).digest)))
    };
    catalog.ask(question).await
}

fn gathered(folder: &ResourceFolder) -> Result<BTreeMap<String, Bytes>, NoDigest> {
    let (mut files, mut left) = (BTreeMap::new(), MOST_BYTES);
    gather(folder, "", 0, &mut files, &mut left)?;
    Ok(files)
}

fn gather(
    folder: &ResourceFolder,
    path: &str,
    depth: usize,
    files: &mut BTreeMap<String, Bytes>,
    left: &mut u64,
) -> Result<(), NoDigest> {
    if depth > DEEPEST {
        return Err(NoDigest::TooLarge);
    }
    let unreadable = || NoDigest::Unreadable(path.to_owned());
    for Entry { name, kind } in folder.entries(path).map_err(|_| unreadable())? {
        let name = name.ok_or_else(unreadable)?;
        if reading::is_hidden(&name) {
            continue;
        }
        let below = scan::join(path, &name);
        if kind == EntryKind::Folder {
            gather(folder, &below, depth + 1, files, left)?;
            continue;
        }
        if kind == EntryKind::Link && folder.leads_to_hidden(&below) {
            continue;
        }
        // A link to a folder is left out: what is in there is in the digest at its own place, or not part of the skill.
        if kind == EntryKind::Link && folder.target(&below) == Some(Target::Folder) {
            continue;
        }
        let bytes = folder.read(&below, *left).map_err(|_| NoDigest::Unreadable(below.clone()))?;
        *left -= bytes.len() as u64;
        files.insert(below, bytes.into());
        if files.len() > MOST_FILES {
            return Err(NoDigest::TooLarge);
        }
    }
    Ok(())
}
