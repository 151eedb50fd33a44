//! Which skill a skill inherits from. Works on paths only; `aggregate` merges the texts.

use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::paths;
use crate::skill::Skill;

/// Returns the files that could be the parent, nearest first, whether they exist or not.
pub fn candidates(skill: &Skill) -> impl Iterator<Item = String> {
    let is_root = skill.file == "_root.md";
    let stands_for_its_folder = skill.model == SkillModel::Folder || paths::last_segment(&skill.file) == "_index.md";
    let folder = paths::folder_of(&skill.file).unwrap_or("");
    let first = match (is_root, stands_for_its_folder) {
        (true, _) => None,
        (false, false) => Some(folder),
        (false, true) if folder.is_empty() => (skill.model == SkillModel::Tree).then_some(""),
        (false, true) => paths::folder_of(folder),
    };
    std::iter::successors(first, |folder| paths::folder_of(folder))
        .map(|folder| if folder.is_empty() { "_root.md".to_owned() } else { paths::join(folder, "_index.md") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill;

    fn derived(file: &str) -> Option<String> {
        let text = "---\nkeywords: [a]\ndescription: d\n---\n";
        let (skill, _) = skill::read(0, "skills", file, text);
        candidates(&skill.unwrap()).next()
    }

    #[test]
    fn the_table_of_the_specification() {
        assert_eq!(derived("_root.md"), None);
        assert_eq!(derived("ui/_index.md").as_deref(), Some("_root.md"));
        assert_eq!(derived("ui/react/_index.md").as_deref(), Some("ui/_index.md"));
        assert_eq!(derived("ui/react/auth.md").as_deref(), Some("ui/react/_index.md"));
        assert_eq!(derived("no-inherit.md").as_deref(), Some("_root.md"));
        assert_eq!(derived("_index.md").as_deref(), Some("_root.md"));
    }

    #[test]
    fn a_folder_skill_inherits_from_above_its_folder() {
        assert_eq!(derived("SKILL.md"), None);
        assert_eq!(derived("a/SKILL.md").as_deref(), Some("_root.md"));
        assert_eq!(derived("a/b/SKILL.md").as_deref(), Some("a/_index.md"));
    }
}
