//! The catalog as a tree: categories, their skills, and folder skills below the folder that contains them.

use crate::bindings::exports::skillcell::plugin::catalog::{LookupError, Node};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::Index;
use crate::paths;
use crate::text::fold;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the whole tree, or the part below a skill, a folder or a root. If several roots have skills, each is a node.
pub fn tree(index: &Index, labels: &[String], path: Option<&str>) -> Result<Vec<Node>, LookupError> {
    let branches = Branches::new(index);
    let path = path.map(|path| path.trim_matches('/')).filter(|path| !path.is_empty());
    let mut nodes = Vec::new();
    if let Some(path) = path {
        match index.names.root_named(path) {
            Some(root) => branches.add_root(&mut nodes, labels, root),
            None => branches.add_all(&mut nodes, 0, &branches.below(path)?),
        }
        return Ok(nodes);
    }
    for root in &branches.roots {
        match branches.roots.len() {
            1 => branches.add_all(&mut nodes, 0, &branches.tops(*root)),
            _ => branches.add_root(&mut nodes, labels, *root),
        }
    }
    Ok(nodes)
}

struct Branches<'index> {
    index: &'index Index,
    /// For each skill its parent in the tree.
    above: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Roots that have skills.
    roots: BTreeSet<u32>,
}

impl<'index> Branches<'index> {
    fn new(index: &'index Index) -> Self {
        let mut folders: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        for (number, skill) in index.skills().filter(|(_, skill)| skill.model == SkillModel::Folder) {
            folders.insert((skill.root, skill.folder()), number);
        }
        let mut above = vec![None; index.limit()];
        let mut children = vec![Vec::new(); index.limit()];
        for (number, skill) in index.skills() {
            let mut around = std::iter::successors(paths::folder_of(skill.folder()), |folder| paths::folder_of(folder));
            let enclosing = around.find_map(|folder| folders.get(&(skill.root, folder)).copied());
            above[number] = enclosing.filter(|_| skill.model == SkillModel::Folder).or_else(|| index.parent(number));
            if let Some(above) = above[number] {
                children[above].push(number);
            }
        }
        let roots = index.skills().map(|(_, skill)| skill.root).collect();
        Self { index, above, children, roots }
    }

    fn tops(&self, root: u32) -> Vec<usize> {
        let all = self.index.skills().filter(|(_, skill)| skill.root == root).map(|(number, _)| number);
        all.filter(|number| self.above[*number].is_none()).collect()
    }

    /// Returns the skill with that name, or the topmost skills in that folder.
    fn below(&self, path: &str) -> Result<Vec<usize>, LookupError> {
        let names = &self.index.names;
        let category = paths::join(path, "_index");
        let everywhere = self.roots.iter().map(|root| (*root, path, category.as_str()));
        let labelled = names.roots_named(path).zip(names.roots_named(&category));
        let places = labelled.map(|((root, path), (_, category))| (root, path, category)).chain(everywhere);
        for (root, path, category) in places {
            let named =
                names.by_path_in(self.index, root, category).or_else(|| names.by_path_in(self.index, root, path));
            let found = named.map_or_else(|| self.topmost_in(root, &fold(path)), |number| vec![number]);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        names.find(self.index, path).map(|number| vec![number])
    }

    /// Returns the skills in a folder whose parent is outside it. Ignores case.
    fn topmost_in(&self, root: u32, folder: &str) -> Vec<usize> {
        let inside = |number: usize| {
            let skill = self.index.skill(number);
            let path = fold(&skill.skill_path);
            let below = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            below && skill.root == root
        };
        let all = self.index.skills().map(|(number, _)| number);
        all.filter(|number| inside(*number) && !self.above[*number].is_some_and(inside)).collect()
    }

    fn add_root(&self, nodes: &mut Vec<Node>, labels: &[String], root: u32) {
        let label = &labels[root as usize];
        nodes.push(Node {
            depth: 0,
            name: label.clone(),
            path: format!("{label}:"),
            description: String::new(),
            keywords: Vec::new(),
            asset_count: 0,
            script_count: 0,
        });
        self.add_all(nodes, 1, &self.tops(root));
    }

    /// Adds these skills with everything below them, parents first.
    fn add_all(&self, nodes: &mut Vec<Node>, depth: u32, numbers: &[usize]) {
        let mut waiting: Vec<(u32, usize)> = numbers.iter().rev().map(|number| (depth, *number)).collect();
        while let Some((depth, number)) = waiting.pop() {
            nodes.push(self.node(depth, number));
            waiting.extend(self.children[number].iter().rev().map(|child| (depth + 1, *child)));
        }
    }

    fn node(&self, depth: u32, number: usize) -> Node {
        let skill = self.index.skill(number);
        let has_files = self.index.resources(number).is_some();
        let count = |entries: usize| if has_files { u32::try_from(entries).unwrap_or(u32::MAX) } else { 0 };
        Node {
            depth,
            name: skill.short_name().to_owned(),
            path: self.index.address(number),
            description: skill.description.clone(),
            keywords: skill.keywords.clone(),
            asset_count: count(skill.assets.len()),
            script_count: count(skill.scripts.len()),
        }
    }
}
