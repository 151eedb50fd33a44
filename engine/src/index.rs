//! The skills of one generation, with everything derived from the whole set.
//!
//! A few changes are applied to what is there ([`Index::change`]); the result is the same as that of a new index.

use crate::ancestry;
use crate::bindings::exports::skillcell::plugin::catalog::{FoundSkill, Location, Summary};
use crate::names::Names;
use crate::score::Keywords;
use crate::skill::Skill;
use crate::uris::Uris;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A skill and its resource folder.
#[derive(Clone)]
pub struct IndexedSkill {
    pub skill: Rc<Skill>,
    /// Path of the resource folder below the root, if there is one.
    pub resources: Option<Rc<str>>,
    /// Whether the resource folder contains skills, which are not served.
    pub hides_skills: bool,
}

/// All skills by number. A skill keeps its number while it is in the index; then another one may get it.
#[derive(Default)]
pub struct Skills {
    entries: Vec<Option<IndexedSkill>>,
    free: Vec<usize>,
}

impl Skills {
    pub fn get(&self, number: usize) -> &Skill {
        &self.entry(number).skill
    }

    /// Greater than every number.
    pub fn limit(&self) -> usize {
        self.entries.len()
    }

    fn entry(&self, number: usize) -> &IndexedSkill {
        self.entries[number].as_ref().expect("the number of a skill")
    }

    fn add(&mut self, entry: IndexedSkill) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        self.entries[number] = Some(entry);
        number
    }

    fn remove(&mut self, number: usize) {
        self.entries[number] = None;
        self.free.push(number);
    }
}

/// All skills, sorted by path, then root.
#[derive(Default)]
pub struct Index {
    skills: Skills,
    /// The numbers of all skills in their order, and the place of each number in it.
    order: Vec<u32>,
    places: Vec<u32>,
    plugins: BTreeSet<u32>,
    pub names: Names,
    pub uris: Uris,
    pub keywords: Keywords,
}

/// The skills that [`Index::change`] concerned.
#[derive(Default)]
pub struct Affected {
    /// Skills that were added, by number.
    pub added: Vec<usize>,
    /// Others of which anything in a list may have changed: a shown name, an address or a URI. `None` if it may be any.
    pub others: Option<BTreeSet<usize>>,
    /// Others that have the path of a skill that was added or removed.
    pub same_path: BTreeSet<usize>,
}

impl Index {
    /// `plugins` are the numbers of the roots that belong to plugins.
    pub fn new(labels: &[String], plugins: &BTreeSet<u32>, mut entries: Vec<IndexedSkill>) -> Self {
        entries.sort_by(|left, right| in_order(&left.skill, &right.skill));
        let skills = Skills { entries: entries.into_iter().map(Some).collect(), free: Vec::new() };
        let order: Vec<u32> = (0..).take(skills.limit()).collect();
        Self {
            names: Names::new(labels, &skills),
            uris: Uris::new(labels, plugins, &skills, &order),
            keywords: Keywords::new(&skills),
            plugins: plugins.clone(),
            places: order.clone(),
            order,
            skills,
        }
    }

    /// Replaces a skill by one with the same names.
    pub fn replace(&mut self, number: usize, entry: IndexedSkill) {
        self.keywords.replace(number, self.skills.get(number), &entry.skill);
        self.skills.entries[number] = Some(entry);
    }

    /// Removes skills and adds others.
    pub fn change(&mut self, removed: &[usize], added: Vec<IndexedSkill>) -> Affected {
        let (mut named, mut uris, mut same_path) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut are_names_known = self.names.are_plain();
        for number in removed {
            let skill = self.skills.get(*number);
            self.names.remove(&self.skills, *number);
            self.names.add_affected(&self.skills, skill, &mut named, &mut same_path);
            self.uris.remove(&self.skills, *number, &mut uris);
            self.keywords.remove(*number, skill);
        }
        let gone: BTreeSet<u32> = removed.iter().map(|number| as_u32(*number)).collect();
        self.order.retain(|number| !gone.contains(number));
        for number in removed {
            self.skills.remove(*number);
        }
        let mut numbers = Vec::new();
        for entry in added {
            let number = self.skills.add(entry);
            let skill = self.skills.get(number);
            let place = self
                .order
                .partition_point(|other| in_order(self.skills.get(*other as usize), skill) != Ordering::Greater);
            self.order.insert(place, as_u32(number));
            self.names.add_affected(&self.skills, skill, &mut named, &mut same_path);
            self.names.insert(&self.skills, number);
            self.uris.insert(&self.skills, number, &mut uris);
            self.keywords.insert(number, skill);
            numbers.push(number);
        }
        are_names_known &= self.names.are_plain();
        self.places.resize(self.skills.limit(), 0);
        for (place, number) in (0..).zip(&self.order) {
            self.places[*number as usize] = place;
        }
        let is_there = |number: &usize| self.skills.entries.get(*number).is_some_and(Option::is_some);
        uris.retain(is_there);
        let uris = self.uris.settle(&self.skills, uris);
        if uris.is_none() {
            self.uris = Uris::new(self.names.labels(), &self.plugins, &self.skills, &self.order);
        }
        same_path.retain(is_there);
        named.retain(is_there);
        let others = uris.filter(|_| are_names_known).map(|uris| &(&named | &uris) | &same_path);
        Affected { added: numbers, others, same_path }
    }

    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// Greater than the number of every skill.
    pub fn limit(&self) -> usize {
        self.skills.limit()
    }

    pub fn skill(&self, number: usize) -> &Skill {
        self.skills.get(number)
    }

    /// Returns all skills in their order, each with its number.
    pub fn skills(&self) -> impl Iterator<Item = (usize, &Skill)> {
        self.order.iter().map(|number| (*number as usize, self.skills.get(*number as usize)))
    }

    /// Returns where a skill is in the order.
    pub fn place(&self, number: usize) -> u32 {
        self.places[number]
    }

    /// Returns the number of the skill at a place in the order.
    pub fn at(&self, place: u32) -> usize {
        self.order[place as usize] as usize
    }

    /// Returns a skill, for keeping beyond the next update.
    pub fn shared_skill(&self, number: usize) -> &Rc<Skill> {
        &self.skills.entry(number).skill
    }

    pub fn resources(&self, number: usize) -> Option<&str> {
        self.skills.entry(number).resources.as_deref()
    }

    pub fn hides_skills(&self, number: usize) -> bool {
        self.skills.entry(number).hides_skills
    }

    /// Returns the skill that a skill would inherit from: the nearest existing `_index.md` above it, or the root's `_root.md`.
    pub fn parent(&self, number: usize) -> Option<usize> {
        let skill = self.skill(number);
        ancestry::candidates(skill).find_map(|file| self.names.by_file(self, skill.root, &file))
    }

    /// Returns the skill and those it inherits from, nearest first. A skill that does not inherit is included and ends
    /// the chain.
    pub fn chain(&self, number: usize) -> Vec<usize> {
        let mut chain = vec![number];
        let mut last = number;
        while self.skill(last).inherit {
            let Some(parent) = self.parent(last) else { break };
            chain.push(parent);
            last = parent;
        }
        chain
    }

    pub fn address(&self, number: usize) -> String {
        self.names.address(self, number)
    }

    pub fn display_name(&self, number: usize) -> String {
        self.names.display_name(self, number, self.plugins.contains(&self.skill(number).root))
    }

    /// Returns the number of the skill in this file.
    pub fn number_of(&self, file: &Location) -> Option<usize> {
        self.names.by_file(self, file.root, &file.path)
    }

    /// Finds a skill by the path of its URI, or a tree skill by its path below the root if no URI has it.
    pub fn by_uri(&self, path: &str) -> Option<usize> {
        match self.uris.find(path) {
            Some(number) => Some(number).filter(|number| self.uris.path(*number) == path),
            None => self.names.by_tree_path(self, &self.plugins, path),
        }
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
            display_name: self.display_name(number),
            uri: self.uris.uri(number),
        }
    }
}

/// The order of lists.
fn in_order(left: &Skill, right: &Skill) -> Ordering {
    let rest = |skill: &Skill| (skill.root, skill.model as u8);
    (left.skill_path.cmp(&right.skill_path)).then(rest(left).cmp(&rest(right))).then(left.file.cmp(&right.file))
}

pub fn as_u32(number: usize) -> u32 {
    u32::try_from(number).expect("memory holds fewer skills")
}
