//! Which part of the working folder a script gets. Compares opened folders, not paths.

use super::Grant;
use bindings::catalog::Needs;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use sandbox::files::disk::{Writable, is_protected};
use sandbox::files::path::below;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An opened folder in the working folder that a script gets.
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

/// Opens the folders that are both requested and granted. A script that declares no needs requests everything.
pub fn open_granted(path: &Path, needs: Option<&Needs>, grant: &Grant) -> (Vec<Part>, Vec<MissingGrant>) {
    let mut missing = Vec::new();
    let Some(top) = open(path) else {
        return (Vec::new(), vec![MissingGrant::Read(String::new())]);
    };
    let readable = [&grant.read[..], &grant.write].concat();
    // A script that writes has to be able to traverse the folders above.
    let everywhere = [String::from(".")];
    let read = needs.filter(|needs| needs.write.is_empty()).map_or(&everywhere[..], |needs| &needs.read);
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
        grant.write.iter().filter_map(|granted| writable_path(&top, path, granted)).collect();
    let everything = [String::new()];
    let mut requested_writes = Vec::new();
    for text in needs.map_or(&everything[..], |needs| &needs.write) {
        match normalized(text) {
            Some(path) => requested_writes.push(path),
            None => missing.push(MissingGrant::Outside(text.clone())),
        }
    }
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
        if !covered && needs.is_some() {
            missing.push(MissingGrant::Write(write.clone()));
        }
    }
    (parts, missing)
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
    use std::os::unix::fs::symlink;

    /// The path of each part, with its writable paths and the grants that they come from.
    type Parts<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

    /// Paths to read and to write.
    type Paths<'a> = (&'a [&'a str], &'a [&'a str]);

    #[test]
    fn a_script_gets_what_is_both_requested_and_granted() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        for folder in ["app/src/deep", "app/.git/hooks", "app-secret", "other"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        symlink(top.join("app"), top.join("link")).unwrap();
        symlink(top.join("other"), top.join("app/out")).unwrap();
        let check = |case: &str, folder: &str, needs: Option<Paths>, grant: Paths, expected: Parts, missing: usize| {
            let owned = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
            let needs = needs.map(|(read, write)| Needs {
                read: owned(read),
                write: owned(write),
                variables: Vec::new(),
                hosts: Vec::new(),
            });
            let folders = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|name| top.join(name)).collect() };
            let grant = Grant { read: folders(grant.0), write: folders(grant.1), ..Grant::default() };
            let (parts, not_granted) = open_granted(&top.join(folder), needs.as_ref(), &grant);
            let writable = |part: &Part| -> Vec<(String, String)> {
                part.writable.iter().map(|part| (part.below.clone(), part.named.clone())).collect()
            };
            let found: Vec<_> = parts.iter().map(|part| (part.at.clone(), writable(part))).collect();
            let own = |(below, named): &(&str, &str)| ((*below).to_owned(), (*named).to_owned());
            let expected = expected.iter().map(|(at, writable)| ((*at).to_owned(), writable.iter().map(own).collect()));
            assert_eq!((found, not_granted.len()), (expected.collect(), missing), "{case}: {not_granted:?}");
        };
        let whole: Parts = &[("", &[])];
        check("a grant covers its folder", "app", None, (&["app"], &[]), whole, 0);
        check("a grant covers everything below", "app/src/deep", None, (&["app"], &[]), whole, 0);
        check("a write grant covers reading", "app", None, (&[], &["app"]), &[("", &[("", "")])], 0);
        check("a grant covers nothing else", "app", None, (&["other"], &[]), &[], 1);
        check("nothing is granted", "app", None, (&[], &[]), &[], 1);
        check("the folder is missing", "app/missing", None, (&["app"], &[]), &[], 1);
        check("a granted folder is only a prefix of the name", "app-secret", None, (&["app"], &[]), &[], 1);
        check("a link to a granted folder is resolved", "link", None, (&["app"], &[]), whole, 0);
        check("a link out of a granted folder is resolved", "app/out", None, (&["app"], &[]), &[], 1);
        check("a grant inside gives only that part", "app", None, (&["app/src"], &[]), &[("src", &[])], 0);

        check("only a part is requested", "app", Some((&["src"], &[])), (&["app"], &["app"]), &[("src", &[])], 0);
        let changelog: Option<Paths> = Some((&[], &["CHANGELOG.md"]));
        check("writing a file", "app", changelog, (&[], &["app"]), &[("", &[("CHANGELOG.md", "")])], 0);
        check("writing without a grant", "app", changelog, (&["app"], &[]), whole, 1);
        check("reading outside", "app", Some((&["../other"], &[])), (&["app"], &[]), &[], 1);
        check("writing outside", "app", Some((&[], &["../other"])), (&[], &["app"]), whole, 1);
        let named: Parts = &[("", &[("CHANGELOG.md", "CHANGELOG.md")])];
        check("the grant names a file that does not exist", "app", None, (&["app"], &["app/CHANGELOG.md"]), named, 0);

        check("a protected folder is read-only", "app/.git", None, (&[], &["app"]), whole, 0);
        check("a folder in a protected one is read-only", "app/.git/hooks", None, (&[], &["app"]), whole, 0);
        check("unless the grant names it", "app/.git/hooks", None, (&[], &["app/.git"]), &[("", &[("", "")])], 0);
        let git: Option<Paths> = Some((&[], &[".git"]));
        check("a script cannot name it", "app", git, (&[], &["app"]), &[("", &[(".git", "")])], 0);
        check("an operator can name it", "app", git, (&["app"], &["app/.git"]), &[("", &[(".git", ".git")])], 0);
    }
}
