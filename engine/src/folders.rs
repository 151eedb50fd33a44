//! What is in the folders of a root, and which files in them may be skills.

use crate::bindings::exports::skillcell::plugin::catalog::{Listing, Trouble};
use crate::paths;
use crate::skill::SKILL_FILE;
use std::collections::{BTreeMap, BTreeSet};

/// The folders of one root, as the host listed them.
#[derive(Default)]
pub struct Folders {
    folders: BTreeMap<String, Folder>,
}

#[derive(Default)]
struct Folder {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    troubles: Vec<Trouble>,
}

/// A file that may be a skill, and the folder of its files.
pub struct Candidate {
    pub file: String,
    pub resources: Option<String>,
}

impl Folders {
    pub fn set(&mut self, listing: Listing) {
        let folder = Folder {
            files: listing.files.into_iter().collect(),
            folders: listing.folders.into_iter().collect(),
            troubles: listing.troubles,
        };
        self.folders.insert(listing.folder.path, folder);
    }

    pub fn remove(&mut self, path: &str) {
        self.folders.retain(|folder, _| folder != path && !is_below(folder, path));
    }

    pub fn troubles(&self) -> impl Iterator<Item = (String, &Trouble)> {
        let named = |(folder, entry): (&String, _)| -> Vec<(String, &Trouble)> {
            let entry: &Folder = entry;
            let path = |trouble: &Trouble| {
                if trouble.name.is_empty() { folder.clone() } else { paths::join(folder, &trouble.name) }
            };
            entry.troubles.iter().map(|trouble| (path(trouble), trouble)).collect()
        };
        self.folders.iter().map(named).collect::<Vec<_>>().into_iter().flatten()
    }

    /// Every file that is a skill by its place. `is_tree_skill` reads a file and tells whether it holds one, which
    /// decides whether the folder of the same name is that skill's resource folder or a category of its own.
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
                    found.push(Candidate { file, resources: Some(path.clone()) });
                }
            } else if !inside_skill {
                for name in &folder.files {
                    let file = paths::join(&path, name);
                    if is_skill(&file) {
                        let stem = paths::without_extension(name);
                        let resources = folder.folders.contains(stem).then(|| paths::join(&path, stem));
                        let resources = resources.filter(|folder| !self.is_category(folder));
                        resource_folders.extend(resources.iter().map(|_| stem));
                        found.push(Candidate { file, resources });
                    }
                }
            }
            for name in folder.folders.iter().filter(|name| !resource_folders.contains(name.as_str())) {
                waiting.push((paths::join(&path, name), inside_skill || holds_skill));
            }
        }
        found
    }

    /// A folder with a skill or a category file in it is no resource folder.
    fn is_category(&self, path: &str) -> bool {
        let holds = |folder: &Folder| folder.files.contains(SKILL_FILE) || folder.files.contains("_index.md");
        self.folders.get(path).is_some_and(holds)
    }
}

/// Whether a path is somewhere below a folder.
pub fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() && !path.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
