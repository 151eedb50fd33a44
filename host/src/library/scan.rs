//! What changed on disk since the last look.

mod listed;
mod suspects;

use crate::bindings::catalog::{Change, Listing, Trouble, TroubleReason};
use crate::bindings::types::Location;
use crate::library::reading;
use crate::library::roots::SkillRoot;
use crate::library::snapshot::{File, Files, Folder, Folders, RootSnapshot, Snapshot};
use crate::library::stamp::Stamp;
use crate::library::witness::StirredRoot;
use cap_std::fs::Dir;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use suspects::Suspects;

/// Folders that hold other people's files by convention.
pub const NEVER_WALKED: [&str; 2] = ["node_modules", "target"];

/// Fewer folders or files than this are looked at faster by one thread.
const WORTH_A_THREAD: usize = 64;

/// A new snapshot, and what the engine has to be told about it.
pub struct Scan {
    pub snapshot: Snapshot,
    pub changes: Vec<Change>,
    /// Whether a root is as it was before because too much is open at this moment.
    pub out_of_files: bool,
}

/// Why a look tells nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsure {
    /// Too much is open at this moment.
    OutOfFiles,
    /// More may have changed than what has a name.
    Unnamed,
}

/// How often a look is repeated until nothing moved meanwhile, and for how long.
const MOST_LOOKS: usize = 20;
const LONGEST_LOOK: Duration = Duration::from_millis(200);

/// Looks at every known file and folder, lists those folders and reads those files that changed. `None` when none did.
pub fn scan(roots: &[SkillRoot], previous: &Snapshot, file_limit: u64) -> Result<Option<Scan>, Unsure> {
    until_calm(previous, |before| look(roots, before, file_limit, None))
}

/// The same for the places where something stirred. Whoever knows them is asked before each look.
pub fn scan_stirred(
    roots: &[SkillRoot],
    previous: &Snapshot,
    file_limit: u64,
    mut stirred: impl FnMut() -> Option<Vec<StirredRoot>>,
) -> Result<Option<Scan>, Unsure> {
    let mut all: Vec<StirredRoot> = Vec::new();
    until_calm(previous, |before| {
        let mut now = stirred().ok_or(Unsure::Unnamed)?;
        for (root, before) in now.iter_mut().zip(std::mem::take(&mut all)) {
            root.places.extend(before.places);
        }
        all = now;
        look(roots, before, file_limit, Some(&all))
    })
}

/// What moves from one folder to another while they are listed may be seen in both or in neither. So when entries changed,
/// there is another look, until the same was seen twice: that has been there at one moment.
fn until_calm(
    previous: &Snapshot,
    mut look: impl FnMut(&Snapshot) -> Result<Option<Scan>, Unsure>,
) -> Result<Option<Scan>, Unsure> {
    let Some(mut found) = look(previous)? else { return Ok(None) };
    let mut moved = !previous.roots.is_empty() && has_other_entries(&found.changes);
    let began = Instant::now();
    for _ in 1..MOST_LOOKS {
        if !moved || began.elapsed() >= LONGEST_LOOK {
            break;
        }
        let again = match look(&found.snapshot) {
            Ok(Some(again)) => again,
            Ok(None) => break,
            Err(Unsure::Unnamed) => return Err(Unsure::Unnamed),
            Err(Unsure::OutOfFiles) => {
                found.out_of_files = true;
                break;
            }
        };
        moved = has_other_entries(&again.changes);
        found.snapshot = again.snapshot;
        found.changes.extend(again.changes);
        found.out_of_files |= again.out_of_files;
    }
    Ok(Some(found))
}

/// Whether anything came, went or moved.
fn has_other_entries(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Folder(_) | Change::FolderGone(_)))
}

/// Looks once, at everything or where something stirred.
fn look(
    roots: &[SkillRoot],
    previous: &Snapshot,
    file_limit: u64,
    stirred: Option<&[StirredRoot]>,
) -> Result<Option<Scan>, Unsure> {
    let nothing = RootSnapshot::default();
    let before = |number: u32| previous.root(number).unwrap_or(&nothing);
    let mut seen = BTreeSet::new();
    let (mut found, mut out_of_files) = (Vec::new(), false);
    for (number, root) in (0..).zip(roots) {
        let scan = RootScan { root, number, file_limit, out_of_files: AtomicBool::new(false) };
        let changed = match stirred.map(|stirred| &stirred[found.len()]) {
            None => scan.everything(before(number), &mut seen),
            Some(stirred) => scan.stirred(before(number), stirred, &mut seen),
        };
        found.push(match changed {
            Ok(changed) => changed,
            Err(Unsure::Unnamed) => return Err(Unsure::Unnamed),
            Err(Unsure::OutOfFiles) => {
                out_of_files = true;
                None
            }
        });
    }
    if found.iter().all(Option::is_none) && !previous.roots.is_empty() {
        return if out_of_files { Err(Unsure::OutOfFiles) } else { Ok(None) };
    }
    let mut scan = Scan { snapshot: Snapshot::default(), changes: Vec::new(), out_of_files };
    for (number, found) in (0..).zip(found) {
        let (after, changes) = found.unwrap_or_else(|| (before(number).clone(), Vec::new()));
        scan.snapshot.roots.push(after);
        scan.changes.extend(changes);
    }
    Ok(Some(scan))
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

/// A root that is not as it was before: what it is now, and what the engine has to be told.
type Changed = (RootSnapshot, Vec<Change>);

impl RootScan<'_> {
    fn everything(&self, before: &RootSnapshot, seen: &mut BTreeSet<(u64, u64)>) -> Result<Option<Changed>, Unsure> {
        let opened = self.root.open();
        // A server that is short of files at this moment has not lost its skills.
        if opened.as_ref().is_err_and(reading::is_out_of_files) && before.folder.is_some() {
            return Err(self.out_of_files());
        }
        // A second way to a folder that is a root already brings nothing new.
        let handle = opened.ok().filter(|handle| identity(handle).is_some_and(|identity| seen.insert(identity)));
        let Some(handle) = handle else {
            let gone = || (RootSnapshot::default(), vec![Change::FolderGone(self.location(""))]);
            return Ok(before.folder.is_some().then(gone));
        };
        self.suspects(handle, before, &Suspects::all(before))
    }

    fn stirred(
        &self,
        before: &RootSnapshot,
        stirred: &StirredRoot,
        seen: &mut BTreeSet<(u64, u64)>,
    ) -> Result<Option<Changed>, Unsure> {
        let is_new = |identity: &(u64, u64)| seen.insert(*identity);
        if stirred.identity.filter(is_new) != before.identity() {
            return Err(Unsure::Unnamed);
        }
        let nothing_stirred = stirred.places.is_empty() && before.is_settled();
        if nothing_stirred || before.folder.is_none() {
            return Ok(None);
        }
        let handle = self.root.open().ok().filter(|handle| identity(handle) == before.identity());
        let handle = handle.ok_or(Unsure::Unnamed)?;
        let suspects = Suspects::at(&handle, &stirred.places, self.root, before).ok_or(Unsure::Unnamed)?;
        self.suspects(handle, before, &suspects)
    }

    fn suspects(&self, handle: Dir, before: &RootSnapshot, suspects: &Suspects) -> Result<Option<Changed>, Unsure> {
        let is_new = before.folders.is_empty();
        let dirty_folders = if is_new { vec![String::new()] } else { suspects.dirty_folders(&handle) };
        let dirty_files = suspects.dirty_files(&handle);
        if dirty_folders.is_empty() && dirty_files.is_empty() {
            return Ok(None);
        }
        let mut changes = Vec::new();
        let mut folders = before.folders.clone();
        self.list(&handle, dirty_folders, &mut folders, &mut changes);
        let files = self.read_again(&handle, before.files(), &dirty_files, &folders, &mut changes);
        // The same holds for each folder and file in it.
        if before.folder.is_some() && self.out_of_files.load(Ordering::Acquire) {
            return Err(self.out_of_files());
        }
        Ok(Some((RootSnapshot::new(Some(Arc::new(handle)), folders, files), changes)))
    }

    fn out_of_files(&self) -> Unsure {
        tracing::warn!("root `{}` stays as it was until the next look: too many files are open", self.root.label);
        Unsure::OutOfFiles
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

/// Whether a sorted list of names has this one.
fn contains(names: &[String], name: &str) -> bool {
    names.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
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

pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// How the operating system calls a path below a root.
pub fn at(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}
