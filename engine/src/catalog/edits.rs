//! Fast path for updates in which only the text of known files changed.
//!
//! As long as no skill is added, removed or renamed, everything derived from the set of skills stays valid.

use super::Catalog;
use super::contents::ParsedFile;
use crate::bindings::exports::skillcell::plugin::catalog::{Change, Location, Problem};
use crate::cross_checks;
use crate::index::IndexedSkill;
use crate::settings::SETTINGS_FILE;
use std::collections::BTreeSet;
use std::rc::Rc;

/// With more edits than this, rebuilding the index is as fast.
const MAX_EDITS: usize = 1_000;

/// What an update leaves to `arrange`.
pub enum Pending {
    /// Files that were read again and need nothing else.
    Edits(Vec<Location>),
    /// All skills, because some were added, removed or renamed.
    Rebuild(Vec<IndexedSkill>),
}

impl Default for Pending {
    fn default() -> Self {
        Self::Edits(Vec::new())
    }
}

impl Pending {
    pub fn is_edits(&self) -> bool {
        matches!(self, Self::Edits(_))
    }
}

impl Catalog {
    /// Reads changed files again if nothing else changed. Returns the changes that need a rebuild; none if all were
    /// edits.
    pub(super) fn try_edits(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let only_files = changes.iter().all(|change| matches!(change, Change::File(_)));
        if !only_files || changes.len() > MAX_EDITS || !self.pending.is_edits() {
            return changes;
        }
        let mut others = Vec::new();
        for change in changes {
            match &change {
                Change::File(file) if others.is_empty() && self.is_edit(file) => self.pending.add(file),
                _ => others.push(change),
            }
        }
        others
    }

    /// Reads a file again and returns whether all other skills are unaffected.
    fn is_edit(&mut self, file: &Location) -> bool {
        let number = self.index.number_of(file);
        let Some(contents) = self.contents.get_mut(file.root as usize).filter(|_| file.path != SETTINGS_FILE) else {
            return false;
        };
        let Some(before) = contents.files.get_mut(&file.path) else { return false };
        // A skill left out as a duplicate may have a new name.
        if before.skill.is_some() != number.is_some() {
            return false;
        }
        let text = self.roots[file.root as usize].read_text(&file.path);
        let after = ParsedFile::of(file.root, &contents.folder_name, &file.path, text);
        let before = std::mem::replace(before, after);
        let after = contents.files.get(&file.path).and_then(|parsed| parsed.skill.as_ref());
        match (&before.skill, after) {
            (Some(before), Some(after)) => before.is_called_like(after),
            (None, None) => true,
            _ => false,
        }
    }

    /// Replaces the skills of these files in the index.
    pub(super) fn apply_edits(&mut self, files: &[Location]) {
        let edited: BTreeSet<(u32, &str)> = files.iter().map(|file| (file.root, file.path.as_str())).collect();
        self.problems.retain(|Problem { location, .. }| !edited.contains(&(location.root, location.path.as_str())));
        for (root, path) in edited {
            let file = &Location { root, path: path.to_owned() };
            let Some(parsed) = self.contents[root as usize].files.get(path) else { continue };
            if let (Some(number), Some(skill)) = (self.index.number_of(file), &parsed.skill) {
                self.index.replace(number, Rc::clone(skill));
                self.texts.edit(number);
                self.problems.extend(cross_checks::problems_of(&self.index, number));
            }
            self.problems.extend(parsed.findings.iter().map(|finding| finding.in_file(root, path)));
        }
        self.sort_problems();
    }
}

impl Pending {
    fn add(&mut self, file: &Location) {
        if let Self::Edits(files) = self {
            files.push(file.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::{Duplicates, Request};
    use crate::memory::{self, MemoryRoot};
    use proptest::prelude::*;
    use proptest::sample::select;

    const FILES: [&str; 8] =
        ["a/SKILL.md", "b/SKILL.md", "b/notes.md", "tree/_index.md", "tree/leaf.md", "leaf.md", "config.yaml", "x.md"];

    const TEXTS: [&str; 10] = [
        "---\nname: a\ndescription: first words\n---\nbody\n",
        "---\nname: a\ndescription: other words\n---\nanother body\n",
        "---\nname: a\ndescription: words\npriority: 9\nscripts: [{file: none.sh, description: d}]\n---\n",
        "---\nname: b\ndescription: words\n---\n",
        "---\nname: a\nkeywords: [Word, common]\ndescription: d\ninherit: true\n---\nchild\n",
        "---\nkeywords: [common, rare]\ndescription: d\n---\nbody\n",
        "---\nkeywords: [common]\ndescription: d\ninherit: false\n---\n",
        "---\nname: a\n---\nno description\n",
        "# no skill\n",
        "---\nunclosed: [\n",
    ];

    fn questions(catalog: &Catalog) -> String {
        let request = |context: &str| Request { context: context.to_owned(), chosen: None };
        let found =
            ["word", "common", "rare", "first words", "other"].map(|context| catalog.find(&request(context), None));
        let named = ["a", "b", "leaf", "tree/leaf", "x"].map(|name| catalog.tree(Some(name)));
        let searched = ["body", "words", "child"].map(|query| catalog.search(query, None, 9, None));
        let (skills, problems) = (catalog.skills(None, None, 0, 99), catalog.problems(99));
        format!("{skills:#?} {problems:#?} {found:#?} {named:#?} {searched:#?}")
    }

    proptest! {
        #[test]
        fn edits_give_the_same_catalog_as_a_rebuild(
            first in prop::collection::vec(select(&TEXTS[..]), FILES.len()),
            edits in prop::collection::vec(prop::collection::vec((0..FILES.len(), select(&TEXTS[..])), 1..4), 1..8),
            duplicates in select(&[Duplicates::First, Duplicates::Refuse][..]),
        ) {
            let write = |root: MemoryRoot, (file, text): (&str, &str)| root.file(file, text);
            let other = FILES.into_iter().zip(first).fold(MemoryRoot::new("project"), write);
            let mut root = other.clone();
            let mut catalog = memory::catalog(vec![other.clone(), root.clone()], duplicates);
            for edits in edits {
                root = edits.iter().map(|(file, text)| (FILES[*file], *text)).fold(root, write);
                catalog.roots[1] = Box::new(root.clone());
                let changed = |(file, _): (usize, &str)| Change::File(Location { root: 1, path: FILES[file].to_owned() });
                catalog.update(edits.into_iter().map(changed).collect());
                catalog.arrange();
                let fresh = memory::catalog(vec![other.clone(), root.clone()], duplicates);
                prop_assert_eq!(questions(&catalog), questions(&fresh));
            }
        }
    }

    #[test]
    fn only_edits_that_keep_the_name_are_fast() {
        let root = MemoryRoot::new("project").folder_skill("a", "a").tree_skill("leaf");
        let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
        let mut is_quick = |root: MemoryRoot, path: &str| {
            catalog.roots[0] = Box::new(root);
            catalog.update(vec![Change::File(Location { root: 0, path: path.to_owned() })]);
            let quick = catalog.pending.is_edits();
            catalog.arrange();
            quick
        };
        assert!(is_quick(root.clone().file("a/SKILL.md", TEXTS[1]), "a/SKILL.md"));
        assert!(is_quick(root.clone().file("leaf.md", TEXTS[5]), "leaf.md"));
        assert!(!is_quick(root.clone().file("a/SKILL.md", TEXTS[3]), "a/SKILL.md"), "another name");
        assert!(!is_quick(root.file("leaf.md", TEXTS[8]), "leaf.md"), "no longer a skill");
    }
}
