//! The folders and files that a look compares with what is on disk.

use super::{NEVER_WALKED, at, in_parallel};
use crate::library::reading;
use crate::library::roots::SkillRoot;
use crate::library::snapshot::{File, Files, Folder, Folders, RootSnapshot};
use crate::library::stamp::{Sameness, Stamp};
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Stat, statat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What may have changed of what is known about a root.
#[derive(Default)]
pub struct Suspects {
    folders: Vec<(Arc<str>, Arc<Folder>)>,
    files: Vec<(Arc<str>, Arc<File>)>,
}

impl Suspects {
    pub fn all(known: &RootSnapshot) -> Self {
        let folders = known.folders.iter().map(|(path, folder)| (Arc::clone(path), Arc::clone(folder)));
        Self { folders: folders.collect(), files: known.files().into_iter().collect() }
    }

    /// What is at places where something changed, and the folders it is in; also what could not be relied on when it was read.
    /// `None` if more than that may have changed: where there are links or second names a place is not the only one, and a folder
    /// that nobody knows says nothing.
    pub fn at(handle: &Dir, places: &BTreeSet<PathBuf>, root: &SkillRoot, known: &RootSnapshot) -> Option<Self> {
        if known.folders.values().any(|folder| folder.has_links) {
            return None;
        }
        known.among_files(|read| Self::among(handle, places, root, &known.folders, read))
    }

    fn among(
        handle: &Dir,
        places: &BTreeSet<PathBuf>,
        root: &SkillRoot,
        listed: &Folders,
        read: &Files,
    ) -> Option<Self> {
        let mut folders: Vec<_> = listed.iter().filter(|(_, folder)| !folder.stamp.is_settled()).collect();
        let mut files: Vec<_> = read.iter().filter(|(_, file)| !file.is_settled()).collect();
        for place in places.iter().filter(|place| is_concerned(place, root)) {
            let above = place.parent().and_then(Path::to_str).unwrap_or_default();
            folders.push(listed.get_key_value(above)?);
            // A name that is no text is nothing that was read or walked.
            let Some(path) = place.to_str() else { continue };
            let has_other_names = |stat: Stat| !is_folder(&stat) && Stamp::of(&stat).has_other_names();
            if statat(handle, at(path), AtFlags::SYMLINK_NOFOLLOW).is_ok_and(has_other_names) {
                return None;
            }
            files.extend(read.get_key_value(path));
            // Who may enter a folder decides about everything in it.
            if listed.contains_key(path) {
                folders.extend(beneath(listed, path));
                files.extend(beneath(read, path));
            }
        }
        Some(Self { folders: distinct(folders), files: distinct(files) })
    }

    /// Folders whose entries may be others than those that were listed.
    pub fn dirty_folders(&self, handle: &Dir) -> Vec<String> {
        let is_dirty = |(path, folder): &(Arc<str>, Arc<Folder>)| folder.sameness(handle, path) != Sameness::Same;
        let dirty = in_parallel(&self.folders, |folder| is_dirty(folder).then(|| folder.0.to_string()));
        dirty.into_iter().flatten().collect()
    }

    /// Files that may have other bytes than when they were read.
    pub fn dirty_files(&self, handle: &Dir) -> Vec<Arc<str>> {
        let is_dirty = |(path, file): &(Arc<str>, Arc<File>)| file.sameness(handle, path) != Sameness::Same;
        let dirty = in_parallel(&self.files, |file| is_dirty(file).then(|| Arc::clone(&file.0)));
        dirty.into_iter().flatten().collect()
    }
}

/// A folder, or all folders or files below it.
fn beneath<'a, T>(
    all: &'a BTreeMap<Arc<str>, Arc<T>>,
    folder: &str,
) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<T>)> {
    let folder = folder.to_owned();
    let is_inside = move |path: &str| {
        folder.is_empty() || path.strip_prefix(&*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    all.iter().filter(move |(path, _)| is_inside(path))
}

fn distinct<T>(all: Vec<(&Arc<str>, &Arc<T>)>) -> Vec<(Arc<str>, Arc<T>)> {
    let distinct: BTreeMap<&Arc<str>, &Arc<T>> = all.into_iter().collect();
    distinct.into_iter().map(|(path, known)| (Arc::clone(path), Arc::clone(known))).collect()
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode).is_dir()
}

/// Whether the folder of a place is one that is walked.
fn is_concerned(place: &Path, root: &SkillRoot) -> bool {
    let Some(above) = place.parent() else { return true };
    let is_left_out = |name: &str| reading::is_hidden(name) || NEVER_WALKED.contains(&name);
    let is_root = |above: &Path| above.to_str().is_some_and(|above| root.skip.contains(above));
    above.iter().all(|name| name.to_str().is_some_and(|name| !is_left_out(name))) && !above.ancestors().any(is_root)
}
