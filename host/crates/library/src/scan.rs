//! Finds what changed on disk since the last scan.

mod candidates;
mod list_folder;
mod patch;

pub use patch::{Patch, patch};

use crate::links::{Followed, LinkTarget, Links};
use crate::reading;
use crate::roots::SkillRoot;
use crate::snapshot::{File, Files, Folder, Folders, RootSnapshot, Snapshot, document_path};
use crate::stamp::Stamp;
use crate::sync_cookie::DirtyRoot;
use bindings::catalog::{Change, Listing, SkipReason, SkippedEntry};
use bindings::types::Location;
use candidates::Candidates;
use cap_std::fs::Dir;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum depth of folders below a root.
const MAX_DEPTH: usize = 10;

/// Folders that by convention hold generated or third-party files.
pub const NEVER_WALKED: [&str; 2] = ["node_modules", "target"];

/// Fewer items than this are processed faster by one thread.
const MIN_PARALLEL_ITEMS: usize = 64;

/// A new snapshot, and the changes to report to the engine.
pub struct Scan {
    pub snapshot: Snapshot,
    pub changes: Vec<Change>,
    /// Whether a root was left unchanged because too many files were open.
    pub out_of_files: bool,
}

/// Why a scan has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanError {
    /// Too many files are open.
    OutOfFiles,
    /// More may have changed than the dirty paths.
    DirtyPathsUnknown,
}

/// How often, and for how long, a scan is repeated until entries stop moving.
const MAX_PASSES: usize = 20;
const MAX_PASS_TIME: Duration = Duration::from_millis(200);

/// Checks every known file and folder, lists the folders and reads the files that changed. Returns `None` if none did.
pub fn scan(roots: &[SkillRoot], previous: &Snapshot, file_limit: u64) -> Result<Option<Scan>, ScanError> {
    until_stable(previous, |before| scan_once(roots, before, file_limit, None))
}

/// Like [`scan`], but checks only the paths that `dirty` returns; it is called before each pass.
pub fn scan_dirty(
    roots: &[SkillRoot],
    previous: &Snapshot,
    file_limit: u64,
    mut dirty: impl FnMut() -> Option<Vec<DirtyRoot>>,
) -> Result<Option<Scan>, ScanError> {
    let mut all: Vec<DirtyRoot> = Vec::new();
    until_stable(previous, |before| {
        let mut now = dirty().ok_or(ScanError::DirtyPathsUnknown)?;
        for (root, earlier) in now.iter_mut().zip(std::mem::take(&mut all)) {
            root.paths.extend(earlier.paths);
        }
        all = now;
        scan_once(roots, before, file_limit, Some(&all))
    })
}

/// Repeats a scan in which entries changed until two in a row agree. An entry that moves between two folders while they are
/// listed may be seen in both or in neither.
fn until_stable(
    previous: &Snapshot,
    mut scan_once: impl FnMut(&Snapshot) -> Result<Option<Scan>, ScanError>,
) -> Result<Option<Scan>, ScanError> {
    let Some(mut scan) = scan_once(previous)? else { return Ok(None) };
    let mut moved = !previous.roots.is_empty() && has_entry_changes(&scan.changes);
    let began = Instant::now();
    for _ in 1..MAX_PASSES {
        if !moved || began.elapsed() >= MAX_PASS_TIME {
            break;
        }
        let next = match scan_once(&scan.snapshot) {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(ScanError::DirtyPathsUnknown) => return Err(ScanError::DirtyPathsUnknown),
            Err(ScanError::OutOfFiles) => {
                scan.out_of_files = true;
                break;
            }
        };
        moved = has_entry_changes(&next.changes);
        scan.snapshot = next.snapshot;
        scan.changes.extend(next.changes);
        scan.out_of_files |= next.out_of_files;
    }
    Ok(Some(scan))
}

/// Whether an entry was created, removed or moved.
fn has_entry_changes(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Folder(_) | Change::FolderRemoved(_)))
}

/// Returns the files that may be gone after a change of entries.
fn changed_files(files: &Files, change: &Change) -> Vec<Arc<str>> {
    let (folder, only_here) = match change {
        Change::Folder(listing) => (&listing.folder.path, true),
        Change::FolderRemoved(folder) => (&folder.path, false),
        Change::File(_) => return Vec::new(),
    };
    let below = files.below(folder).map(|(path, _)| path);
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    below.filter(|path| !only_here || !path[start..].contains('/')).cloned().collect()
}

/// Makes one pass over everything, or over the dirty paths.
fn scan_once(
    roots: &[SkillRoot],
    previous: &Snapshot,
    file_limit: u64,
    dirty: Option<&[DirtyRoot]>,
) -> Result<Option<Scan>, ScanError> {
    let before = |number: usize| previous.roots.get(number).cloned().unwrap_or_default();
    let mut seen = BTreeSet::new();
    let (mut results, mut out_of_files) = (Vec::new(), false);
    for (number, root) in (0..).zip(roots) {
        let scan = RootScan { root, number, file_limit, out_of_files: AtomicBool::new(false) };
        let before = before(results.len());
        let changed = match dirty.map(|dirty| &dirty[results.len()]) {
            None => scan.scan_all(&before, &mut seen),
            Some(dirty) => scan.scan_dirty(&before, dirty, &mut seen),
        };
        results.push(match changed {
            Ok(changed) => changed,
            Err(ScanError::DirtyPathsUnknown) => return Err(ScanError::DirtyPathsUnknown),
            Err(ScanError::OutOfFiles) => {
                out_of_files = true;
                None
            }
        });
    }
    if results.iter().all(Option::is_none) && !previous.roots.is_empty() {
        return if out_of_files { Err(ScanError::OutOfFiles) } else { Ok(None) };
    }
    let mut scan = Scan { snapshot: Snapshot::default(), changes: Vec::new(), out_of_files };
    for (number, result) in results.into_iter().enumerate() {
        let (after, changes) =
            result.map_or_else(|| (before(number), Vec::new()), |(root, changes)| (Arc::new(root), changes));
        scan.snapshot.roots.push(after);
        scan.changes.extend(changes);
    }
    Ok(Some(scan))
}

/// Maximum number of documents of a root that are read through links, so that one large file does not count as thousands.
const MAX_LINKED_DOCUMENTS: usize = 100;

/// Follows links as far as scans walk: what links lead to is also watched.
pub fn links<'a>(handle: &'a Dir, root: &'a SkillRoot) -> Links<'a> {
    Links::new(handle, move |path, is_folder| {
        let is_hidden = reading::is_hidden(path.rsplit('/').next().unwrap_or(path));
        !is_hidden && (!is_folder || is_walked(root, path) && depth(path) <= MAX_DEPTH)
    })
}

/// Whether a path has no folder that is never walked, and is not a nested root.
pub fn is_walked(root: &SkillRoot, path: &str) -> bool {
    !path.split('/').any(|segment| NEVER_WALKED.contains(&segment)) && !root.skip.contains(path)
}

fn identity(handle: &Dir) -> Option<(u64, u64)> {
    Some(Stamp::of(&rustix::fs::fstat(handle).ok()?).identity())
}

/// Returns all folders of a snapshot as changes, for an engine without state.
pub fn all_folders(snapshot: &Snapshot) -> Vec<Change> {
    (0..).zip(&snapshot.roots).flat_map(|(number, root)| folders_of(number, root)).collect()
}

fn folders_of(number: u32, root: &RootSnapshot) -> impl Iterator<Item = Change> {
    root.folders.iter().map(move |(path, folder)| listing(number, path, folder))
}

struct RootScan<'a> {
    root: &'a SkillRoot,
    number: u32,
    file_limit: u64,
    /// Whether opening failed because too many files are open.
    out_of_files: AtomicBool,
}

/// The new state of a changed root, and the changes to report to the engine.
type Changed = (RootSnapshot, Vec<Change>);

impl RootScan<'_> {
    fn scan_all(&self, before: &RootSnapshot, seen: &mut BTreeSet<(u64, u64)>) -> Result<Option<Changed>, ScanError> {
        let opened = self.root.open();
        // Running out of file descriptors for a moment must not remove skills.
        if opened.as_ref().is_err_and(reading::is_out_of_files) && before.folder.is_some() {
            return Err(self.out_of_files());
        }
        // A second path to the same root adds nothing.
        let handle = opened.ok().filter(|handle| identity(handle).is_some_and(|identity| seen.insert(identity)));
        let Some(handle) = handle else {
            let gone = || (RootSnapshot::default(), vec![Change::FolderRemoved(self.location(""))]);
            return Ok(before.folder.is_some().then(gone));
        };
        self.scan_candidates(handle, before, &Candidates::all(before))
    }

    fn scan_dirty(
        &self,
        before: &RootSnapshot,
        dirty: &DirtyRoot,
        seen: &mut BTreeSet<(u64, u64)>,
    ) -> Result<Option<Changed>, ScanError> {
        let is_new = |identity: &(u64, u64)| seen.insert(*identity);
        if dirty.identity.filter(is_new) != before.identity() {
            return Err(ScanError::DirtyPathsUnknown);
        }
        let is_clean = dirty.paths.is_empty() && before.is_settled();
        if is_clean || before.folder.is_none() {
            return Ok(None);
        }
        let handle = self.root.open().ok().filter(|handle| identity(handle) == before.identity());
        let handle = handle.ok_or(ScanError::DirtyPathsUnknown)?;
        let candidates =
            Candidates::at(&handle, &dirty.paths, self.root, before).ok_or(ScanError::DirtyPathsUnknown)?;
        self.scan_candidates(handle, before, &candidates)
    }

    fn scan_candidates(
        &self,
        handle: Dir,
        before: &RootSnapshot,
        candidates: &Candidates,
    ) -> Result<Option<Changed>, ScanError> {
        let is_new = before.folders.is_empty();
        let links = links(&handle, self.root);
        let dirty_folders = if is_new { vec![String::new()] } else { candidates.dirty_folders(&handle, &links) };
        let any_folders = !dirty_folders.is_empty();
        let (mut changes, mut folders) = (Vec::new(), Arc::clone(&before.folders));
        if any_folders {
            let folders = Arc::make_mut(&mut folders);
            self.list(&handle, &links, dirty_folders, folders, &mut changes);
            self.limit_linked_documents(folders, &mut changes);
        }
        let dirty_files = candidates.dirty_files(&handle, &folders);
        if !any_folders && dirty_files.is_empty() {
            return Ok(None);
        }
        drop(links);
        let files = self.reread(&handle, before.files(), &dirty_files, &folders, &mut changes);
        // As in `scan_all`, for the folders and files in the root.
        if before.folder.is_some() && self.out_of_files.load(Ordering::Acquire) {
            return Err(self.out_of_files());
        }
        Ok(Some((RootSnapshot::new(handle, folders, files), changes)))
    }

    fn out_of_files(&self) -> ScanError {
        tracing::warn!("root `{}` is not updated until the next scan: too many files are open", self.root.label);
        ScanError::OutOfFiles
    }

    /// Lists these folders and the new ones below them, level by level.
    fn list(
        &self,
        handle: &Dir,
        links: &Links<'_>,
        dirty: Vec<String>,
        folders: &mut Folders,
        changes: &mut Vec<Change>,
    ) {
        let mut level = dirty;
        while !level.is_empty() {
            let listed = in_parallel(&level, |path| self.list_folder(handle, links, path));
            let mut next = Vec::new();
            for (path, folder) in level.iter().zip(listed) {
                // The parent was listed just before, and may no longer have this folder.
                let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
                let orphaned =
                    !path.is_empty() && folders.get(parent).is_none_or(|parent| !contains(&parent.folders, name));
                let Some(folder) = folder.filter(|_| !orphaned) else {
                    self.remove(path, folders, changes);
                    // Has the next scan list the parent again.
                    if let Some(racy) = folders.get(parent).filter(|_| !orphaned).map(|parent| parent.racy()) {
                        folders.insert(parent.into(), Arc::new(racy));
                    }
                    continue;
                };
                let known = folders.get(path.as_str());
                let same = known.is_some_and(|known| known.has_same_entries(&folder));
                let before = known.map(|known| known.folders.clone()).unwrap_or_default();
                for gone in before.iter().filter(|name| !contains(&folder.folders, name)) {
                    self.remove(&join(path, gone), folders, changes);
                }
                let inner = folder.folders.iter().map(|name| join(path, name));
                next.extend(inner.filter(|inner| !folders.contains_key(inner.as_str())));
                if !same {
                    changes.push(listing(self.number, path, &folder));
                }
                folders.insert(path.as_str().into(), Arc::new(folder));
            }
            level = next;
        }
    }

    /// Reads the first few documents that are links, and skips the others.
    fn limit_linked_documents(&self, folders: &mut Folders, changes: &mut Vec<Change>) {
        let mut left = MAX_LINKED_DOCUMENTS;
        let with_links = folders.iter().filter(|(_, folder)| !folder.links.is_empty());
        let with_links: Vec<(Arc<str>, Arc<Folder>)> =
            with_links.map(|(path, folder)| (Arc::clone(path), Arc::clone(folder))).collect();
        for (path, folder) in with_links {
            let is_document_link = |(name, target): &(&String, &Followed)| {
                matches!(target, Ok(LinkTarget::File(_))) && is_document(&path, name)
            };
            let names: Vec<String> =
                folder.links.iter().filter(is_document_link).map(|(name, _)| name.clone()).collect();
            let (read, skipped) = names.split_at(left.min(names.len()));
            left -= read.len();
            let is_read = |name: &String| contains(&folder.files, name);
            if read.iter().all(is_read) && !skipped.iter().any(is_read) {
                continue;
            }
            let mut folder = Folder::clone(&folder);
            folder.files.retain(|name| !contains(&names, name));
            folder.files.extend_from_slice(read);
            folder.skipped.retain(|(name, _)| !contains(&names, name));
            folder.skipped.extend(skipped.iter().map(|name| (name.clone(), SkipReason::TooManyLinks)));
            folder.sort();
            changes.push(listing(self.number, &path, &folder));
            folders.insert(path, Arc::new(folder));
        }
    }

    fn remove(&self, path: &str, folders: &mut Folders, changes: &mut Vec<Change>) {
        if folders.remove(path).is_some() {
            let below: Vec<Arc<str>> = folders.below(path).map(|(folder, _)| Arc::clone(folder)).collect();
            for folder in below {
                folders.remove(&folder);
            }
            changes.push(Change::FolderRemoved(self.location(path)));
        }
    }

    /// Returns the files read so far that are still listed, with the dirty ones read again.
    fn reread(
        &self,
        handle: &Dir,
        mut files: Files,
        dirty: &[Arc<str>],
        folders: &Folders,
        changes: &mut Vec<Change>,
    ) -> Files {
        for path in changes.iter().flat_map(|change| changed_files(&files, change)).collect::<Vec<_>>() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            if folders.get(folder).is_none_or(|folder| !contains(&folder.files, name)) {
                files.remove(&path);
            }
        }
        let dirty: Vec<&Arc<str>> = dirty.iter().filter(|path| files.contains_key(path)).collect();
        let read = in_parallel(&dirty, |path| File::read(Some(handle), document_path(folders, path), self.file_limit));
        for (path, now) in dirty.into_iter().zip(read) {
            self.out_of_files.fetch_or(now.is_out_of_files(), Ordering::AcqRel);
            let before = files.insert(Arc::clone(path), Arc::new(now));
            if before.map(|file| file.text.clone()) != files.get(path).map(|file| file.text.clone()) {
                changes.push(Change::File(self.location(path)));
            }
        }
        files
    }

    fn location(&self, path: &str) -> Location {
        Location { root: self.number, path: path.to_owned() }
    }
}

/// Number of segments of a path below the root.
fn depth(path: &str) -> usize {
    path.split('/').filter(|segment| !segment.is_empty()).count()
}

/// Whether the engine reads a file of this name in this folder.
fn is_document(folder: &str, name: &str) -> bool {
    name.ends_with(".md") || folder.is_empty() && name == "config.yaml"
}

/// Searches a sorted list of names.
fn contains(names: &[String], name: &str) -> bool {
    names.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
}

fn listing(root: u32, path: &str, folder: &Folder) -> Change {
    let skipped = |(name, reason): &(String, SkipReason)| SkippedEntry { name: name.clone(), reason: *reason };
    Change::Folder(Listing {
        folder: Location { root, path: path.to_owned() },
        files: folder.files.clone(),
        folders: folder.folders.iter().chain(folder.folder_links()).cloned().collect(),
        skipped: folder.skipped.iter().map(skipped).collect(),
    })
}

/// Applies a function to all items, on several threads if there are enough items.
fn in_parallel<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < MIN_PARALLEL_ITEMS {
        return items.iter().map(each).collect();
    }
    // Takes twenty system calls, which a request about one skill would notice.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = &each;
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(threads));
        let running: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(each).collect::<Vec<R>>())).collect();
        let joined =
            running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    })
}

pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Returns `.` for an empty path, which system calls do not accept.
pub fn or_dot(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

#[cfg(test)]
mod tests;
