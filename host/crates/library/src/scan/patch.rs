//! Compares a few files with the disk, without a scan.

use super::{contains, folders_of, links, listing};
use crate::links::LinkTarget;
use crate::reading;
use crate::roots::SkillRoot;
use crate::snapshot::{Folder, Snapshot, document_path};
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

/// Compares these files with the disk: those that appeared, went away or have another text. All files of a root that can no
/// longer be opened went away.
pub fn patch(roots: &[SkillRoot], before: &Snapshot, files: &[Location]) -> Patch {
    let mut patch = Patch { snapshot: before.clone(), changes: Vec::new(), undo: Vec::new() };
    let mut by_root: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        by_root.entry(file.root).or_default().insert(&file.path);
    }
    for (number, paths) in by_root {
        let Some((root, known)) = roots.get(number as usize).zip(before.root(number)) else { continue };
        match root.open() {
            Ok(handle) => patch.compare(number, root, handle, &paths),
            // As in a scan, running out of file descriptors must not remove skills.
            Err(error) if known.folder.is_none() || reading::is_out_of_files(&error) => {}
            Err(_) => {
                patch.changes.push(Change::FolderRemoved(Location { root: number, path: String::new() }));
                patch.undo.extend(folders_of(number, known));
                patch.snapshot.roots[number as usize] = Arc::default();
            }
        }
    }
    patch
}

impl Patch {
    fn compare(&mut self, number: u32, root: &SkillRoot, handle: Dir, paths: &BTreeSet<&str>) {
        let known = &mut self.snapshot.roots[number as usize];
        let links = links(&handle, root);
        let mut listings: BTreeMap<&str, Folder> = BTreeMap::new();
        let (mut edits, mut changed) = (Vec::new(), BTreeSet::new());
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            // A folder that is new is not entered.
            let Some(listed) = known.folders.get(folder) else { continue };
            let target = match links.resolve(path) {
                Ok(LinkTarget::File(target)) => Some(target),
                Ok(LinkTarget::Folder(_)) | Err(_) => None,
            };
            let is_listed = contains(&listed.files, name);
            let mut update = |change: &dyn Fn(&mut Folder)| {
                change(listings.entry(folder).or_insert_with(|| Folder::clone(listed)));
            };
            match &target {
                None if !is_listed => continue,
                None => update(&|folder| folder.files.retain(|file| file != name)),
                Some(target) => {
                    let read = known.with_files(|files| files.get(path).cloned()).filter(|_| is_listed);
                    if read.is_some_and(|file| file.freshness(&handle, target) == Freshness::Fresh) {
                        continue;
                    }
                    if target != document_path(&known.folders, path) {
                        update(&|folder| {
                            drop(folder.links.insert(name.to_owned(), Ok(LinkTarget::File(target.clone()))));
                        });
                    }
                    if is_listed {
                        edits.push(Change::File(Location { root: number, path: (*path).to_owned() }));
                    } else {
                        update(&|folder| {
                            folder.files.push(name.to_owned());
                            folder.files.sort_unstable();
                        });
                    }
                }
            }
            changed.insert((*path).to_owned());
        }
        let mut folders = Arc::clone(&known.folders);
        for (folder, now) in listings {
            self.changes.push(listing(number, folder, &now));
            let before = Arc::make_mut(&mut folders).insert(folder.into(), Arc::new(now));
            self.undo.extend(before.map(|before| listing(number, folder, &before)));
        }
        self.changes.extend(edits.iter().cloned());
        self.undo.extend(edits);
        drop(links);
        *known = Arc::new(known.patched(handle, folders, changed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::{self, RootOptions};
    use crate::scan::{all_folders, scan};
    use bindings::library::ReadError;
    use std::fs::{create_dir_all, remove_dir_all, remove_file, write};

    const LIMIT: u64 = 1_000;

    fn file(path: &str) -> Location {
        Location { root: 0, path: path.to_owned() }
    }

    fn text(snapshot: &Snapshot, path: &str) -> Result<String, ReadError> {
        snapshot.roots[0].file(path, LIMIT).text.as_ref().map(ToString::to_string).map_err(Clone::clone)
    }

    #[test]
    fn a_patch_has_the_files_that_changed_and_shares_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join("root").join(path);
        create_dir_all(at("a")).unwrap();
        for path in ["a/edited.md", "a/gone.md", "same.md"] {
            write(at(path), "before").unwrap();
        }
        let given = vec![at("").to_str().unwrap().to_owned()];
        let roots = roots::resolve(&RootOptions { given, ..RootOptions::default() }).unwrap();
        let before = scan(&roots, &Snapshot::default(), LIMIT).unwrap().unwrap().snapshot;
        let paths = ["a/edited.md", "a/gone.md", "a/new.md", "same.md", "unknown/new.md"];
        for path in ["a/edited.md", "a/gone.md", "same.md"] {
            assert_eq!(text(&before, path).unwrap(), "before");
        }
        write(at("a/edited.md"), "after, and longer").unwrap();
        write(at("a/new.md"), "new").unwrap();
        remove_file(at("a/gone.md")).unwrap();

        let patched = patch(&roots, &before, &paths.map(file));
        assert_eq!(
            paths.map(|path| text(&patched.snapshot, path).ok()),
            [Some("after, and longer".to_owned()), None, Some("new".to_owned()), Some("before".to_owned()), None]
        );
        assert_eq!(text(&before, "a/edited.md").unwrap(), "before");
        let listed = patched.snapshot.roots[0].folders["a"].files.clone();
        assert_eq!(listed, ["edited.md", "new.md"]);
        for (changes, files) in
            [(&patched.changes, &["edited.md", "new.md"]), (&patched.undo, &["edited.md", "gone.md"])]
        {
            assert!(matches!(&changes[0], Change::Folder(listing) if listing.files == *files), "{changes:?}");
            assert!(
                changes[1..]
                    .iter()
                    .any(|change| matches!(change, Change::File(edited) if edited.path == "a/edited.md"))
            );
        }

        remove_dir_all(at("")).unwrap();
        let patched = patch(&roots, &before, &[file("same.md")]);
        assert!(matches!(&patched.changes[..], [Change::FolderRemoved(top)] if top.root == 0 && top.path.is_empty()));
        assert_eq!(patched.undo.len(), all_folders(&before).len());
        assert!(matches!(text(&patched.snapshot, "a/edited.md"), Err(ReadError::NotFound)));
        assert_eq!(text(&before, "a/edited.md").unwrap(), "before");
    }
}
