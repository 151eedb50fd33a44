//! The quick way to a new catalog: some files have another text, and that is all.
//!
//! As long as no skill comes, goes or is called differently, everything that follows from their being together stays.

use super::Catalog;
use super::contents::Reading;
use crate::bindings::exports::skillcell::plugin::catalog::{Change, Location, Problem};
use crate::neighbours;
use crate::settings::SETTINGS_FILE;
use crate::shelf::Shelved;
use std::collections::BTreeSet;
use std::rc::Rc;

/// With more edits than this, arranging everything anew is as quick.
const MOST_EDITS: usize = 1_000;

/// What an update leaves to `arrange`.
pub enum Waiting {
    /// Files that were read again, and need nothing else.
    Edits(Vec<Location>),
    /// All skills, because some of them came, went or are called differently.
    Everything(Vec<Shelved>),
}

impl Default for Waiting {
    fn default() -> Self {
        Self::Edits(Vec::new())
    }
}

impl Waiting {
    pub fn is_edits(&self) -> bool {
        matches!(self, Self::Edits(_))
    }
}

impl Catalog {
    /// Reads changed files again if nothing else changed. Returns what is left to be taken in with everything else; nothing
    /// when all were edits.
    pub(super) fn edit(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let only_files = changes.iter().all(|change| matches!(change, Change::File(_)));
        if !only_files || changes.len() > MOST_EDITS || !self.waiting.is_edits() {
            return changes;
        }
        let mut others = Vec::new();
        for change in changes {
            match &change {
                Change::File(file) if others.is_empty() && self.is_edit(file) => self.waiting.add(file),
                _ => others.push(change),
            }
        }
        others
    }

    /// Whether a file that was read again means to all others what it meant before.
    fn is_edit(&mut self, file: &Location) -> bool {
        let number = self.shelf.number_of(file);
        let Some(contents) = self.contents.get_mut(file.root as usize).filter(|_| file.path != SETTINGS_FILE) else {
            return false;
        };
        let Some(before) = contents.files.get_mut(&file.path) else { return false };
        // A skill that is left out because of its name may have found another one.
        if before.skill.is_some() != number.is_some() {
            return false;
        }
        let text = self.roots[file.root as usize].read_text(&file.path);
        let after = Reading::of(file.root, &contents.folder_name, &file.path, text);
        let before = std::mem::replace(before, after);
        let after = contents.files.get(&file.path).and_then(|reading| reading.skill.as_ref());
        match (&before.skill, after) {
            (Some(before), Some(after)) => before.is_called_like(after),
            (None, None) => true,
            _ => false,
        }
    }

    /// Puts the skills of these files in the place of what they were.
    pub(super) fn exchange(&mut self, files: &[Location]) {
        let edited: BTreeSet<(u32, &str)> = files.iter().map(|file| (file.root, file.path.as_str())).collect();
        self.problems.retain(|Problem { location, .. }| !edited.contains(&(location.root, location.path.as_str())));
        for (root, path) in edited {
            let file = &Location { root, path: path.to_owned() };
            let Some(reading) = self.contents[root as usize].files.get(path) else { continue };
            if let (Some(number), Some(skill)) = (self.shelf.number_of(file), &reading.skill) {
                self.shelf.replace(number, Rc::clone(skill));
                self.problems.extend(neighbours::problems_of(&self.shelf, number));
            }
            self.problems.extend(reading.findings.iter().map(|finding| finding.in_file(root, path)));
        }
        self.sort_problems();
    }
}

impl Waiting {
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
        fn edits_end_where_a_fresh_start_does(
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
    fn an_edit_is_not_taken_for_more() {
        let root = MemoryRoot::new("project").folder_skill("a", "a").tree_skill("leaf");
        let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
        let mut is_quick = |root: MemoryRoot, path: &str| {
            catalog.roots[0] = Box::new(root);
            catalog.update(vec![Change::File(Location { root: 0, path: path.to_owned() })]);
            let quick = catalog.waiting.is_edits();
            catalog.arrange();
            quick
        };
        assert!(is_quick(root.clone().file("a/SKILL.md", TEXTS[1]), "a/SKILL.md"));
        assert!(is_quick(root.clone().file("leaf.md", TEXTS[5]), "leaf.md"));
        assert!(!is_quick(root.clone().file("a/SKILL.md", TEXTS[3]), "a/SKILL.md"), "another name");
        assert!(!is_quick(root.file("leaf.md", TEXTS[8]), "leaf.md"), "no longer a skill");
    }
}
