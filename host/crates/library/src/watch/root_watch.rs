//! Decides which folders of a root to watch: all that scans walk, and none that they skip.

use crate::scan::NEVER_WALKED;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{read_dir, symlink_metadata};
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Other systems watch a whole tree at once, which costs less than naming each folder.
pub const FOLDER_BY_FOLDER: bool = cfg!(target_os = "linux");

/// The result of watching a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    Yes,
    /// The folder no longer exists. Its parent is watched, so nothing is missed.
    Gone,
    Refused,
    /// The operating system has no more watches.
    Exhausted,
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
    /// Watched folders whose entries were listed.
    listed: BTreeSet<PathBuf>,
    refused: BTreeSet<PathBuf>,
    /// Whether the operating system had no more watches when one was last asked for.
    is_exhausted: bool,
}

impl RootWatch {
    pub fn new(top: PathBuf, identity: (u64, u64), skip: &BTreeSet<String>) -> Self {
        Self { top, identity, skip: skip.iter().map(PathBuf::from).collect(), ..Self::default() }
    }

    pub fn top(&self) -> &Path {
        &self.top
    }

    pub fn watched(&self) -> impl Iterator<Item = &PathBuf> {
        self.listed.iter()
    }

    /// Whether every change is noticed.
    pub fn is_complete(&self) -> bool {
        // If the top is missing, nothing above it is watched that would report its return.
        self.refused.is_empty() && self.listed.contains(&self.top)
    }

    /// Watches the whole root. Returns the folders that are watched now and were not before; so do the others.
    pub fn start(&mut self, roots: &Arc<[PathBuf]>, watch: &mut Watch) -> Vec<PathBuf> {
        self.roots = Arc::clone(roots);
        self.listed.clear();
        self.refused.clear();
        self.walk(vec![self.top.clone()], watch)
    }

    /// Retries folders that could not be watched.
    pub fn retry(&mut self, watch: &mut Watch) -> Vec<PathBuf> {
        let mut new = self.walk(vec![self.top.clone()], watch);
        // One is enough to learn that there are still no watches.
        let first = self.refused.pop_first();
        new.extend(self.walk(first.into_iter().collect(), watch));
        if !self.is_exhausted {
            let refused = std::mem::take(&mut self.refused);
            new.extend(self.walk(refused.into_iter().collect(), watch));
        }
        new
    }

    /// Updates the watched folders after entries at these paths were created or removed.
    pub fn follow(&mut self, paths: &BTreeSet<PathBuf>, watch: &mut Watch) -> Vec<PathBuf> {
        let mut queue = Vec::new();
        for path in paths {
            if *path == self.top || !path.starts_with(&self.top) {
                continue;
            }
            self.forget(path);
            if self.needs_watch(path) && symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
                queue.push(path.clone());
            }
        }
        self.walk(queue, watch)
    }

    /// Removes everything known about a path and below it.
    fn forget(&mut self, path: &Path) {
        for known in [&mut self.listed, &mut self.refused] {
            let from_path = known.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
            let inside: Vec<PathBuf> = from_path.take_while(|known| known.starts_with(path)).cloned().collect();
            for path in inside {
                known.remove(&path);
            }
        }
    }

    /// Watches these folders and the walked folders inside.
    fn walk(&mut self, mut queue: Vec<PathBuf>, watch: &mut Watch) -> Vec<PathBuf> {
        let mut new = Vec::new();
        while let Some(folder) = queue.pop() {
            if self.listed.contains(&folder) {
                continue;
            }
            // Watched before it is listed, so that entries created in between are reported.
            let watched = watch(&folder);
            self.is_exhausted = watched == Watched::Exhausted;
            match watched {
                Watched::Yes => new.push(folder.clone()),
                Watched::Gone => continue,
                Watched::Refused => {
                    self.refused.insert(folder);
                    continue;
                }
                Watched::Exhausted => {
                    self.refused.extend(queue.into_iter().chain([folder]));
                    break;
                }
            }
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
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) && self.needs_watch(&path) {
                    queue.push(path);
                }
            }
        }
        new
    }

    /// Whether a folder is walked, or contains a nested root.
    fn needs_watch(&self, path: &Path) -> bool {
        self.is_walked(path) || self.roots.iter().any(|root| root != path && root.starts_with(path))
    }

    fn is_walked(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.top) else { return false };
        !below.iter().any(is_never_walked) && !self.skip.iter().any(|inner| below.starts_with(inner))
    }
}

fn is_never_walked(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || NEVER_WALKED.iter().any(|never| name == *never)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::create_dir;

    #[test]
    fn a_system_without_watches_is_asked_once_and_not_for_every_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().to_owned();
        (0..1_000).for_each(|number| create_dir(top.join(number.to_string())).unwrap());
        let mut root = RootWatch::new(top.clone(), (0, 0), &BTreeSet::new());
        let (mut available, mut calls) = (10, 0);
        let mut attempt = |root: &mut RootWatch, more: usize| {
            (available, calls) = (available + more, 0);
            let mut watch = |_: &Path| {
                calls += 1;
                if available == 0 {
                    return Watched::Exhausted;
                }
                available -= 1;
                Watched::Yes
            };
            let new = if more == 0 && root.listed.is_empty() {
                root.start(&Arc::from([top.clone()]), &mut watch)
            } else {
                root.retry(&mut watch)
            };
            (new.len(), calls, root.watched().count(), root.is_complete())
        };
        assert_eq!(attempt(&mut root, 0), (10, 11, 10, false));
        assert_eq!(attempt(&mut root, 0), (0, 1, 10, false));
        assert_eq!(attempt(&mut root, 5), (5, 6, 15, false));
        assert_eq!(attempt(&mut root, 2_000), (986, 986, 1_001, true));
    }
}
