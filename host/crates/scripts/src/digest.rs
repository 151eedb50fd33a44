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

/// Of files, links and folders, so that looking at them takes little time.
const MAX_ENTRIES: usize = 4_096;

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
    #[error("it has more than {MAX_FILES} files, {MAX_ENTRIES} entries or {MAX_BYTES} bytes")]
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
    let mut collected = Collected { files: BTreeMap::new(), entries: 0, bytes: 0 };
    collected.add_below(folder, "", 0)?;
    Ok(collected.files)
}

struct Collected {
    files: BTreeMap<String, Bytes>,
    /// Looked at so far.
    entries: usize,
    bytes: u64,
}

impl Collected {
    fn add_below(&mut self, folder: &ResourceFolder, path: &str, depth: usize) -> Result<(), DigestError> {
        if depth > MAX_DEPTH {
            return Err(DigestError::TooLarge);
        }
        let unreadable = || DigestError::Unreadable(path.to_owned());
        for Entry { name, kind } in folder.entries(path).map_err(|_| unreadable())? {
            let name = name.ok_or_else(unreadable)?;
            if reading::is_hidden(&name) {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(DigestError::TooLarge);
            }
            let below = scan::join(path, &name);
            if kind == EntryKind::Folder {
                self.add_below(folder, &below, depth + 1)?;
                continue;
            }
            // The target of a link to a folder is in the digest under its own path, or not part of the skill.
            let is_omitted = || folder.leads_to_hidden(&below) || folder.target(&below) == Some(Target::Folder);
            if kind == EntryKind::Link && is_omitted() {
                continue;
            }
            let read = folder.read(&below, MAX_BYTES - self.bytes);
            let bytes = read.map_err(|_| DigestError::Unreadable(below.clone()))?;
            self.bytes += bytes.len() as u64;
            self.files.insert(below, bytes.into());
            if self.files.len() > MAX_FILES {
                return Err(DigestError::TooLarge);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    #[test]
    fn entries_that_are_not_part_of_the_digest_count_towards_its_work() {
        let folder = tempfile::tempdir().unwrap();
        let opened = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let opened = ResourceFolder::OnDisk(Arc::new(opened));
        std::fs::write(folder.path().join("file"), "x").unwrap();
        for number in 0..MAX_ENTRIES {
            if number == MAX_FILES * 2 {
                assert_eq!(collect_files(&opened).unwrap().len(), 1, "links to folders are left out");
            }
            std::os::unix::fs::symlink(".", folder.path().join(number.to_string())).unwrap();
        }
        assert!(matches!(collect_files(&opened), Err(DigestError::TooLarge)));
    }
}
