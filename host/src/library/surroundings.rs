//! A few files of a root, and the least that an engine has to know besides to see them for what they are.

use crate::library::roots::SkillRoot;
use crate::library::scan;
use cap_std::fs::Dir;
use std::collections::{BTreeMap, BTreeSet};

/// What a skill may inherit from, or be part of, in each folder above it.
const DECIDING: [&str; 2] = ["SKILL.md", "_index.md"];

/// The same in the root itself.
const DECIDING_AT_THE_TOP: [&str; 2] = ["_root.md", "config.yaml"];

/// Folders by their path below the root, each with the files in it that matter.
pub type Surroundings = BTreeMap<String, Vec<String>>;

/// These files, as far as they are on disk, and everything that decides whether they are skills, what they inherit and what
/// counts for them. Looks for single names and lists nothing, so it takes no longer in a large folder.
pub fn surroundings<'a>(root: &SkillRoot, folder: &Dir, files: impl Iterator<Item = &'a str>) -> Surroundings {
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    wanted.entry(String::new()).or_default().extend(DECIDING_AT_THE_TOP.map(str::to_owned));
    for path in files {
        let (mut above, name) = split(path);
        wanted.entry(above.to_owned()).or_default().insert(name.to_owned());
        // The folder beside a file is the one of its resources, unless there are skills in it.
        let beside = path.strip_suffix(".md").filter(|beside| scan::is_walked(root, beside));
        if let Some(beside) = beside.filter(|beside| folder.metadata(beside).is_ok_and(|found| found.is_dir())) {
            wanted.entry(beside.to_owned()).or_default();
        }
        while !above.is_empty() {
            let (further, name) = split(above);
            // A skill with the name of a folder may make everything in there its resources.
            wanted.entry(further.to_owned()).or_default().insert(format!("{name}.md"));
            above = further;
        }
    }
    let found = |(path, mut names): (String, BTreeSet<String>)| {
        names.extend(DECIDING.map(str::to_owned));
        names.retain(|name| folder.metadata(scan::join(&path, name)).is_ok_and(|found| !found.is_dir()));
        (path, names.into_iter().collect())
    };
    wanted.into_iter().map(found).collect()
}

/// The folder of a path, and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
