//! Follows links below a folder, each of them once.
//!
//! The kernel walks a chain of links again for every name that leads into it, and a link may have thousands of names. Here each
//! link is read once and has few names, so that links cost no more than files.

use crate::reading::is_hidden;
use crate::scan::{join, or_dot};
use bindings::catalog::SkipReason;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, readlinkat, statat};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// As many links in a row as Linux follows.
pub const MAX_LINKS: usize = 40;

/// The most names, and bytes, in the target of a link that is followed. From the deepest folder of a root to another one are
/// twenty names.
const MAX_NAMES: usize = 64;
const MAX_TARGET_BYTES: usize = 1_024;

/// Where a link leads: a path free of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    Folder(String),
    /// A file, pipe or device.
    File(String),
}

/// The target of a link, or why it is not followed.
pub type Followed = Result<LinkTarget, SkipReason>;

/// Decides whether links may lead through a folder, or to a file if the second argument is false.
type Allowed<'a> = dyn Fn(&str, bool) -> bool + Sync + 'a;

/// The links below a folder, as far as they were followed.
pub struct Links<'a> {
    top: &'a Dir,
    allowed: Box<Allowed<'a>>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// What is at a path whose parent is free of links. `None` if there is nothing.
    kinds: HashMap<String, Option<Kind>>,
    ends: HashMap<String, Result<End, SkipReason>>,
    #[cfg(test)]
    calls: usize,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Folder,
    /// The target, as stored in the link; `None` if it is too long, or not UTF-8.
    Link(Option<String>),
    File,
}

#[derive(Debug, Clone)]
struct End {
    target: LinkTarget,
    /// How many links lead there.
    links: usize,
}

/// A link that is being followed.
struct Pending {
    link: String,
    at: LinkTarget,
    links: usize,
    /// The names that remain, the next one last.
    names: Vec<String>,
}

impl<'a> Links<'a> {
    pub fn new(top: &'a Dir, allowed: impl Fn(&str, bool) -> bool + Sync + 'a) -> Self {
        Self { top, allowed: Box::new(allowed), known: Mutex::default() }
    }

    /// Follows every link that stays below the folder.
    pub fn everywhere(top: &'a Dir) -> Self {
        Self::new(top, |_, _| true)
    }

    /// Whether the target of a path is in a hidden file or folder, or behind a link that is not followed.
    pub fn lead_to_hidden(&self, path: &str) -> bool {
        match self.resolve(path) {
            Ok(LinkTarget::Folder(target) | LinkTarget::File(target)) => target.split('/').any(is_hidden),
            // Otherwise opening it fails.
            Err(reason) => reason == SkipReason::TooManyLinks,
        }
    }

    /// Follows a link whose parent folder is free of links.
    pub fn follow(&self, link: &str) -> Followed {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pending = Vec::new();
        let end = self.enter(&mut known, link.to_owned(), &mut pending);
        self.finish(&mut known, pending, end)
    }

    /// Returns where a path leads that may pass through links.
    pub fn resolve(&self, path: &str) -> Followed {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let names = path.rsplit('/').map(str::to_owned).collect();
        let start = Pending { link: String::new(), at: LinkTarget::Folder(String::new()), links: 0, names };
        self.finish(&mut known, vec![start], None)
    }

    /// The system calls made so far.
    #[cfg(test)]
    pub fn calls(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).calls
    }

    /// Returns the folders, links and files that were passed.
    pub fn passed(self) -> impl Iterator<Item = (String, Kind)> {
        let known = self.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        known.kinds.into_iter().filter_map(|(path, kind)| Some((path, kind?)))
    }

    /// Follows links until the first one has an end. A link inside another one is finished before it.
    fn finish(
        &self,
        known: &mut Known,
        mut pending: Vec<Pending>,
        mut inner: Option<Result<End, SkipReason>>,
    ) -> Followed {
        while let Some(current) = pending.last_mut() {
            let end =
                match inner.take().map_or(Ok(()), |end| current.pass(end)).and_then(|()| self.step(known, current)) {
                    Ok(Some(link)) => {
                        inner = self.enter(known, link, &mut pending);
                        continue;
                    }
                    Ok(None) => Ok(End { target: current.at.clone(), links: current.links }),
                    Err(reason) => Err(reason),
                };
            if let Some(done) = pending.pop().filter(|done| !done.link.is_empty()) {
                known.ends.insert(done.link, end.clone());
            }
            inner = Some(end);
        }
        inner.unwrap_or(Err(SkipReason::OutsideRoot)).map(|end| end.target)
    }

    /// Begins to follow a link. Returns its end if it is known.
    fn enter(&self, known: &mut Known, link: String, pending: &mut Vec<Pending>) -> Option<Result<End, SkipReason>> {
        if let Some(end) = known.ends.get(&link) {
            return Some(end.clone());
        }
        let target = match known.kind(self.top, &link) {
            Some(Kind::Link(Some(target))) if !target.starts_with('/') => target,
            Some(Kind::Link(None)) => return Some(Err(SkipReason::TooManyLinks)),
            _ => return Some(Err(SkipReason::OutsideRoot)),
        };
        // What it has until it is finished: a link that leads through itself leads nowhere.
        known.ends.insert(link.clone(), Err(SkipReason::OutsideRoot));
        let parent = link.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        let names = target.rsplit('/').map(str::to_owned).collect();
        pending.push(Pending { link, at: LinkTarget::Folder(parent), links: 1, names });
        None
    }

    /// Goes on to the next link on the way, and returns it. Returns `None` at the end.
    fn step(&self, known: &mut Known, current: &mut Pending) -> Result<Option<String>, SkipReason> {
        while let Some(name) = current.names.pop() {
            let LinkTarget::Folder(here) = &mut current.at else { return Err(SkipReason::OutsideRoot) };
            match name.as_str() {
                "" | "." => {}
                ".." if here.is_empty() => return Err(SkipReason::OutsideRoot),
                ".." => here.truncate(here.rfind('/').unwrap_or(0)),
                _ => {
                    let next = join(here, &name);
                    let kind = known.kind(self.top, &next).ok_or(SkipReason::OutsideRoot)?;
                    if !(self.allowed)(&next, matches!(kind, Kind::Folder)) {
                        return Err(SkipReason::NotWalked);
                    }
                    match kind {
                        Kind::Folder => *here = next,
                        Kind::File => current.at = LinkTarget::File(next),
                        Kind::Link(_) => return Ok(Some(next)),
                    }
                }
            }
        }
        Ok(None)
    }
}

impl Pending {
    /// Goes on from the end of a link on the way.
    fn pass(&mut self, end: Result<End, SkipReason>) -> Result<(), SkipReason> {
        let End { target, links } = end?;
        self.at = target;
        self.links += links;
        if self.links > MAX_LINKS { Err(SkipReason::TooManyLinks) } else { Ok(()) }
    }
}

impl Known {
    fn kind(&mut self, top: &Dir, path: &str) -> Option<Kind> {
        if let Some(kind) = self.kinds.get(path) {
            return kind.clone();
        }
        let kind =
            statat(top, or_dot(path), AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| {
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Directory => Kind::Folder,
                    FileType::Symlink => {
                        let target =
                            readlinkat(top, path, Vec::new()).ok().and_then(|target| target.into_string().ok());
                        Kind::Link(target.filter(|target| {
                            target.len() <= MAX_TARGET_BYTES && target.split('/').nth(MAX_NAMES).is_none()
                        }))
                    }
                    _ => Kind::File,
                }
            });
        #[cfg(test)]
        {
            self.calls += 1 + usize::from(matches!(kind, Some(Kind::Link(_))));
        }
        self.kinds.insert(path.to_owned(), kind.clone());
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn place(links: &[(&str, &str)]) -> (TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["a/b", "c/d"] {
            create_dir_all(at(path)).unwrap();
        }
        for path in ["a/b/file", "c/.hidden"] {
            write(at(path), path).unwrap();
        }
        for (path, target) in links {
            symlink(target, at(path)).unwrap();
        }
        let opened = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        (folder, opened)
    }

    #[test]
    fn links_lead_where_the_kernel_follows_them() {
        let links = [
            ("a/up", ".."),
            ("a/self", "."),
            ("a/out", "../.."),
            ("a/away", "/etc"),
            ("a/none", "b/none"),
            ("a/under-file", "b/file/x"),
            ("file", "a/b/file"),
            ("twice", "file"),
            ("c/over", "../a/up/c/../twice"),
            ("c/d/loop", "../other"),
            ("c/other", "d/loop/x"),
            ("c/d/long", "../d/../d/./..//d"),
        ];
        let (folder, opened) = place(&links);
        let top = folder.path().canonicalize().unwrap();
        let all = Links::new(&opened, |_, _| true);
        for (link, _) in links {
            let expected = folder.path().join(link).canonicalize().ok();
            let expected = expected.and_then(|path| Some(path.strip_prefix(&top).ok()?.to_str()?.to_owned()));
            let followed = all.follow(link).ok().map(|(LinkTarget::Folder(target) | LinkTarget::File(target))| target);
            assert_eq!(followed, expected, "{link}");
            assert_eq!(all.resolve(link), all.follow(link), "{link}");
        }
        assert_eq!(all.resolve("a/up/c/over"), Ok(LinkTarget::File("a/b/file".to_owned())));
        let refused = |path: &str, _: bool| path != "a/b";
        assert_eq!(Links::new(&opened, refused).follow("file"), Err(SkipReason::NotWalked));
        assert_eq!(Links::new(&opened, refused).follow("a/up"), Ok(LinkTarget::Folder(String::new())));
    }

    #[test]
    fn a_chain_is_followed_for_forty_links() {
        let (folder, opened) = place(&[("0", "a/b")]);
        for number in 1..3_000 {
            symlink(format!("{}", number - 1), folder.path().join(number.to_string())).unwrap();
        }
        let all = Links::new(&opened, |_, _| true);
        // From the far end, so that all others are on the way.
        for number in (0..3_000).rev() {
            let expected = if number < MAX_LINKS {
                Ok(LinkTarget::Folder("a/b".to_owned()))
            } else {
                Err(SkipReason::TooManyLinks)
            };
            assert_eq!(all.follow(&number.to_string()), expected, "{number}");
            assert_eq!(folder.path().join(number.to_string()).exists(), expected.is_ok(), "{number}");
        }
        assert!(all.calls() <= 2 * 3_000 + 2, "{}", all.calls());
    }

    #[test]
    fn many_links_into_a_chain_with_detours_cost_two_calls_each() {
        let (folder, opened) = place(&[("c/0", "d")]);
        for number in 1..38 {
            let target = format!("{}{}", "d/../".repeat(31), number - 1);
            symlink(target, folder.path().join(format!("c/{number}"))).unwrap();
        }
        for number in 0..2_000 {
            symlink("../c/37", folder.path().join(format!("a/{number}"))).unwrap();
        }
        let all = Links::new(&opened, |_, _| true);
        for number in 0..2_000 {
            assert_eq!(all.follow(&format!("a/{number}")), Ok(LinkTarget::Folder("c/d".to_owned())));
        }
        assert!(all.calls() <= 2 * (2_000 + 38) + 2, "{}", all.calls());
    }

    #[test]
    fn a_link_with_a_long_target_is_not_followed() {
        for (target, is_followed) in [
            ("./".repeat(MAX_NAMES - 1) + "a", true),
            ("./".repeat(MAX_NAMES) + "a", false),
            ("/".repeat(2_000), false),
            (format!("{}/../a", "n".repeat(250)), false),
        ] {
            let (_folder, opened) = place(&[("link", &target)]);
            let all = Links::new(&opened, |_, _| true);
            assert_eq!(all.follow("link").is_ok(), is_followed, "{target}");
            assert!(all.calls() <= 3);
        }
    }
}
