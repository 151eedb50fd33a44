//! The folders and files that a scan compares with the disk.

use super::{NEVER_WALKED, in_parallel, join, or_dot};
use crate::links::Links;
use crate::reading;
use crate::roots::SkillRoot;
use crate::shared_map::SharedMap;
use crate::snapshot::{File, Folder, Folders, RootSnapshot, document_path};
use crate::stamp::{Freshness, Stamp};
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Stat, statat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The known folders and files of a root that may have changed.
#[derive(Default)]
pub struct Candidates {
    folders: Vec<(Arc<str>, Arc<Folder>)>,
    files: Vec<(Arc<str>, Arc<File>)>,
}

impl Candidates {
    pub fn all(known: &RootSnapshot) -> Self {
        let folders = known.folders.iter().map(|(path, folder)| (Arc::clone(path), Arc::clone(folder)));
        Self {
            folders: folders.collect(),
            files: known
                .with_files(|files| files.iter().map(|(path, file)| (Arc::clone(path), Arc::clone(file))).collect()),
        }
    }

    /// Returns the entries at the dirty paths, their parent folders, whatever is a link, because it may lead there, and
    /// everything with a racy stamp. An unknown folder is new, and is found by listing the known one above it. Returns `None`
    /// if more may have changed: with hard links a file has several paths.
    pub fn at(handle: &Dir, paths: &BTreeSet<PathBuf>, root: &SkillRoot, known: &RootSnapshot) -> Option<Self> {
        let listed = &*known.folders;
        known.with_files(|read| {
            let is_due = |folder: &Folder| !folder.stamp.is_settled() || !paths.is_empty() && !folder.links.is_empty();
            let mut folders: Vec<_> = listed.iter().filter(|(_, folder)| is_due(folder)).collect();
            let mut files: Vec<_> = read.iter().filter(|(_, file)| !file.is_settled()).collect();
            for (path, folder) in listed.iter().filter(|_| !paths.is_empty()) {
                files.extend(folder.links.keys().filter_map(|name| read.get_key_value(&join(path, name))));
            }
            for path in paths.iter().filter(|path| is_in_walked_folder(path, root)) {
                let mut above = path.ancestors().skip(1).filter_map(Path::to_str);
                folders.push(above.find_map(|folder| listed.get_key_value(folder))?);
                // Entries whose name is not UTF-8 are neither read nor walked.
                let Some(path) = path.to_str() else { continue };
                let has_hard_links = |stat: Stat| !is_folder(&stat) && Stamp::of(&stat).has_hard_links();
                if statat(handle, or_dot(path), AtFlags::SYMLINK_NOFOLLOW).is_ok_and(has_hard_links) {
                    return None;
                }
                files.extend(read.get_key_value(path));
                // The permissions of a folder affect everything in it.
                if listed.contains_key(path) {
                    folders.extend(tree(listed, path));
                    files.extend(tree(read, path));
                }
            }
            Some(Self { folders: distinct(folders), files: distinct(files) })
        })
    }

    /// Returns the folders whose entries may have changed since they were listed.
    pub fn dirty_folders(&self, handle: &Dir, links: &Links<'_>) -> Vec<String> {
        let is_dirty =
            |(path, folder): &(Arc<str>, Arc<Folder>)| folder.freshness(handle, path, links) != Freshness::Fresh;
        let dirty = in_parallel(&self.folders, |folder| is_dirty(folder).then(|| folder.0.to_string()));
        dirty.into_iter().flatten().collect()
    }

    /// Returns the files whose bytes may have changed since they were read.
    pub fn dirty_files(&self, handle: &Dir, folders: &Folders) -> Vec<Arc<str>> {
        let is_dirty = |(path, file): &(Arc<str>, Arc<File>)| {
            file.freshness(handle, document_path(folders, path)) != Freshness::Fresh
        };
        let dirty = in_parallel(&self.files, |file| is_dirty(file).then(|| Arc::clone(&file.0)));
        dirty.into_iter().flatten().collect()
    }
}

/// Returns a folder and everything below it.
fn tree<'a, T>(all: &'a SharedMap<T>, folder: &str) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<T>)> {
    all.get_key_value(folder).into_iter().chain(all.below(folder))
}

fn distinct<T>(all: Vec<(&Arc<str>, &Arc<T>)>) -> Vec<(Arc<str>, Arc<T>)> {
    let distinct: BTreeMap<&Arc<str>, &Arc<T>> = all.into_iter().collect();
    distinct.into_iter().map(|(path, known)| (Arc::clone(path), Arc::clone(known))).collect()
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode).is_dir()
}

/// Whether the parent folder of a path is walked.
fn is_in_walked_folder(path: &Path, root: &SkillRoot) -> bool {
    let Some(parent) = path.parent() else { return true };
    let is_skipped = |name: &str| reading::is_hidden(name) || NEVER_WALKED.contains(&name);
    let is_root = |folder: &Path| folder.to_str().is_some_and(|folder| root.skip.contains(folder));
    parent.iter().all(|name| name.to_str().is_some_and(|name| !is_skipped(name))) && !parent.ancestors().any(is_root)
}
