//! Which folders have to be watched, so that every change below a root is noticed and nothing is watched that nobody walks.

use crate::library::scan::NEVER_WALKED;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{read_dir, read_link, symlink_metadata};
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// As many links in a row as the operating system follows.
const MOST_LINKS: usize = 40;

/// Elsewhere the operating system watches everything below a folder at once, which costs less than naming each.
pub const FOLDER_BY_FOLDER: bool = cfg!(target_os = "linux");

/// What came of watching a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    Yes,
    /// It is no longer there. Where it was is watched, so nothing is missed.
    Gone,
    Refused,
}

/// Has one folder watched, without those inside.
pub type Watch<'a> = dyn FnMut(&Path) -> Watched + 'a;

/// The watched folders of one root. All paths are without links.
pub struct Reach {
    top: PathBuf,
    /// Which folder it was when watching began.
    pub identity: (u64, u64),
    /// Roots inside, as paths below the top.
    skip: Vec<PathBuf>,
    /// Where roots are or will be.
    roots: Arc<[PathBuf]>,
    /// What is walked: the top, and folders in hidden places that links lead to.
    bases: BTreeSet<PathBuf>,
    /// Links whose way leads through folders that are not walked, or ends nowhere.
    links: BTreeSet<PathBuf>,
    /// Folders that are watched and were listed.
    listed: BTreeSet<PathBuf>,
    /// Folders that are watched only for the sake of links.
    passed: BTreeSet<PathBuf>,
    refused: BTreeSet<PathBuf>,
    /// Whether a folder is watched that was not.
    grew: bool,
}

impl Reach {
    pub fn new(top: PathBuf, identity: (u64, u64), skip: &BTreeSet<String>) -> Self {
        Self {
            top,
            identity,
            skip: skip.iter().map(PathBuf::from).collect(),
            roots: Arc::default(),
            bases: BTreeSet::new(),
            links: BTreeSet::new(),
            listed: BTreeSet::new(),
            passed: BTreeSet::new(),
            refused: BTreeSet::new(),
            grew: false,
        }
    }

    pub fn top(&self) -> &Path {
        &self.top
    }

    pub fn watched(&self) -> impl Iterator<Item = &PathBuf> {
        self.listed.union(&self.passed)
    }

    /// Whether nothing can change without being noticed.
    pub fn is_complete(&self) -> bool {
        // Nothing above the top is watched that could tell when it comes back.
        self.refused.is_empty() && self.listed.contains(&self.top)
    }

    /// Watches everything. True if there is anything.
    pub fn begin(&mut self, roots: &Arc<[PathBuf]>, watch: &mut Watch) -> bool {
        self.roots = Arc::clone(roots);
        for known in [&mut self.bases, &mut self.links, &mut self.listed, &mut self.passed, &mut self.refused] {
            known.clear();
        }
        self.bases.insert(self.top.clone());
        self.walk(vec![self.top.clone()], watch)
    }

    /// Tries again what could not be watched. True if it can be now.
    pub fn retry(&mut self, watch: &mut Watch) -> bool {
        let refused = std::mem::take(&mut self.refused);
        self.walk(refused.into_iter().chain([self.top.clone()]).collect(), watch)
    }

    /// Something came to these places or went from them. True if there is more to watch.
    pub fn follow(&mut self, paths: &BTreeSet<PathBuf>, watch: &mut Watch) -> bool {
        let (mut waiting, mut follow_again) = (Vec::new(), false);
        for path in paths {
            if *path == self.top || !path.starts_with(&self.top) {
                continue;
            }
            self.forget(path);
            let Ok(found) = symlink_metadata(path) else { continue };
            if found.is_symlink() && self.is_walked(path) {
                self.links.insert(path.clone());
                follow_again = true;
            } else if found.is_dir() && self.is_wanted(path) {
                waiting.push(path.clone());
            }
            follow_again |= !self.is_walked(path);
        }
        if follow_again {
            for link in std::mem::take(&mut self.links) {
                waiting.extend(self.follow_link(&link, watch));
            }
        }
        self.walk(waiting, watch)
    }

    /// Nothing that was at this place is known any longer.
    fn forget(&mut self, path: &Path) {
        for known in [&mut self.bases, &mut self.links, &mut self.listed, &mut self.passed, &mut self.refused] {
            let further = known.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
            let inside: Vec<PathBuf> = further.take_while(|known| known.starts_with(path)).cloned().collect();
            for path in inside {
                known.remove(&path);
            }
        }
    }

    /// Watches these folders and those inside that are walked. True if anything is watched that was not.
    fn walk(&mut self, mut waiting: Vec<PathBuf>, watch: &mut Watch) -> bool {
        while let Some(folder) = waiting.pop() {
            // First watched, then listed: what comes in between is told.
            if self.listed.contains(&folder) || !self.watch(&folder, watch) {
                continue;
            }
            self.passed.remove(&folder);
            self.listed.insert(folder.clone());
            if !FOLDER_BY_FOLDER {
                continue;
            }
            let entries = match read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    if error.kind() != ErrorKind::NotFound {
                        self.listed.remove(&folder);
                        self.refused.insert(folder);
                    }
                    continue;
                }
            };
            for entry in entries.flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                let Ok(kind) = kind else { continue };
                if kind.is_symlink() && self.is_walked(&path) {
                    waiting.extend(self.follow_link(&path, watch));
                } else if kind.is_dir() && self.is_wanted(&path) {
                    waiting.push(path);
                }
            }
        }
        std::mem::take(&mut self.grew)
    }

    fn watch(&mut self, folder: &Path, watch: &mut Watch) -> bool {
        let watched = watch(folder);
        if watched == Watched::Refused {
            self.refused.insert(folder.to_owned());
        }
        self.grew |= watched == Watched::Yes;
        watched == Watched::Yes
    }

    /// Watches the way of a link as far as nobody walks there. Gives the folder that it leads to, if that is not walked either.
    fn follow_link(&mut self, link: &Path, watch: &mut Watch) -> Option<PathBuf> {
        let (way, end) = self.way(link);
        let unwalked: Vec<PathBuf> = way.into_iter().filter(|folder| !self.is_walked(folder)).collect();
        let end = match end {
            End::At(end) if self.is_walked(&end) => None,
            End::Outside => None,
            End::At(end) => Some(end),
            End::Nowhere => Some(link.to_owned()),
        };
        if unwalked.is_empty() && end.is_none() {
            return None;
        }
        self.links.insert(link.to_owned());
        for folder in unwalked {
            if !self.listed.contains(&folder) && !self.passed.contains(&folder) && self.watch(&folder, watch) {
                self.passed.insert(folder);
            }
        }
        let end = end.filter(|end| symlink_metadata(end).is_ok_and(|found| found.is_dir()))?;
        self.bases.insert(end.clone());
        Some(end)
    }

    /// The folders in which names are looked up when a link is followed, and where that ends.
    fn way(&self, link: &Path) -> (Vec<PathBuf>, End) {
        let (mut way, mut links) = (Vec::new(), 0);
        let Some((above, name)) = link.parent().zip(link.file_name()) else { return (way, End::Nowhere) };
        let (mut here, mut ahead) = (above.to_owned(), vec![name.to_owned()]);
        while let Some(name) = ahead.pop() {
            if name == ".." {
                here.pop();
                if !here.starts_with(&self.top) {
                    return (way, End::Outside);
                }
                continue;
            }
            way.push(here.clone());
            here.push(name);
            let Ok(found) = symlink_metadata(&here) else { return (way, End::Nowhere) };
            if found.is_symlink() {
                links += 1;
                let target = read_link(&here).ok().filter(|target| links <= MOST_LINKS && target.is_relative());
                let Some(target) = target else { return (way, End::Outside) };
                here.pop();
                ahead.extend(names(&target).into_iter().rev());
            }
        }
        (way, End::At(here))
    }

    /// Whether it is walked, or leads to a root inside.
    fn is_wanted(&self, path: &Path) -> bool {
        self.is_walked(path) || self.roots.iter().any(|root| root != path && root.starts_with(path))
    }

    fn is_walked(&self, path: &Path) -> bool {
        let below_base = |base: &PathBuf| path.strip_prefix(base).is_ok_and(|below| !below.iter().any(is_never_walked));
        let of_another = |below: &Path| self.skip.iter().any(|inner| below.starts_with(inner));
        self.bases.iter().any(below_base) && !path.strip_prefix(&self.top).is_ok_and(of_another)
    }
}

/// Where a link leads.
enum End {
    At(PathBuf),
    /// Something on the way is not there yet.
    Nowhere,
    /// Out of the root, where it is not followed.
    Outside,
}

fn names(path: &Path) -> Vec<OsString> {
    let name = |component: Component| match component {
        Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

fn is_never_walked(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || NEVER_WALKED.iter().any(|never| name == *never)
}
