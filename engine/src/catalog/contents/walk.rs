//! Which files of a root may be skills, and which folders belong to them: decided again wherever a change may matter.
//!
//! A folder with a `SKILL.md` decides about everything below it, and a tree skill about the folder of the same name. So a
//! change leads to files that are looked at again, and to whole trees of folders if something above them changed.

use super::{Contents, ParsedFile};
use crate::bindings::exports::skillcell::plugin::catalog::Change;
use crate::catalog::Root;
use crate::folders::{self, Folder};
use crate::paths;
use crate::settings::SETTINGS_FILE;
use crate::skill::SKILL_FILE;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What has to be looked at again, and what was.
#[derive(Default)]
pub struct Dirty {
    /// By depth, so that nothing is looked at before what decides about it.
    waiting: BTreeSet<(usize, Part, String)>,
    /// Tree skills that had a resource folder before their file was forgotten.
    had_resources: BTreeSet<String>,
    /// Every path about which something may have changed; `None` if it may be any.
    touched: Option<BTreeSet<String>>,
}

/// Files come before the folders of the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    File,
    Tree,
}

impl Dirty {
    pub fn new(contents: &Contents) -> Self {
        let touched = (!contents.folders.is_empty()).then(BTreeSet::new);
        Self { touched, ..Self::default() }
    }

    fn add(&mut self, part: Part, path: String) {
        self.waiting.insert((depth(&path), part, path));
    }

    /// Adds a folder with everything below it.
    fn add_tree(&mut self, folder: &str) {
        let folders = std::iter::successors(Some(folder), |folder| paths::folder_of(folder));
        let mut waiting = folders.map(|folder| (depth(folder), Part::Tree, folder.to_owned()));
        if !waiting.any(|tree| self.waiting.contains(&tree)) {
            self.add(Part::Tree, folder.to_owned());
        }
    }

    /// Adds the tree skills whose resource folder is this folder or contains it.
    fn add_above(&mut self, folder: &str) {
        let folders = std::iter::successors(Some(folder), |folder| paths::folder_of(folder));
        for folder in folders.filter(|folder| !folder.is_empty()) {
            self.add(Part::File, format!("{folder}.md"));
        }
    }

    fn touch(&mut self, path: &str) {
        if let Some(touched) = &mut self.touched {
            touched.insert(path.to_owned());
        }
    }
}

impl Contents {
    /// Records a change.
    pub fn apply(&mut self, change: Change, dirty: &mut Dirty) {
        match change {
            Change::Folder(listing) => {
                let path = listing.folder.path.clone();
                let before = self.folders.set(listing);
                self.compare(&path, before, dirty);
            }
            Change::FolderRemoved(location) => {
                let path = location.path;
                self.touch_skipped(&path, dirty);
                self.folders.remove(&path);
                for file in folders::paths_below(&self.files, &path) {
                    self.forget(&file, dirty);
                }
                if path.is_empty() {
                    dirty.touch(SETTINGS_FILE);
                }
                dirty.add_above(&path);
                dirty.add_tree(&path);
            }
            Change::File(location) if location.path == SETTINGS_FILE => {
                self.settings = None;
                dirty.touch(SETTINGS_FILE);
            }
            Change::File(location) => {
                self.forget(&location.path, dirty);
                dirty.add(Part::File, location.path);
            }
        }
    }

    /// Finds out what the new listing of a folder means.
    fn compare(&mut self, path: &str, before: Option<Folder>, dirty: &mut Dirty) {
        if dirty.touched.is_none() {
            return dirty.add(Part::Tree, String::new());
        }
        let Some(before) = before else {
            self.touch_skipped(path, dirty);
            dirty.add_above(path);
            dirty.add_tree(path);
            if path.is_empty() {
                dirty.touch(SETTINGS_FILE);
            }
            return;
        };
        let now = self.folders.get(path).expect("it was just set");
        if before.contains(SKILL_FILE) != now.contains(SKILL_FILE) {
            dirty.add_tree(path);
        }
        if before.holds_skill() != now.holds_skill() {
            dirty.add_above(path);
        }
        if before.skipped != now.skipped {
            for skipped in before.skipped.iter().chain(&now.skipped) {
                dirty.touch(&folders::skipped_path(path, &skipped.name));
            }
        }
        let files: Vec<(String, bool)> = differences(&before.files, &now.files);
        let inner: Vec<(String, bool)> = differences(&before.folders, &now.folders);
        for (name, is_there) in files {
            let file = paths::join(path, &name);
            if file == SETTINGS_FILE {
                dirty.touch(SETTINGS_FILE);
            }
            if !is_there {
                // A file that reappears later may have other contents.
                self.forget(&file, dirty);
            }
            dirty.add(Part::File, file);
        }
        for (name, _) in inner {
            let folder = paths::join(path, &name);
            dirty.add(Part::File, format!("{folder}.md"));
            dirty.add_tree(&folder);
        }
    }

    fn touch_skipped(&self, path: &str, dirty: &mut Dirty) {
        for (path, _) in self.folders.skipped_below(path) {
            dirty.touch(&path);
        }
    }

    fn forget(&mut self, file: &str, dirty: &mut Dirty) {
        dirty.touch(file);
        if self.files.remove(file).is_some_and(|parsed| parsed.resources.is_some()) {
            dirty.had_resources.insert(file.to_owned());
        }
    }

    /// Looks at everything that is dirty. Reads only files that are new or changed. Returns every path about which something
    /// may have changed; `None` if it may be any.
    pub fn look_again(&mut self, number: u32, root: &dyn Root, mut dirty: Dirty) -> Option<BTreeSet<String>> {
        while let Some((_, part, path)) = dirty.waiting.pop_first() {
            match part {
                Part::File => self.look_at_file(number, root, &path, &mut dirty),
                Part::Tree => self.look_at_tree(number, root, &path, &mut dirty),
            }
        }
        dirty.touched
    }

    fn look_at_file(&mut self, number: u32, root: &dyn Root, file: &str, dirty: &mut Dirty) {
        let has_resources = |contents: &Self| contents.files.get(file).is_some_and(|parsed| parsed.resources.is_some());
        let had_resources = dirty.had_resources.remove(file) || has_resources(self);
        let folder = paths::folder_of(file).unwrap_or("");
        let name = paths::last_segment(file);
        let is_inside_skill = self.is_inside_skill(folder);
        let is_here = self.folders.get(folder).is_some_and(|here| {
            let may_be_skill = name == SKILL_FILE || name.ends_with(".md") && !here.contains(SKILL_FILE);
            here.contains(name) && may_be_skill && is_inside_skill.is_some_and(|inside| !inside || name == SKILL_FILE)
        });
        if is_here {
            self.visit(number, root, folder, name);
        } else if self.files.remove(file).is_none() && !had_resources {
            return;
        }
        dirty.touch(file);
        if name != SKILL_FILE && has_resources(self) != had_resources {
            dirty.add_tree(paths::without_extension(file));
        }
    }

    fn look_at_tree(&mut self, number: u32, root: &dyn Root, top: &str, dirty: &mut Dirty) {
        let mut old: BTreeSet<String> = folders::paths_below(&self.files, top).into_iter().collect();
        let mut waiting = Vec::new();
        waiting.extend(self.is_inside_skill(top).map(|inside_skill| (top.to_owned(), inside_skill)));
        if let Some((top, inside_skill)) = waiting.first() {
            root.expect(&self.expected(top, *inside_skill));
        }
        while let Some((path, inside_skill)) = waiting.pop() {
            let Some(folder) = self.folders.get(&path) else { continue };
            let holds_skill = folder.contains(SKILL_FILE);
            let names: Vec<String> = candidates(folder, inside_skill).cloned().collect();
            for name in &names {
                let file = paths::join(&path, name);
                old.remove(&file);
                dirty.touch(&file);
                self.visit(number, root, &path, name);
            }
            let Some(folder) = self.folders.get(&path) else { continue };
            let inside_skill = inside_skill || holds_skill;
            let inner = folder.folders.iter().filter(|name| inside_skill || !self.is_resource_folder(&path, name));
            waiting.extend(inner.map(|name| (paths::join(&path, name), inside_skill)));
        }
        for file in old {
            dirty.touch(&file);
            self.files.remove(&file);
        }
    }

    /// Returns the files that will be read in a tree of folders, as far as their names tell, in the order in which they are.
    fn expected(&self, top: &str, inside_skill: bool) -> Vec<String> {
        let mut expected = Vec::new();
        let mut waiting = vec![(top.to_owned(), inside_skill)];
        while let Some((path, inside_skill)) = waiting.pop() {
            let Some(folder) = self.folders.get(&path) else { continue };
            let files = candidates(folder, inside_skill).map(|name| paths::join(&path, name));
            expected.extend(files.filter(|file| !self.files.contains_key(file)));
            let inside_skill = inside_skill || folder.contains(SKILL_FILE);
            let belongs_to_file = |name: &str| {
                folder.contains(&format!("{name}.md")) && self.folders.resource_folder(&path, name).is_some()
            };
            let inner = folder.folders.iter().filter(|name| inside_skill || !belongs_to_file(name));
            waiting.extend(inner.map(|name| (paths::join(&path, name), inside_skill)));
        }
        expected
    }

    /// Reads a file unless it is known, and finds its resource folder.
    fn visit(&mut self, number: u32, root: &dyn Root, folder: &str, name: &str) {
        let file = paths::join(folder, name);
        if !self.files.contains_key(&file) {
            let parsed = ParsedFile::of(number, &self.folder_name, &file, root.read_text(&file));
            self.files.insert(file.clone(), parsed);
        }
        let is_skill = self.files.get(&file).is_some_and(|parsed| parsed.skill.is_some());
        let is_folder_skill = name == SKILL_FILE;
        let resources = match (is_skill, is_folder_skill) {
            (false, _) => None,
            (true, true) => Some(folder.to_owned()),
            (true, false) => self.folders.resource_folder(folder, paths::without_extension(name)),
        };
        let hidden = resources.as_deref().filter(|_| !is_folder_skill);
        let hides_skills = hidden.is_some_and(|folder| self.folders.hides_skills(folder));
        let parsed = self.files.get_mut(&file).expect("it was read");
        if parsed.resources.as_deref() != resources.as_deref() {
            parsed.resources = resources.map(Rc::from);
        }
        parsed.hides_skills = hides_skills;
    }

    /// Whether a folder is inside the folder of a skill; `None` if it is not searched for skills.
    fn is_inside_skill(&self, folder: &str) -> Option<bool> {
        let (mut here, mut inside_skill) = (String::new(), false);
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            let listed = self.folders.get(&here)?;
            inside_skill |= listed.contains(SKILL_FILE);
            if !listed.has_folder(name) || !inside_skill && self.is_resource_folder(&here, name) {
                return None;
            }
            here = paths::join(&here, name);
        }
        Some(inside_skill)
    }

    /// Whether a folder belongs to the tree skill next to it. There are no tree skills inside the folder of a skill.
    fn is_resource_folder(&self, folder: &str, name: &str) -> bool {
        let path = paths::join(folder, name);
        let tree_skill = self.files.get(&format!("{path}.md"));
        tree_skill.is_some_and(|parsed| parsed.resources.as_deref() == Some(&path))
    }
}

/// Returns the files in a folder that may be skills by their names.
fn candidates(folder: &Folder, inside_skill: bool) -> impl Iterator<Item = &String> {
    let holds_skill = folder.contains(SKILL_FILE);
    folder.files.iter().filter(
        move |name| {
            if holds_skill { *name == SKILL_FILE } else { !inside_skill && name.ends_with(".md") }
        },
    )
}

fn depth(path: &str) -> usize {
    path.split('/').filter(|segment| !segment.is_empty()).count()
}

/// Returns the names that are in only one of two sorted lists, and whether that is the second one.
fn differences(before: &[String], now: &[String]) -> Vec<(String, bool)> {
    let only = |names: &[String], others: &[String], is_there: bool| -> Vec<(String, bool)> {
        let missing = names.iter().filter(|name| others.binary_search(name).is_err());
        missing.map(|name| (name.clone(), is_there)).collect()
    };
    [only(before, now, false), only(now, before, true)].concat()
}
