//! Skills that decide what others are called, because they have the same names.

use super::remembered::Index;
use crate::bindings::types::{Location, Summary};
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

/// Skills that are kept for each name. One other is enough to make it mean several.
const KEPT: usize = 3;

/// Who has which name, found out when somebody wants to know.
#[derive(Debug, Default)]
pub struct Namesakes {
    /// Folded, with positions in the list of skills.
    holders: OnceLock<HashMap<String, Vec<usize>>>,
}

impl Index {
    /// Files of skills that share a name with this one, or have its path or one above it.
    pub fn namesakes(&self, skill: &Summary) -> BTreeSet<(u32, &str)> {
        let path = folded(&skill.skill_path);
        let above = path.match_indices('/').map(|(slash, _)| path[..slash].to_owned());
        self.holders(names_of(skill).into_iter().chain(above))
    }

    /// Files of skills that have the path of this one.
    pub fn with_path_of(&self, skill: &Summary) -> BTreeSet<(u32, &str)> {
        self.holders(std::iter::once(folded(&skill.skill_path)))
    }

    fn holders(&self, names: impl Iterator<Item = String>) -> BTreeSet<(u32, &str)> {
        let holders = self.namesakes.holders.get_or_init(|| {
            let mut holders: HashMap<String, Vec<usize>> = HashMap::new();
            for (position, skill) in self.skills.iter().enumerate() {
                for name in names_of(skill) {
                    let same = holders.entry(name).or_default();
                    if same.len() < KEPT && same.last() != Some(&position) {
                        same.push(position);
                    }
                }
            }
            holders
        });
        let found = names.filter_map(|name| holders.get(&name)).flatten();
        let file = |position: &usize| {
            let Location { root, path } = &self.skills[*position].file;
            (*root, path.as_str())
        };
        found.map(file).collect()
    }
}

/// Everything that a skill goes by, and what its URI may end with.
fn names_of(skill: &Summary) -> [String; 5] {
    let last = |path: &str| folded(path.rsplit('/').next().unwrap_or_default());
    let [name, install_name, path] = [&skill.name, &skill.install_name, &skill.skill_path].map(|name| folded(name));
    [last(&path), last(&skill.uri), name, install_name, path]
}

/// A name as the engine compares it: each letter for itself, while `to_lowercase` looks at its neighbours.
fn folded(name: &str) -> String {
    let fold = |letter: char| if letter == 'ς' { 'σ' } else { letter.to_lowercase().next().unwrap_or(letter) };
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.chars().map(fold).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::types::SkillModel;
    use crate::catalog::Listed;
    use std::sync::Arc;

    fn skill(path: &str) -> Summary {
        let text = || path.to_owned();
        Summary {
            file: Location { root: 0, path: format!("{path}.md") },
            model: SkillModel::Tree,
            address: text(),
            install_name: text(),
            name: text(),
            description: String::new(),
            skill_path: text(),
            shown_name: text(),
            uri: format!("skill://{path}"),
        }
    }

    #[test]
    fn names_are_compared_as_the_engine_does() {
        for (one, other) in [("ui/Forms", "ui/forms"), ("ΟΔΟΣ", "οδοσ"), ("οδος", "οδοσ"), ("\u{130}x", "ix")]
        {
            let skills = [one, other, "another"].map(|path| Listed::new(skill(path))).to_vec();
            let index = Index { generation: 1, skills, namesakes: Arc::default() };
            let files = [one, other].map(|path| format!("{path}.md"));
            let found = index.with_path_of(&skill(one));
            assert_eq!(found, files.iter().map(|file| (0, file.as_str())).collect(), "{one}");
        }
    }
}
