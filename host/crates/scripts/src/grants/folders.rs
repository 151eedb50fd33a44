//! Which part of the working folder a script gets.
//!
//! Compares opened folders, not paths: between two looks at a path a link on it may have been exchanged. Where names matter, a
//! path only suggests the way from one opened folder to another, which is then walked without following links.

use super::Grant;
use bindings::catalog::Needs;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use sandbox::files::disk::Writable;
use sandbox::files::path::{below, names};
use sandbox::files::protected::{FolderId, ProtectedPlace, descend, descend_unprotected, is_protected};
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::path::Path;
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
    /// The working folder, which a grant covers, does not exist.
    NotAFolder,
    /// A path that leaves the working folder, as it was written.
    Outside(String),
}

/// Opens the folders that are both requested and granted. A script that declares no needs requests everything.
///
/// If no grant covers the working folder, the result is the same whether it exists or not.
pub fn open_granted(
    path: &Path,
    needs: Option<&Needs>,
    grant: &Grant,
    protected: &[ProtectedPlace],
) -> (Vec<Part>, Vec<MissingGrant>) {
    let mut missing = Vec::new();
    let top = open(path);
    let readable = [&grant.read[..], &grant.write].concat();
    if top.is_none() && readable.iter().any(|granted| is_missing_in(granted, path)) {
        return (Vec::new(), vec![MissingGrant::NotAFolder]);
    }
    // A script that writes has to be able to traverse the folders above.
    let everywhere = [String::from(".")];
    let read = needs.filter(|needs| needs.write.is_empty()).map_or(&everywhere[..], |needs| &needs.read);
    let mut parts: Vec<Part> = Vec::new();
    for text in read {
        let Some(at) = normalized(text) else {
            missing.push(MissingGrant::Outside(text.clone()));
            continue;
        };
        let opened = top.as_ref().and_then(|top| if at.is_empty() { top.try_clone() } else { top.open_dir(&at) }.ok());
        let Some(folder) = opened.map(Arc::new) else {
            missing.push(MissingGrant::Read(at));
            continue;
        };
        if readable.iter().any(|granted| open(granted).is_some_and(|granted| is_within(&folder, &granted))) {
            parts.push(Part { at, folder, writable: Vec::new() });
            continue;
        }
        let count_before = parts.len();
        for granted in &readable {
            let Some(inner) = open(granted) else { continue };
            if let Some(below) = way((&folder, &path.join(&at)), (&inner, granted)) {
                parts.push(Part { at: join(&at, &below), folder: Arc::new(inner), writable: Vec::new() });
            }
        }
        if parts.len() == count_before {
            missing.push(MissingGrant::Read(at));
        }
    }
    // A folder inside another part is already included.
    parts.sort_by(|one, other| one.at.cmp(&other.at));
    parts.dedup_by(|later, earlier| below(&later.at, &earlier.at).is_some());

    let granted_parts: Vec<String> = top.as_ref().map_or(Vec::new(), |top| {
        grant.write.iter().filter_map(|granted| writable_path(top, path, granted, protected)).collect()
    });
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

/// Of a folder, looked at for links.
const MAX_LOOKED_AT: usize = 10_000;

/// Returns where links with protected names lead, as in `CLAUDE.md -> docs/agents.md`: a script that could write there would
/// write the protected file. Looks into the folders from the granted one to the working folder, or the other way round.
pub fn linked_places(path: &Path, grant: &Grant) -> Vec<ProtectedPlace> {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(path) = real(path) else { return Vec::new() };
    let mut places = Vec::new();
    for granted in grant.write.iter().filter_map(|granted| real(granted)) {
        let (outer, inner) = if path.starts_with(&granted) { (&granted, &path) } else { (&path, &granted) };
        let between = inner.ancestors().take_while(|folder| folder.starts_with(outer));
        let entries = between.filter_map(|folder| folder.read_dir().ok()).flat_map(|list| list.take(MAX_LOOKED_AT));
        let links = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        for link in links.filter(|link| is_protected(&link.file_name().to_string_lossy())).map(|link| link.path()) {
            // The target of a link that leads nowhere could be created.
            let target = real(&link).or_else(|| Some(link.parent()?.join(link.read_link().ok()?)));
            places.extend(target.and_then(|target| ProtectedPlace::at(&target)));
        }
    }
    places
}

fn join(path: &str, below: &str) -> String {
    if path.is_empty() { below.to_owned() } else { format!("{path}/{below}") }
}

/// Whether a grant covers a path and nothing is there. Links out of the granted folder are not followed.
fn is_missing_in(granted: &Path, path: &Path) -> bool {
    let missing = |below: &Path| match open(granted)?.open_dir(below) {
        Err(error) => Some(matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)),
        Ok(_) => Some(false),
    };
    path == granted || path.strip_prefix(granted).ok().and_then(missing).unwrap_or(false)
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
    let Some(target) = FolderId::of(other) else { return false };
    let up = |folder: &dyn AsFd| {
        rustix::fs::openat(folder.as_fd(), "..", OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
    };
    let mut here = FolderId::of(folder);
    let mut parent = up(folder);
    loop {
        if here == Some(target) {
            return true;
        }
        let Ok(above) = parent else { return false };
        let next = FolderId::of(&above);
        if next == here || next.is_none() {
            return false;
        }
        here = next;
        parent = up(&above);
    }
}

/// Returns the path from one opened folder down to another.
fn way((top, path): (&Dir, &Path), (folder, folder_path): (&Dir, &Path)) -> Option<String> {
    let below = suggested_way(path, folder_path)?;
    let reached = descend(top, &below).ok()?;
    (FolderId::of(reached)? == FolderId::of(folder)?).then_some(below)
}

/// Returns the way from one path to another as of this moment.
fn suggested_way(path: &Path, inner: &Path) -> Option<String> {
    Some(inner.canonicalize().ok()?.strip_prefix(path.canonicalize().ok()?).ok()?.to_str()?.to_owned())
}

/// Returns the path below the working folder that a write grant covers; empty for all of it.
fn writable_path(top: &Dir, path: &Path, granted: &Path, protected: &[ProtectedPlace]) -> Option<String> {
    let Some(folder) = open(granted).filter(|folder| is_within(top, folder)) else {
        return named_path(top, path, granted);
    };
    // A working folder inside `.git` does not make it writable: only a grant that names it does.
    let beyond = suggested_way(granted, path).filter(|beyond| !names(beyond).any(is_protected))?;
    let (reached, _) = descend_unprotected(&folder, &beyond, 0, protected).ok()?;
    (FolderId::of(reached)? == FolderId::of(top)?).then(String::new)
}

/// Returns the path below the working folder of a grant that names something inside it: a folder, or a file that may not exist
/// yet in a folder that does.
fn named_path(top: &Dir, path: &Path, granted: &Path) -> Option<String> {
    if let Some(folder) = open(granted) {
        return way((top, path), (&folder, granted));
    }
    let above = named_path(top, path, granted.parent()?)?;
    Some(join(&above, granted.file_name()?.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

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
            let (parts, not_granted) = open_granted(&top.join(folder), needs.as_ref(), &grant, &[]);
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
        check("a folder that is not granted is missing", "missing", None, (&["app"], &[]), &[], 1);
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

    #[test]
    fn protected_folders_are_writable_only_if_the_grant_names_them() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        for folder in
            ["app/bare/objects", "app/bare/refs", "app/bare/hooks", "app/team/tool", "app/skills", "app/.cursor"]
        {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join("app/bare/HEAD"), "ref: refs/heads/main").unwrap();
        let protected = [ProtectedPlace::at(&top.join("app/team")).unwrap()];
        let is_writable = |folder: &str, granted: &str| {
            let grant = Grant { write: vec![top.join(granted)], ..Grant::default() };
            let (parts, missing) = open_granted(&top.join(folder), None, &grant, &protected);
            assert_eq!((parts.len(), missing), (1, Vec::new()), "{folder}");
            !parts[0].writable.is_empty()
        };
        for (folder, protected) in [
            ("app/bare", "app/bare"),
            ("app/bare/hooks", "app/bare"),
            ("app/team", "app/team"),
            ("app/team/tool", "app/team"),
            ("app/skills", "app/skills"),
            ("app/.cursor", "app/.cursor"),
        ] {
            assert!(!is_writable(folder, "app"), "{folder}");
            assert!(is_writable(folder, protected), "{folder}");
            assert!(is_writable(folder, folder), "{folder}");
        }
    }

    #[test]
    fn what_links_with_protected_names_lead_to_is_protected() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        for folder in ["app/docs/deep", "app/settings", "app/src"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join("app/docs/agents.md"), "").unwrap();
        for (target, link) in [
            ("docs/agents.md", "app/CLAUDE.md"),
            ("../app/docs/missing.md", "app/AGENTS.md"),
            ("settings", "app/.claude"),
            ("src", "app/sources"),
        ] {
            symlink(target, top.join(link)).unwrap();
        }
        let place = |path: &str| ProtectedPlace::at(&top.join(path)).unwrap();
        let expected = ["app/docs/agents.md", "app/docs/missing.md", "app/settings"].map(place);
        for (folder, granted) in
            [("app", "app"), ("app/docs/deep", "app"), ("", "app/docs"), ("app/docs", "app/docs/deep")]
        {
            let grant = Grant { write: vec![top.join(granted)], ..Grant::default() };
            let places = linked_places(&top.join(folder), &grant);
            let expected: &[ProtectedPlace] = if folder == "app/docs" { &[] } else { &expected };
            assert_eq!(places.len(), expected.len(), "{folder} {granted}: {places:?}");
            assert!(expected.iter().all(|place| places.contains(place)), "{folder} {granted}: {places:?}");
        }
    }

    /// The answer is the same, so that a caller cannot find out which folders exist.
    #[test]
    fn a_folder_that_is_not_granted_might_as_well_not_exist() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        for folder in ["app/src", "other/src"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join("file"), "").unwrap();
        symlink(top.join("other"), top.join("app/out")).unwrap();
        symlink(top.join("nowhere"), top.join("app/dangling")).unwrap();
        let needs = |read: &[&str], write: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Needs { read: owned(read), write: owned(write), variables: Vec::new(), hosts: Vec::new() }
        };
        let grant = Grant { read: vec![top.join("app")], write: vec![top.join("app/src")], ..Grant::default() };
        let answers = |folder: &str| {
            let needs = [None, Some(needs(&["src", "none", ".."], &[])), Some(needs(&[], &["src", "/x"]))];
            needs.map(|needs| {
                let (parts, missing) = open_granted(&top.join(folder), needs.as_ref(), &grant, &[]);
                assert!(parts.is_empty(), "{folder}: {parts:?}");
                missing
            })
        };
        let expected = answers("other");
        for folder in ["missing", "other/src", "other/none", "file", "file/x", "app/../other", "app/../none"] {
            assert_eq!(answers(folder), expected, "{folder}");
        }
        for link in ["app/out", "app/out/src", "app/out/none", "app/dangling", "app/dangling/none"] {
            assert_eq!(answers(link), expected, "{link}");
        }
        let missing = answers("app/none");
        assert_eq!(missing, [const { MissingGrant::NotAFolder }; 3].map(|missing| vec![missing]));
    }

    /// A link on the way to the working folder is exchanged while the folder is opened.
    #[test]
    fn a_link_that_is_exchanged_never_makes_a_protected_folder_writable() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        for folder in ["app/.git/hooks", "app/src"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        symlink("src", top.join("app/link")).unwrap();
        let protected = FolderId::of(open(&top.join("app/.git/hooks")).unwrap()).unwrap();
        let grant = Grant { write: vec![top.join("app")], ..Grant::default() };
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    for target in [".git/hooks", "src"] {
                        symlink(target, top.join("app/next")).unwrap();
                        fs::rename(top.join("app/next"), top.join("app/link")).unwrap();
                    }
                }
            });
            let mut wrong = 0;
            for _ in 0..20_000 {
                let (parts, _) = open_granted(&top.join("app/link"), None, &grant, &[]);
                let is_protected = |part: &&Part| FolderId::of(&*part.folder) == Some(protected);
                wrong += parts.iter().filter(is_protected).filter(|part| !part.writable.is_empty()).count();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(wrong, 0, "times the hooks of git were writable");
        });
    }
}
