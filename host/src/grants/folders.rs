//! Which part of the working folder a script gets, decided by opened folders and not by text.

use crate::sandbox::files::disk::{Writable, is_protected};
use crate::sandbox::files::path::below;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is wanted of the working folder.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// The script does not say, so whatever is granted.
    Everything,
    /// Paths below it.
    Paths { read: &'a [String], write: &'a [String] },
}

/// Folders of this machine that the operator grants.
#[derive(Debug, Clone, Copy)]
pub struct Granted<'a> {
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

/// Something that is wanted and not granted.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing {
    pub path: PathBuf,
    pub write: bool,
}

/// Opens what is wanted and granted.
pub fn lend(path: &Path, wanted: Wanted<'_>, granted: Granted<'_>) -> (Option<WorkingFolder>, Vec<Missing>) {
    let mut missing = Vec::new();
    let miss = |path: PathBuf, write: bool| Missing { path, write };
    let Ok(top) = Dir::open_ambient_dir(path, ambient_authority()) else {
        return (None, vec![miss(path.to_owned(), false)]);
    };
    let top = Arc::new(top);
    let readable = [granted.read, granted.write].concat();
    // Who writes into a folder has to find its way there.
    let everywhere = [String::from(".")];
    let read = match wanted {
        Wanted::Everything => &everywhere,
        Wanted::Paths { write, .. } if !write.is_empty() => &everywhere,
        Wanted::Paths { read, .. } => read,
    };
    let mut parts: Vec<Part> = Vec::new();
    for wanted in read {
        let Some(at) = plain(wanted) else {
            missing.push(miss(PathBuf::from(wanted), false));
            continue;
        };
        let opened = if at.is_empty() { top.try_clone() } else { top.open_dir(&at) };
        let Ok(folder) = opened.map(Arc::new) else {
            missing.push(miss(joined(path, &at), false));
            continue;
        };
        if readable.iter().any(|granted| open(granted).is_some_and(|granted| is_within(&folder, &granted))) {
            parts.push(Part { at, folder, writable: Vec::new() });
            continue;
        }
        let before = parts.len();
        for granted in &readable {
            if let Some((below, folder)) = inside(&folder, &joined(path, &at), granted) {
                let at = if at.is_empty() { below } else { format!("{at}/{below}") };
                parts.push(Part { at, folder: Arc::new(folder), writable: Vec::new() });
            }
        }
        if parts.len() == before {
            missing.push(miss(joined(path, &at), false));
        }
    }
    // A folder inside another is there already.
    parts.sort_by(|one, other| one.at.cmp(&other.at));
    parts.dedup_by(|later, earlier| below(&later.at, &earlier.at).is_some());

    let granted_parts: Vec<String> = granted.write.iter().filter_map(|granted| named(&top, path, granted)).collect();
    let everything = [String::new()];
    let asked: Vec<String> = match wanted {
        Wanted::Everything => everything.to_vec(),
        Wanted::Paths { write, .. } => {
            missing
                .extend(write.iter().filter(|path| plain(path).is_none()).map(|path| miss(PathBuf::from(path), true)));
            write.iter().filter_map(|wanted| plain(wanted)).collect()
        }
    };
    for asked in &asked {
        let mut covered = false;
        for named in &granted_parts {
            let Some(both) = deeper(asked, named) else { continue };
            covered = true;
            for part in &mut parts {
                if let Some(at) = deeper(both, &part.at).and_then(|deepest| below(deepest, &part.at)) {
                    let named = below(named, &part.at).unwrap_or_default().to_owned();
                    part.writable.push(Writable { below: at.to_owned(), named });
                }
            }
        }
        if !covered && !matches!(wanted, Wanted::Everything) {
            missing.push(miss(joined(path, asked), true));
        }
    }
    (Some(WorkingFolder { parts }).filter(|work| !work.parts.is_empty()), missing)
}

fn joined(path: &Path, below: &str) -> PathBuf {
    if below.is_empty() { path.to_owned() } else { path.join(below) }
}

/// A path below the working folder without `.` and double separators; nothing for one that climbs.
fn plain(path: &str) -> Option<String> {
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

/// The longer of two paths if it is below the other.
fn deeper<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    if below(one, other).is_some() { Some(one) } else { below(other, one).map(|_| other) }
}

fn open(path: &Path) -> Option<Dir> {
    Dir::open_ambient_dir(path, ambient_authority()).ok()
}

/// Whether a folder is another one or somewhere below it: its own parents are opened one by one and compared.
fn is_within(folder: &Dir, other: &Dir) -> bool {
    let identity = |folder: &dyn AsFd| rustix::fs::fstat(folder.as_fd()).ok().map(|stat| (stat.st_dev, stat.st_ino));
    let Some(wanted) = identity(other) else { return false };
    let up = |folder: &dyn AsFd| {
        rustix::fs::openat(folder.as_fd(), "..", OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
    };
    let mut here = identity(folder);
    let mut parent = up(folder);
    loop {
        if here == Some(wanted) {
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

/// A granted folder that is inside another, as its path there and opened.
fn inside(folder: &Dir, path: &Path, granted: &Path) -> Option<(String, Dir)> {
    let opened = open(granted)?;
    if !is_within(&opened, folder) {
        return None;
    }
    let below = granted.canonicalize().ok()?.strip_prefix(path.canonicalize().ok()?).ok()?.to_str()?.to_owned();
    Some((below, opened))
}

/// The part of the working folder that a grant for writing names: all of it, or something inside it.
fn named(top: &Dir, path: &Path, granted: &Path) -> Option<String> {
    if let Some(folder) = open(granted) {
        if is_within(top, &folder) {
            // A working folder inside `.git` is no way around: only a grant that names it is.
            let beyond =
                path.canonicalize().ok()?.strip_prefix(granted.canonicalize().ok()?).ok()?.to_str()?.to_owned();
            return (!beyond.split('/').any(is_protected)).then(String::new);
        }
        return inside(top, path, granted).map(|(below, _)| below);
    }
    // A file, which need not exist yet, in a folder that does.
    let (parent, name) = (granted.parent()?, granted.file_name()?.to_str()?);
    let above = named(top, path, parent).filter(|above| !above.is_empty() || same(top, parent))?;
    Some(if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") })
}

fn same(folder: &Dir, path: &Path) -> bool {
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

    /// Where each part is, and below what it can be written, with what the operator named.
    type Parts = Vec<(String, Vec<(String, String)>)>;

    fn lent(path: &Path, wanted: Wanted<'_>, read: &[&Path], write: &[&Path]) -> (Parts, usize) {
        let read: Vec<PathBuf> = read.iter().map(|path| (*path).to_owned()).collect();
        let write: Vec<PathBuf> = write.iter().map(|path| (*path).to_owned()).collect();
        let (work, missing) = lend(path, wanted, Granted { read: &read, write: &write });
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
        let all = Wanted::Everything;
        assert_eq!(lent(app, all, &[app], &[]), (vec![(String::new(), vec![])], 0));
        assert_eq!(lent(&app.join("src/deep"), all, &[app], &[]), (vec![(String::new(), vec![])], 0));
        assert_eq!(lent(app, all, &[], &[app]), (vec![(String::new(), vec![pair("", "")])], 0));
        assert_eq!(lent(app, all, &[&app.with_file_name("other")], &[]), (vec![], 1));
        assert_eq!(lent(app, all, &[], &[]), (vec![], 1));
        assert_eq!(lent(&app.join("missing"), all, &[app], &[]), (vec![], 1));
    }

    #[test]
    fn a_name_that_only_begins_like_a_granted_folder_is_not_covered() {
        let project = project();
        let longer = project.path.with_file_name("app-secret");
        fs::create_dir(&longer).unwrap();
        assert_eq!(lent(&longer, Wanted::Everything, &[&project.path], &[]), (vec![], 1));
    }

    #[test]
    fn a_link_into_a_granted_folder_is_that_folder_and_a_link_out_is_not() {
        let project = project();
        let (app, top) = (project.path.as_path(), project.path.parent().unwrap());
        std::os::unix::fs::symlink(app, top.join("link")).unwrap();
        assert_eq!(lent(&top.join("link"), Wanted::Everything, &[app], &[]).1, 0);
        std::os::unix::fs::symlink(top.join("other"), app.join("out")).unwrap();
        assert_eq!(lent(&app.join("out"), Wanted::Everything, &[app], &[]), (vec![], 1));
    }

    #[test]
    fn a_grant_inside_the_working_folder_gives_only_that_part() {
        let project = project();
        let app = project.path.as_path();
        let (parts, missing) = lent(app, Wanted::Everything, &[&app.join("src")], &[]);
        assert_eq!((parts, missing), (vec![("src".to_owned(), vec![])], 0));
    }

    #[test]
    fn a_script_gets_no_more_than_it_says() {
        let project = project();
        let app = project.path.as_path();
        let read = ["src".to_owned()];
        let wanted = Wanted::Paths { read: &read, write: &[] };
        assert_eq!(lent(app, wanted, &[app], &[app]), (vec![("src".to_owned(), vec![])], 0));
        let write = ["CHANGELOG.md".to_owned()];
        let wanted = Wanted::Paths { read: &[], write: &write };
        assert_eq!(lent(app, wanted, &[], &[app]), (vec![(String::new(), vec![pair("CHANGELOG.md", "")])], 0));
        assert_eq!(lent(app, wanted, &[app], &[]), (vec![(String::new(), vec![])], 1));
        let climbs = ["../other".to_owned()];
        assert_eq!(lent(app, Wanted::Paths { read: &climbs, write: &[] }, &[app], &[]), (vec![], 1));
    }

    #[test]
    fn a_working_folder_inside_what_is_protected_is_read_only() {
        let project = project();
        let app = project.path.as_path();
        let hooks = app.join(".git/hooks");
        fs::create_dir(&hooks).unwrap();
        for folder in [&app.join(".git"), &hooks] {
            assert_eq!(lent(folder, Wanted::Everything, &[], &[app]).0, [(String::new(), vec![])], "{folder:?}");
        }
        assert_eq!(
            lent(&hooks, Wanted::Everything, &[], &[&app.join(".git")]).0,
            [(String::new(), vec![pair("", "")])]
        );
        let climbs = ["../other".to_owned()];
        assert_eq!(lent(app, Wanted::Paths { read: &[], write: &climbs }, &[], &[app]).1, 1);
    }

    #[test]
    fn only_the_operator_names_what_is_protected() {
        let project = project();
        let app = project.path.as_path();
        let write = [".git".to_owned()];
        let wanted = Wanted::Paths { read: &[], write: &write };
        assert_eq!(lent(app, wanted, &[], &[app]).0, [(String::new(), vec![pair(".git", "")])]);
        let git = app.join(".git");
        assert_eq!(lent(app, wanted, &[app], &[&git]).0, [(String::new(), vec![pair(".git", ".git")])]);
        let changelog = app.join("CHANGELOG.md");
        let (parts, _) = lent(app, Wanted::Everything, &[app], &[&changelog]);
        assert_eq!(parts, [(String::new(), vec![pair("CHANGELOG.md", "CHANGELOG.md")])]);
    }
}
