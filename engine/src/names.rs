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

/// Who has which path and which short name, in folded form. Holders are in the order in which they win.
#[derive(Default)]
pub struct Names {
    labels: Vec<String>,
    by_path: BTreeMap<String, Vec<usize>>,
    by_short_name: BTreeMap<String, Vec<usize>>,
}

impl Names {
    pub fn new<'skill>(labels: &[String], skills: impl Iterator<Item = &'skill Skill>) -> Self {
        let mut names = Self { labels: labels.to_vec(), ..Self::default() };
        let mut order = Vec::new();
        for (number, skill) in skills.enumerate() {
            order.push((skill.root, skill.model as u8));
            names.by_path.entry(fold(&skill.skill_path)).or_default().push(number);
            names.by_short_name.entry(fold(skill.short_name())).or_default().push(number);
        }
        for holders in names.by_path.values_mut().chain(names.by_short_name.values_mut()) {
            holders.sort_by_key(|number| (order[*number], *number));
        }
        names
    }

    /// The skill that a name means: a path or a qualified name in the first root that has it, then a short name.
    pub fn find(&self, shelf: &Shelf, name: &str) -> Result<usize, LookupError> {
        if let Some(number) = self.by_address(shelf, name) {
            return Ok(number);
        }
        let name = name.trim().trim_end_matches('/');
        if let Some(number) = self.by_address(shelf, name) {
            return Ok(number);
        }
        for (root, short) in self.roots_named(name) {
            let holders = self.by_short_name(short).filter(|number| {
                let skill = shelf.skill(*number);
                skill.root == root && skill.model == SkillModel::Folder
            });
            match holders.collect::<Vec<_>>()[..] {
                [] => {}
                [only] => return Ok(only),
                ref several => return Err(self.several(shelf, several)),
            }
        }
        match self.by_short_name(name).collect::<Vec<_>>()[..] {
            [] => Err(LookupError::Unknown(self.close_to(shelf, name))),
            [only] => Ok(only),
            ref several => Err(self.several(shelf, several)),
        }
    }

    /// The skill with this path, alone or behind a root's label, or with this file.
    pub fn by_address(&self, shelf: &Shelf, address: &str) -> Option<usize> {
        let by_file = |file: &str, root: Option<u32>| {
            let skills =
                shelf.skills().filter(|(_, skill)| skill.file == file && root.is_none_or(|root| skill.root == root));
            skills.min_by_key(|(_, skill)| skill.root).map(|(number, _)| number)
        };
        let in_root = |(root, path)| self.by_path_in(shelf, root, path).or_else(|| by_file(path, Some(root)));
        self.by_path(shelf, address, |_| true)
            .or_else(|| self.roots_named(address).find_map(in_root))
            .or_else(|| by_file(address, None))
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

    fn by_path(&self, shelf: &Shelf, path: &str, wanted: impl Fn(&Skill) -> bool) -> Option<usize> {
        let holders = self.by_path.get(&fold(path))?;
        let mut wanted = holders.iter().copied().filter(|number| wanted(shelf.skill(*number))).peekable();
        let first = wanted.peek().copied();
        wanted.find(|number| shelf.skill(*number).skill_path == path).or(first)
    }

    fn by_short_name(&self, name: &str) -> impl Iterator<Item = usize> + '_ {
        self.by_short_name.get(&fold(name)).into_iter().flatten().copied()
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

    /// `label:name` when only this skill has it, else the address.
    fn full_name(&self, shelf: &Shelf, number: usize) -> String {
        let skill = shelf.skill(number);
        let rivals = self.by_short_name(skill.short_name()).filter(|other| {
            let other = shelf.skill(*other);
            other.root == skill.root && other.model == SkillModel::Folder
        });
        if skill.model == SkillModel::Folder && rivals.count() == 1 {
            self.qualified(skill, &skill.name)
        } else {
            self.address(shelf, number)
        }
    }

    fn several(&self, shelf: &Shelf, holders: &[usize]) -> LookupError {
        LookupError::Several(holders.iter().take(MOST_HOLDERS).map(|number| self.full_name(shelf, *number)).collect())
    }

    /// Names that contain the unknown one, are contained in it, or differ by few letters.
    fn close_to(&self, shelf: &Shelf, name: &str) -> Vec<String> {
        let wanted = fold(name);
        let letters = wanted.chars().count();
        if letters == 0 || letters > LONGEST_COMPARED {
            return Vec::new();
        }
        let mut close: Vec<(usize, usize)> = Vec::new();
        for (number, skill) in shelf.skills() {
            let distance = [skill.short_name(), &skill.skill_path].into_iter().filter_map(|candidate| {
                let candidate = fold(candidate);
                let part = letters >= 3
                    && (candidate.contains(&wanted) || candidate.len() >= 3 && wanted.contains(&candidate));
                let most = 1 + letters / 4;
                let far = candidate.len().abs_diff(wanted.len()) > 4 * most;
                let distance = if far { usize::MAX } else { edit_distance(&candidate, &wanted) };
                if distance <= most { Some(distance) } else { part.then_some(most + 1) }
            });
            close.extend(distance.min().map(|distance| (distance, number)));
        }
        close.sort_unstable();
        close.iter().take(MOST_CLOSE_NAMES).map(|(_, number)| self.suggested(shelf, *number)).collect()
    }

    /// The shown name if it really finds this skill, else the address.
    fn suggested(&self, shelf: &Shelf, number: usize) -> String {
        let skill = shelf.skill(number);
        let names = [skill.name.clone(), self.full_name(shelf, number)];
        let found = names.into_iter().find(|name| self.find(shelf, name).is_ok_and(|found| found == number));
        found.unwrap_or_else(|| self.address(shelf, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::Shelved;
    use crate::skill;
    use proptest::prelude::*;
    use std::rc::Rc;

    fn shelf(files: &[(u32, String)]) -> Shelf {
        let text = "---\nname: same\nkeywords: [word]\ndescription: d\n---\n";
        let skills = files.iter().filter_map(|(root, file)| skill::read(*root, "root", file, text).0);
        let shelved = skills.map(|skill| Shelved { skill: Rc::new(skill), resources: None, hides_skills: false });
        Shelf::new(&["one".to_owned(), "two".to_owned()], shelved.collect())
    }

    proptest! {
        #[test]
        fn an_address_finds_its_skill(
            files in prop::collection::btree_set((0..2_u32, "[aAb](/[aAb]){0,2}(/SKILL|/_index)?"), 1..12)
        ) {
            let files: Vec<(u32, String)> = files.into_iter().map(|(root, file)| (root, format!("{file}.md"))).collect();
            let shelf = shelf(&files);
            for (number, _) in shelf.skills() {
                let address = shelf.address(number);
                prop_assert_eq!(shelf.names.find(&shelf, &address).ok(), Some(number), "{}", address);
            }
        }
    }
}
