//! The folders of a root, and which files in them may be skills.

use crate::bindings::exports::skillcell::plugin::catalog::{Listing, SkippedEntry};
use crate::paths;
use crate::skill::SKILL_FILE;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The file that makes a folder a category.
pub const INDEX_FILE: &str = "_index.md";

/// The folders of one root, as listed by the host.
#[derive(Default)]
pub struct Folders {
    folders: BTreeMap<String, Folder>,
}

#[derive(Default)]
struct Folder {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    skipped: Vec<SkippedEntry>,
}

/// A file that may be a skill, and its resource folder.
pub struct Candidate {
    pub file: String,
    pub resources: Option<String>,
    /// Whether the resource folder of a tree skill contains skills, which are not served.
    pub hides_skills: bool,
}

impl Folders {
    /// Stores the listing of a folder and returns the paths of the files that are gone.
    pub fn set(&mut self, listing: Listing) -> Vec<String> {
        let folder = Folder {
            files: listing.files.into_iter().collect(),
            folders: listing.folders.into_iter().collect(),
            skipped: listing.skipped,
        };
        let path = listing.folder.path;
        let before = self.folders.get(&path).map(|before| &before.files);
        let gone = before.into_iter().flatten().filter(|name| !folder.files.contains(*name));
        let gone = gone.map(|name| paths::join(&path, name)).collect();
        self.folders.insert(path, folder);
        gone
    }

    pub fn remove(&mut self, path: &str) {
        self.folders.remove(path);
        remove_below(&mut self.folders, path);
    }

    pub fn has_file(&self, folder: &str, name: &str) -> bool {
        self.folders.get(folder).is_some_and(|folder| folder.files.contains(name))
    }

    pub fn has_folder(&self, path: &str) -> bool {
        let above = paths::folder_of(path).and_then(|folder| self.folders.get(folder));
        self.folders.contains_key(path)
            || above.is_some_and(|folder| folder.folders.contains(paths::last_segment(path)))
    }

    /// Returns the paths of all folders below a folder.
    pub fn folders_below(&self, path: &str) -> impl Iterator<Item = &str> {
        below(&self.folders, path).map(|(path, _)| path.as_str())
    }

    /// Returns the paths of the Markdown files in a folder and below it.
    pub fn markdown_below(&self, path: &str) -> impl Iterator<Item = String> {
        let all = self.folders.get_key_value(path).into_iter().chain(below(&self.folders, path));
        all.flat_map(|(folder, entry)| {
            let markdown = entry.files.iter().filter(|name| name.ends_with(".md"));
            markdown.map(move |name| paths::join(folder, name))
        })
    }

    /// Returns what the host skipped, with its path.
    pub fn skipped(&self) -> impl Iterator<Item = (String, &SkippedEntry)> {
        let path =
            |folder: &str, name: &str| if name.is_empty() { folder.to_owned() } else { paths::join(folder, name) };
        self.folders.iter().flat_map(move |(folder, entry)| {
            entry.skipped.iter().map(move |skipped| (path(folder, &skipped.name), skipped))
        })
    }

    /// Returns every file that is a skill by its path. `is_skill` reads a file and decides whether the folder of the
    /// same name is its resource folder or a category.
    pub fn skills(&self, mut is_skill: impl FnMut(&str) -> bool) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut waiting = vec![(String::new(), false)];
        while let Some((path, inside_skill)) = waiting.pop() {
            let Some(folder) = self.folders.get(&path) else { continue };
            let holds_skill = folder.files.contains(SKILL_FILE);
            let mut resource_folders = BTreeSet::new();
            if holds_skill {
                let file = paths::join(&path, SKILL_FILE);
                if is_skill(&file) {
                    found.push(Candidate { file, resources: Some(path.clone()), hides_skills: false });
                }
            } else if !inside_skill {
                for name in folder.files.iter().filter(|name| name.ends_with(".md")) {
                    let file = paths::join(&path, name);
                    if is_skill(&file) {
                        let stem = paths::without_extension(name);
                        let resources = folder.folders.contains(stem).then(|| paths::join(&path, stem));
                        let resources = resources.filter(|folder| !self.is_category(folder));
                        resource_folders.extend(resources.iter().map(|_| stem));
                        let hides_skills = resources.as_ref().is_some_and(|folder| self.hides_skills(folder));
                        found.push(Candidate { file, resources, hides_skills });
                    }
                }
            }
            for name in folder.folders.iter().filter(|name| !resource_folders.contains(name.as_str())) {
                waiting.push((paths::join(&path, name), inside_skill || holds_skill));
            }
        }
        found
    }

    /// A folder with a skill or category file in it is not a resource folder.
    fn is_category(&self, path: &str) -> bool {
        self.folders.get(path).is_some_and(Folder::holds_skill)
    }

    /// Whether a resource folder contains skills further down, which are not served.
    fn hides_skills(&self, path: &str) -> bool {
        below(&self.folders, path).any(|(_, folder)| folder.holds_skill())
    }
}

impl Folder {
    fn holds_skill(&self) -> bool {
        self.files.contains(SKILL_FILE) || self.files.contains(INDEX_FILE)
    }
}

/// Returns the entries below a folder from a map keyed by path.
fn below<'map, T>(map: &'map BTreeMap<String, T>, folder: &str) -> impl Iterator<Item = (&'map String, &'map T)> {
    // Paths are sorted, and `0` follows `/` in ASCII.
    let (first, beyond) =
        if folder.is_empty() { (String::new(), None) } else { (format!("{folder}/"), Some(format!("{folder}0"))) };
    let beyond = beyond.map_or(Bound::Unbounded, Bound::Excluded);
    map.range((Bound::Included(first), beyond))
}

/// Removes the entries below a folder from a map keyed by path.
pub fn remove_below<T>(map: &mut BTreeMap<String, T>, folder: &str) {
    let gone: Vec<String> = below(map, folder).map(|(path, _)| path.clone()).collect();
    for path in gone {
        map.remove(&path);
    }
}
