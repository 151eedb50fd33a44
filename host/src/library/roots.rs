//! Which folders are roots, and what they are called.

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// A folder of skills that the operator configured. It need not exist yet.
#[derive(Debug)]
pub struct SkillRoot {
    /// The word in front of the colon in a qualified name.
    pub label: String,
    /// Where it is; absolute.
    pub path: PathBuf,
    /// Folders below it that are roots of their own, as paths below it.
    pub skip: BTreeSet<String>,
}

impl SkillRoot {
    pub fn open(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.path, ambient_authority())
    }

    pub fn folder_name(&self) -> String {
        last_name(&self.path)
    }
}

/// What the operator said about roots.
#[derive(Debug, Default)]
pub struct Choice {
    /// Folders from the command line, each possibly a comma list.
    pub given: Vec<String>,
    /// The variable `SKILLS_DIR`.
    pub environment: Option<String>,
    /// Where the server was started.
    pub working_folder: PathBuf,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "no folder of skills\nhint: name one, as in `skillcell serve ./my-skills`, or set SKILLS_DIR, or make a folder `skills` here"
)]
pub struct NoRoots;

/// The roots, in the order in which they win.
pub fn choose(choice: &Choice) -> Result<Vec<SkillRoot>, NoRoots> {
    let absolute = |folder: &str| choice.working_folder.join(folder);
    let listed = |lists: &[String]| -> Vec<PathBuf> {
        let folders = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|folder| !folder.is_empty());
        folders.flat_map(|folder| with_inner_roots(&absolute(folder))).collect()
    };
    let mut found = listed(&choice.given);
    if found.is_empty() {
        found = listed(choice.environment.as_slice());
    }
    let mut labelled: Vec<(PathBuf, String)> = found.into_iter().map(|path| (path.clone(), last_name(&path))).collect();
    if labelled.is_empty() {
        let here = [("skills", "skills"), (".claude/skills", "project"), (".agents/skills", "project")];
        let existing = here.into_iter().filter(|(folder, _)| absolute(folder).is_dir());
        labelled = existing.map(|(folder, label)| (absolute(folder), label.to_owned())).collect();
    }
    if labelled.is_empty() {
        return Err(NoRoots);
    }
    Ok(distinct(labelled))
}

/// A folder given by the operator may hold skills itself and in these two places.
fn with_inner_roots(folder: &Path) -> [PathBuf; 3] {
    [folder.to_owned(), folder.join(".claude/skills"), folder.join("skills")]
}

/// Each real folder once, each with a label of its own.
fn distinct(labelled: Vec<(PathBuf, String)>) -> Vec<SkillRoot> {
    let mut seen = BTreeSet::new();
    let mut roots: Vec<SkillRoot> = Vec::new();
    for (path, label) in labelled {
        let path = path.canonicalize().unwrap_or(path);
        if seen.insert(path.clone()) {
            roots.push(SkillRoot { label, path, skip: BTreeSet::new() });
        }
    }
    // Folders that exist choose first, so that the usual single one keeps its plain name.
    let mut labels = BTreeSet::new();
    for exists in [true, false] {
        for root in roots.iter_mut().filter(|root| root.path.exists() == exists) {
            let numbered = (2..).map(|number| format!("{}-{number}", root.label));
            let mut choices = std::iter::once(root.label.clone()).chain(numbered);
            let label = choices.find(|label| labels.insert(label.to_lowercase()));
            root.label = label.expect("there are more numbers than roots");
        }
    }
    let paths: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
    for root in &mut roots {
        let inside = paths.iter().filter_map(|path| path.strip_prefix(&root.path).ok());
        let names = inside.filter(|inner| !inner.as_os_str().is_empty()).filter_map(|inner| inner.to_str());
        root.skip = names.map(|name| name.replace('\\', "/")).collect();
    }
    roots
}

fn last_name(path: &Path) -> String {
    let named =
        path.canonicalize().ok().and_then(|real| real.file_name().map(|name| name.to_string_lossy().into_owned()));
    named
        .or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "root".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(choice: &Choice) -> Vec<(String, String)> {
        let roots = choose(choice).unwrap();
        let below = |root: &SkillRoot| root.path.strip_prefix(&choice.working_folder).unwrap().display().to_string();
        roots.iter().map(|root| (root.label.clone(), below(root))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(label, path)| ((*label).to_owned(), (*path).to_owned())).collect()
    }

    #[test]
    fn a_given_folder_brings_its_inner_roots_and_equal_names_are_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let working_folder = folder.path().canonicalize().unwrap();
        let choice =
            Choice { given: vec!["a/team, b/team".to_owned()], environment: Some("c".to_owned()), working_folder };
        let expected = [
            ("team", "a/team"),
            ("skills", "a/team/.claude/skills"),
            ("skills-2", "a/team/skills"),
            ("team-2", "b/team"),
            ("skills-3", "b/team/.claude/skills"),
            ("skills-4", "b/team/skills"),
        ];
        assert_eq!(labels(&choice), pairs(&expected));
    }

    #[test]
    fn two_ways_to_one_folder_are_one_root() {
        let folder = tempfile::tempdir().unwrap();
        let working_folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir(working_folder.join("real")).unwrap();
        std::os::unix::fs::symlink("real", working_folder.join("link")).unwrap();
        let choice = Choice {
            given: vec!["real".to_owned(), "link".to_owned(), "./real/".to_owned()],
            environment: None,
            working_folder,
        };
        let roots = choose(&choice).unwrap();
        assert_eq!(roots.iter().filter(|root| root.label.starts_with("real")).count(), 1);
        assert!(roots[0].skip.contains("skills"));
    }

    #[test]
    fn without_a_word_the_folders_of_the_project_are_roots() {
        let folder = tempfile::tempdir().unwrap();
        let working_folder = folder.path().canonicalize().unwrap();
        let choice = Choice { given: Vec::new(), environment: None, working_folder: working_folder.clone() };
        assert!(choose(&choice).is_err());
        for name in ["skills", ".claude/skills", ".agents/skills"] {
            std::fs::create_dir_all(working_folder.join(name)).unwrap();
        }
        let expected = [("skills", "skills"), ("project", ".claude/skills"), ("project-2", ".agents/skills")];
        assert_eq!(labels(&choice), pairs(&expected));
    }
}
