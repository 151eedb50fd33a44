//! The folders of a root, and which files in them may be skills.

use crate::bindings::exports::skillcell::plugin::catalog::{Listing, SkippedEntry};
use crate::paths;
use crate::skill::SKILL_FILE;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The file that makes a folder a category.
pub const INDEX_FILE: &str = "_index.md";

/// The folders of one root, as listed by the host.
#[derive(Default)]
pub struct Folders {
    folders: BTreeMap<String, Folder>,
}

/// A folder as it was listed.
#[derive(Default)]
pub struct Folder {
    /// Sorted.
    pub files: Vec<String>,
    /// Sorted.
    pub folders: Vec<String>,
    pub skipped: Vec<SkippedEntry>,
}

impl Folders {
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    pub fn get(&self, path: &str) -> Option<&Folder> {
        self.folders.get(path)
    }

    /// Stores the listing of a folder and returns the one before.
    pub fn set(&mut self, listing: Listing) -> Option<Folder> {
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names.dedup();
            names
        };
        let (files, folders) = (sorted(listing.files), sorted(listing.folders));
        self.folders.insert(listing.folder.path, Folder { files, folders, skipped: listing.skipped })
    }

    pub fn remove(&mut self, path: &str) {
        self.folders.remove(path);
        for path in paths_below(&self.folders, path) {
            self.folders.remove(&path);
        }
    }

    pub fn has_file(&self, folder: &str, name: &str) -> bool {
        self.folders.get(folder).is_some_and(|folder| folder.contains(name))
    }

    pub fn has_folder(&self, path: &str) -> bool {
        let above = paths::folder_of(path).and_then(|folder| self.folders.get(folder));
        self.folders.contains_key(path) || above.is_some_and(|folder| folder.has_folder(paths::last_segment(path)))
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
        self.folders.iter().flat_map(skipped_in)
    }

    /// Returns what the host skipped in a folder and below it.
    pub fn skipped_below(&self, path: &str) -> impl Iterator<Item = (String, &SkippedEntry)> {
        self.folders.get_key_value(path).into_iter().chain(below(&self.folders, path)).flat_map(skipped_in)
    }

    /// Returns why the host skipped a path.
    pub fn skipped_at(&self, path: &str) -> impl Iterator<Item = &SkippedEntry> {
        let (above, name) = (paths::folder_of(path), paths::last_segment(path));
        let named = |folder: Option<&str>, name| (folder.and_then(|folder| self.folders.get(folder)), name);
        let places = [named(above, name), named(Some(path), "")];
        places.into_iter().flat_map(|(folder, name)| {
            let skipped = folder.map_or(&[][..], |folder| &folder.skipped);
            skipped.iter().filter(move |skipped| skipped.name == name)
        })
    }

    /// Returns the resource folder of a tree skill with this stem, if there is one. A folder with a skill or category file in
    /// it is none.
    pub fn resource_folder(&self, folder: &str, stem: &str) -> Option<String> {
        let path = self.folders.get(folder)?.has_folder(stem).then(|| paths::join(folder, stem))?;
        let is_category = self.folders.get(&path).is_some_and(Folder::holds_skill);
        (!is_category).then_some(path)
    }

    /// Whether a resource folder contains skills further down, which are not served.
    pub fn hides_skills(&self, path: &str) -> bool {
        below(&self.folders, path).any(|(_, folder)| folder.holds_skill())
    }
}

impl Folder {
    pub fn contains(&self, file: &str) -> bool {
        self.files.binary_search_by(|other| other.as_str().cmp(file)).is_ok()
    }

    pub fn has_folder(&self, name: &str) -> bool {
        self.folders.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
    }

    /// Whether it is the folder of a skill or a category.
    pub fn holds_skill(&self) -> bool {
        self.contains(SKILL_FILE) || self.contains(INDEX_FILE)
    }
}

fn skipped_in<'folders>(
    (path, folder): (&'folders String, &'folders Folder),
) -> impl Iterator<Item = (String, &'folders SkippedEntry)> {
    folder.skipped.iter().map(move |skipped| (skipped_path(path, &skipped.name), skipped))
}

/// Returns the path of a skipped entry, or of the folder itself if the name is empty.
pub fn skipped_path(folder: &str, name: &str) -> String {
    if name.is_empty() { folder.to_owned() } else { paths::join(folder, name) }
}

/// Returns the entries below a folder from a map keyed by path.
pub fn below<'map, T>(map: &'map BTreeMap<String, T>, folder: &str) -> impl Iterator<Item = (&'map String, &'map T)> {
    // Paths are sorted, and `0` follows `/` in ASCII.
    let (first, beyond) =
        if folder.is_empty() { (String::new(), None) } else { (format!("{folder}/"), Some(format!("{folder}0"))) };
    let beyond = beyond.map_or(Bound::Unbounded, Bound::Excluded);
    map.range((Bound::Included(first), beyond))
}

/// Returns the paths below a folder in a map keyed by path.
pub fn paths_below<T>(map: &BTreeMap<String, T>, folder: &str) -> Vec<String> {
    below(map, folder).map(|(path, _)| path.clone()).collect()
}
