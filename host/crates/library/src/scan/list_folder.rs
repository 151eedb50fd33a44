//! Lists one folder: which entries are walked, which are read and which are problems.

use super::{RootScan, is_walked, join, or_dot};
use crate::reading;
use crate::snapshot::Folder;
use crate::stamp::Stamp;
use bindings::catalog::SkipReason;
use cap_std::fs::{Dir, DirEntry};
use rustix::fs::AtFlags;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;

/// Maximum depth of folders below a root.
const MAX_DEPTH: usize = 10;

impl RootScan<'_> {
    /// Returns `None` if the folder no longer exists.
    pub(super) fn list_folder(&self, handle: &Dir, path: &str) -> Option<Folder> {
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
            self.add_entry(handle, path, &entry, &mut folder);
        }
        folder.files.sort_unstable();
        folder.folders.sort_unstable();
        folder.links.sort_unstable();
        folder.skipped.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Some(folder)
    }

    fn add_entry(&self, handle: &Dir, path: &str, entry: &DirEntry, folder: &mut Folder) {
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
        let is_folder = if kind.is_symlink() {
            folder.has_links = true;
            match self.link_target(handle, path, &join(path, &name)) {
                Ok(LinkTarget::Folder) => true,
                Ok(LinkTarget::File) => false,
                Ok(LinkTarget::WalkedAnyway) => return folder.links.push(name),
                Err(reason) => return folder.skipped.push((name, reason)),
            }
        } else {
            kind.is_dir()
        };
        if !is_folder {
            if name.ends_with(".md") || path.is_empty() && name == "config.yaml" {
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

    /// Classifies the target of a link. A folder that is walked at its own path is not walked again, so links make no loops.
    fn link_target(&self, handle: &Dir, folder: &str, link: &str) -> Result<LinkTarget, SkipReason> {
        let metadata = handle.metadata(link).map_err(|_| SkipReason::OutsideRoot)?;
        if !metadata.is_dir() {
            return Ok(LinkTarget::File);
        }
        let real = |path: &str| handle.canonicalize(or_dot(path)).map_err(|_| SkipReason::OutsideRoot);
        let target = real(link)?.to_string_lossy().into_owned();
        let hidden = target.split('/').any(|segment| segment.starts_with('.') && segment != ".");
        if !hidden && is_walked(self.root, &target) && depth(&target) <= MAX_DEPTH {
            return Ok(LinkTarget::WalkedAnyway);
        }
        if !folder.is_empty() && real(folder)?.to_str() != Some(folder) {
            return Err(SkipReason::LinkWithinLink);
        }
        Ok(LinkTarget::Folder)
    }
}

enum LinkTarget {
    File,
    Folder,
    WalkedAnyway,
}

/// Number of segments of a path below the root.
fn depth(path: &str) -> usize {
    path.split('/').filter(|segment| !segment.is_empty()).count()
}
