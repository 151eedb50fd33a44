//! Names of skills, and looking skills up by name.

use crate::bindings::exports::skillcell::plugin::catalog::LookupError;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::{Index, Skills, as_u32};
use crate::maps::TextMap;
use crate::skill::Skill;
use crate::text::{Letters, edit_distance, fold};
use memchr::memmem::Finder;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of suggestions for an unknown name.
const MAX_SUGGESTIONS: usize = 5;

/// Maximum number of names listed for an ambiguous one.
const MAX_HOLDERS: usize = 20;

/// Maximum length of a letter in UTF-8.
const MAX_LETTER_BYTES: usize = 4;

/// Longer names get no suggestions; comparing them would be slow.
const MAX_COMPARED: usize = 128;

/// Skills by path, file and short name. Paths and short names are case-folded; each list is in order of precedence.
#[derive(Default)]
pub struct Names {
    labels: Vec<String>,
    by_path: TextMap<Numbers>,
    by_file: TextMap<Numbers>,
    by_short_name: TextMap<Numbers>,
    /// How many short names are not found as they are written, because lookups trim them.
    untrimmed: usize,
}

/// The numbers of skills. Nearly always one.
enum Numbers {
    One(u32),
    Several(Vec<u32>),
}

impl Numbers {
    fn as_slice(&self) -> &[u32] {
        match self {
            Self::One(number) => std::slice::from_ref(number),
            Self::Several(numbers) => numbers,
        }
    }

    fn insert(&mut self, number: u32, is_before: impl Fn(u32) -> bool) {
        let mut numbers = self.as_slice().to_vec();
        if let Self::Several(several) = self {
            numbers = std::mem::take(several);
        }
        numbers.insert(numbers.partition_point(|other| is_before(*other)), number);
        *self = Self::Several(numbers);
    }
}

/// Why a lookup failed, before suggestions are added.
enum Miss<'names> {
    Unknown,
    Several(&'names [u32]),
}

impl Names {
    pub fn new(labels: &[String], skills: &Skills) -> Self {
        let mut names = Self { labels: labels.to_vec(), ..Self::default() };
        for number in 0..skills.limit() {
            names.insert(skills, number);
        }
        names
    }

    pub fn insert(&mut self, skills: &Skills, number: usize) {
        let skill = skills.get(number);
        let place = |number: usize| precedence(skills.get(number));
        let put = |map: &mut TextMap<Numbers>, key: String| match map.entry(key) {
            Entry::Vacant(free) => drop(free.insert(Numbers::One(as_u32(number)))),
            Entry::Occupied(mut holders) => {
                holders.get_mut().insert(as_u32(number), |other| place(other as usize) < place(number));
            }
        };
        put(&mut self.by_path, fold(&skill.skill_path));
        put(&mut self.by_file, skill.file.clone());
        put(&mut self.by_short_name, fold(skill.short_name()));
        self.untrimmed += usize::from(!is_trimmed(skill));
    }

    pub fn remove(&mut self, skills: &Skills, number: usize) {
        let skill = skills.get(number);
        take(&mut self.by_path, &fold(&skill.skill_path), number);
        take(&mut self.by_file, &skill.file, number);
        take(&mut self.by_short_name, &fold(skill.short_name()), number);
        self.untrimmed -= usize::from(!is_trimmed(skill));
    }

    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Whether [`add_affected`](Self::add_affected) knows all skills that are affected.
    pub fn are_plain(&self) -> bool {
        self.untrimmed == 0 && !self.labels.iter().any(|label| label.contains(':'))
    }

    /// Adds the skills whose shown name or address may depend on whether this skill exists, and those with its path.
    pub fn add_affected(
        &self,
        skills: &Skills,
        skill: &Skill,
        named: &mut BTreeSet<usize>,
        same_path: &mut BTreeSet<usize>,
    ) {
        let numbers = |map: &TextMap<Numbers>, key: &str| -> Vec<usize> {
            map.get(key).map_or(&[][..], Numbers::as_slice).iter().map(|number| *number as usize).collect()
        };
        same_path.extend(numbers(&self.by_path, &fold(&skill.skill_path)));
        let mut add = |name: &str| {
            let holders = numbers(&self.by_short_name, &fold(name)).into_iter();
            named.extend(holders.filter(|number| skills.get(*number).model == SkillModel::Folder));
        };
        for name in [skill.skill_path.as_str(), &skill.file, skill.short_name()] {
            add(name);
            for label in &self.labels {
                add(&format!("{label}:{name}"));
            }
            for (_, rest) in self.roots_named(name) {
                add(rest);
            }
        }
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
        let is_folder = |number: &&u32| index.skill(**number as usize).model == SkillModel::Folder;
        let holders: Vec<u32> = self.holders(trimmed(name)).iter().filter(is_folder).copied().collect();
        if holders.len() > 1 { Err(several(index, &holders)) } else { self.find(index, name) }
    }

    /// Finds a skill as `find` does, or as `find_named`, without saying why there is none.
    pub fn known(&self, index: &Index, name: &str, is_named: bool) -> Option<usize> {
        let is_folder = |number: &&u32| index.skill(**number as usize).model == SkillModel::Folder;
        let is_ambiguous = is_named && self.holders(trimmed(name)).iter().filter(is_folder).nth(1).is_some();
        if is_ambiguous { None } else { self.lookup(index, name).ok() }
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
            [only] => Ok(*only as usize),
            several => Err(Miss::Several(several)),
        }
    }

    /// Finds a skill by path, with or without a root's label, or by file.
    pub fn by_address(&self, index: &Index, address: &str) -> Option<usize> {
        let labelled_file = || self.roots_named(address).find_map(|(root, file)| self.by_file(index, root, file));
        let file = || self.files(address).first().map(|number| *number as usize);
        self.by_label_or_path(index, address).or_else(labelled_file).or_else(file)
    }

    /// Finds a skill by path or unambiguous name, but not by file.
    pub fn by_name_or_path(&self, index: &Index, name: &str) -> Option<usize> {
        self.by_label_or_path(index, name).or_else(|| self.by_name(index, name).ok())
    }

    pub fn by_file(&self, index: &Index, root: u32, file: &str) -> Option<usize> {
        self.files(file).iter().map(|number| *number as usize).find(|number| index.skill(*number).root == root)
    }

    fn files(&self, file: &str) -> &[u32] {
        self.by_file.get(file).map_or(&[], Numbers::as_slice)
    }

    /// Finds a tree skill by its exact path, which follows the label in a plugin; in the first root that has it.
    pub fn by_tree_path(&self, index: &Index, plugins: &BTreeSet<u32>, path: &str) -> Option<usize> {
        let labelled = plugins.iter().filter_map(|root| {
            let rest = path.strip_prefix(self.labels[*root as usize].as_str())?.strip_prefix('/')?;
            Some((rest, Some(*root)))
        });
        let found = labelled.chain([(path, None)]).flat_map(|(path, plugin)| {
            let is_wanted = move |skill: &Skill| {
                let is_here = plugin.map_or(!plugins.contains(&skill.root), |root| skill.root == root);
                is_here && skill.model == SkillModel::Tree && skill.skill_path == path
            };
            let holders = self.by_path.get(&fold(path)).map_or(&[][..], Numbers::as_slice).iter();
            holders.map(|number| *number as usize).filter(move |number| is_wanted(index.skill(*number)))
        });
        found.min_by_key(|number| index.skill(*number).root)
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
            let is_other = |other: &u32| *other as usize != number && index.skill(*other as usize).model == skill.model;
            let is_alone = !self.holders(&skill.name).iter().any(is_other);
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

    pub fn has_folder_skill(&self, index: &Index, name: &str) -> bool {
        self.holders(name).iter().any(|number| index.skill(*number as usize).model == SkillModel::Folder)
    }

    /// Returns the other folder skills with the same name, in order of precedence.
    pub fn name_conflicts(&self, index: &Index, number: usize) -> Vec<usize> {
        let is_other = |other: &usize| *other != number && index.skill(*other).model == SkillModel::Folder;
        self.holders(&index.skill(number).name).iter().map(|number| *number as usize).filter(is_other).collect()
    }

    fn by_path(&self, index: &Index, path: &str, wanted: impl Fn(&Skill) -> bool) -> Option<usize> {
        let holders = self.by_path.get(&fold(path))?.as_slice().iter().map(|number| *number as usize);
        let mut wanted = holders.filter(|number| wanted(index.skill(*number))).peekable();
        let first = wanted.peek().copied();
        wanted.find(|number| index.skill(*number).skill_path == path).or(first)
    }

    fn holders(&self, name: &str) -> &[u32] {
        self.by_short_name.get(&fold(name)).map_or(&[], Numbers::as_slice)
    }

    fn folder_skills_named(&self, index: &Index, root: u32, name: &str) -> &[u32] {
        let holders = self.holders(name);
        let place = |number: u32| (index.skill(number as usize).root, index.skill(number as usize).model as u8);
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
    let max_distance = 1 + letters / 4;
    let (finder, letters_of_wanted) = (Finder::new(wanted.as_bytes()), Letters::of(&wanted));
    let distance = |candidate: &str| {
        let part = letters >= 3
            && (finder.find(candidate.as_bytes()).is_some() || candidate.len() >= 3 && wanted.contains(candidate));
        // The cheap tests rule out nearly all names.
        let is_far = candidate.len().abs_diff(wanted.len()) > MAX_LETTER_BYTES * max_distance
            || letters_of_wanted.differences(Letters::of(candidate)) > 2 * MAX_LETTER_BYTES * max_distance
            || candidate.chars().count().abs_diff(letters) > max_distance;
        let distance = if is_far { usize::MAX } else { edit_distance(candidate, &wanted) };
        if distance <= max_distance { Some(distance) } else { part.then_some(max_distance + 1) }
    };
    let mut close: BTreeMap<u32, usize> = BTreeMap::new();
    let names = &index.names;
    for (candidate, holders) in names.by_short_name.iter().chain(&names.by_path) {
        let Some(distance) = distance(candidate) else { continue };
        for number in holders.as_slice() {
            let best = close.entry(index.place(*number as usize)).or_insert(distance);
            *best = distance.min(*best);
        }
    }
    let mut close: Vec<(usize, u32)> = close.into_iter().map(|(place, distance)| (distance, place)).collect();
    close.sort_unstable();
    close.iter().take(MAX_SUGGESTIONS).map(|(_, place)| index.display_name(index.at(*place))).collect()
}

fn several(index: &Index, holders: &[u32]) -> LookupError {
    let names = holders.iter().take(MAX_HOLDERS).map(|number| index.display_name(*number as usize));
    LookupError::Several(names.collect())
}

/// Of several skills with the same name or path, the first by this takes precedence.
fn precedence(skill: &Skill) -> (u32, u8, &str, &str) {
    (skill.root, skill.model as u8, &skill.skill_path, &skill.file)
}

fn take(map: &mut TextMap<Numbers>, key: &str, number: usize) {
    let Some(holders) = map.get_mut(key) else { return };
    let mut left = holders.as_slice().to_vec();
    left.retain(|other| *other as usize != number);
    match left[..] {
        [] => drop(map.remove(key)),
        [only] => *holders = Numbers::One(only),
        _ => *holders = Numbers::Several(left),
    }
}

fn is_trimmed(skill: &Skill) -> bool {
    skill.model == SkillModel::Tree || trimmed(&skill.name) == skill.name
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
                prop_assert_eq!(index.names.find(&index, &shown).ok(), Some(number), "{}", shown);
            }
        }
    }
}
