//! What skills are called, and which one a name means.

use crate::bindings::exports::skillcell::plugin::catalog::LookupError;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::shelf::Shelf;
use crate::skill::Skill;
use crate::text::{edit_distance, fold};
use std::collections::BTreeMap;

/// Most names offered in place of an unknown one.
const MOST_CLOSE_NAMES: usize = 5;

/// Most names offered in place of a short one that several skills have.
const MOST_HOLDERS: usize = 20;

/// Longer names are not compared letter by letter; nobody mistypes them.
const LONGEST_COMPARED: usize = 128;

/// Who has which path, file and short name. Paths and short names are in folded form, and holders are in the order in
/// which they win.
#[derive(Default)]
pub struct Names {
    labels: Vec<String>,
    by_path: BTreeMap<String, Vec<usize>>,
    by_file: BTreeMap<String, Vec<usize>>,
    by_short_name: BTreeMap<String, Holders>,
}

/// Skills with the same short name.
#[derive(Default)]
struct Holders {
    numbers: Vec<usize>,
    folder_skills: usize,
}

/// Why a name finds no skill, before anything is offered in its place.
enum Miss<'names> {
    Unknown,
    Several(&'names [usize]),
}

impl Names {
    pub fn new<'skill>(labels: &[String], skills: impl Iterator<Item = &'skill Skill>) -> Self {
        let mut names = Self { labels: labels.to_vec(), ..Self::default() };
        let mut order = Vec::new();
        for (number, skill) in skills.enumerate() {
            order.push((skill.root, skill.model as u8));
            names.by_path.entry(fold(&skill.skill_path)).or_default().push(number);
            names.by_file.entry(skill.file.clone()).or_default().push(number);
            let holders = names.by_short_name.entry(fold(skill.short_name())).or_default();
            holders.numbers.push(number);
            holders.folder_skills += usize::from(skill.model == SkillModel::Folder);
        }
        let short_names = names.by_short_name.values_mut().map(|holders| &mut holders.numbers);
        for holders in names.by_path.values_mut().chain(names.by_file.values_mut()).chain(short_names) {
            holders.sort_by_key(|number| (order[*number], *number));
        }
        names
    }

    /// The skill that a name means: a path or a qualified name in the first root that has it, then a short name.
    pub fn find(&self, shelf: &Shelf, name: &str) -> Result<usize, LookupError> {
        self.lookup(shelf, name).map_err(|miss| match miss {
            Miss::Unknown => LookupError::Unknown(close_to(shelf, trimmed(name))),
            Miss::Several(holders) => several(shelf, holders),
        })
    }

    /// The same for a name that is not meant as a path: one that several folder skills have means none of them.
    pub fn find_named(&self, shelf: &Shelf, name: &str) -> Result<usize, LookupError> {
        let is_folder = |number: &&usize| shelf.skill(**number).model == SkillModel::Folder;
        let holders: Vec<usize> = self.holders(trimmed(name)).iter().filter(is_folder).copied().collect();
        if holders.len() > 1 { Err(several(shelf, &holders)) } else { self.find(shelf, name) }
    }

    fn lookup(&self, shelf: &Shelf, name: &str) -> Result<usize, Miss<'_>> {
        let found = self.by_address(shelf, name).or_else(|| self.by_address(shelf, trimmed(name)));
        found.map_or_else(|| self.by_name(shelf, trimmed(name)), Ok)
    }

    /// The skill with this declared name behind its root's label, or the only one with this short name.
    fn by_name(&self, shelf: &Shelf, name: &str) -> Result<usize, Miss<'_>> {
        let named = self.roots_named(name).map(|(root, short)| self.folder_skills_named(shelf, root, short));
        let holders = named.into_iter().find(|holders| !holders.is_empty()).unwrap_or_else(|| self.holders(name));
        match holders {
            [] => Err(Miss::Unknown),
            [only] => Ok(*only),
            several => Err(Miss::Several(several)),
        }
    }

    /// The skill with this path, alone or behind a root's label, or with this file.
    pub fn by_address(&self, shelf: &Shelf, address: &str) -> Option<usize> {
        let labelled_file = || self.roots_named(address).find_map(|(root, file)| self.by_file(shelf, root, file));
        let file = || self.by_file.get(address).and_then(|holders| holders.first()).copied();
        self.by_label_or_path(shelf, address).or_else(labelled_file).or_else(file)
    }

    /// The skill that a name means, when it is neither a file's nor shared by several.
    pub fn by_name_or_path(&self, shelf: &Shelf, name: &str) -> Option<usize> {
        self.by_label_or_path(shelf, name).or_else(|| self.by_name(shelf, name).ok())
    }

    /// The skill in this file of a root.
    pub fn by_file(&self, shelf: &Shelf, root: u32, file: &str) -> Option<usize> {
        self.by_file.get(file)?.iter().copied().find(|number| shelf.skill(*number).root == root)
    }

    fn by_label_or_path(&self, shelf: &Shelf, name: &str) -> Option<usize> {
        let labelled = || self.roots_named(name).find_map(|(root, path)| self.by_path_in(shelf, root, path));
        self.by_path(shelf, name, |_| true).or_else(labelled)
    }

    /// The skill with this path in one root.
    pub fn by_path_in(&self, shelf: &Shelf, root: u32, path: &str) -> Option<usize> {
        self.by_path(shelf, path, |skill| skill.root == root)
    }

    /// The name that finds exactly this skill: its path, or its path or file behind the label.
    pub fn address(&self, shelf: &Shelf, number: usize) -> String {
        let skill = shelf.skill(number);
        if self.by_path(shelf, &skill.skill_path, |_| true) == Some(number) {
            skill.skill_path.clone()
        } else if self.by_path_in(shelf, skill.root, &skill.skill_path) == Some(number) {
            self.qualified(skill, &skill.skill_path)
        } else {
            self.qualified(skill, &skill.file)
        }
    }

    /// The name that lists show: the first of short name, `label:name` and address that finds exactly this skill. The short
    /// name counts while no other folder skill has it, and never in a plugin. A tree skill shows its address.
    pub fn shown_name(&self, shelf: &Shelf, number: usize, is_plugin: bool) -> String {
        let skill = shelf.skill(number);
        if skill.model == SkillModel::Folder {
            let finds_it = |name: &str| self.lookup(shelf, name).is_ok_and(|found| found == number);
            let holders = self.by_short_name.get(&fold(&skill.name));
            let is_alone = holders.is_some_and(|holders| holders.folder_skills == 1);
            if !is_plugin && is_alone && finds_it(&skill.name) {
                return skill.name.clone();
            }
            let qualified = self.qualified(skill, &skill.name);
            if finds_it(&qualified) {
                return qualified;
            }
        }
        self.address(shelf, number)
    }

    /// The root whose label stands alone before a colon, as in `label:`.
    pub fn root_named(&self, name: &str) -> Option<u32> {
        self.roots_named(name).find(|(_, rest)| rest.is_empty()).map(|(root, _)| root)
    }

    /// Another skill of the same root that hides this one from its path.
    pub fn hidden_by(&self, shelf: &Shelf, number: usize) -> Option<usize> {
        let skill = shelf.skill(number);
        let holder = self.by_path_in(shelf, skill.root, &skill.skill_path);
        holder.filter(|holder| *holder != number)
    }

    /// Other folder skills that have the name of this one, in the order in which they win.
    pub fn namesakes(&self, shelf: &Shelf, number: usize) -> Vec<usize> {
        let is_other = |other: &&usize| **other != number && shelf.skill(**other).model == SkillModel::Folder;
        self.holders(&shelf.skill(number).name).iter().filter(is_other).copied().collect()
    }

    fn by_path(&self, shelf: &Shelf, path: &str, wanted: impl Fn(&Skill) -> bool) -> Option<usize> {
        let holders = self.by_path.get(&fold(path))?;
        let mut wanted = holders.iter().copied().filter(|number| wanted(shelf.skill(*number))).peekable();
        let first = wanted.peek().copied();
        wanted.find(|number| shelf.skill(*number).skill_path == path).or(first)
    }

    fn holders(&self, name: &str) -> &[usize] {
        self.by_short_name.get(&fold(name)).map_or(&[], |holders| &holders.numbers)
    }

    fn folder_skills_named(&self, shelf: &Shelf, root: u32, name: &str) -> &[usize] {
        let holders = self.holders(name);
        let place = |number: usize| (shelf.skill(number).root, shelf.skill(number).model as u8);
        let wanted = (root, SkillModel::Folder as u8);
        let start = holders.partition_point(|number| place(*number) < wanted);
        let end = holders.partition_point(|number| place(*number) <= wanted);
        &holders[start..end]
    }

    /// Roots whose label and a colon begin the name, with the rest of it.
    pub fn roots_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (u32, &'a str)> + 'a {
        (0..).zip(&self.labels).filter_map(move |(root, label)| {
            let (before, rest) = name.split_at_checked(label.len())?;
            let rest = rest.strip_prefix(':')?;
            (fold(before) == fold(label)).then_some((root, rest))
        })
    }

    fn qualified(&self, skill: &Skill, name: &str) -> String {
        format!("{}:{name}", self.labels[skill.root as usize])
    }
}

/// Names that contain the unknown one, are contained in it, or differ by few letters.
fn close_to(shelf: &Shelf, name: &str) -> Vec<String> {
    let wanted = fold(name);
    let letters = wanted.chars().count();
    if letters == 0 || letters > LONGEST_COMPARED {
        return Vec::new();
    }
    let mut close: Vec<(usize, usize)> = Vec::new();
    for (number, skill) in shelf.skills() {
        let distance = [skill.short_name(), &skill.skill_path].into_iter().filter_map(|candidate| {
            let candidate = fold(candidate);
            let part =
                letters >= 3 && (candidate.contains(&wanted) || candidate.len() >= 3 && wanted.contains(&candidate));
            let most = 1 + letters / 4;
            let far = candidate.chars().count().abs_diff(letters) > most;
            let distance = if far { usize::MAX } else { edit_distance(&candidate, &wanted) };
            if distance <= most { Some(distance) } else { part.then_some(most + 1) }
        });
        close.extend(distance.min().map(|distance| (distance, number)));
    }
    close.sort_unstable();
    close.iter().take(MOST_CLOSE_NAMES).map(|(_, number)| shelf.shown_name(*number).to_owned()).collect()
}

fn several(shelf: &Shelf, holders: &[usize]) -> LookupError {
    LookupError::Several(holders.iter().take(MOST_HOLDERS).map(|number| shelf.shown_name(*number).to_owned()).collect())
}

fn trimmed(name: &str) -> &str {
    name.trim().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::Duplicates;
    use crate::memory::{self, MemoryRoot};
    use crate::shelf::Shelved;
    use crate::skill;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::rc::Rc;

    fn shelf(files: &[(u32, String)]) -> Shelf {
        let text = "---\nname: same\nkeywords: [word]\ndescription: d\n---\n";
        let skills = files.iter().filter_map(|(root, file)| skill::read(*root, "root", file, text).0);
        let shelved = skills.map(|skill| Shelved { skill: Rc::new(skill), resources: None, hides_skills: false });
        Shelf::new(&["one".to_owned(), "two".to_owned()], &BTreeSet::from([1]), shelved.collect())
    }

    #[test]
    fn the_shown_name_is_the_shortest_that_is_clear() {
        let project = MemoryRoot::new("project")
            .folder_skill("a/pdf", "pdf")
            .folder_skill("twin", "twin")
            .folder_skill("x", "same")
            .folder_skill("y", "same")
            .folder_skill("z", "hidden")
            .tree_skill("hidden")
            .tree_skill("b/leaf");
        let user = MemoryRoot::new("user").folder_skill("other", "Twin").tree_skill("b/leaf");
        let plugin = MemoryRoot::plugin("office").folder_skill("docx", "docx");
        let catalog = memory::catalog(vec![project, user, plugin], Duplicates::Refuse);
        let shown = memory::by_file(&catalog, |skill| skill.shown_name);
        for (root, file, expected) in [
            (0, "a/pdf/SKILL.md", "pdf"),
            (0, "twin/SKILL.md", "project:twin"),
            (1, "other/SKILL.md", "user:Twin"),
            (0, "x/SKILL.md", "x"),
            (0, "y/SKILL.md", "y"),
            (0, "z/SKILL.md", "z"),
            (0, "hidden.md", "hidden"),
            (0, "b/leaf.md", "b/leaf"),
            (1, "b/leaf.md", "user:b/leaf"),
            (2, "docx/SKILL.md", "office:docx"),
        ] {
            assert_eq!(shown[&(root, file.to_owned())], expected, "{file}");
        }
    }

    proptest! {
        #[test]
        fn address_and_shown_name_find_their_skill(
            files in prop::collection::btree_set((0..2_u32, "[aAb](/[aAb]){0,2}(/SKILL|/_index)?"), 1..12)
        ) {
            let files: Vec<(u32, String)> = files.into_iter().map(|(root, file)| (root, format!("{file}.md"))).collect();
            let shelf = shelf(&files);
            for (number, _) in shelf.skills() {
                let address = shelf.address(number);
                prop_assert_eq!(shelf.names.find(&shelf, &address).ok(), Some(number), "{}", address);
                let shown = shelf.shown_name(number);
                prop_assert_eq!(shelf.names.find(&shelf, shown).ok(), Some(number), "{}", shown);
            }
        }
    }
}
