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
    /// The folder that the operator named; absolute. It may be a link, and the link may change.
    given: PathBuf,
    /// A place inside it. No link there leads out of the given folder.
    inside: Option<&'static str>,
    /// Folders below it that are roots of their own, as paths below it.
    pub skip: BTreeSet<String>,
}

impl SkillRoot {
    /// The folder as it is now.
    pub fn open(&self) -> io::Result<Dir> {
        let given = Dir::open_ambient_dir(&self.given, ambient_authority())?;
        self.inside.map_or(Ok(given.try_clone()?), |inside| given.open_dir(inside))
    }

    pub fn path(&self) -> PathBuf {
        self.inside.map_or_else(|| self.given.clone(), |inside| self.given.join(inside))
    }

    pub fn folder_name(&self) -> String {
        last_name(&self.path())
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
    let root = |folder: &str, inside: Option<&'static str>, label: Option<&str>| {
        let root = SkillRoot {
            label: String::new(),
            given: choice.working_folder.join(folder),
            inside,
            skip: BTreeSet::new(),
        };
        SkillRoot { label: label.map_or_else(|| root.folder_name(), str::to_owned), ..root }
    };
    // A folder given by the operator may hold skills itself and in two places inside it.
    let with_inner_roots =
        |folder: &str| [None, Some(".claude/skills"), Some("skills")].map(|inside| root(folder, inside, None));
    let listed = |lists: &[String]| -> Vec<SkillRoot> {
        let folders = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|folder| !folder.is_empty());
        folders.flat_map(with_inner_roots).collect()
    };
    let mut roots = listed(&choice.given);
    if roots.is_empty() {
        roots = listed(choice.environment.as_slice());
    }
    if roots.is_empty() {
        let here = [("skills", None), (".claude/skills", Some("project")), (".agents/skills", Some("project"))];
        let roots_here = here.into_iter().map(|(folder, label)| root(folder, None, label));
        roots = roots_here.filter(|root| root.path().is_dir()).collect();
    }
    if roots.is_empty() { Err(NoRoots) } else { Ok(distinct(roots)) }
}

/// Each real folder once, each with a label of its own.
fn distinct(all: Vec<SkillRoot>) -> Vec<SkillRoot> {
    let real = |root: &SkillRoot| root.path().canonicalize().unwrap_or_else(|_| root.path());
    let mut seen = BTreeSet::new();
    let mut roots: Vec<SkillRoot> = all.into_iter().filter(|root| seen.insert(real(root))).collect();
    // Folders that exist choose first, so that the usual single one keeps its plain name.
    let mut labels = BTreeSet::new();
    for exists in [true, false] {
        for root in roots.iter_mut().filter(|root| root.path().exists() == exists) {
            let numbered = (2..).map(|number| format!("{}-{number}", root.label));
            let mut choices = std::iter::once(root.label.clone()).chain(numbered);
            let label = choices.find(|label| labels.insert(label.to_lowercase()));
            root.label = label.expect("there are more numbers than roots");
        }
    }
    let paths: Vec<PathBuf> = roots.iter().map(real).collect();
    for (root, path) in roots.iter_mut().zip(&paths) {
        let inside = paths.iter().filter_map(|other| other.strip_prefix(path).ok());
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
        let below = |root: &SkillRoot| root.path().strip_prefix(&choice.working_folder).unwrap().display().to_string();
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
