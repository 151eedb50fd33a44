//! The state of all roots at one moment: the folders as listed, the files as read.

use crate::frozen::{FreezeBudget, FrozenRoot, NotFrozen};
use crate::links::{Followed, LinkTarget, Links};
use crate::read_ahead::ReadAhead;
use crate::reading;
use crate::resources::{ResourceFolder, within_limit};
use crate::roots::SkillRoot;
use crate::scan;
use crate::shared_map::SharedMap;
use crate::stamp::{Freshness, Stamp};
use crate::sync_cookie;
use bindings::catalog::{Asset, SkipReason};
use bindings::library::ReadError;
use bindings::types::Location;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, fstatfs, statat};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The state of all roots that one generation is built from.
///
/// Files are read when the engine first asks for them, and kept, so that both engines see the same bytes, also after a
/// restart.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Shared by all generations in which nothing in a root changed.
    pub roots: Vec<Arc<RootSnapshot>>,
}

/// Folders and files by their path below the root. A new generation shares what did not change.
pub type Folders = SharedMap<Folder>;
pub type Files = SharedMap<File>;

#[derive(Debug, Default)]
pub struct RootSnapshot {
    /// The folder, if it exists.
    pub folder: Option<Arc<Dir>>,
    /// Whether it is on a local file system, where checking a file takes microseconds.
    pub is_local: bool,
    /// Every walked folder by its path below the root.
    pub folders: Arc<Folders>,
    files: Mutex<Files>,
    /// Where to find the files that are not in `files`, without those that it does not know as they are here.
    base: Option<(Arc<RootSnapshot>, BTreeSet<String>)>,
    /// Served instead of the folder on disk, if set.
    frozen: Option<Arc<FrozenRoot>>,
    /// Files that were read before anyone asked for them.
    ahead: ReadAhead,
}

/// A folder as it was listed.
#[derive(Debug, Clone)]
pub struct Folder {
    pub stamp: Stamp,
    pub files: Vec<String>,
    /// Folders that are walked.
    pub folders: Vec<String>,
    /// Links, and where they lead. Folders they lead to are walked at their own path.
    pub links: BTreeMap<String, Followed>,
    pub skipped: Vec<(String, SkipReason)>,
}

/// How many links that lead nowhere are followed again, per folder, for a question about a single skill.
const MAX_RECHECKED_LINKS: usize = 100;

impl Folder {
    pub fn empty(stamp: Stamp) -> Self {
        let (files, folders, links, skipped) = Default::default();
        Self { stamp, files, folders, links, skipped }
    }

    /// Compares with the folder on disk, and with where its links lead.
    pub fn freshness(&self, root: &Dir, path: &str, links: &Links<'_>) -> Freshness {
        self.compare(root, path, links, self.links.iter())
    }

    /// Like [`freshness`](Self::freshness), but follows few links, and only those that led nowhere. A link to a file is compared
    /// with the file.
    pub fn quick_freshness(&self, root: &Dir, path: &str, links: &Links<'_>) -> Freshness {
        let nowhere = self.links.iter().filter(|(_, followed)| **followed == Err(SkipReason::OutsideRoot));
        self.compare(root, path, links, nowhere.take(MAX_RECHECKED_LINKS))
    }

    fn compare<'a>(
        &self,
        root: &Dir,
        path: &str,
        links: &Links<'_>,
        mut followed: impl Iterator<Item = (&'a String, &'a Followed)>,
    ) -> Freshness {
        let is_readable = self.skipped.iter().all(|(_, reason)| *reason != SkipReason::NoPermission);
        let leads_elsewhere = |(name, before): (&String, &Followed)| links.follow(&scan::join(path, name)) != *before;
        if !is_readable || followed.any(leads_elsewhere) {
            return Freshness::Stale;
        }
        let stat = statat(root, scan::or_dot(path), AtFlags::empty());
        stat.map_or(Freshness::Stale, |stat| self.stamp.freshness(&stat))
    }

    /// The links to folders.
    pub fn folder_links(&self) -> impl Iterator<Item = &String> {
        let is_folder = |followed: &Followed| matches!(followed, Ok(LinkTarget::Folder(_)));
        self.links.iter().filter(move |(_, followed)| is_folder(followed)).map(|(name, _)| name)
    }

    pub fn sort(&mut self) {
        self.files.sort_unstable();
        self.folders.sort_unstable();
        self.skipped.sort_unstable_by(|left, right| left.0.cmp(&right.0));
    }

    /// Returns a copy that the next scan lists again.
    pub fn racy(&self) -> Self {
        Self { stamp: self.stamp.racy(), ..self.clone() }
    }

    /// Whether both look the same to the engine.
    pub fn has_same_entries(&self, other: &Self) -> bool {
        (&self.files, &self.folders, &self.skipped) == (&other.files, &other.folders, &other.skipped)
            && self.folder_links().eq(other.folder_links())
    }
}

/// Returns the path, free of links, at which to read a document.
pub fn document_path<'a>(folders: &'a Folders, path: &'a str) -> &'a str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match folders.get(folder).and_then(|folder| folder.links.get(name)) {
        Some(Ok(LinkTarget::File(target))) => target,
        _ => path,
    }
}

/// A file as it was read.
#[derive(Debug)]
pub struct File {
    /// `None` if the file does not exist.
    pub stamp: Option<Stamp>,
    pub text: Result<Arc<str>, ReadError>,
}

impl RootSnapshot {
    pub fn new(folder: Dir, folders: Arc<Folders>, files: Files) -> Self {
        let is_local = fstatfs(&folder).is_ok_and(|stat| sync_cookie::is_local(stat.f_type.into()));
        let (folder, files) = (Some(Arc::new(folder)), Mutex::new(files));
        Self { folder, is_local, folders, files, ..Self::default() }
    }

    /// Returns this root with some files read again, and perhaps other entries. It copies nothing and shares the other files, so
    /// it is good for questions, and not for scans.
    pub fn patched(self: &Arc<Self>, folder: Dir, folders: Arc<Folders>, changed: BTreeSet<String>) -> Self {
        let (folder, base) = (Some(Arc::new(folder)), Some((Arc::clone(self), changed)));
        Self { folder, is_local: self.is_local, folders, base, frozen: self.frozen.clone(), ..Self::default() }
    }

    /// The files read so far.
    pub fn files(&self) -> Files {
        self.with_files(Clone::clone)
    }

    /// Calls a function with the files read so far, without copying their list. Holds the lock that reading a file takes.
    pub fn with_files<T>(&self, function: impl FnOnce(&Files) -> T) -> T {
        function(&self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether no stamp is racy, so that only dirty paths have to be checked.
    pub fn is_settled(&self) -> bool {
        let are_files_settled = |files: &Files| files.values().all(|file| file.is_settled());
        self.folders.values().all(|folder| folder.stamp.is_settled()) && self.with_files(are_files_settled)
    }

    /// Device and inode when it was listed.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.folders.get("").map(|top| top.stamp.identity())
    }

    /// Returns a file of this snapshot. The first call for a path reads it.
    pub fn file(&self, path: &str, limit: u64) -> Arc<File> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(path) {
            return file.clone();
        }
        if let Some((base, changed)) = &self.base
            && !changed.contains(path)
        {
            return base.file(path, limit);
        }
        let file = Arc::new(match &self.frozen {
            Some(frozen) => File::frozen(frozen, path, limit),
            None => self.ahead.take(path).unwrap_or_else(|| self.read(path, limit)),
        });
        files.insert(path.into(), file.clone());
        file
    }

    fn read(&self, path: &str, limit: u64) -> File {
        File::read(self.folder.as_deref(), document_path(&self.folders, path), limit)
    }

    /// Begins to read files that will probably be asked for, in this order, on other threads.
    pub fn read_ahead(self: &Arc<Self>, mut paths: Vec<String>, limit: u64) {
        self.with_files(|files| paths.retain(|path| !files.contains_key(path.as_str())));
        if self.base.is_none() && self.frozen.is_none() {
            ReadAhead::begin(self, paths, move |root, path| root.read(path, limit));
        }
    }

    /// Ends reading ahead, and drops what was not used.
    pub fn end_read_ahead(&self) {
        self.ahead.end();
    }

    /// Returns the folder to read resources from, if it exists.
    pub fn top(&self) -> Option<ResourceFolder> {
        let frozen = self.frozen.as_ref().map(|frozen| ResourceFolder::Frozen(frozen.top()));
        frozen.or_else(|| self.folder.clone().map(ResourceFolder::OnDisk))
    }

    /// Whether watching the folders notices every change: nothing is mounted inside, and no file has hard links.
    fn is_watchable(&self) -> bool {
        let top = self.folders.values().next();
        let same_device =
            top.is_none_or(|top| self.folders.values().all(|folder| folder.stamp.is_on_same_device(&top.stamp)));
        let has_one_path = |file: &Arc<File>| file.stamp.is_none_or(|stamp| !stamp.has_hard_links());
        same_device && self.with_files(|files| files.values().all(has_one_path))
    }

    /// Compares these files, and the entries of the folders above them, with the disk.
    fn freshness(&self, folder: &Dir, paths: &BTreeSet<&str>, links: &Links<'_>) -> Freshness {
        let files = paths.iter().map(|path| self.file_freshness(folder, path, links));
        let parents: BTreeSet<&str> =
            paths.iter().flat_map(|path| std::iter::successors(parent(path), parent)).collect();
        let folders = parents.into_iter().map(|parent| {
            let known = self.folders.get(parent);
            known.map_or(Freshness::Stale, |known| known.quick_freshness(folder, parent, links))
        });
        files.chain(folders).max().unwrap_or(Freshness::Fresh)
    }

    fn file_freshness(&self, folder: &Dir, path: &str, links: &Links<'_>) -> Freshness {
        let target = document_path(&self.folders, path);
        match self.with_files(|files| files.get(path).cloned()) {
            Some(_) if target != path && links.follow(path) != Ok(LinkTarget::File(target.to_owned())) => {
                Freshness::Stale
            }
            Some(file) => file.freshness(folder, target),
            // A file that was not read is fresh only if it does not exist.
            None => match statat(folder, path, AtFlags::empty()) {
                Err(rustix::io::Errno::NOENT) => Freshness::Fresh,
                Ok(_) | Err(_) => Freshness::Stale,
            },
        }
    }
}

impl AsRef<ReadAhead> for RootSnapshot {
    fn as_ref(&self) -> &ReadAhead {
        &self.ahead
    }
}

impl Snapshot {
    /// Whether a listed file no longer existed when it was read. It may have moved.
    pub fn has_missing_files(&self) -> bool {
        let is_missing = |file: &Arc<File>| matches!(file.text, Err(ReadError::NotFound));
        self.roots.iter().any(|root| root.with_files(|files| files.values().any(is_missing)))
    }

    /// Returns how many files were read, and how many are listed. The engine does not read all of them.
    pub fn files_read(&self) -> (usize, usize) {
        let read = |root: &Arc<RootSnapshot>| root.with_files(Files::len);
        let listed = |root: &Arc<RootSnapshot>| root.folders.values().map(|folder| folder.files.len()).sum::<usize>();
        (self.roots.iter().map(read).sum(), self.roots.iter().map(listed).sum())
    }

    pub fn is_watchable(&self) -> bool {
        self.roots.iter().all(|root| root.is_watchable())
    }

    pub fn root(&self, root: u32) -> Option<&RootSnapshot> {
        self.roots.get(root as usize).map(Arc::as_ref)
    }

    /// Returns a copy that serves files from memory, whatever happens on disk, after reading these folders. Documents that were
    /// read are in memory already.
    pub fn freeze(&self, resources: &[Location]) -> Result<Self, NotFrozen> {
        let mut budget = FreezeBudget::default();
        let freeze = |(number, root): (u32, &Arc<RootSnapshot>)| {
            let paths = resources.iter().filter(|folder| folder.root == number).map(|folder| folder.path.as_str());
            let frozen = root.folder.as_ref().map(|folder| FrozenRoot::read(folder, paths, &mut budget)).transpose()?;
            let RootSnapshot { folder, is_local, folders, .. } = &**root;
            Ok(Arc::new(RootSnapshot {
                folder: folder.clone(),
                is_local: *is_local,
                folders: Arc::clone(folders),
                files: Mutex::new(root.files()),
                frozen: frozen.map(Arc::new),
                ..RootSnapshot::default()
            }))
        };
        let roots: Result<_, NotFrozen> = (0..).zip(&self.roots).map(freeze).collect();
        Ok(Self { roots: roots? })
    }

    /// Opens a folder of a root. The handle reaches nothing outside it.
    pub fn open(&self, folder: &Location) -> Result<ResourceFolder, ReadError> {
        self.root(folder.root).and_then(RootSnapshot::top).ok_or(ReadError::NotFound)?.open(&folder.path)
    }

    /// Reads a file of a skill, within its resource folder.
    pub fn read(&self, asset: &Asset, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.open(&asset.folder)?.read(&asset.file, limit)
    }

    /// Compares these files, and the entries of the folders above them, with the disk.
    pub fn freshness(&self, roots: &[SkillRoot], files: &[Location]) -> Freshness {
        let mut by_root: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for file in files {
            by_root.entry(file.root).or_default().insert(&file.path);
        }
        let of_root = |(number, paths): (u32, BTreeSet<&str>)| {
            let Some((root, known)) = roots.get(number as usize).zip(self.root(number)) else {
                return Freshness::Stale;
            };
            // Opened again, because the root may have been replaced.
            match root.open() {
                Ok(folder) => known.freshness(&folder, &paths, &scan::links(&folder, root)),
                Err(_) if known.folder.is_none() => Freshness::Fresh,
                Err(_) => Freshness::Stale,
            }
        };
        by_root.into_iter().map(of_root).max().unwrap_or(Freshness::Fresh)
    }
}

impl File {
    pub fn read(folder: Option<&Dir>, path: &str, limit: u64) -> Self {
        let Some(folder) = folder else { return Self { stamp: None, text: Err(ReadError::NotFound) } };
        if let Ok(read) = reading::read(folder, path, limit) {
            return Self { stamp: Some(read.stamp), text: text(read.bytes) };
        }
        // Read once more, so that the stamp is certainly not newer than the error.
        let before = statat(folder, path, AtFlags::empty()).ok().map(|stat| Stamp::of(&stat));
        match reading::read(folder, path, limit) {
            Ok(read) => Self { stamp: Some(read.stamp), text: text(read.bytes) },
            // The next scan tries again.
            Err(ReadError::Failed(reason)) => {
                Self { stamp: before.map(Stamp::racy), text: Err(ReadError::Failed(reason)) }
            }
            Err(error) => Self { stamp: before, text: Err(error) },
        }
    }

    fn frozen(root: &Arc<FrozenRoot>, path: &str, limit: u64) -> Self {
        let read = root.top().read(path).and_then(|bytes| within_limit(&bytes, limit));
        Self { stamp: None, text: read.and_then(text) }
    }

    /// Whether the stamp is not racy, and the read did not fail.
    pub fn is_settled(&self) -> bool {
        self.stamp.is_none_or(|stamp| stamp.is_settled()) && !matches!(self.text, Err(ReadError::Failed(_)))
    }

    /// Whether reading failed because too many files were open.
    pub fn is_out_of_files(&self) -> bool {
        matches!(&self.text, Err(ReadError::Failed(reason)) if reason == reading::OUT_OF_FILES)
    }

    /// Compares with the file on disk.
    pub fn freshness(&self, folder: &Dir, path: &str) -> Freshness {
        let stat = statat(folder, path, AtFlags::empty());
        self.stamp.zip(stat.ok()).map_or(Freshness::Stale, |(stamp, stat)| stamp.freshness(&stat))
    }
}

/// The folder that contains a path, unless the path is the root.
fn parent<'a>(path: &&'a str) -> Option<&'a str> {
    (!path.is_empty()).then(|| path.rsplit_once('/').map_or("", |(parent, _)| parent))
}

fn text(bytes: Vec<u8>) -> Result<Arc<str>, ReadError> {
    let text = String::from_utf8(bytes).map(Arc::from);
    text.map_err(|error| ReadError::NotText(error.utf8_error().valid_up_to() as u64))
}
