//! The skills of one generation, with everything derived from the whole set.

use crate::ancestry;
use crate::bindings::exports::skillcell::plugin::catalog::{FoundSkill, Location, Summary};
use crate::names::Names;
use crate::score::Keywords;
use crate::skill::Skill;
use crate::uris::Uris;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A skill and its resource folder.
pub struct IndexedSkill {
    pub skill: Rc<Skill>,
    /// Path of the resource folder below the root, if there is one.
    pub resources: Option<String>,
    /// Whether the resource folder contains skills, which are not served.
    pub hides_skills: bool,
}

/// All skills, sorted by path, then root. A skill's position is its number until the next update.
#[derive(Default)]
pub struct Index {
    entries: Vec<IndexedSkill>,
    pub names: Names,
    pub uris: Uris,
    pub keywords: Keywords,
    /// For each skill the one it would inherit from.
    parents: Vec<Option<usize>>,
    shown_names: Vec<String>,
}

impl Index {
    /// `plugins` are the numbers of the roots that belong to plugins.
    pub fn new(labels: &[String], plugins: &BTreeSet<u32>, mut entries: Vec<IndexedSkill>) -> Self {
        entries.sort_by(|left, right| {
            let order = |entry: &IndexedSkill| (entry.skill.root, entry.skill.model as u8);
            (left.skill.skill_path.cmp(&right.skill.skill_path)).then(order(left).cmp(&order(right)))
        });
        let skills = || entries.iter().map(|entry| entry.skill.as_ref());
        let mut index = Self {
            names: Names::new(labels, skills()),
            uris: Uris::new(labels, plugins, skills()),
            keywords: Keywords::new(skills()),
            parents: ancestry::parents(skills()),
            shown_names: Vec::new(),
            entries,
        };
        let shown =
            |(number, skill): (usize, &Skill)| index.names.display_name(&index, number, plugins.contains(&skill.root));
        index.shown_names = index.skills().map(shown).collect();
        index
    }

    /// Replaces a skill by one with the same names.
    pub fn replace(&mut self, number: usize, skill: Rc<Skill>) {
        self.keywords.replace(number, &self.entries[number].skill, &skill);
        self.entries[number].skill = skill;
    }

    pub fn count(&self) -> usize {
        self.entries.len()
    }

    pub fn skill(&self, number: usize) -> &Skill {
        &self.entries[number].skill
    }

    pub fn skills(&self) -> impl Iterator<Item = (usize, &Skill)> {
        self.entries.iter().enumerate().map(|(number, entry)| (number, entry.skill.as_ref()))
    }

    /// Returns a skill, for keeping beyond the next update.
    pub fn shared_skill(&self, number: usize) -> &Rc<Skill> {
        &self.entries[number].skill
    }

    pub fn resources(&self, number: usize) -> Option<&str> {
        self.entries[number].resources.as_deref()
    }

    pub fn hides_skills(&self, number: usize) -> bool {
        self.entries[number].hides_skills
    }

    pub fn parent(&self, number: usize) -> Option<usize> {
        self.parents[number]
    }

    /// Returns the skill and those it inherits from, nearest first. A skill that does not inherit is included and ends
    /// the chain.
    pub fn chain(&self, number: usize) -> Vec<usize> {
        let mut chain = vec![number];
        let mut last = number;
        while self.skill(last).inherit {
            let Some(parent) = self.parents[last] else { break };
            chain.push(parent);
            last = parent;
        }
        chain
    }

    pub fn address(&self, number: usize) -> String {
        self.names.address(self, number)
    }

    pub fn display_name(&self, number: usize) -> &str {
        &self.shown_names[number]
    }

    /// Returns the number of the skill in this file.
    pub fn number_of(&self, file: &Location) -> Option<usize> {
        self.names.by_file(self, file.root, &file.path)
    }

    pub fn found_skill(&self, number: usize) -> FoundSkill {
        let resources = self.resources(number);
        FoundSkill {
            summary: self.summary(number),
            resources: resources.map(|path| Location { root: self.skill(number).root, path: path.to_owned() }),
        }
    }

    pub fn summary(&self, number: usize) -> Summary {
        let skill = self.skill(number);
        Summary {
            file: Location { root: skill.root, path: skill.file.clone() },
            model: skill.model,
            address: self.address(number),
            install_name: skill.install_name.clone(),
            name: skill.name.clone(),
            description: skill.description.clone(),
            skill_path: skill.skill_path.clone(),
            display_name: self.display_name(number).to_owned(),
            uri: self.uris.uri(number),
        }
    }
}
