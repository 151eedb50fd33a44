//! Applies a few changes to the index, at a cost that does not depend on how many skills there are.

use super::Catalog;
use crate::bindings::exports::skillcell::plugin::catalog::{Duplicates, Location};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::cross_checks;
use crate::index::{Affected, IndexedSkill};
use crate::text::fold;
use std::collections::BTreeSet;
use std::rc::Rc;

/// With more changed files than this, rebuilding the index is as fast.
pub const MAX_CHANGES: usize = 1_000;

/// What an update leaves to `arrange`.
pub enum Pending {
    /// The root and path of every file about which something may have changed.
    Some(BTreeSet<(u32, String)>),
    Everything,
}

impl Default for Pending {
    fn default() -> Self {
        Self::Some(BTreeSet::new())
    }
}

impl Pending {
    pub fn add(&mut self, root: u32, touched: Option<BTreeSet<String>>) {
        match (&mut *self, touched) {
            (Self::Some(all), Some(touched)) => all.extend(touched.into_iter().map(|path| (root, path))),
            (Self::Everything, _) | (_, None) => *self = Self::Everything,
        }
    }
}

impl Catalog {
    /// Brings the index up to date with these files. Returns whether that is possible, or the index has to be rebuilt.
    pub(super) fn rearrange(&mut self, touched: &BTreeSet<(u32, String)>) -> bool {
        let (mut removed, mut added, mut edited) = (Vec::new(), Vec::new(), Vec::new());
        for (root, path) in touched {
            let before = self.index.number_of(&Location { root: *root, path: path.clone() });
            let after = self.contents[*root as usize].skill(path);
            match (before, after) {
                (Some(number), Some(entry)) if self.index.skill(number).is_called_like(&entry.skill) => {
                    edited.push((number, entry));
                }
                (before, after) => {
                    removed.extend(before);
                    added.extend(after);
                }
            }
        }
        if self.duplicates == Duplicates::First && self.is_choice_affected(&removed, &added) {
            return false;
        }
        for (number, entry) in edited {
            if !Rc::ptr_eq(self.index.shared_skill(number), &entry.skill) {
                self.note_text(number);
            }
            self.index.replace(number, entry);
        }
        for number in &removed {
            self.texts.remove(*number, self.index.skill(*number));
            self.indexed.iter_mut().for_each(|indexed| indexed.remove(*number));
        }
        let Affected { added, others, same_path } = if removed.is_empty() && added.is_empty() {
            Affected { others: Some(BTreeSet::new()), ..Affected::default() }
        } else {
            self.index.change(&removed, added)
        };
        for number in added {
            self.note_text(number);
        }
        for (root, path) in self.files_of_all(&same_path).union(touched) {
            self.find_problems(*root, path);
        }
        self.rearranged = others.map(|others| &self.files_of_all(&others) | touched);
        true
    }

    /// Notes that the text of a skill is new.
    fn note_text(&mut self, number: usize) {
        self.texts.edit(number);
        self.indexed.iter_mut().for_each(|indexed| indexed.add(number));
    }

    /// Whether another skill with the same name may have to be served, or no longer.
    fn is_choice_affected(&self, removed: &[usize], added: &[IndexedSkill]) -> bool {
        let is_folder = |entry: &&IndexedSkill| entry.skill.model == SkillModel::Folder;
        let mut names = BTreeSet::new();
        let mut added = added.iter().filter(is_folder).map(|entry| &entry.skill.name);
        added.any(|name| !names.insert(fold(name)) || self.index.names.has_folder_skill(&self.index, name))
            || removed.iter().any(|number| self.dropped_names.contains(&fold(&self.index.skill(*number).name)))
    }

    fn files_of_all(&self, numbers: &BTreeSet<usize>) -> BTreeSet<(u32, String)> {
        let skills = numbers.iter().map(|number| self.index.skill(*number));
        skills.map(|skill| (skill.root, skill.file.clone())).collect()
    }

    /// Finds the problems of a file or folder again.
    fn find_problems(&mut self, root: u32, path: &str) {
        let location = Location { root, path: path.to_owned() };
        let number = self.index.number_of(&location);
        let mut problems = number.map(|number| cross_checks::problems_of(&self.index, number)).unwrap_or_default();
        problems.extend(self.contents[root as usize].problems_at(root, path));
        problems.sort_by_key(|problem| problem.line);
        let at = (root, location.path);
        if problems.is_empty() {
            self.problems.remove(&at)
        } else {
            self.problems.insert(at, problems)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::{Change, LookupKind, Request, Summary};
    use crate::memory::{self, MemoryRoot};
    use proptest::prelude::*;
    use proptest::sample::select;
    use std::collections::BTreeMap;

    const FILES: [&str; 24] = [
        "SKILL.md",
        "_root.md",
        "a.md",
        "A.md",
        "config.yaml",
        "a/SKILL.md",
        "a/notes.md",
        "a/_index.md",
        "a/SKILL/x.md",
        "a/b.md",
        "a/b/SKILL.md",
        "a/b/deep.md",
        "a/b/c/SKILL.md",
        "a/b/c/_index.md",
        "b/SKILL.md",
        "b/a.md",
        "b/a/x.md",
        "one/a.md",
        "one/a/SKILL.md",
        "tree/_index.md",
        "tree/leaf.md",
        "tree/leaf/x.md",
        "leaf.md",
        "skills/SKILL.md",
    ];

    const TEXTS: [&str; 13] = [
        "---\nname: a\ndescription: first words\n---\nbody\n",
        "---\nname: a\ndescription: other words\n---\nanother body\n",
        "---\nname: a\ndescription: words\npriority: 9\nscripts: [{file: none.sh, description: d}]\n---\n",
        "---\nname: b\ndescription: words\n---\n",
        "---\nname: one:a\ndescription: words\n---\n",
        "---\nname: a/b\ndescription: words\n---\n",
        "---\nname: a\nkeywords: [Word, common]\ndescription: d\ninherit: true\n---\nchild\n",
        "---\nkeywords: [common, rare]\ndescription: d\n---\nbody\n",
        "---\nkeywords: [common]\ndescription: d\ninherit: false\n---\n",
        "---\nname: a\n---\nno description\n",
        "# no skill\n",
        "---\nunclosed: [\n",
        "---\nname: tail/\ndescription: a name that lookups trim\n---\n",
    ];

    fn questions(catalog: &Catalog) -> String {
        let request = |context: &str| Request { context: context.to_owned(), chosen: None };
        let found =
            ["word", "common", "rare", "first words", "other"].map(|context| catalog.find(&request(context), None));
        let names = ["a", "b", "leaf", "tree/leaf", "x", "one:a", "two:a", "a/b", "tail/", "unknown"];
        let named = names.map(|name| catalog.tree(Some(name)));
        let exactly = names.map(|name| catalog.skill_of(name, LookupKind::Name));
        let uris = names.map(|name| catalog.resource_of(&format!("skill://{name}")));
        let searched = ["body", "words", "child", "no", "d"].map(|query| catalog.search(query, None, 9, None));
        let (skills, problems) = (catalog.skills(None, None, 0, 99), catalog.problems(99));
        format!("{skills:#?} {problems:#?} {found:#?} {named:#?} {exactly:#?} {uris:#?} {searched:#?}")
    }

    /// What a host reports when one state of a root follows another.
    fn changes(number: u32, before: &MemoryRoot, after: &MemoryRoot) -> Vec<Change> {
        let path = |change: &Change| match change {
            Change::Folder(listing) => listing.folder.path.clone(),
            Change::FolderRemoved(location) | Change::File(location) => location.path.clone(),
        };
        let listed = |root: &MemoryRoot| -> BTreeMap<String, Change> {
            root.listings(number).into_iter().map(|change| (path(&change), change)).collect()
        };
        let (old, mut new) = (listed(before), listed(after));
        let location = |path: &str| Location { root: number, path: path.to_owned() };
        let gone = old.keys().filter(|path| !new.contains_key(*path)).map(|path| Change::FolderRemoved(location(path)));
        let mut changes: Vec<Change> = gone.collect();
        new.retain(|path, listing| old.get(path) != Some(listing));
        changes.extend(new.into_values());
        let edited =
            after.files().iter().filter(|(path, text)| before.files().get(*path).is_some_and(|old| old != *text));
        changes.extend(edited.map(|(path, _)| Change::File(location(path))));
        changes
    }

    /// Keeps a list as a host does, from what the catalog says has changed.
    fn follow(list: &mut BTreeMap<(u32, String), Summary>, catalog: &Catalog) {
        let Some(files) = catalog.rearranged() else {
            *list = memory::by_file(catalog, |skill| skill);
            return;
        };
        for file in files {
            let at = (file.root, file.path.clone());
            match catalog.skill_in(&file) {
                Some(skill) => drop(list.insert(at, skill)),
                None => drop(list.remove(&at)),
            }
        }
    }

    proptest! {
        /// However files come, go and change, the catalog is the same as a new one, and so is a list that follows it.
        #[test]
        fn a_changed_catalog_is_the_same_as_a_new_one(
            first in prop::collection::vec((0..3usize, select(&FILES[..]), select(&TEXTS[..])), 0..20),
            steps in prop::collection::vec(
                prop::collection::vec((0..3usize, select(&FILES[..]), prop::option::of(select(&TEXTS[..]))), 1..5),
                1..10,
            ),
            duplicates in select(&[Duplicates::First, Duplicates::Refuse, Duplicates::Refuse][..]),
            only_one_root in any::<bool>(),
        ) {
            let mut roots = vec![MemoryRoot::new("one")];
            if !only_one_root {
                roots.extend([MemoryRoot::new("two"), MemoryRoot::plugin("office")]);
            }
            let count = roots.len();
            for (root, file, text) in first {
                roots[root % count] = roots[root % count].clone().file(file, text);
            }
            let mut catalog = memory::catalog(roots.clone(), duplicates);
            let mut list = BTreeMap::new();
            follow(&mut list, &catalog);
            for step in steps {
                let before = roots.clone();
                for (root, file, text) in step {
                    let root = &mut roots[root % count];
                    *root = text.map_or_else(|| root.clone().without(file), |text| root.clone().file(file, text));
                }
                catalog.roots = roots.iter().map(|root| Box::new(root.clone()) as Box<dyn crate::catalog::Root>).collect();
                let changes = (0..).zip(before.iter().zip(&roots)).flat_map(|(number, (before, after))| changes(number, before, after));
                catalog.update(changes.collect());
                catalog.arrange();
                follow(&mut list, &catalog);
                let fresh = memory::catalog(roots.clone(), duplicates);
                prop_assert_eq!(questions(&catalog), questions(&fresh));
                prop_assert_eq!(&list, &memory::by_file(&fresh, |skill| skill));
            }
        }
    }

    #[test]
    fn a_few_changes_rebuild_nothing() {
        let root = MemoryRoot::new("project").folder_skill("a", "a").tree_skill("leaf").folder_skill("b/c", "c");
        let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
        let mut last = root;
        let mut rearranged = |root: MemoryRoot| {
            let changes = changes(0, &last, &root);
            catalog.roots[0] = Box::new(root.clone());
            last = root;
            catalog.update(changes);
            catalog.arrange();
            catalog.rearranged().map(|files| files.into_iter().map(|file| file.path).collect::<Vec<_>>())
        };
        let root = MemoryRoot::new("project").folder_skill("a", "a").tree_skill("leaf").folder_skill("b/c", "c");
        let edited = root.file("a/SKILL.md", TEXTS[1]);
        assert_eq!(rearranged(edited.clone()), Some(vec!["a/SKILL.md".to_owned()]));
        let added = edited.folder_skill("new", "new");
        assert_eq!(rearranged(added.clone()), Some(vec!["new/SKILL.md".to_owned()]));
        let renamed = added.file("new/SKILL.md", TEXTS[3]);
        assert_eq!(rearranged(renamed.clone()), Some(vec!["new/SKILL.md".to_owned()]));
        let shared = renamed.folder_skill("d", "c");
        assert_eq!(rearranged(shared.clone()), Some(vec!["b/c/SKILL.md".to_owned(), "d/SKILL.md".to_owned()]));
        assert_eq!(rearranged(shared.without("leaf.md")), Some(vec!["leaf.md".to_owned()]));
    }
}
