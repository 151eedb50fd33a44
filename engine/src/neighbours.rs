//! What is wrong with skills only because of what is, or is not, beside them.

use crate::bindings::exports::skillcell::plugin::catalog::Problem;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::paths;
use crate::problem::{Finding, quote};
use crate::shelf::{Shelf, Shelved};
use crate::text::fold;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Takes away every folder skill whose name an earlier one has, by root and path.
pub fn leave_out_duplicates(labels: &[String], shelved: &mut Vec<Shelved>) -> Vec<Problem> {
    shelved.sort_by(|left, right| {
        (left.skill.root, &left.skill.skill_path).cmp(&(right.skill.root, &right.skill.skill_path))
    });
    let mut problems = Vec::new();
    let mut holders = BTreeMap::new();
    shelved.retain(|Shelved { skill, .. }| {
        if skill.model != SkillModel::Folder {
            return true;
        }
        let Some(first) = holders.get(&fold(&skill.name)) else {
            holders.insert(fold(&skill.name), Rc::clone(skill));
            return true;
        };
        let holder = format!("{}:{}", labels[first.root as usize], first.file);
        let message =
            format!("`{}` has the name `{}` already, so this skill is not served", quote(&holder), quote(&skill.name));
        let advice = "rename one of them";
        problems.push(Finding::error("duplicate-name", message, advice).in_file(skill.root, &skill.file));
        false
    });
    problems
}

/// What is wrong with the skills on a shelf.
pub fn problems(shelf: &Shelf) -> Vec<Problem> {
    (0..shelf.count()).flat_map(|number| problems_of(shelf, number)).collect()
}

/// What is wrong with one of them.
pub fn problems_of(shelf: &Shelf, number: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    let skill = shelf.skill(number);
    if let Some(other) = shelf.names.hidden_by(shelf, number) {
        let message =
            format!("its path `{}` finds `{}` instead", quote(&skill.skill_path), quote(&shelf.skill(other).file));
        let advice = format!("rename one of them; until then `{}` finds it", quote(&shelf.address(number)));
        problems.push(Finding::warning("same-path", message, advice).in_file(skill.root, &skill.file));
    }
    if shelf.resources(number).is_none() && !(skill.assets.is_empty() && skill.scripts.is_empty()) {
        let folder = quote(paths::without_extension(&skill.file));
        let message = format!("files are declared, but there is no resource folder `{folder}`");
        let advice = "make the folder, or remove `assets` and `scripts`";
        problems.push(Finding::warning("no-resource-folder", message, advice).in_file(skill.root, &skill.file));
    }
    if let Some(folder) = shelf.resources(number).filter(|_| shelf.hides_skills(number)) {
        let message = format!("`{}` is its resource folder, so the skills in there are not served", quote(folder));
        let advice = "add an `_index.md` to the folder if it is a category, or rename one of the two";
        problems.push(Finding::warning("hidden-skills", message, advice).in_file(skill.root, &skill.file));
    }
    problems
}

#[cfg(test)]
mod tests {
    use crate::bindings::exports::skillcell::plugin::catalog::{Called, Duplicates, LookupError};
    use crate::bindings::skillcell::plugin::types::Severity;
    use crate::memory::{self, MemoryRoot};

    fn roots() -> Vec<MemoryRoot> {
        let project =
            MemoryRoot::new("project").folder_skill("z", "twin").folder_skill("y", "Twin").tree_skill("a/twin");
        vec![project, MemoryRoot::new("user").folder_skill("twin", "TWIN").folder_skill("other", "other")]
    }

    #[test]
    fn the_first_of_several_is_served_and_the_others_are_told() {
        let catalog = memory::catalog(roots(), Duplicates::First);
        let served: Vec<_> = memory::by_file(&catalog, |_| ()).into_keys().collect();
        let file = |root: u32, file: &str| (root, file.to_owned());
        assert_eq!(served, [file(0, "a/twin.md"), file(0, "y/SKILL.md"), file(1, "other/SKILL.md")]);
        let problems: Vec<_> = catalog.problems(9).iter().filter(|problem| problem.code == "duplicate-name").collect();
        let places: Vec<_> =
            problems.iter().map(|problem| (problem.location.root, problem.location.path.as_str())).collect();
        assert_eq!(places, [(0, "z/SKILL.md"), (1, "twin/SKILL.md")]);
        assert!(problems.iter().all(|problem| problem.severity == Severity::Error));
        let message = "`project:y/SKILL.md` has the name `TWIN` already, so this skill is not served";
        assert_eq!(problems[1].message, message);
        assert_eq!(catalog.skill_of("project:twin", Called::ByName).unwrap().summary.file.path, "y/SKILL.md");
        assert_eq!(catalog.document_of(&problems[0].location), None);
        assert_eq!(catalog.body(&problems[0].location), "");
    }

    #[test]
    fn otherwise_all_are_served_and_the_name_finds_none() {
        let catalog = memory::catalog(roots(), Duplicates::Refuse);
        assert_eq!(catalog.skills(None, None, 0, 9).total, 5);
        assert!(catalog.problems(9).iter().all(|problem| problem.code != "duplicate-name"));
        let several = ["y", "z", "a/twin", "user:TWIN"].map(str::to_owned).to_vec();
        assert_eq!(
            catalog.skill_of("project:Twin", Called::ByName).unwrap_err(),
            LookupError::Several(several[..2].to_vec())
        );
        // `user:TWIN` has the path `twin`, which wins over every short name if it is meant as one.
        assert_eq!(catalog.skill_of("twin", Called::ByPath).unwrap().summary.shown_name, several[3]);
        let folders = ["y", "z", "user:TWIN"].map(str::to_owned).to_vec();
        assert_eq!(catalog.skill_of("twin", Called::ByName).unwrap_err(), LookupError::Several(folders));
    }
}
