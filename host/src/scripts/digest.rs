//! A skill as one number: all files that its scripts see, together.

use crate::bindings::catalog::Called;
use crate::bindings::types::Location;
use crate::catalog::{AskError, Catalog};
use crate::library::reading;
use crate::library::snapshot::Snapshot;
use crate::sha256::Sha256;
use crate::worlds::engine::EngineInstance;
use bytes::Bytes;
use cap_std::fs::Dir;
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
    pub fn read(folder: &Dir, skill_text: &str, script: &str, script_bytes: &Bytes) -> Result<Self, NoDigest> {
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
        let Some(Location { root, path }) = found.resources else { return Ok(None) };
        let folder = snapshot.root(root).and_then(|root| root.folder.clone());
        let opened = folder
            .and_then(|folder| if path.is_empty() { folder.try_clone().ok() } else { folder.open_dir(&path).ok() });
        let Some(folder) = opened else { return Ok(None) };
        let Location { root, path } = &found.summary.file;
        let text = snapshot.root(*root).and_then(|root| root.file(path, u64::MAX).text.clone().ok());
        Ok(Some(gathered(&folder).map(|files| Skill::of(text.as_deref().unwrap_or_default(), files).digest)))
    };
    catalog.ask(question).await
}

fn gathered(folder: &Dir) -> Result<BTreeMap<String, Bytes>, NoDigest> {
    let (mut files, mut left) = (BTreeMap::new(), MOST_BYTES);
    gather(folder, "", 0, &mut files, &mut left)?;
    Ok(files)
}

fn gather(
    folder: &Dir,
    path: &str,
    depth: usize,
    files: &mut BTreeMap<String, Bytes>,
    left: &mut u64,
) -> Result<(), NoDigest> {
    let unreadable = |_| NoDigest::Unreadable(path.to_owned());
    if depth > DEEPEST {
        return Err(NoDigest::TooLarge);
    }
    let listed = if path.is_empty() { folder.entries() } else { folder.read_dir(path) };
    for entry in listed.map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().into_string().map_err(|_| NoDigest::Unreadable(path.to_owned()))?;
        if reading::is_hidden(&name) {
            continue;
        }
        let below = if path.is_empty() { name } else { format!("{path}/{name}") };
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            gather(folder, &below, depth + 1, files, left)?;
            continue;
        }
        if kind.is_symlink() && reading::leads_to_hidden(folder, &below) {
            continue;
        }
        // A link to a folder is left out: what is in there is in the digest at its own place, or not part of the skill.
        if kind.is_symlink() && folder.metadata(&below).is_ok_and(|target| target.is_dir()) {
            continue;
        }
        let bytes = reading::read(folder, &below, *left).map_err(|_| NoDigest::Unreadable(below.clone()))?.bytes;
        *left -= bytes.len() as u64;
        files.insert(below, bytes.into());
        if files.len() > MOST_FILES {
            return Err(NoDigest::TooLarge);
        }
    }
    Ok(())
}
