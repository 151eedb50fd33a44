//! The files that belong to a skill.

use crate::bindings::catalog::SkillFiles;
use crate::bindings::types::Location;
use crate::library::reading;
use crate::library::scan::NEVER_WALKED;
use crate::library::snapshot::Snapshot;
use cap_std::fs::Dir;

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
    pub folder: Dir,
    /// Sorted by path.
    pub files: Vec<SkillFile>,
}

/// Looks which files a skill has on disk. Nothing for a skill without a resource folder.
pub fn open(snapshot: &Snapshot, belonging: &SkillFiles) -> Option<Opened> {
    match belonging {
        SkillFiles::EverythingBelow(location) => {
            let folder = open_folder(snapshot, location)?;
            let mut files = Vec::new();
            gather(&folder, "", 0, &mut files);
            files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
            Some(Opened { folder, files })
        }
        SkillFiles::Declared(assets) => {
            let folder = open_folder(snapshot, &assets.first()?.folder)?;
            let file = |path: &String| Some(SkillFile { size: size(&folder, path)?, path: path.clone() });
            let mut files: Vec<SkillFile> = assets.iter().filter_map(|asset| file(&asset.file)).collect();
            files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
            Some(Opened { folder, files })
        }
    }
}

/// A folder below a root.
pub fn open_folder(snapshot: &Snapshot, location: &Location) -> Option<Dir> {
    let root = snapshot.root(location.root)?.folder.as_ref()?;
    if location.path.is_empty() { root.try_clone().ok() } else { root.open_dir(&location.path).ok() }
}

/// Size of a regular file that is really inside the folder.
fn size(folder: &Dir, path: &str) -> Option<u64> {
    let metadata = folder.metadata(path).ok()?;
    metadata.is_file().then(|| metadata.len())
}

/// Everything below a folder that is not hidden. Links to files inside it count, links to folders do not: what is in there
/// is found at its own place.
fn gather(folder: &Dir, path: &str, depth: usize, files: &mut Vec<SkillFile>) {
    let listed = if path.is_empty() { folder.entries() } else { folder.read_dir(path) };
    for entry in listed.into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if reading::is_hidden(&name) || files.len() >= MOST_FILES || !is_portable(&name) {
            continue;
        }
        let below = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        if kind.is_symlink() && reading::leads_to_hidden(folder, &below) {
            continue;
        }
        if !kind.is_dir() {
            files.extend(size(folder, &below).map(|size| SkillFile { path: below, size }));
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
