//! Compares a few files with the disk, without a scan.

use super::listing;
use crate::roots::SkillRoot;
use crate::snapshot::{Folder, RootSnapshot, Snapshot};
use crate::stamp::Freshness;
use bindings::catalog::Change;
use bindings::types::Location;
use cap_std::fs::Dir;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What differs on disk in a few files.
pub struct Patch {
    pub snapshot: Snapshot,
    pub changes: Vec<Change>,
    /// Takes an engine that got the changes back to the snapshot before.
    pub undo: Vec<Change>,
}

/// Compares these files with the disk: those that appeared, went away or have another text.
pub fn patch(roots: &[SkillRoot], before: &Snapshot, files: &[Location]) -> Patch {
    let mut patch = Patch { snapshot: before.clone(), changes: Vec::new(), undo: Vec::new() };
    let mut by_root: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        by_root.entry(file.root).or_default().insert(&file.path);
    }
    for (number, paths) in by_root {
        let Some(root) = roots.get(number as usize) else { continue };
        let Some(known) = patch.snapshot.roots.get_mut(number as usize) else { continue };
        let Ok(handle) = root.open() else { continue };
        for (change, undo) in compare(number, &handle, known, &paths) {
            patch.changes.push(change);
            patch.undo.push(undo);
        }
        known.folder = Some(Arc::new(handle));
    }
    patch
}

/// Returns each change with its inverse.
fn compare(number: u32, handle: &Dir, known: &mut RootSnapshot, paths: &BTreeSet<&str>) -> Vec<(Change, Change)> {
    let mut listings: BTreeMap<&str, Folder> = BTreeMap::new();
    let mut edits = Vec::new();
    for path in paths {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        // A folder that is new is not entered.
        let Some(listed) = known.folders.get(folder) else { continue };
        let exists = handle.metadata(path).is_ok_and(|found| found.is_file());
        let position = listed.files.binary_search_by(|file| file.as_str().cmp(name));
        let read = known.with_files(|files| files.get(*path).cloned());
        match position {
            Ok(_) if exists => {
                if read.is_none_or(|file| file.freshness(handle, path) != Freshness::Fresh) {
                    known.forget(path);
                    let file = || Change::File(Location { root: number, path: (*path).to_owned() });
                    edits.push((file(), file()));
                }
            }
            Err(_) if !exists => {}
            _ => {
                known.forget(path);
                let now = listings.entry(folder).or_insert_with(|| Folder::clone(listed));
                match now.files.binary_search_by(|file| file.as_str().cmp(name)) {
                    Ok(position) => drop(now.files.remove(position)),
                    Err(position) => now.files.insert(position, name.to_owned()),
                }
            }
        }
    }
    let mut changes = Vec::new();
    for (folder, now) in listings {
        if let Some(before) = known.folders.get(folder) {
            changes.push((listing(number, folder, &now), listing(number, folder, before)));
        }
        known.folders.insert(folder.into(), Arc::new(now));
    }
    changes.extend(edits);
    changes
}
