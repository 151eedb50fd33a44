//! The skills of one generation side by side, with what follows from their being together.

use crate::ancestry;
use crate::bindings::exports::skillcell::plugin::catalog::{Location, Summary};
use crate::names::Names;
use crate::score::Keywords;
use crate::skill::Skill;
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
    pub keywords: Keywords,
    /// For each skill the one it would inherit from.
    parents: Vec<Option<usize>>,
}

impl Shelf {
    pub fn new(labels: &[String], mut shelved: Vec<Shelved>) -> Self {
        shelved.sort_by(|left, right| {
            let order = |shelved: &Shelved| (shelved.skill.root, shelved.skill.model as u8);
            (left.skill.skill_path.cmp(&right.skill.skill_path)).then(order(left).cmp(&order(right)))
        });
        let skills = || shelved.iter().map(|shelved| shelved.skill.as_ref());
        Self {
            names: Names::new(labels, skills()),
            keywords: Keywords::new(skills()),
            parents: ancestry::parents(skills()),
            shelved,
        }
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
        }
    }
}
