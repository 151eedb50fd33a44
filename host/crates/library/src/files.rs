//! Lists the files that belong to a skill.

use crate::reading;
use crate::resources::{Entry, EntryKind, ResourceFolder, Sizes};
use crate::scan::{self, NEVER_WALKED};
use crate::snapshot::Snapshot;
use bindings::catalog::SkillFiles;

/// Maximum number of files of a skill; more are ignored.
const MAX_FILES: usize = 10_000;

/// Maximum depth of folders below the resource folder.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Relative to the resource folder.
    pub path: String,
    pub size: u64,
}

/// The resource folder of a skill, and its files.
pub struct SkillFolder {
    pub folder: ResourceFolder,
    /// Sorted by path.
    pub files: Vec<SkillFile>,
}

/// Opens the resource folder of a skill and lists its files. Returns `None` for a skill without one.
pub fn open(snapshot: &Snapshot, skill_files: &SkillFiles) -> Option<SkillFolder> {
    match skill_files {
        SkillFiles::EverythingBelow(location) => {
            let folder = snapshot.open(location).ok()?;
            let mut files = Vec::new();
            collect(&folder, &Sizes::new(&folder), "", 0, &mut files);
            files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
            Some(SkillFolder { folder, files })
        }
        SkillFiles::Declared(assets) => {
            let folder = snapshot.open(&assets.first()?.folder).ok()?;
            let mut files: Vec<SkillFile> = {
                let sizes = Sizes::new(&folder);
                let file = |path: &String| Some(SkillFile { size: sizes.of(path)?, path: path.clone() });
                assets.iter().filter_map(|asset| file(&asset.file)).collect()
            };
            files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
            Some(SkillFolder { folder, files })
        }
    }
}

/// Collects all files below a folder that are not hidden. Links to files inside it count; links to folders do not, because
/// their files are found at their own paths.
fn collect(folder: &ResourceFolder, sizes: &Sizes<'_>, path: &str, depth: usize, files: &mut Vec<SkillFile>) {
    for Entry { name, kind } in folder.entries(path).unwrap_or_default() {
        let Some(name) = name.filter(|name| !reading::is_hidden(name) && is_portable(name)) else { continue };
        if files.len() >= MAX_FILES {
            return;
        }
        let below = scan::join(path, &name);
        if kind != EntryKind::Folder {
            files.extend(sizes.of(&below).map(|size| SkillFile { path: below, size }));
        } else if depth < MAX_DEPTH && !NEVER_WALKED.contains(&name.as_str()) {
            collect(folder, sizes, &below, depth + 1, files);
        }
    }
}

/// Whether a name is valid on every system. The engine refuses to read others.
fn is_portable(name: &str) -> bool {
    !name.contains('\\') && name.as_bytes().get(1) != Some(&b':')
}

/// Returns the media type of a file, for clients that show or save it.
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
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Some("pptx") => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        Some("xml") => "application/xml",
        Some("wasm") => "application/wasm",
        Some("woff") => "font/woff",
        Some("woff2") => "font/woff2",
        _ if is_text => "text/plain",
        _ => "application/octet-stream",
    }
}
