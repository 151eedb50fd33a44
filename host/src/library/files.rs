//! The files that belong to a skill.

use crate::bindings::catalog::SkillFiles;
use crate::library::reading;
use crate::library::resources::{Entry, EntryKind, ResourceFolder};
use crate::library::scan::{self, NEVER_WALKED};
use crate::library::snapshot::Snapshot;

/// Most files that are counted; a skill with more is cut here.
const MOST_FILES: usize = 10_000;

/// Deepest folder that is looked into.
const DEEPEST: usize = 16;

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Below the resource folder.
    pub path: String,
    pub size: u64,
}

/// The files of a skill, and the folder they are in.
pub struct Opened {
    pub folder: ResourceFolder,
    /// Sorted by path.
    pub files: Vec<SkillFile>,
}

/// Looks which files a skill has. Nothing for a skill without a resource folder.
pub fn open(snapshot: &Snapshot, belonging: &SkillFiles) -> Option<Opened> {
    match belonging {
        SkillFiles::EverythingBelow(location) => {
            let folder = snapshot.open(location).ok()?;
            let mut files = Vec::new();
            gather(&folder, "", 0, &mut files);
            files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
            Some(Opened { folder, files })
        }
        SkillFiles::Declared(assets) => {
            let folder = snapshot.open(&assets.first()?.folder).ok()?;
            let file = |path: &String| {
                let size = folder.size(path).filter(|_| !folder.leads_to_hidden(path))?;
                Some(SkillFile { size, path: path.clone() })
            };
            let mut files: Vec<SkillFile> = assets.iter().filter_map(|asset| file(&asset.file)).collect();
            files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
            Some(Opened { folder, files })
        }
    }
}

/// Everything below a folder that is not hidden. Links to files inside it count, links to folders do not: what is in there
/// is found at its own place.
fn gather(folder: &ResourceFolder, path: &str, depth: usize, files: &mut Vec<SkillFile>) {
    for Entry { name, kind } in folder.entries(path).unwrap_or_default() {
        let Some(name) = name.filter(|name| !reading::is_hidden(name) && is_portable(name)) else { continue };
        if files.len() >= MOST_FILES {
            return;
        }
        let below = scan::join(path, &name);
        if kind == EntryKind::Link && folder.leads_to_hidden(&below) {
            continue;
        }
        if kind != EntryKind::Folder {
            files.extend(folder.size(&below).map(|size| SkillFile { path: below, size }));
        } else if depth < DEEPEST && !NEVER_WALKED.contains(&name.as_str()) {
            gather(folder, &below, depth + 1, files);
        }
    }
}

/// Whether a name means the same on every system. The engine refuses to read what is left out here.
fn is_portable(name: &str) -> bool {
    !name.contains('\\') && name.as_bytes().get(1) != Some(&b':')
}

/// A file name's media type, for clients that show or save it.
pub fn media_type(path: &str, is_text: bool) -> &'static str {
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("html" | "htm") => "text/html",
        Some("css") => "text/css",
        Some("csv") => "text/csv",
        Some("js" | "mjs" | "cjs") => "text/javascript",
        Some("py") => "text/x-python",
        Some("sh") => "text/x-shellscript",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("pdf") => "application/pdf",
        Some("zip") => "application/zip",
        Some("wasm") => "application/wasm",
        Some("woff") => "font/woff",
        Some("woff2") => "font/woff2",
        _ if is_text => "text/plain",
        _ => "application/octet-stream",
    }
}
