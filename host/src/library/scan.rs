//! What changed on disk since the last look.

use crate::bindings::catalog::{Change, Listing, Trouble, TroubleReason};
use crate::bindings::types::Location;
use crate::library::reading;
use crate::library::roots::SkillRoot;
use crate::library::snapshot::{File, Files, Folder, Folders, RootSnapshot, Snapshot};
use crate::library::stamp::Stamp;
use cap_std::fs::{Dir, DirEntry};
use rustix::fs::AtFlags;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Most levels of folders below a root.
const DEEPEST: usize = 10;

/// Folders that hold other people's files by convention.
pub const NEVER_WALKED: [&str; 2] = ["node_modules", "target"];

/// Fewer folders or files than this are looked at faster by one thread.
const WORTH_A_THREAD: usize = 64;

/// A new snapshot, and what the engine has to be told about it.
pub struct Scan {
    pub snapshot: Snapshot,
    pub changes: Vec<Change>,
}

/// How often everything is looked at until nothing moved meanwhile, and for how long.
const MOST_LOOKS: usize = 20;
const LONGEST_LOOK: Duration = Duration::from_millis(200);

/// Looks at every known file and folder, lists those folders and reads those files that changed. `None` when none did.
///
/// What moves from one folder to another while they are listed may be seen in both or in neither. So when entries changed,
/// everything is looked at again, until the same was seen twice: that has been there at one moment.
pub fn scan(roots: &[SkillRoot], previous: &Snapshot, file_limit: u64) -> Option<Scan> {
    let mut found = look(roots, previous, file_limit)?;
    let mut moved = !previous.roots.is_empty() && has_other_entries(&found.changes);
    let began = Instant::now();
    for _ in 1..MOST_LOOKS {
        moved &= began.elapsed() < LONGEST_LOOK;
        let Some(again) = moved.then(|| look(roots, &found.snapshot, file_limit)).flatten() else { break };
        moved = has_other_entries(&again.changes);
        found.snapshot = again.snapshot;
        found.changes.extend(again.changes);
    }
    Some(found)
}

/// Whether anything came, went or moved.
fn has_other_entries(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Folder(_) | Change::FolderGone(_)))
}

fn look(roots: &[SkillRoot], previous: &Snapshot, file_limit: u64) -> Option<Scan> {
    let nothing = RootSnapshot::default();
    let before = |number: u32| previous.root(number).unwrap_or(&nothing);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (number, root) in (0..).zip(roots) {
        let opened = root.open();
        // A server that is short of files at this moment has not lost its skills.
        if opened.as_ref().is_err_and(reading::is_out_of_files) && before(number).folder.is_some() {
            found.push(None);
            continue;
        }
        // A second way to a folder that is a root already brings nothing new.
        let handle = opened.ok().filter(|handle| identity(handle).is_some_and(|identity| seen.insert(identity)));
        let scan = RootScan { root, number, file_limit, out_of_files: AtomicBool::new(false) };
        found.push(scan.run(handle, before(number)));
    }
    if found.iter().all(Option::is_none) && !previous.roots.is_empty() {
        return None;
    }
    let mut scan = Scan { snapshot: Snapshot::default(), changes: Vec::new() };
    for (number, found) in (0..).zip(found) {
        let (after, changes) = found.unwrap_or_else(|| (before(number).clone(), Vec::new()));
        scan.snapshot.roots.push(after);
        scan.changes.extend(changes);
    }
    Some(scan)
}

/// Whether no segment of the path is left out of every walk, and the path is no root of its own.
pub fn is_walked(root: &SkillRoot, path: &str) -> bool {
    !path.split('/').any(|segment| NEVER_WALKED.contains(&segment)) && !root.skip.contains(path)
}

fn identity(handle: &Dir) -> Option<(u64, u64)> {
    Some(Stamp::of(&rustix::fs::fstat(handle).ok()?).identity())
}

/// Everything a snapshot holds, for an engine that knows nothing yet.
pub fn everything(snapshot: &Snapshot) -> Vec<Change> {
    let roots = (0..).zip(&snapshot.roots);
    let listings =
        roots.flat_map(|(number, root)| root.folders.iter().map(move |(path, folder)| listing(number, path, folder)));
    listings.collect()
}

struct RootScan<'a> {
    root: &'a SkillRoot,
    number: u32,
    file_limit: u64,
    /// Whether something could not be opened because too much is open.
    out_of_files: AtomicBool,
}

impl RootScan<'_> {
    fn run(&self, handle: Option<Dir>, before: &RootSnapshot) -> Option<(RootSnapshot, Vec<Change>)> {
        let Some(handle) = handle else {
            before.folder.as_ref()?;
            return Some((RootSnapshot::default(), vec![Change::FolderGone(self.location(""))]));
        };
        let files = before.files();
        let dirty_folders = Self::dirty_folders(&handle, before);
        let dirty_files = dirty_files(&handle, &files);
        if dirty_folders.is_empty() && dirty_files.is_empty() {
            return None;
        }
        let mut changes = Vec::new();
        let mut folders = before.folders.clone();
        self.list(&handle, dirty_folders, &mut folders, &mut changes);
        let files = self.read_again(&handle, files, &dirty_files, &folders, &mut changes);
        // The same holds for each folder and file in it.
        if before.folder.is_some() && self.out_of_files.load(Ordering::Acquire) {
            tracing::warn!("root `{}` stays as it was until the next look: too many files are open", self.root.label);
            return None;
        }
        Some((RootSnapshot::new(Some(Arc::new(handle)), folders, files), changes))
    }

    /// Known folders whose entries may have changed; the root itself when nothing is known.
    fn dirty_folders(handle: &Dir, before: &RootSnapshot) -> Vec<String> {
        if before.folders.is_empty() {
            return vec![String::new()];
        }
        let known: Vec<(&Arc<str>, &Arc<Folder>)> = before.folders.iter().collect();
        let dirty = in_parallel(&known, |(path, folder)| (!folder.is_current(handle, path)).then(|| path.to_string()));
        dirty.into_iter().flatten().collect()
    }

    /// Lists these folders and every new one below them, level by level.
    fn list(&self, handle: &Dir, dirty: Vec<String>, folders: &mut Folders, changes: &mut Vec<Change>) {
        let mut level = dirty;
        while !level.is_empty() {
            let listed = in_parallel(&level, |path| self.list_one(handle, path));
            let mut next = Vec::new();
            for (path, folder) in level.iter().zip(listed) {
                // Its parent was listed just before, and may no longer have it as a folder of its own.
                let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
                let orphaned =
                    !path.is_empty() && folders.get(above).is_none_or(|above| !contains(&above.folders, name));
                let Some(folder) = folder.filter(|_| !orphaned) else {
                    self.remove(path, folders, changes);
                    // Whatever is there by the next look, the parent is listed again.
                    if let Some(parent) = folders.get(above).filter(|_| !orphaned).map(|parent| parent.unsettled()) {
                        folders.insert(above.into(), Arc::new(parent));
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

    /// What is in a folder, or `None` when it is gone.
    fn list_one(&self, handle: &Dir, path: &str) -> Option<Folder> {
        let opened = if path.is_empty() { handle.try_clone() } else { handle.open_dir(path) };
        // Without permission to open it, its times still tell when that changes.
        let unreadable = || {
            let stat = match path {
                "" => rustix::fs::fstat(handle),
                _ => rustix::fs::statat(handle, path, AtFlags::SYMLINK_NOFOLLOW),
            };
            let stamp = Stamp::of(&stat.ok()?);
            Some(Folder {
                stamp,
                files: Vec::new(),
                folders: Vec::new(),
                links: Vec::new(),
                troubles: vec![(String::new(), TroubleReason::NoPermission)],
            })
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
        let mut folder =
            Folder { stamp, files: Vec::new(), folders: Vec::new(), links: Vec::new(), troubles: Vec::new() };
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
            match self.follow(handle, path, &join(path, &name)) {
                Ok(Target::Folder) => true,
                Ok(Target::File) => false,
                Ok(Target::WalkedAnyway) => return folder.links.push(name),
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
    fn follow(&self, handle: &Dir, folder: &str, link: &str) -> Result<Target, TroubleReason> {
        let metadata = handle.metadata(link).map_err(|_| TroubleReason::LeadsOutside)?;
        if !metadata.is_dir() {
            return Ok(Target::File);
        }
        let real = |path: &str| handle.canonicalize(at(path)).map_err(|_| TroubleReason::LeadsOutside);
        let target = real(link)?.to_string_lossy().into_owned();
        let hidden = target.split('/').any(|segment| segment.starts_with('.') && segment != ".");
        if !hidden && is_walked(self.root, &target) && depth(&target) <= DEEPEST {
            return Ok(Target::WalkedAnyway);
        }
        if !folder.is_empty() && real(folder)?.to_str() != Some(folder) {
            return Err(TroubleReason::LinkWithinLink);
        }
        Ok(Target::Folder)
    }

    fn remove(&self, path: &str, folders: &mut Folders, changes: &mut Vec<Change>) {
        if folders.remove(path).is_some() {
            // `0` is what comes after `/`.
            let (first, beyond) = (format!("{path}/"), format!("{path}0"));
            let below = folders.range::<str, _>((Bound::Included(first.as_str()), Bound::Excluded(beyond.as_str())));
            let below: Vec<Arc<str>> = below.map(|(folder, _)| Arc::clone(folder)).collect();
            for folder in below {
                folders.remove(&folder);
            }
            changes.push(Change::FolderGone(self.location(path)));
        }
    }

    /// The files read so far that are still listed, the dirty ones read again.
    fn read_again(
        &self,
        handle: &Dir,
        mut files: Files,
        dirty: &[Arc<str>],
        folders: &Folders,
        changes: &mut Vec<Change>,
    ) -> Files {
        if has_other_entries(changes) {
            files.retain(|path, _| {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                folders.get(folder).is_some_and(|folder| contains(&folder.files, name))
            });
        }
        let dirty: Vec<&Arc<str>> = dirty.iter().filter(|path| files.contains_key(*path)).collect();
        let read = in_parallel(&dirty, |path| File::read(Some(handle), path, self.file_limit));
        for (path, now) in dirty.into_iter().zip(read) {
            self.out_of_files.fetch_or(now.lacked_a_descriptor(), Ordering::AcqRel);
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

/// Known files that may have other bytes than when they were read.
fn dirty_files(handle: &Dir, files: &Files) -> Vec<Arc<str>> {
    let known: Vec<(&Arc<str>, &Arc<File>)> = files.iter().collect();
    let dirty = in_parallel(&known, |(path, file)| (!file.is_current(handle, path)).then(|| Arc::clone(path)));
    dirty.into_iter().flatten().collect()
}

/// Whether a sorted list of names has this one.
fn contains(names: &[String], name: &str) -> bool {
    names.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
}

/// What a link leads to.
enum Target {
    File,
    Folder,
    WalkedAnyway,
}

fn listing(root: u32, path: &str, folder: &Folder) -> Change {
    let trouble = |(name, reason): &(String, TroubleReason)| Trouble { name: name.clone(), reason: *reason };
    Change::Folder(Listing {
        folder: Location { root, path: path.to_owned() },
        files: folder.files.clone(),
        folders: [folder.folders.as_slice(), &folder.links].concat(),
        troubles: folder.troubles.iter().map(trouble).collect(),
    })
}

/// Applies a function to all items, on several threads when that is worth it.
fn in_parallel<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if items.len() < WORTH_A_THREAD || threads == 1 {
        return items.iter().map(each).collect();
    }
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

/// How the operating system calls a path below a root.
fn at(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Number of folders between the root and this one, itself included.
fn depth(path: &str) -> usize {
    path.split('/').filter(|segment| !segment.is_empty()).count()
}
