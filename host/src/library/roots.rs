//! Which folders are roots, and what they are called.

use crate::library::plugins::{self, Plugin};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Where a project, and a user at home, keep skills for agents.
const FOR_AGENTS: [&str; 2] = [".claude/skills", ".agents/skills"];

/// A folder of skills that the operator configured. It need not exist yet.
#[derive(Debug)]
pub struct SkillRoot {
    /// The word in front of the colon in a qualified name.
    pub label: String,
    pub kind: RootKind,
    /// The folder that the operator named; absolute. It may be a link, and the link may change.
    given: PathBuf,
    /// A place inside it. No link there leads out of the given folder.
    inside: Option<&'static str>,
    /// Whether the given folder itself counts as long as there is no such place inside.
    or_itself: bool,
    /// Folders below it that are roots of their own, as paths below it.
    pub skip: BTreeSet<String>,
}

/// Whose skills a root holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// Those of a folder that the operator named, or of `skills` where the server was started.
    Folder,
    /// Those of the project in which the server was started.
    Project,
    /// The user's own.
    User,
    /// Those of an installed plugin.
    Plugin,
}

impl SkillRoot {
    /// The folder as it is now.
    pub fn open(&self) -> io::Result<Dir> {
        let given = Dir::open_ambient_dir(&self.given, ambient_authority())?;
        match self.inside.map(|inside| given.open_dir(inside)) {
            None => Ok(given),
            Some(Err(_)) if self.or_itself => Ok(given),
            Some(opened) => opened,
        }
    }

    pub fn path(&self) -> PathBuf {
        let inside = self.inside.filter(|_| !self.or_itself || self.open_inside().is_ok());
        inside.map_or_else(|| self.given.clone(), |inside| self.given.join(inside))
    }

    fn open_inside(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.given, ambient_authority())?.open_dir(self.inside.unwrap_or("."))
    }

    /// Whether it is a place inside a folder that was named, or in a clone. It need not be there.
    pub fn is_inner(&self) -> bool {
        self.kind == RootKind::Folder && self.inside.is_some()
    }

    /// Whether this is a root of the folder that was given.
    pub fn is_in(&self, given: &Path) -> bool {
        self.given == given
    }

    pub fn folder_name(&self) -> String {
        last_name(&self.path())
    }

    fn exists(&self) -> bool {
        self.path().is_dir()
    }

    /// The path without links, as far as it exists and can be opened: a link that leads out of the given folder makes this
    /// no way to where it leads.
    fn real_path(&self) -> PathBuf {
        let path = self.path();
        let opened = self.open().is_ok().then(|| path.canonicalize().ok()).flatten();
        opened.unwrap_or_else(|| self.inside.map_or(real(&self.given), |inside| real(&self.given).join(inside)))
    }

    /// One with the folder's own name as its label.
    fn named_after_folder(given: PathBuf, inside: Option<&'static str>) -> Self {
        let root = Self::labelled("", RootKind::Folder, given, inside);
        Self { label: root.folder_name(), ..root }
    }

    fn labelled(label: &str, kind: RootKind, given: PathBuf, inside: Option<&'static str>) -> Self {
        Self { label: label.to_owned(), kind, given, inside, or_itself: false, skip: BTreeSet::new() }
    }
}

/// The clone of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClonedRepository {
    /// The repository's name.
    pub label: String,
    pub folder: PathBuf,
}

/// Positions of the roots whose folder holds that of another, the innermost first.
pub fn around(roots: &[SkillRoot], number: u32) -> Vec<u32> {
    let Some(inner) = roots.get(number as usize).map(SkillRoot::path) else { return Vec::new() };
    let paths = (0..).zip(roots.iter().map(SkillRoot::path));
    let mut outer: Vec<(u32, PathBuf)> =
        paths.filter(|(other, path)| *other != number && inner.starts_with(path)).collect();
    outer.sort_by_key(|(_, path)| std::cmp::Reverse(path.components().count()));
    outer.into_iter().map(|(number, _)| number).collect()
}

/// What the operator said about roots.
#[derive(Debug, Default)]
pub struct Choice {
    /// Folders from the command line, each possibly a comma list.
    pub given: Vec<String>,
    /// The variable `SKILLS_DIR`.
    pub environment: Option<String>,
    /// The repository of `SKILLS_REPO`, if no folder is named.
    pub main_clone: Option<ClonedRepository>,
    /// Further repositories, which count in any case.
    pub more_clones: Vec<ClonedRepository>,
    /// Where the server was started.
    pub working_folder: PathBuf,
    /// The user's home folder, if it is known; absolute.
    pub home: Option<PathBuf>,
    /// The folders of the project and of the user, also when others are named and while they do not exist.
    pub user: bool,
    /// The folders of installed plugins, in the same way.
    pub plugins: bool,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "no folder of skills\nhint: name one, as in `skillcell serve ./my-skills`, or set SKILLS_DIR or SKILLS_REPO, or make a folder `skills` here or `~/.claude/skills`"
)]
pub struct NoRoots;

impl Choice {
    /// Whether somebody named a folder, so that `SKILLS_REPO` does not count.
    pub fn names_folders(&self) -> bool {
        let lists = self.given.iter().chain(&self.environment);
        lists.flat_map(|list| list.split(',')).any(|folder| !folder.trim().is_empty())
    }
}

/// The roots, in the order in which they win: those that were named, then those of the project, the user and plugins.
pub fn choose(choice: &Choice) -> Result<Vec<SkillRoot>, NoRoots> {
    let mut roots = listed(choice, &choice.given);
    if roots.is_empty() {
        roots = listed(choice, choice.environment.as_slice());
    }
    if roots.is_empty() {
        roots.extend(choice.main_clone.iter().flat_map(of_clone));
    }
    let unnamed = roots.is_empty();
    if unnamed {
        let here = SkillRoot::named_after_folder(choice.working_folder.clone(), Some("skills"));
        roots.extend(Some(here).filter(SkillRoot::exists));
    }
    roots.extend(choice.more_clones.iter().flat_map(of_clone));
    if choice.home.is_none() && (choice.user || choice.plugins) {
        tracing::warn!("HOME is not set, so the folders of the user and of plugins are not known");
    }
    // What nobody asked for counts only if it is there.
    if choice.user || unnamed {
        roots.extend(of_project_and_user(choice).into_iter().filter(|root| choice.user || root.exists()));
    }
    if choice.plugins || unnamed {
        roots.extend(of_plugins(choice).into_iter().filter(|root| choice.plugins || root.exists()));
    }
    if roots.is_empty() { Err(NoRoots) } else { Ok(distinct(roots)) }
}

/// The folders of comma lists. Each may hold skills itself and in two places inside it.
fn listed(choice: &Choice, lists: &[String]) -> Vec<SkillRoot> {
    let folders = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|folder| !folder.is_empty());
    let with_inner_roots = |folder: &str| {
        // Without the `.` that people write in front, which would show in every path.
        let given: PathBuf = choice.working_folder.join(folder).components().collect();
        [None, Some(".claude/skills"), Some("skills")]
            .map(|inside| SkillRoot::named_after_folder(given.clone(), inside))
    };
    folders.flat_map(with_inner_roots).collect()
}

/// What a repository has in `skills`, else all of it; and what it has for agents. Which of them there are shows when it is
/// cloned, and may change with every commit.
fn of_clone(clone: &ClonedRepository) -> [SkillRoot; 2] {
    let root = |place| SkillRoot::labelled(&clone.label, RootKind::Folder, clone.folder.clone(), Some(place));
    [SkillRoot { or_itself: true, ..root("skills") }, root(".claude/skills")]
}

/// A project may come from anybody, so links in it lead nowhere else. What users link to at home is theirs to say.
fn of_project_and_user(choice: &Choice) -> Vec<SkillRoot> {
    let here = &choice.working_folder;
    let at_home = choice.home.as_ref().is_some_and(|home| real(home) == real(here));
    let projects = Some(here).filter(|_| !at_home).into_iter();
    let of_project = |place| SkillRoot::labelled("project", RootKind::Project, here.clone(), Some(place));
    let of_user = |home: &PathBuf, place| SkillRoot::labelled("user", RootKind::User, home.join(place), None);
    let project = projects.flat_map(|_| FOR_AGENTS.map(of_project));
    let user = choice.home.iter().flat_map(|home| FOR_AGENTS.map(|place| of_user(home, place)));
    project.chain(user).collect()
}

fn of_plugins(choice: &Choice) -> Vec<SkillRoot> {
    let installed = choice.home.iter().flat_map(|home| plugins::installed(home));
    let root = |plugin: Plugin| SkillRoot::labelled(&plugin.label, RootKind::Plugin, plugin.folder, Some("skills"));
    installed.map(root).collect()
}

/// Each real folder once, each with a label of its own.
fn distinct(all: Vec<SkillRoot>) -> Vec<SkillRoot> {
    let mut seen = BTreeSet::new();
    let mut roots: Vec<SkillRoot> = all.into_iter().filter(|root| seen.insert(root.real_path())).collect();
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
    let paths: Vec<PathBuf> = roots.iter().map(SkillRoot::real_path).collect();
    for (root, path) in roots.iter_mut().zip(&paths) {
        let inside = paths.iter().filter_map(|other| other.strip_prefix(path).ok());
        let names = inside.filter(|inner| !inner.as_os_str().is_empty()).filter_map(|inner| inner.to_str());
        root.skip = names.map(str::to_owned).collect();
    }
    roots
}

/// The path without links, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    known.map_or_else(|| path.to_owned(), |(above, rest)| above.join(rest))
}

fn last_name(path: &Path) -> String {
    let named =
        path.canonicalize().ok().and_then(|real| real.file_name().map(|name| name.to_string_lossy().into_owned()));
    named
        .or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "root".to_owned())
}

#[cfg(test)]
mod tests;
