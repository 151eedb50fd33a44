//! What is in one folder, sorted into what is walked, what is read and what is left out.

use super::{RootScan, at, is_walked, join};
use crate::bindings::catalog::TroubleReason;
use crate::library::reading;
use crate::library::snapshot::Folder;
use crate::library::stamp::Stamp;
use cap_std::fs::{Dir, DirEntry};
use rustix::fs::AtFlags;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;

/// Most levels of folders below a root.
const DEEPEST: usize = 10;

impl RootScan<'_> {
    /// What is in a folder, or `None` when it is gone.
    pub(super) fn list_one(&self, handle: &Dir, path: &str) -> Option<Folder> {
        let opened = if path.is_empty() { handle.try_clone() } else { handle.open_dir(path) };
        // Without permission to open it, its times still tell when that changes.
        let unreadable = || {
            let stat = match path {
                "" => rustix::fs::fstat(handle),
                _ => rustix::fs::statat(handle, path, AtFlags::SYMLINK_NOFOLLOW),
            };
            let stamp = Stamp::of(&stat.ok()?);
            let troubles = vec![(String::new(), TroubleReason::NoPermission)];
            Some(Folder { troubles, ..Folder::empty(stamp) })
        };
        let opened = match opened {
            Ok(opened) => opened,
            // The handle reports an escape in the same way, but without a number of the operating system.
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
            self.sort_in(handle, path, &entry, &mut folder);
        }
        folder.files.sort_unstable();
        folder.folders.sort_unstable();
        folder.links.sort_unstable();
        folder.troubles.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Some(folder)
    }

    fn sort_in(&self, handle: &Dir, path: &str, entry: &DirEntry, folder: &mut Folder) {
        let Ok(kind) = entry.file_type() else { return };
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            Err(name) => {
                let name = name.to_string_lossy().into_owned();
                if kind.is_dir() || name.ends_with(".md") {
                    folder.troubles.push((name, TroubleReason::NameNotText));
                }
                return;
            }
        };
        if name.starts_with('.') {
            return;
        }
        let is_folder = if kind.is_symlink() {
            folder.has_links = true;
            match self.follow(handle, path, &join(path, &name)) {
                Ok(LinkTarget::Folder) => true,
                Ok(LinkTarget::File) => false,
                Ok(LinkTarget::WalkedAnyway) => return folder.links.push(name),
                Err(reason) => return folder.troubles.push((name, reason)),
            }
        } else {
            kind.is_dir()
        };
        if !is_folder {
            if name.ends_with(".md") || path.is_empty() && name == "config.yaml" {
                folder.files.push(name);
            }
        } else if is_walked(self.root, &join(path, &name)) {
            if depth(path) + 1 > DEEPEST {
                folder.troubles.push((name, TroubleReason::TooDeep));
            } else {
                folder.folders.push(name);
            }
        }
    }

    /// Where a link leads. A folder that is walked at its own place is not walked a second time, so links make no loops.
    fn follow(&self, handle: &Dir, folder: &str, link: &str) -> Result<LinkTarget, TroubleReason> {
        let metadata = handle.metadata(link).map_err(|_| TroubleReason::LeadsOutside)?;
        if !metadata.is_dir() {
            return Ok(LinkTarget::File);
        }
        let real = |path: &str| handle.canonicalize(at(path)).map_err(|_| TroubleReason::LeadsOutside);
        let target = real(link)?.to_string_lossy().into_owned();
        let hidden = target.split('/').any(|segment| segment.starts_with('.') && segment != ".");
        if !hidden && is_walked(self.root, &target) && depth(&target) <= DEEPEST {
            return Ok(LinkTarget::WalkedAnyway);
        }
        if !folder.is_empty() && real(folder)?.to_str() != Some(folder) {
            return Err(TroubleReason::LinkWithinLink);
        }
        Ok(LinkTarget::Folder)
    }
}

/// What a link leads to.
enum LinkTarget {
    File,
    Folder,
    WalkedAnyway,
}

/// Number of folders between the root and this one, itself included.
fn depth(path: &str) -> usize {
    path.split('/').filter(|segment| !segment.is_empty()).count()
}
