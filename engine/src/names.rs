//! Names of skills, and looking skills up by name.

use crate::bindings::exports::skillcell::plugin::catalog::LookupError;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::Index;
use crate::skill::Skill;
use crate::text::{edit_distance, fold};
use std::collections::BTreeMap;

/// Maximum number of suggestions for an unknown name.
const MAX_SUGGESTIONS: usize = 5;

/// Maximum number of names listed for an ambiguous one.
const MAX_HOLDERS: usize = 20;

/// Longer names get no suggestions; comparing them would be slow.
const MAX_COMPARED: usize = 128;

/// Skills by path, file and short name. Paths and short names are case-folded; each list is in order of precedence.
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

/// Why a lookup failed, before suggestions are added.
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

    /// Finds a skill by path or qualified name, in the first root that has it, then by short name.
    pub fn find(&self, index: &Index, name: &str) -> Result<usize, LookupError> {
        self.lookup(index, name).map_err(|miss| match miss {
            Miss::Unknown => LookupError::Unknown(suggestions(index, trimmed(name))),
            Miss::Several(holders) => several(index, holders),
        })
    }

    /// Like `find`, but a name that several folder skills have is ambiguous even if it is also a path.
    pub fn find_named(&self, index: &Index, name: &str) -> Result<usize, LookupError> {
        let is_folder = |number: &&usize| index.skill(**number).model == SkillModel::Folder;
        let holders: Vec<usize> = self.holders(trimmed(name)).iter().filter(is_folder).copied().collect();
        if holders.len() > 1 { Err(several(index, &holders)) } else { self.find(index, name) }
    }

    fn lookup(&self, index: &Index, name: &str) -> Result<usize, Miss<'_>> {
        let found = self.by_address(index, name).or_else(|| self.by_address(index, trimmed(name)));
        found.map_or_else(|| self.by_name(index, trimmed(name)), Ok)
    }

    /// Finds a skill by `label:name`, or by a short name that only one skill has.
    fn by_name(&self, index: &Index, name: &str) -> Result<usize, Miss<'_>> {
        let named = self.roots_named(name).map(|(root, short)| self.folder_skills_named(index, root, short));
        let holders = named.into_iter().find(|holders| !holders.is_empty()).unwrap_or_else(|| self.holders(name));
        match holders {
            [] => Err(Miss::Unknown),
            [only] => Ok(*only),
            several => Err(Miss::Several(several)),
        }
    }

    /// Finds a skill by path, with or without a root's label, or by file.
    pub fn by_address(&self, index: &Index, address: &str) -> Option<usize> {
        let labelled_file = || self.roots_named(address).find_map(|(root, file)| self.by_file(index, root, file));
        let file = || self.by_file.get(address).and_then(|holders| holders.first()).copied();
        self.by_label_or_path(index, address).or_else(labelled_file).or_else(file)
    }

    /// Finds a skill by path or unambiguous name, but not by file.
    pub fn by_name_or_path(&self, index: &Index, name: &str) -> Option<usize> {
        self.by_label_or_path(index, name).or_else(|| self.by_name(index, name).ok())
    }

    pub fn by_file(&self, index: &Index, root: u32, file: &str) -> Option<usize> {
        self.by_file.get(file)?.iter().copied().find(|number| index.skill(*number).root == root)
    }

    fn by_label_or_path(&self, index: &Index, name: &str) -> Option<usize> {
        let labelled = || self.roots_named(name).find_map(|(root, path)| self.by_path_in(index, root, path));
        self.by_path(index, name, |_| true).or_else(labelled)
    }

    pub fn by_path_in(&self, index: &Index, root: u32, path: &str) -> Option<usize> {
        self.by_path(index, path, |skill| skill.root == root)
    }

    /// Returns the name that finds exactly this skill: its path, or the label with its path or file.
    pub fn address(&self, index: &Index, number: usize) -> String {
        let skill = index.skill(number);
        if self.by_path(index, &skill.skill_path, |_| true) == Some(number) {
            skill.skill_path.clone()
        } else if self.by_path_in(index, skill.root, &skill.skill_path) == Some(number) {
            self.qualified(skill, &skill.skill_path)
        } else {
            self.qualified(skill, &skill.file)
        }
    }

    /// Returns the name shown in lists: the first of short name, `label:name` and address that finds exactly this
    /// skill. The short name is used only if no other folder skill has it and the root is not a plugin. Tree skills
    /// always use the address.
    pub fn display_name(&self, index: &Index, number: usize, is_plugin: bool) -> String {
        let skill = index.skill(number);
        if skill.model == SkillModel::Folder {
            let finds_it = |name: &str| self.lookup(index, name).is_ok_and(|found| found == number);
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
        self.address(index, number)
    }

    /// Finds the root for a name such as `label:`.
    pub fn root_named(&self, name: &str) -> Option<u32> {
        self.roots_named(name).find(|(_, rest)| rest.is_empty()).map(|(root, _)| root)
    }

    /// Returns another skill of the same root that takes precedence for this skill's path.
    pub fn hidden_by(&self, index: &Index, number: usize) -> Option<usize> {
        let skill = index.skill(number);
        let holder = self.by_path_in(index, skill.root, &skill.skill_path);
        holder.filter(|holder| *holder != number)
    }

    /// Returns the other folder skills with the same name, in order of precedence.
    pub fn name_conflicts(&self, index: &Index, number: usize) -> Vec<usize> {
        let is_other = |other: &&usize| **other != number && index.skill(**other).model == SkillModel::Folder;
        self.holders(&index.skill(number).name).iter().filter(is_other).copied().collect()
    }

    fn by_path(&self, index: &Index, path: &str, wanted: impl Fn(&Skill) -> bool) -> Option<usize> {
        let holders = self.by_path.get(&fold(path))?;
        let mut wanted = holders.iter().copied().filter(|number| wanted(index.skill(*number))).peekable();
        let first = wanted.peek().copied();
        wanted.find(|number| index.skill(*number).skill_path == path).or(first)
    }

    fn holders(&self, name: &str) -> &[usize] {
        self.by_short_name.get(&fold(name)).map_or(&[], |holders| &holders.numbers)
    }

    fn folder_skills_named(&self, index: &Index, root: u32, name: &str) -> &[usize] {
        let holders = self.holders(name);
        let place = |number: usize| (index.skill(number).root, index.skill(number).model as u8);
        let wanted = (root, SkillModel::Folder as u8);
        let start = holders.partition_point(|number| place(*number) < wanted);
        let end = holders.partition_point(|number| place(*number) <= wanted);
        &holders[start..end]
    }

    /// Returns the roots whose label and a colon start the name, with the rest of the name.
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

/// Returns names that contain the unknown one, are contained in it, or differ by few letters.
fn suggestions(index: &Index, name: &str) -> Vec<String> {
    let wanted = fold(name);
    let letters = wanted.chars().count();
    if letters == 0 || letters > MAX_COMPARED {
        return Vec::new();
    }
    let mut close: Vec<(usize, usize)> = Vec::new();
    for (number, skill) in index.skills() {
        let distance = [skill.short_name(), &skill.skill_path].into_iter().filter_map(|candidate| {
            let candidate = fold(candidate);
            let part =
                letters >= 3 && (candidate.contains(&wanted) || candidate.len() >= 3 && wanted.contains(&candidate));
            let max_distance = 1 + letters / 4;
            let far = candidate.chars().count().abs_diff(letters) > max_distance;
            let distance = if far { usize::MAX } else { edit_distance(&candidate, &wanted) };
            if distance <= max_distance { Some(distance) } else { part.then_some(max_distance + 1) }
        });
        close.extend(distance.min().map(|distance| (distance, number)));
    }
    close.sort_unstable();
    close.iter().take(MAX_SUGGESTIONS).map(|(_, number)| index.display_name(*number).to_owned()).collect()
}

fn several(index: &Index, holders: &[usize]) -> LookupError {
    LookupError::Several(
        holders.iter().take(MAX_HOLDERS).map(|number| index.display_name(*number).to_owned()).collect(),
    )
}

fn trimmed(name: &str) -> &str {
    name.trim().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::Duplicates;
    use crate::index::IndexedSkill;
    use crate::memory::{self, MemoryRoot};
    use crate::skill;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::rc::Rc;

    fn index(files: &[(u32, String)]) -> Index {
        let text = "---\nname: same\nkeywords: [word]\ndescription: d\n---\n";
        let skills = files.iter().filter_map(|(root, file)| skill::read(*root, "root", file, text).0);
        let entries = skills.map(|skill| IndexedSkill { skill: Rc::new(skill), resources: None, hides_skills: false });
        Index::new(&["one".to_owned(), "two".to_owned()], &BTreeSet::from([1]), entries.collect())
    }

    #[test]
    fn the_shown_name_is_the_shortest_unambiguous_one() {
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
        let shown = memory::by_file(&catalog, |skill| skill.display_name);
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
            let index = index(&files);
            for (number, _) in index.skills() {
                let address = index.address(number);
                prop_assert_eq!(index.names.find(&index, &address).ok(), Some(number), "{}", address);
                let shown = index.display_name(number);
                prop_assert_eq!(index.names.find(&index, shown).ok(), Some(number), "{}", shown);
            }
        }
    }
}
