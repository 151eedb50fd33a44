//! Decides which folders are roots, and labels them.

use crate::plugins::{self, Plugin};
use base::place::Place;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Where projects and home folders keep skills for agents.
const AGENT_FOLDERS: [&str; 2] = [".claude/skills", ".agents/skills"];

/// A folder of skills. It need not exist yet.
#[derive(Debug)]
pub struct SkillRoot {
    /// The part before the colon in a qualified name.
    pub label: String,
    pub kind: RootKind,
    /// The configured folder; absolute. It may be a link, and the link may change.
    given: PathBuf,
    /// The path of the root inside it, if any. Links there cannot leave the given folder.
    inside: Option<&'static str>,
    /// Whether the given folder itself is the root while `inside` does not exist.
    or_itself: bool,
    /// Nested roots, as paths below this one.
    pub skip: BTreeSet<String>,
}

/// Where the skills of a root come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// A configured folder, or `skills` in the working folder.
    Folder,
    /// The project in the working folder.
    Project,
    /// The home folder of the user.
    User,
    /// An installed plugin.
    Plugin,
}

impl SkillRoot {
    /// Opens the folder as it is now.
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

    pub fn place(&self) -> Place {
        Place::new(self.path(), format!("root {}", self.label))
    }

    fn open_inside(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.given, ambient_authority())?.open_dir(self.inside.unwrap_or("."))
    }

    /// Whether this is an optional root inside a configured folder or a clone.
    pub fn is_inner(&self) -> bool {
        self.kind == RootKind::Folder && self.inside.is_some()
    }

    /// Whether this root comes from the given folder.
    pub fn comes_from(&self, given: &Path) -> bool {
        self.given == given
    }

    pub fn folder_name(&self) -> String {
        last_name(&self.path())
    }

    fn exists(&self) -> bool {
        self.path().is_dir()
    }

    /// Resolves links, as far as the path exists and can be opened. A link out of the given folder cannot be opened, so its
    /// target does not count as this root.
    fn real_path(&self) -> PathBuf {
        let path = self.path();
        let opened = self.open().is_ok().then(|| path.canonicalize().ok()).flatten();
        opened.unwrap_or_else(|| {
            self.inside.map_or(resolve_links(&self.given), |inside| resolve_links(&self.given).join(inside))
        })
    }

    fn labelled_by_folder(given: PathBuf, inside: Option<&'static str>) -> Self {
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
    /// The name of the repository.
    pub label: String,
    pub folder: PathBuf,
}

/// Returns the positions of the roots that contain a root, the innermost first.
pub fn enclosing(roots: &[SkillRoot], number: u32) -> Vec<u32> {
    let Some(inner) = roots.get(number as usize).map(SkillRoot::path) else { return Vec::new() };
    let paths = (0..).zip(roots.iter().map(SkillRoot::path));
    let mut outer: Vec<(u32, PathBuf)> =
        paths.filter(|(other, path)| *other != number && inner.starts_with(path)).collect();
    outer.sort_by_key(|(_, path)| std::cmp::Reverse(path.components().count()));
    outer.into_iter().map(|(number, _)| number).collect()
}

/// The configuration of roots.
#[derive(Debug, Default)]
pub struct RootOptions {
    /// Folders from the command line, each possibly a comma-separated list.
    pub given: Vec<String>,
    /// The variable `SKILLS_DIR`.
    pub environment: Option<String>,
    /// The clone of `SKILLS_REPO`; used only if no folder is configured.
    pub main_clone: Option<ClonedRepository>,
    /// The clones of further repositories; always used.
    pub more_clones: Vec<ClonedRepository>,
    pub working_folder: PathBuf,
    /// The user's home folder, if it is known; absolute.
    pub home: Option<PathBuf>,
    /// Adds the folders of the project and the user, also if others are configured or they do not exist.
    pub user: bool,
    /// Adds the folders of installed plugins, also if others are configured or they do not exist.
    pub plugins: bool,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "no folder of skills\nhint: name one, as in `skillcell serve ./my-skills`, or set SKILLS_DIR or SKILLS_REPO, or make a folder `skills` here or `~/.claude/skills`"
)]
pub struct NoRoots;

impl RootOptions {
    /// Whether a folder is configured, so that `SKILLS_REPO` is ignored.
    pub fn names_folders(&self) -> bool {
        split_lists(self.given.iter().chain(&self.environment)).next().is_some()
    }
}

/// Returns the roots in order of precedence: configured ones, then those of the project, the user and plugins.
pub fn resolve(options: &RootOptions) -> Result<Vec<SkillRoot>, NoRoots> {
    let mut roots = listed_roots(options, &options.given);
    if roots.is_empty() {
        roots = listed_roots(options, options.environment.as_slice());
    }
    if roots.is_empty() {
        roots.extend(options.main_clone.iter().flat_map(clone_roots));
    }
    let unconfigured = roots.is_empty();
    if unconfigured {
        let here = SkillRoot::labelled_by_folder(options.working_folder.clone(), Some("skills"));
        roots.extend(Some(here).filter(SkillRoot::exists));
    }
    roots.extend(options.more_clones.iter().flat_map(clone_roots));
    if options.home.is_none() && (options.user || options.plugins) {
        tracing::warn!("HOME is not set, so the folders of the user and of plugins are unknown");
    }
    // Folders that were not requested must exist.
    if options.user || unconfigured {
        roots.extend(project_and_user_roots(options).into_iter().filter(|root| options.user || root.exists()));
    }
    if options.plugins || unconfigured {
        roots.extend(plugin_roots(options).into_iter().filter(|root| options.plugins || root.exists()));
    }
    if roots.is_empty() { Err(NoRoots) } else { Ok(distinct(roots)) }
}

/// The folders in comma-separated lists.
pub fn split_lists<'lists>(lists: impl IntoIterator<Item = &'lists String>) -> impl Iterator<Item = &'lists str> {
    lists.into_iter().flat_map(|list| list.split(',')).map(str::trim).filter(|folder| !folder.is_empty())
}

/// Returns the roots of comma-separated folders. Each may hold skills itself and in two folders inside.
fn listed_roots(options: &RootOptions, lists: &[String]) -> Vec<SkillRoot> {
    let with_inner_roots = |folder: &str| {
        // Collecting the components removes a leading `.`, which would show in every path.
        let given: PathBuf = options.working_folder.join(folder).components().collect();
        [None, Some(".claude/skills"), Some("skills")]
            .map(|inside| SkillRoot::labelled_by_folder(given.clone(), inside))
    };
    split_lists(lists).flat_map(with_inner_roots).collect()
}

/// Returns `skills`, or the whole repository if there is none, and `.claude/skills`. Which of them exist may change with
/// every commit.
fn clone_roots(clone: &ClonedRepository) -> [SkillRoot; 2] {
    let root = |inside| SkillRoot::labelled(&clone.label, RootKind::Folder, clone.folder.clone(), Some(inside));
    [SkillRoot { or_itself: true, ..root("skills") }, root(".claude/skills")]
}

/// A project is not trusted, so its links cannot leave it. Links in the home folder are the user's own, and may.
fn project_and_user_roots(options: &RootOptions) -> Vec<SkillRoot> {
    let here = &options.working_folder;
    let at_home = options.home.as_ref().is_some_and(|home| resolve_links(home) == resolve_links(here));
    let projects = Some(here).filter(|_| !at_home).into_iter();
    let project_root = |folder| SkillRoot::labelled("project", RootKind::Project, here.clone(), Some(folder));
    let user_root = |home: &PathBuf, folder| SkillRoot::labelled("user", RootKind::User, home.join(folder), None);
    let project = projects.flat_map(|_| AGENT_FOLDERS.map(project_root));
    let user = options.home.iter().flat_map(|home| AGENT_FOLDERS.map(|folder| user_root(home, folder)));
    project.chain(user).collect()
}

fn plugin_roots(options: &RootOptions) -> Vec<SkillRoot> {
    let installed = options.home.iter().flat_map(|home| plugins::installed(home));
    let root = |plugin: Plugin| SkillRoot::labelled(&plugin.label, RootKind::Plugin, plugin.folder, Some("skills"));
    installed.map(root).collect()
}

/// Removes duplicates by real path, and makes labels unique.
fn distinct(all: Vec<SkillRoot>) -> Vec<SkillRoot> {
    let mut seen = BTreeSet::new();
    let mut roots: Vec<SkillRoot> = all.into_iter().filter(|root| seen.insert(root.real_path())).collect();
    // Existing folders come first, so that a single one keeps its label without a number.
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

/// Resolves links, as far as the path exists.
pub fn resolve_links(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|base| Some((base.canonicalize().ok()?, path.strip_prefix(base).ok()?)));
    existing.map_or_else(|| path.to_owned(), |(base, rest)| base.join(rest))
}

fn last_name(path: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let real = path.canonicalize().ok();
    real.as_deref().and_then(name).or_else(|| name(path)).unwrap_or_else(|| "root".to_owned())
}

#[cfg(test)]
mod tests;
