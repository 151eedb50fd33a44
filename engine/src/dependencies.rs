//! Which files decide about others: whether they are skills, what they inherit, which settings apply.

use crate::bindings::skillcell::plugin::types::Location;
use crate::paths::{folder_of, join};
use crate::settings::SETTINGS_FILE;
use crate::skill::SKILL_FILE;
use std::collections::BTreeSet;

/// Returns every path that has a say about these files, whether it exists or not.
pub fn dependencies(files: &[Location]) -> Vec<Location> {
    let mut found = BTreeSet::new();
    for Location { root, path } in files {
        let mut add = |path: String| found.insert((*root, path));
        add(SETTINGS_FILE.to_owned());
        add("_root.md".to_owned());
        if let Some(resources) = path.strip_suffix(".md") {
            // A folder with skills of its own is not a resource folder.
            add(join(resources, SKILL_FILE));
            add(join(resources, "_index.md"));
        }
        let mut below = path.as_str();
        while !below.is_empty() {
            let folder = folder_of(below).unwrap_or_default();
            add(join(folder, SKILL_FILE));
            add(join(folder, "_index.md"));
            // The folder may be the resource folder of a file next to it.
            if !folder.is_empty() {
                add(format!("{folder}.md"));
            }
            below = folder;
        }
    }
    found.into_iter().map(|(root, path)| Location { root, path }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_above_and_next_to_a_file_may_decide_about_it() {
        let file = Location { root: 1, path: "ui/forms/login.md".to_owned() };
        let found: Vec<String> = dependencies(&[file]).into_iter().map(|file| file.path).collect();
        assert_eq!(
            found,
            [
                "SKILL.md",
                "_index.md",
                "_root.md",
                "config.yaml",
                "ui.md",
                "ui/SKILL.md",
                "ui/_index.md",
                "ui/forms.md",
                "ui/forms/SKILL.md",
                "ui/forms/_index.md",
                "ui/forms/login/SKILL.md",
                "ui/forms/login/_index.md",
            ]
        );
    }
}
