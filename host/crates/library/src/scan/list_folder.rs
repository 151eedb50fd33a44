//! Lists one folder: which entries are walked, which are read and which are problems.

use super::{MAX_DEPTH, RootScan, depth, is_document, is_walked, join};
use crate::links::{LinkTarget, Links};
use crate::reading;
use crate::snapshot::Folder;
use crate::stamp::Stamp;
use bindings::catalog::SkipReason;
use cap_std::fs::{Dir, DirEntry};
use rustix::fs::AtFlags;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;

impl RootScan<'_> {
    /// Returns `None` if the folder no longer exists.
    pub(super) fn list_folder(&self, handle: &Dir, links: &Links<'_>, path: &str) -> Option<Folder> {
        let opened = if path.is_empty() { handle.try_clone() } else { handle.open_dir(path) };
        // Even if the folder cannot be opened, its times show when that changes.
        let unreadable = || {
            let stat = match path {
                "" => rustix::fs::fstat(handle),
                _ => rustix::fs::statat(handle, path, AtFlags::SYMLINK_NOFOLLOW),
            };
            let stamp = Stamp::of(&stat.ok()?);
            let skipped = vec![(String::new(), SkipReason::NoPermission)];
            Some(Folder { skipped, ..Folder::empty(stamp) })
        };
        let opened = match opened {
            Ok(opened) => opened,
            // cap-std reports an escape with the same kind, but without an OS error code.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_some() => {
                return unreadable();
            }
            Err(error) => {
                self.out_of_files.fetch_or(reading::is_out_of_files(&error), Ordering::AcqRel);
                return None;
            }
        };
        let stamp = Stamp::of(&rustix::fs::fstat(&opened).ok()?);
        let entries = match opened.entries() {
            Ok(entries) => entries,
            Err(error) if reading::is_out_of_files(&error) => {
                self.out_of_files.store(true, Ordering::Release);
                return None;
            }
            Err(_) => return unreadable(),
        };
        let mut folder = Folder::empty(stamp);
        for entry in entries.flatten() {
            self.add_entry(links, path, &entry, &mut folder);
        }
        folder.sort();
        Some(folder)
    }

    fn add_entry(&self, links: &Links<'_>, path: &str, entry: &DirEntry, folder: &mut Folder) {
        let Ok(kind) = entry.file_type() else { return };
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            Err(name) => {
                let name = name.to_string_lossy().into_owned();
                if kind.is_dir() || name.ends_with(".md") {
                    folder.skipped.push((name, SkipReason::NameNotText));
                }
                return;
            }
        };
        if name.starts_with('.') {
            return;
        }
        if kind.is_symlink() {
            let followed = links.follow(&join(path, &name));
            match &followed {
                Ok(LinkTarget::File(_)) if is_document(path, &name) => folder.files.push(name.clone()),
                // Walked at its own path, so links neither make loops nor multiply folders.
                Ok(LinkTarget::Folder(_) | LinkTarget::File(_)) => {}
                Err(reason) => folder.skipped.push((name.clone(), *reason)),
            }
            folder.links.insert(name, followed);
        } else if !kind.is_dir() {
            if is_document(path, &name) {
                folder.files.push(name);
            }
        } else if is_walked(self.root, &join(path, &name)) {
            if depth(path) + 1 > MAX_DEPTH {
                folder.skipped.push((name, SkipReason::TooDeep));
            } else {
                folder.folders.push(name);
            }
        }
    }
}
