//! What the roots held at one moment: the folders as listed, the files as read.

use crate::bindings::catalog::{Asset, TroubleReason};
use crate::bindings::library::ReadError;
use crate::bindings::types::Location;
use crate::library::held::{HeldRoot, NotHeld, Room};
use crate::library::reading;
use crate::library::resources::{ResourceFolder, fitting};
use crate::library::roots::SkillRoot;
use crate::library::scan;
use crate::library::stamp::{Sameness, Stamp};
use crate::library::witness;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, fstatfs, statat};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The state of all roots that one generation is made from.
///
/// Files are read when the engine first asks for them and kept, so that both engines, and an engine that has to start anew,
/// see the same bytes.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub roots: Vec<RootSnapshot>,
}

/// Folders and files by their path below the root. A new generation shares what did not change.
pub type Folders = BTreeMap<Arc<str>, Arc<Folder>>;
pub type Files = BTreeMap<Arc<str>, Arc<File>>;

#[derive(Debug, Default)]
pub struct RootSnapshot {
    /// The folder, if it exists.
    pub folder: Option<Arc<Dir>>,
    /// Whether looking at it takes microseconds, as it does on disks of this machine.
    pub is_local: bool,
    /// Every walked folder by its path below the root.
    pub folders: Folders,
    files: Mutex<Files>,
    /// What is served in place of the folder on disk, if it is to stay as it was.
    held: Option<Arc<HeldRoot>>,
}

/// A folder as it was listed.
#[derive(Debug, Clone)]
pub struct Folder {
    pub stamp: Stamp,
    pub files: Vec<String>,
    /// Folders that are walked.
    pub folders: Vec<String>,
    /// Links to folders that are walked at their own place.
    pub links: Vec<String>,
    pub troubles: Vec<(String, TroubleReason)>,
    /// Whether anything in it is a link, wherever that leads.
    pub has_links: bool,
}

impl Folder {
    pub fn empty(stamp: Stamp) -> Self {
        let (files, folders, links, troubles) = Default::default();
        Self { stamp, files, folders, links, troubles, has_links: false }
    }

    /// Whether the folder on disk has the entries that were listed.
    pub fn sameness(&self, root: &Dir, path: &str) -> Sameness {
        // Only looks at times, so it may follow a link out of the root; listing would not.
        let stat = statat(root, scan::at(path), AtFlags::empty());
        let sameness = stat.map_or(Sameness::Other, |stat| self.stamp.sameness(&stat));
        if self.troubles.iter().all(|trouble| lasts(root, path, trouble)) { sameness } else { Sameness::Other }
    }

    /// The same folder, to be listed again at the next look.
    pub fn unsettled(&self) -> Self {
        Self { stamp: self.stamp.unsettled(), ..self.clone() }
    }

    /// Whether the engine would be told the same.
    pub fn has_same_entries(&self, other: &Self) -> bool {
        (&self.files, &self.folders, &self.links, &self.troubles)
            == (&other.files, &other.folders, &other.links, &other.troubles)
    }
}

/// Whether an entry of a folder is certainly left out as it was, for what the times of the folder do not tell.
fn lasts(root: &Dir, folder: &str, (name, reason): &(String, TroubleReason)) -> bool {
    match reason {
        TroubleReason::LeadsOutside => root.metadata(scan::join(folder, name)).is_err(),
        TroubleReason::NameNotText | TroubleReason::TooDeep => true,
        TroubleReason::LinkWithinLink | TroubleReason::NoPermission => false,
    }
}

/// A file as it was read.
#[derive(Debug)]
pub struct File {
    /// Missing when the file is not there.
    pub stamp: Option<Stamp>,
    pub text: Result<Arc<str>, ReadError>,
}

impl RootSnapshot {
    pub fn new(folder: Option<Arc<Dir>>, folders: Folders, files: Files) -> Self {
        let is_local = folder.as_ref().is_some_and(|folder| {
            let found = fstatfs(folder);
            found.is_ok_and(|found| witness::is_local(found.f_type.into()))
        });
        Self { folder, is_local, folders, files: Mutex::new(files), held: None }
    }

    /// The files read so far.
    pub fn files(&self) -> Files {
        self.among_files(Clone::clone)
    }

    /// The same without a copy of their list. Nobody else can read a file meanwhile.
    pub fn among_files<T>(&self, search: impl FnOnce(&Files) -> T) -> T {
        search(&self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether everything that is known can be relied on until it is told that it changed.
    pub fn is_settled(&self) -> bool {
        let are_files_settled = |files: &Files| files.values().all(|file| file.is_settled());
        self.folders.values().all(|folder| folder.stamp.is_settled()) && self.among_files(are_files_settled)
    }

    /// Which folder it was when it was listed.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.folders.get("").map(|top| top.stamp.identity())
    }

    /// The file as this snapshot has it. Reads it if nobody has asked for it yet.
    pub fn file(&self, path: &str, limit: u64) -> Arc<File> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(path) {
            return file.clone();
        }
        let file = Arc::new(match &self.held {
            Some(held) => File::held(held, path, limit),
            None => File::read(self.folder.as_deref(), path, limit),
        });
        files.insert(path.into(), file.clone());
        file
    }
}

impl Clone for RootSnapshot {
    fn clone(&self) -> Self {
        Self { held: self.held.clone(), ..Self::new(self.folder.clone(), self.folders.clone(), self.files()) }
    }
}

impl RootSnapshot {
    /// The folder to read files of skills from, if it exists.
    pub fn top(&self) -> Option<ResourceFolder> {
        let held = self.held.as_ref().map(|held| ResourceFolder::Held(held.top()));
        held.or_else(|| self.folder.clone().map(ResourceFolder::OnDisk))
    }

    /// Whether a watcher of the folders notices every change: nothing is mounted inside, and no file has a second name.
    fn is_watchable(&self) -> bool {
        let top = self.folders.values().next();
        let same_device =
            top.is_none_or(|top| self.folders.values().all(|folder| folder.stamp.is_on_same_device(&top.stamp)));
        let has_one_name = |file: &Arc<File>| file.stamp.is_none_or(|stamp| !stamp.has_other_names());
        same_device && self.among_files(|files| files.values().all(has_one_name))
    }
}

impl Snapshot {
    /// Whether a file that was listed was gone when it was read. It may be somewhere else by now.
    pub fn has_lost_files(&self) -> bool {
        let lost = |file: &Arc<File>| matches!(file.text, Err(ReadError::NotFound));
        self.roots.iter().any(|root| root.among_files(|files| files.values().any(lost)))
    }

    /// How many files have been read, and of how many. The engine does not want all of them.
    pub fn files_read(&self) -> (usize, usize) {
        let read = |root: &RootSnapshot| root.among_files(Files::len);
        let listed = |root: &RootSnapshot| root.folders.values().map(|folder| folder.files.len()).sum::<usize>();
        (self.roots.iter().map(read).sum(), self.roots.iter().map(listed).sum())
    }

    pub fn is_watchable(&self) -> bool {
        self.roots.iter().all(RootSnapshot::is_watchable)
    }

    pub fn root(&self, root: u32) -> Option<&RootSnapshot> {
        self.roots.get(root as usize)
    }

    /// Has all files served as they are now, whatever happens on disk.
    pub fn hold(&mut self, roots: &[SkillRoot], limit: u64) -> Result<(), NotHeld> {
        let mut room = Room::default();
        for (root, SkillRoot { skip, .. }) in self.roots.iter_mut().zip(roots) {
            let held = root.folder.as_ref().map(|folder| HeldRoot::of(folder, skip, limit, &mut room)).transpose()?;
            root.held = held.map(Arc::new);
        }
        Ok(())
    }

    /// A folder of a root, with which nothing outside it can be reached.
    pub fn open(&self, folder: &Location) -> Result<ResourceFolder, ReadError> {
        self.root(folder.root).and_then(RootSnapshot::top).ok_or(ReadError::NotFound)?.open(&folder.path)
    }

    /// Reads a file of a skill. Nothing outside the skill's resource folder can be reached.
    pub fn read(&self, asset: &Asset, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.open(&asset.folder)?.read(&asset.file, limit)
    }

    /// Whether these files are on disk as this snapshot has them, and nothing was added or removed in the folders above.
    pub fn sameness(&self, roots: &[SkillRoot], files: &[Location]) -> Sameness {
        let of_file = |Location { root: number, path }: &Location| {
            let known = roots.get(*number as usize).zip(self.root(*number));
            // The folder as it is now: another one may have taken its place.
            match known.map(|(root, known)| (root.open(), known)) {
                Some((Ok(folder), known)) => known.sameness(&folder, path),
                Some((Err(_), known)) if known.folder.is_none() => Sameness::Same,
                _ => Sameness::Other,
            }
        };
        files.iter().map(of_file).max().unwrap_or(Sameness::Same)
    }
}

impl RootSnapshot {
    fn sameness(&self, folder: &Dir, path: &str) -> Sameness {
        let known = self.among_files(|files| files.get(path).cloned());
        // What nobody has read is the same if there is none.
        let missing = || match statat(folder, path, AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Sameness::Same,
            Ok(_) | Err(_) => Sameness::Other,
        };
        let file = known.map_or_else(missing, |file| file.sameness(folder, path));
        let above = |path: &str| path.rfind('/').unwrap_or(0);
        let ends = std::iter::successors(Some(above(path)), |end| (*end > 0).then(|| above(&path[..*end])));
        let folders = ends.map(|end| {
            let above = &path[..end];
            self.folders.get(above).map_or(Sameness::Other, |known| known.sameness(folder, above))
        });
        folders.fold(file, Sameness::max)
    }
}

impl File {
    pub fn read(folder: Option<&Dir>, path: &str, limit: u64) -> Self {
        let Some(folder) = folder else { return Self { stamp: None, text: Err(ReadError::NotFound) } };
        let before = statat(folder, path, AtFlags::empty()).ok().map(|stat| Stamp::of(&stat));
        match reading::read(folder, path, limit) {
            Ok(read) => Self { stamp: Some(read.stamp), text: text(read.bytes) },
            // What failed this time may not fail at the next look.
            Err(ReadError::Failed(reason)) => {
                Self { stamp: before.map(Stamp::unsettled), text: Err(ReadError::Failed(reason)) }
            }
            Err(error) => Self { stamp: before, text: Err(error) },
        }
    }

    fn held(root: &Arc<HeldRoot>, path: &str, limit: u64) -> Self {
        let read = root.top().read(path).and_then(|bytes| fitting(&bytes, limit));
        Self { stamp: None, text: read.and_then(text) }
    }

    /// Whether another change would show in the times.
    pub fn is_settled(&self) -> bool {
        self.stamp.is_none_or(|stamp| stamp.is_settled()) && !matches!(self.text, Err(ReadError::Failed(_)))
    }

    /// Whether it was not read because too much was open.
    pub fn lacked_a_descriptor(&self) -> bool {
        matches!(&self.text, Err(ReadError::Failed(reason)) if reason == reading::OUT_OF_FILES)
    }

    /// Whether the file on disk is the one that was read.
    pub fn sameness(&self, folder: &Dir, path: &str) -> Sameness {
        // Only looks at times and size, so it may follow a link out of the root; reading would not.
        let stat = statat(folder, path, AtFlags::empty());
        self.stamp.zip(stat.ok()).map_or(Sameness::Other, |(stamp, stat)| stamp.sameness(&stat))
    }
}

fn text(bytes: Vec<u8>) -> Result<Arc<str>, ReadError> {
    let text = String::from_utf8(bytes).map(Arc::from);
    text.map_err(|error| ReadError::NotText(error.utf8_error().valid_up_to() as u64))
}
