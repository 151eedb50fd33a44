//! Markdown in hidden folders. It is not served, and commands say so, because some repositories keep their skills there.

use crate::reading;
use crate::resources::EntryKind;
use crate::roots::SkillRoot;
use crate::scan::NEVER_WALKED;
use std::collections::VecDeque;

/// Folders of a root that are listed. What lies beyond is not reported.
const MAX_FOLDERS: usize = 20_000;

/// As deep as skills are looked for.
const MAX_DEPTH: usize = 10;

/// Never holds skills, and often many files.
const REPOSITORY: &str = ".git";

/// A Markdown file in a hidden folder. Paths are below the root.
#[derive(Debug, PartialEq, Eq)]
pub struct HiddenFile {
    /// The outermost hidden folder.
    pub folder: String,
    pub path: String,
}

/// Finds the Markdown in hidden folders of a root, those nearest to it first. Links are not followed, and nested roots are not
/// part of it.
pub fn markdown(root: &SkillRoot) -> Vec<HiddenFile> {
    let Ok(opened) = root.open() else { return Vec::new() };
    let mut found = Vec::new();
    // Each with the outermost hidden folder that it is in.
    let mut waiting: VecDeque<(String, Option<String>)> = [(String::new(), None)].into();
    for _ in 0..MAX_FOLDERS {
        let Some((folder, hidden)) = waiting.pop_front() else { break };
        for entry in reading::entries(&opened, &folder).unwrap_or_default() {
            let Some(name) = entry.name else { continue };
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            match entry.kind {
                EntryKind::Folder if name == REPOSITORY || NEVER_WALKED.contains(&name.as_str()) => {}
                EntryKind::Folder if root.skip.contains(&path) || path.split('/').count() > MAX_DEPTH => {}
                EntryKind::Folder => {
                    let hidden = hidden.clone().or_else(|| reading::is_hidden(&name).then(|| path.clone()));
                    waiting.push_back((path, hidden));
                }
                EntryKind::Other if name.ends_with(".md") => {
                    found.extend(hidden.clone().map(|folder| HiddenFile { folder, path }));
                }
                EntryKind::Other | EntryKind::Link => {}
            }
        }
    }
    found
}
