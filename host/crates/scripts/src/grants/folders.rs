//! Which part of the working folder a script gets. Compares opened folders, not paths.

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use sandbox::files::disk::{Writable, is_protected};
use sandbox::files::path::below;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The part of the working folder that is requested.
#[derive(Debug, Clone, Copy)]
pub enum FolderRequest<'a> {
    /// The script declares nothing, so everything that is granted.
    Everything,
    /// Paths below the working folder.
    Paths { read: &'a [String], write: &'a [String] },
}

/// Folders that the operator grants.
#[derive(Debug, Clone, Copy)]
pub struct GrantedFolders<'a> {
    pub read: &'a [PathBuf],
    pub write: &'a [PathBuf],
}

/// What a script gets of the working folder: one or more opened folders in it.
#[derive(Debug)]
pub struct WorkingFolder {
    pub parts: Vec<Part>,
}

#[derive(Debug)]
pub struct Part {
    /// Path below the working folder; empty for all of it.
    pub at: String,
    pub folder: Arc<Dir>,
    /// Paths below this part.
    pub writable: Vec<Writable>,
}

/// A path that is requested but not granted.
#[derive(Debug, PartialEq, Eq)]
pub enum MissingGrant {
    /// Paths below the working folder; empty for all of it.
    Read(String),
    Write(String),
    /// A path that leaves the working folder, as it was written.
    Outside(String),
}

/// Opens the folders that are both requested and granted.
pub fn open_granted(
    path: &Path,
    requested: FolderRequest<'_>,
    granted: GrantedFolders<'_>,
) -> (Option<WorkingFolder>, Vec<MissingGrant>) {
    let mut missing = Vec::new();
    let Ok(top) = Dir::open_ambient_dir(path, ambient_authority()) else {
        return (None, vec![MissingGrant::Read(String::new())]);
    };
    let top = Arc::new(top);
    let readable = [granted.read, granted.write].concat();
    // A script that writes has to be able to traverse the folders above.
    let everywhere = [String::from(".")];
    let read = match requested {
        FolderRequest::Everything => &everywhere,
        FolderRequest::Paths { write, .. } if !write.is_empty() => &everywhere,
        FolderRequest::Paths { read, .. } => read,
    };
    let mut parts: Vec<Part> = Vec::new();
    for text in read {
        let Some(at) = normalized(text) else {
            missing.push(MissingGrant::Outside(text.clone()));
            continue;
        };
        let opened = if at.is_empty() { top.try_clone() } else { top.open_dir(&at) };
        let Ok(folder) = opened.map(Arc::new) else {
            missing.push(MissingGrant::Read(at));
            continue;
        };
        if readable.iter().any(|granted| open(granted).is_some_and(|granted| is_within(&folder, &granted))) {
            parts.push(Part { at, folder, writable: Vec::new() });
            continue;
        }
        let count_before = parts.len();
        for granted in &readable {
            if let Some((below, folder)) = open_inside(&folder, &joined(path, &at), granted) {
                let at = if at.is_empty() { below } else { format!("{at}/{below}") };
                parts.push(Part { at, folder: Arc::new(folder), writable: Vec::new() });
            }
        }
        if parts.len() == count_before {
            missing.push(MissingGrant::Read(at));
        }
    }
    // A folder inside another part is already included.
    parts.sort_by(|one, other| one.at.cmp(&other.at));
    parts.dedup_by(|later, earlier| below(&later.at, &earlier.at).is_some());

    let granted_parts: Vec<String> =
        granted.write.iter().filter_map(|granted| writable_path(&top, path, granted)).collect();
    let everything = [String::new()];
    let requested_writes: Vec<String> = match requested {
        FolderRequest::Everything => everything.to_vec(),
        FolderRequest::Paths { write, .. } => {
            let outside = write.iter().filter(|path| normalized(path).is_none());
            missing.extend(outside.cloned().map(MissingGrant::Outside));
            write.iter().filter_map(|path| normalized(path)).collect()
        }
    };
    for write in &requested_writes {
        let mut covered = false;
        for named in &granted_parts {
            let Some(both) = deeper(write, named) else { continue };
            covered = true;
            for part in &mut parts {
                if let Some(at) = deeper(both, &part.at).and_then(|deepest| below(deepest, &part.at)) {
                    let named = below(named, &part.at).unwrap_or_default().to_owned();
                    part.writable.push(Writable { below: at.to_owned(), named });
                }
            }
        }
        if !covered && !matches!(requested, FolderRequest::Everything) {
            missing.push(MissingGrant::Write(write.clone()));
        }
    }
    (Some(WorkingFolder { parts }).filter(|work| !work.parts.is_empty()), missing)
}

fn joined(path: &Path, below: &str) -> PathBuf {
    if below.is_empty() { path.to_owned() } else { path.join(below) }
}

/// Removes `.` and empty segments from a path below the working folder. `None` if it leaves the folder.
fn normalized(path: &str) -> Option<String> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return None,
            name => names.push(name),
        }
    }
    (!path.starts_with('/') && !path.contains('\0')).then(|| names.join("/"))
}

/// Returns the longer of two paths if it is below the other.
fn deeper<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    if below(one, other).is_some() { Some(one) } else { below(other, one).map(|_| other) }
}

fn open(path: &Path) -> Option<Dir> {
    Dir::open_ambient_dir(path, ambient_authority()).ok()
}

/// Whether a folder is another one or below it. Opens its parents one by one and compares them.
fn is_within(folder: &Dir, other: &Dir) -> bool {
    let identity = |folder: &dyn AsFd| rustix::fs::fstat(folder.as_fd()).ok().map(|stat| (stat.st_dev, stat.st_ino));
    let Some(target) = identity(other) else { return false };
    let up = |folder: &dyn AsFd| {
        rustix::fs::openat(folder.as_fd(), "..", OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
    };
    let mut here = identity(folder);
    let mut parent = up(folder);
    loop {
        if here == Some(target) {
            return true;
        }
        let Ok(above) = parent else { return false };
        let next = identity(&above);
        if next == here || next.is_none() {
            return false;
        }
        here = next;
        parent = up(&above);
    }
}

/// Opens a granted folder that is inside another. Returns its path there, too.
fn open_inside(folder: &Dir, path: &Path, granted: &Path) -> Option<(String, Dir)> {
    let opened = open(granted)?;
    if !is_within(&opened, folder) {
        return None;
    }
    let below = granted.canonicalize().ok()?.strip_prefix(path.canonicalize().ok()?).ok()?.to_str()?.to_owned();
    Some((below, opened))
}

/// Returns the path below the working folder that a write grant covers; empty for all of it.
fn writable_path(top: &Dir, path: &Path, granted: &Path) -> Option<String> {
    if let Some(folder) = open(granted) {
        if is_within(top, &folder) {
            // A working folder inside `.git` does not make it writable: only a grant that names it does.
            let beyond =
                path.canonicalize().ok()?.strip_prefix(granted.canonicalize().ok()?).ok()?.to_str()?.to_owned();
            return (!beyond.split('/').any(is_protected)).then(String::new);
        }
        return open_inside(top, path, granted).map(|(below, _)| below);
    }
    // A file that may not exist yet, in a folder that does.
    let (parent, name) = (granted.parent()?, granted.file_name()?.to_str()?);
    let above = writable_path(top, path, parent).filter(|above| !above.is_empty() || is_same(top, parent))?;
    Some(if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") })
}

fn is_same(folder: &Dir, path: &Path) -> bool {
    open(path).is_some_and(|other| is_within(folder, &other) && is_within(&other, folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Project {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    fn project() -> Project {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("app");
        fs::create_dir_all(path.join("src/deep")).unwrap();
        fs::create_dir_all(path.join(".git")).unwrap();
        fs::create_dir_all(path.parent().unwrap().join("other")).unwrap();
        Project { _folder: folder, path }
    }

    /// The path of each part, with its writable paths and the grants that they come from.
    type Parts = Vec<(String, Vec<(String, String)>)>;

    fn opened(path: &Path, requested: FolderRequest<'_>, read: &[&Path], write: &[&Path]) -> (Parts, usize) {
        let read: Vec<PathBuf> = read.iter().map(|path| (*path).to_owned()).collect();
        let write: Vec<PathBuf> = write.iter().map(|path| (*path).to_owned()).collect();
        let (work, missing) = open_granted(path, requested, GrantedFolders { read: &read, write: &write });
        let parts = work.map_or(Vec::new(), |work| work.parts);
        let writable =
            |part: &Part| part.writable.iter().map(|part| (part.below.clone(), part.named.clone())).collect();
        (parts.iter().map(|part| (part.at.clone(), writable(part))).collect(), missing.len())
    }

    fn pair(below: &str, named: &str) -> (String, String) {
        (below.to_owned(), named.to_owned())
    }

    #[test]
    fn a_grant_covers_its_folder_and_everything_below() {
        let project = project();
        let app = project.path.as_path();
        let all = FolderRequest::Everything;
        assert_eq!(opened(app, all, &[app], &[]), (vec![(String::new(), vec![])], 0));
        assert_eq!(opened(&app.join("src/deep"), all, &[app], &[]), (vec![(String::new(), vec![])], 0));
        assert_eq!(opened(app, all, &[], &[app]), (vec![(String::new(), vec![pair("", "")])], 0));
        assert_eq!(opened(app, all, &[&app.with_file_name("other")], &[]), (vec![], 1));
        assert_eq!(opened(app, all, &[], &[]), (vec![], 1));
        assert_eq!(opened(&app.join("missing"), all, &[app], &[]), (vec![], 1));
    }

    #[test]
    fn a_folder_whose_name_has_a_granted_folder_as_prefix_is_not_covered() {
        let project = project();
        let longer = project.path.with_file_name("app-secret");
        fs::create_dir(&longer).unwrap();
        assert_eq!(opened(&longer, FolderRequest::Everything, &[&project.path], &[]), (vec![], 1));
    }

    #[test]
    fn links_are_resolved_before_they_are_compared() {
        let project = project();
        let (app, top) = (project.path.as_path(), project.path.parent().unwrap());
        std::os::unix::fs::symlink(app, top.join("link")).unwrap();
        assert_eq!(opened(&top.join("link"), FolderRequest::Everything, &[app], &[]).1, 0);
        std::os::unix::fs::symlink(top.join("other"), app.join("out")).unwrap();
        assert_eq!(opened(&app.join("out"), FolderRequest::Everything, &[app], &[]), (vec![], 1));
    }

    #[test]
    fn a_grant_inside_the_working_folder_gives_only_that_part() {
        let project = project();
        let app = project.path.as_path();
        let (parts, missing) = opened(app, FolderRequest::Everything, &[&app.join("src")], &[]);
        assert_eq!((parts, missing), (vec![("src".to_owned(), vec![])], 0));
    }

    #[test]
    fn a_script_gets_no_more_than_it_requests() {
        let project = project();
        let app = project.path.as_path();
        let read = ["src".to_owned()];
        let requested = FolderRequest::Paths { read: &read, write: &[] };
        assert_eq!(opened(app, requested, &[app], &[app]), (vec![("src".to_owned(), vec![])], 0));
        let write = ["CHANGELOG.md".to_owned()];
        let requested = FolderRequest::Paths { read: &[], write: &write };
        assert_eq!(opened(app, requested, &[], &[app]), (vec![(String::new(), vec![pair("CHANGELOG.md", "")])], 0));
        assert_eq!(opened(app, requested, &[app], &[]), (vec![(String::new(), vec![])], 1));
        let climbs = ["../other".to_owned()];
        assert_eq!(opened(app, FolderRequest::Paths { read: &climbs, write: &[] }, &[app], &[]), (vec![], 1));
    }

    #[test]
    fn a_working_folder_inside_a_protected_folder_is_read_only() {
        let project = project();
        let app = project.path.as_path();
        let hooks = app.join(".git/hooks");
        fs::create_dir(&hooks).unwrap();
        for folder in [&app.join(".git"), &hooks] {
            assert_eq!(
                opened(folder, FolderRequest::Everything, &[], &[app]).0,
                [(String::new(), vec![])],
                "{folder:?}"
            );
        }
        assert_eq!(
            opened(&hooks, FolderRequest::Everything, &[], &[&app.join(".git")]).0,
            [(String::new(), vec![pair("", "")])]
        );
        let climbs = ["../other".to_owned()];
        assert_eq!(opened(app, FolderRequest::Paths { read: &[], write: &climbs }, &[], &[app]).1, 1);
    }

    #[test]
    fn only_the_operator_can_make_a_protected_folder_writable() {
        let project = project();
        let app = project.path.as_path();
        let write = [".git".to_owned()];
        let requested = FolderRequest::Paths { read: &[], write: &write };
        assert_eq!(opened(app, requested, &[], &[app]).0, [(String::new(), vec![pair(".git", "")])]);
        let git = app.join(".git");
        assert_eq!(opened(app, requested, &[app], &[&git]).0, [(String::new(), vec![pair(".git", ".git")])]);
        let changelog = app.join("CHANGELOG.md");
        let (parts, _) = opened(app, FolderRequest::Everything, &[app], &[&changelog]);
        assert_eq!(parts, [(String::new(), vec![pair("CHANGELOG.md", "CHANGELOG.md")])]);
    }
}
