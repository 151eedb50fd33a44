//! Problems that depend on other skills or on the resource folder.

use crate::bindings::exports::skillcell::plugin::catalog::Problem;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::{Index, IndexedSkill};
use crate::paths;
use crate::problem::{Finding, quote};
use crate::text::fold;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Removes every folder skill whose name an earlier one has, by root and path. Returns their case-folded names and problems.
pub fn drop_duplicates(labels: &[String], entries: &mut Vec<IndexedSkill>) -> Vec<(String, Problem)> {
    entries.sort_by(|left, right| {
        (left.skill.root, &left.skill.skill_path).cmp(&(right.skill.root, &right.skill.skill_path))
    });
    let mut problems = Vec::new();
    let mut holders = BTreeMap::new();
    entries.retain(|IndexedSkill { skill, .. }| {
        if skill.model != SkillModel::Folder {
            return true;
        }
        let name = fold(&skill.name);
        let Some(first) = holders.get(&name) else {
            holders.insert(name, Rc::clone(skill));
            return true;
        };
        let holder = format!("{}:{}", labels[first.root as usize], first.file);
        let message =
            format!("`{}` already has the name `{}`, so this skill is not served", quote(&holder), quote(&skill.name));
        let advice = "rename one of them";
        problems.push((name, Finding::error("duplicate-name", message, advice).in_file(skill.root, &skill.file)));
        false
    });
    problems
}

/// Returns the problems of all skills in the index.
pub fn problems(index: &Index) -> Vec<Problem> {
    index.skills().flat_map(|(number, _)| problems_of(index, number)).collect()
}

/// Returns the problems of one skill.
pub fn problems_of(index: &Index, number: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    let skill = index.skill(number);
    if let Some(other) = index.names.hidden_by(index, number) {
        let message =
            format!("its path `{}` finds `{}` instead", quote(&skill.skill_path), quote(&index.skill(other).file));
        let advice = format!("rename one of them; until then `{}` finds it", quote(&index.address(number)));
        problems.push(Finding::warning("same-path", message, advice).in_file(skill.root, &skill.file));
    }
    if index.resources(number).is_none() && !(skill.assets.is_empty() && skill.scripts.is_empty()) {
        let folder = quote(paths::without_extension(&skill.file));
        let message = format!("files are declared, but there is no resource folder `{folder}`");
        let advice = "create the folder, or remove `assets` and `scripts`";
        problems.push(Finding::warning("no-resource-folder", message, advice).in_file(skill.root, &skill.file));
    }
    if let Some(folder) = index.resources(number).filter(|_| index.hides_skills(number)) {
        let message = format!("`{}` is its resource folder, so the skills inside are not served", quote(folder));
        let advice = "add an `_index.md` to the folder if it is a category, or rename one of the two";
        problems.push(Finding::warning("hidden-skills", message, advice).in_file(skill.root, &skill.file));
    }
    problems
}

#[cfg(test)]
mod tests {
    use crate::bindings::exports::skillcell::plugin::catalog::{Duplicates, LookupError, LookupKind};
    use crate::bindings::skillcell::plugin::types::Severity;
    use crate::memory::{self, MemoryRoot};

    fn roots() -> Vec<MemoryRoot> {
        let project =
            MemoryRoot::new("project").folder_skill("z", "twin").folder_skill("y", "Twin").tree_skill("a/twin");
        vec![project, MemoryRoot::new("user").folder_skill("twin", "TWIN").folder_skill("other", "other")]
    }

    #[test]
    fn the_first_duplicate_is_served_and_the_others_are_reported() {
        let catalog = memory::catalog(roots(), Duplicates::First);
        let served: Vec<_> = memory::by_file(&catalog, |_| ()).into_keys().collect();
        let file = |root: u32, file: &str| (root, file.to_owned());
        assert_eq!(served, [file(0, "a/twin.md"), file(0, "y/SKILL.md"), file(1, "other/SKILL.md")]);
        let problems: Vec<_> =
            catalog.problems(9).into_iter().filter(|problem| problem.code == "duplicate-name").collect();
        let places: Vec<_> =
            problems.iter().map(|problem| (problem.location.root, problem.location.path.as_str())).collect();
        assert_eq!(places, [(0, "z/SKILL.md"), (1, "twin/SKILL.md")]);
        assert!(problems.iter().all(|problem| problem.severity == Severity::Error));
        let message = "`project:y/SKILL.md` already has the name `TWIN`, so this skill is not served";
        assert_eq!(problems[1].message, message);
        assert_eq!(catalog.skill_of("project:twin", LookupKind::Name).unwrap().summary.file.path, "y/SKILL.md");
        assert_eq!(catalog.document_of(&problems[0].location), None);
        assert_eq!(catalog.body(&problems[0].location), "");
    }

    #[test]
    fn otherwise_all_are_served_and_the_name_is_ambiguous() {
        let catalog = memory::catalog(roots(), Duplicates::Refuse);
        assert_eq!(catalog.skills(None, None, 0, 9).total, 5);
        assert!(catalog.problems(9).iter().all(|problem| problem.code != "duplicate-name"));
        let several = ["y", "z", "a/twin", "user:TWIN"].map(str::to_owned).to_vec();
        assert_eq!(
            catalog.skill_of("project:Twin", LookupKind::Name).unwrap_err(),
            LookupError::Several(several[..2].to_vec())
        );
        // As a path, `twin` means `user:TWIN`; paths take precedence over short names.
        assert_eq!(catalog.skill_of("twin", LookupKind::Path).unwrap().summary.display_name, several[3]);
        let folders = ["y", "z", "user:TWIN"].map(str::to_owned).to_vec();
        assert_eq!(catalog.skill_of("twin", LookupKind::Name).unwrap_err(), LookupError::Several(folders));
    }
}
