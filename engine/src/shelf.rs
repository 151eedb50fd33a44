//! The skills of one generation side by side, with what follows from their being together.

use crate::ancestry;
use crate::bindings::exports::skillcell::plugin::catalog::{FoundSkill, Location, Summary};
use crate::names::Names;
use crate::score::Keywords;
use crate::skill::Skill;
use crate::uris::Uris;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A skill and the folder of its files.
pub struct Shelved {
    pub skill: Rc<Skill>,
    /// Path of the resource folder below the root, if there is one.
    pub resources: Option<String>,
    /// Whether there are skills in the resource folder, which are not served.
    pub hides_skills: bool,
}

/// All skills, sorted by path and then root. A skill's position is its number until the next update.
#[derive(Default)]
pub struct Shelf {
    shelved: Vec<Shelved>,
    pub names: Names,
    pub uris: Uris,
    pub keywords: Keywords,
    /// For each skill the one it would inherit from.
    parents: Vec<Option<usize>>,
    shown_names: Vec<String>,
}

impl Shelf {
    /// `plugins` are the numbers of the roots that belong to plugins.
    pub fn new(labels: &[String], plugins: &BTreeSet<u32>, mut shelved: Vec<Shelved>) -> Self {
        shelved.sort_by(|left, right| {
            let order = |shelved: &Shelved| (shelved.skill.root, shelved.skill.model as u8);
            (left.skill.skill_path.cmp(&right.skill.skill_path)).then(order(left).cmp(&order(right)))
        });
        let skills = || shelved.iter().map(|shelved| shelved.skill.as_ref());
        let mut shelf = Self {
            names: Names::new(labels, skills()),
            uris: Uris::new(labels, plugins, skills()),
            keywords: Keywords::new(skills()),
            parents: ancestry::parents(skills()),
            shown_names: Vec::new(),
            shelved,
        };
        let shown =
            |(number, skill): (usize, &Skill)| shelf.names.shown_name(&shelf, number, plugins.contains(&skill.root));
        shelf.shown_names = shelf.skills().map(shown).collect();
        shelf
    }

    /// Puts a skill in the place of another that is called the same.
    pub fn replace(&mut self, number: usize, skill: Rc<Skill>) {
        self.keywords.replace(number, &self.shelved[number].skill, &skill);
        self.shelved[number].skill = skill;
    }

    pub fn count(&self) -> usize {
        self.shelved.len()
    }

    pub fn skill(&self, number: usize) -> &Skill {
        &self.shelved[number].skill
    }

    pub fn skills(&self) -> impl Iterator<Item = (usize, &Skill)> {
        self.shelved.iter().enumerate().map(|(number, shelved)| (number, shelved.skill.as_ref()))
    }

    /// The same in order, to be kept beyond the next update.
    pub fn shared_skills(&self) -> impl Iterator<Item = &Rc<Skill>> {
        self.shelved.iter().map(|shelved| &shelved.skill)
    }

    pub fn resources(&self, number: usize) -> Option<&str> {
        self.shelved[number].resources.as_deref()
    }

    pub fn hides_skills(&self, number: usize) -> bool {
        self.shelved[number].hides_skills
    }

    pub fn parent(&self, number: usize) -> Option<usize> {
        self.parents[number]
    }

    /// The skill and those it inherits from, nearest first. One that does not inherit is included and ends the chain.
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

    pub fn shown_name(&self, number: usize) -> &str {
        &self.shown_names[number]
    }

    /// The skill in this file, if there is one.
    pub fn number_of(&self, file: &Location) -> Option<usize> {
        self.names.by_file(self, file.root, &file.path)
    }

    pub fn found(&self, number: usize) -> FoundSkill {
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
            shown_name: self.shown_name(number).to_owned(),
            uri: self.uris.uri(number),
        }
    }
}
