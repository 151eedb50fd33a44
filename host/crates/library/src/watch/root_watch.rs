//! Decides which folders of a root to watch: all that scans walk, and none that they skip.

use crate::scan::NEVER_WALKED;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{read_dir, read_link, symlink_metadata};
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// As many links in a row as Linux follows.
const MAX_LINKS: usize = 40;

/// Other systems watch a whole tree at once, which costs less than naming each folder.
pub const FOLDER_BY_FOLDER: bool = cfg!(target_os = "linux");

/// The result of watching a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    Yes,
    /// The folder no longer exists. Its parent is watched, so nothing is missed.
    Gone,
    Refused,
}

/// Watches one folder, without its subfolders.
pub type Watch<'a> = dyn FnMut(&Path) -> Watched + 'a;

/// The watched folders of one root. All paths are free of links.
#[derive(Default)]
pub struct RootWatch {
    top: PathBuf,
    /// Device and inode of the top when watching began.
    pub identity: (u64, u64),
    /// Nested roots, as paths below the top.
    skip: Vec<PathBuf>,
    /// The paths of all roots, existing or not.
    roots: Arc<[PathBuf]>,
    /// Folders whose trees are walked: the top, and link targets inside hidden folders.
    bases: BTreeSet<PathBuf>,
    /// Links that are broken, or pass through folders that are not walked.
    links: BTreeSet<PathBuf>,
    /// Watched folders whose entries were listed.
    listed: BTreeSet<PathBuf>,
    /// Folders watched only because a link passes through them.
    on_link_paths: BTreeSet<PathBuf>,
    refused: BTreeSet<PathBuf>,
    /// Whether a folder was added since the last `walk`.
    grew: bool,
}

impl RootWatch {
    pub fn new(top: PathBuf, identity: (u64, u64), skip: &BTreeSet<String>) -> Self {
        Self { top, identity, skip: skip.iter().map(PathBuf::from).collect(), ..Self::default() }
    }

    pub fn top(&self) -> &Path {
        &self.top
    }

    pub fn watched(&self) -> impl Iterator<Item = &PathBuf> {
        self.listed.union(&self.on_link_paths)
    }

    /// Whether every change is noticed.
    pub fn is_complete(&self) -> bool {
        // If the top is missing, nothing above it is watched that would report its return.
        self.refused.is_empty() && self.listed.contains(&self.top)
    }

    /// Watches the whole root. Returns whether there is anything to watch.
    pub fn start(&mut self, roots: &Arc<[PathBuf]>, watch: &mut Watch) -> bool {
        self.roots = Arc::clone(roots);
        for known in [&mut self.bases, &mut self.links, &mut self.listed, &mut self.on_link_paths, &mut self.refused] {
            known.clear();
        }
        self.bases.insert(self.top.clone());
        self.walk(vec![self.top.clone()], watch)
    }

    /// Retries folders that could not be watched. Returns whether one can be now.
    pub fn retry(&mut self, watch: &mut Watch) -> bool {
        let refused = std::mem::take(&mut self.refused);
        self.walk(refused.into_iter().chain([self.top.clone()]).collect(), watch)
    }

    /// Updates the watched folders after entries at these paths were created or removed. Returns whether there are more.
    pub fn follow(&mut self, paths: &BTreeSet<PathBuf>, watch: &mut Watch) -> bool {
        let (mut queue, mut links_changed) = (Vec::new(), false);
        for path in paths {
            if *path == self.top || !path.starts_with(&self.top) {
                continue;
            }
            self.forget(path);
            let Ok(metadata) = symlink_metadata(path) else { continue };
            if metadata.is_symlink() && self.is_walked(path) {
                self.links.insert(path.clone());
                links_changed = true;
            } else if metadata.is_dir() && self.needs_watch(path) {
                queue.push(path.clone());
            }
            links_changed |= !self.is_walked(path);
        }
        if links_changed {
            for link in std::mem::take(&mut self.links) {
                queue.extend(self.follow_link(&link, watch));
            }
        }
        self.walk(queue, watch)
    }

    /// Removes everything known about a path and below it.
    fn forget(&mut self, path: &Path) {
        for known in [&mut self.bases, &mut self.links, &mut self.listed, &mut self.on_link_paths, &mut self.refused] {
            let from_path = known.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
            let inside: Vec<PathBuf> = from_path.take_while(|known| known.starts_with(path)).cloned().collect();
            for path in inside {
                known.remove(&path);
            }
        }
    }

    /// Watches these folders and the walked folders inside. Returns whether a folder was added.
    fn walk(&mut self, mut queue: Vec<PathBuf>, watch: &mut Watch) -> bool {
        while let Some(folder) = queue.pop() {
            // Watched before it is listed, so that entries created in between are reported.
            if self.listed.contains(&folder) || !self.watch(&folder, watch) {
                continue;
            }
            self.on_link_paths.remove(&folder);
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
                    queue.extend(self.follow_link(&path, watch));
                } else if kind.is_dir() && self.needs_watch(&path) {
                    queue.push(path);
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

    /// Watches the folders a link passes through that are not walked. Returns the target if it is a folder that is not
    /// walked either.
    fn follow_link(&mut self, link: &Path, watch: &mut Watch) -> Option<PathBuf> {
        let (folders, target) = self.resolve(link);
        let unwalked: Vec<PathBuf> = folders.into_iter().filter(|folder| !self.is_walked(folder)).collect();
        let target = match target {
            LinkTarget::Path(target) if self.is_walked(&target) => None,
            LinkTarget::Outside => None,
            LinkTarget::Path(target) => Some(target),
            LinkTarget::Missing => Some(link.to_owned()),
        };
        if unwalked.is_empty() && target.is_none() {
            return None;
        }
        self.links.insert(link.to_owned());
        for folder in unwalked {
            if !self.listed.contains(&folder) && !self.on_link_paths.contains(&folder) && self.watch(&folder, watch) {
                self.on_link_paths.insert(folder);
            }
        }
        let target = target.filter(|target| symlink_metadata(target).is_ok_and(|metadata| metadata.is_dir()))?;
        self.bases.insert(target.clone());
        Some(target)
    }

    /// Follows a link. Returns the folders in which names were looked up, and the target.
    fn resolve(&self, link: &Path) -> (Vec<PathBuf>, LinkTarget) {
        let (mut folders, mut links) = (Vec::new(), 0);
        let Some((parent, name)) = link.parent().zip(link.file_name()) else { return (folders, LinkTarget::Missing) };
        let (mut here, mut remaining) = (parent.to_owned(), vec![name.to_owned()]);
        while let Some(name) = remaining.pop() {
            if name == ".." {
                here.pop();
                if !here.starts_with(&self.top) {
                    return (folders, LinkTarget::Outside);
                }
                continue;
            }
            folders.push(here.clone());
            here.push(name);
            let Ok(metadata) = symlink_metadata(&here) else { return (folders, LinkTarget::Missing) };
            if metadata.is_symlink() {
                links += 1;
                let target = read_link(&here).ok().filter(|target| links <= MAX_LINKS && target.is_relative());
                let Some(target) = target else { return (folders, LinkTarget::Outside) };
                here.pop();
                remaining.extend(names(&target).into_iter().rev());
            }
        }
        (folders, LinkTarget::Path(here))
    }

    /// Whether a folder is walked, or contains a nested root.
    fn needs_watch(&self, path: &Path) -> bool {
        self.is_walked(path) || self.roots.iter().any(|root| root != path && root.starts_with(path))
    }

    fn is_walked(&self, path: &Path) -> bool {
        let below_base = |base: &PathBuf| path.strip_prefix(base).is_ok_and(|below| !below.iter().any(is_never_walked));
        let in_nested_root = |below: &Path| self.skip.iter().any(|inner| below.starts_with(inner));
        self.bases.iter().any(below_base) && !path.strip_prefix(&self.top).is_ok_and(in_nested_root)
    }
}

enum LinkTarget {
    Path(PathBuf),
    Missing,
    /// Outside the root, where links are not followed.
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
