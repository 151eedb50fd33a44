//! A folder that exists only in memory: `/tmp`, and skills whose bytes were checked before they run.

use super::{Entry, FileError, How, Kind, NewTimes, OpenFile, Opened, Stat, Volume};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The date of files that cannot change, after 1970: the first day of 2000. Archives know no date before 1980.
const SOME_DAY: Duration = Duration::from_hours(262_968);

/// What may be put into the writable folders of one run. Shared by all its files, and exact.
#[derive(Debug)]
pub struct Quota {
    bytes_left: AtomicU64,
    files_left: AtomicU64,
    hit: AtomicBool,
}

impl Quota {
    pub fn new(bytes: u64, files: u64) -> Arc<Self> {
        Arc::new(Self { bytes_left: bytes.into(), files_left: files.into(), hit: AtomicBool::new(false) })
    }

    /// Whether something was refused for lack of room.
    pub fn was_hit(&self) -> bool {
        self.hit.load(Ordering::Relaxed)
    }

    fn take(&self, counter: &AtomicU64, amount: u64) -> Result<(), FileError> {
        let taken = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount));
        taken.map(drop).map_err(|_| {
            self.hit.store(true, Ordering::Relaxed);
            FileError::Full
        })
    }
}

/// A tree of files in memory. Without a quota it is read-only.
#[derive(Debug)]
pub struct Memory {
    top: Folder,
    quota: Option<Arc<Quota>>,
    born: SystemTime,
}

#[derive(Debug, Default)]
struct Folder {
    entries: BTreeMap<String, Node>,
    number: u64,
    /// Gives the place in the quota back when the folder goes.
    _place: Option<Place>,
}

#[derive(Debug)]
enum Node {
    Folder(Folder),
    File(Arc<MemoryFile>),
}

/// One file or folder, as far as the quota is concerned.
#[derive(Debug)]
struct Place(Arc<Quota>);

impl Place {
    fn take(quota: Option<&Arc<Quota>>) -> Result<Self, FileError> {
        let quota = quota.ok_or(FileError::ReadOnly)?;
        quota.take(&quota.files_left, 1)?;
        Ok(Self(Arc::clone(quota)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.files_left.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub struct MemoryFile {
    content: Mutex<Content>,
    number: u64,
    place: Option<Place>,
}

#[derive(Debug)]
struct Content {
    bytes: Stored,
    modified: SystemTime,
}

#[derive(Debug)]
enum Stored {
    Fixed(Bytes),
    Own(Vec<u8>),
}

impl Stored {
    fn get(&self) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

/// Numbers that tell files apart, as inodes do.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl MemoryFile {
    /// A file that cannot be changed.
    pub fn fixed(bytes: Bytes) -> Arc<Self> {
        Self::of(bytes, next_number(), SystemTime::UNIX_EPOCH + SOME_DAY)
    }

    /// The same for one that is known by a number and a time.
    pub(super) fn of(bytes: Bytes, number: u64, modified: SystemTime) -> Arc<Self> {
        let content = Content { bytes: Stored::Fixed(bytes), modified };
        Arc::new(Self { content: Mutex::new(content), number, place: None })
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the file at least, or exactly, this long.
    fn resize(&self, content: &mut Content, size: u64, shrink: bool) -> Result<(), FileError> {
        let (Some(Place(quota)), Stored::Own(bytes)) = (&self.place, &mut content.bytes) else {
            return Err(FileError::ReadOnly);
        };
        let now = bytes.len() as u64;
        if size > now {
            quota.take(&quota.bytes_left, size - now)?;
            bytes.resize(usize::try_from(size).map_err(|_| FileError::Full)?, 0);
        } else if shrink {
            bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
            bytes.shrink_to_fit();
            quota.bytes_left.fetch_add(now - size, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        let size = self.content().bytes.get().len() as u64;
        if let Some(Place(quota)) = &self.place {
            quota.bytes_left.fetch_add(size, Ordering::Relaxed);
        }
    }
}

impl OpenFile for MemoryFile {
    fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, FileError> {
        let content = self.content();
        let bytes = content.bytes.get();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let count = into.len().min(bytes.len() - start);
        into[..count].copy_from_slice(&bytes[start..start + count]);
        Ok(count)
    }

    fn write_at(&self, from: &[u8], offset: u64) -> Result<usize, FileError> {
        let mut content = self.content();
        let end = offset.checked_add(from.len() as u64).ok_or(FileError::Full)?;
        self.resize(&mut content, end, false)?;
        let Stored::Own(bytes) = &mut content.bytes else { return Err(FileError::ReadOnly) };
        let start = usize::try_from(offset).map_err(|_| FileError::Full)?;
        bytes[start..start + from.len()].copy_from_slice(from);
        content.modified = SystemTime::now();
        Ok(from.len())
    }

    fn set_size(&self, size: u64) -> Result<(), FileError> {
        let mut content = self.content();
        self.resize(&mut content, size, true)?;
        content.modified = SystemTime::now();
        Ok(())
    }

    fn stat(&self) -> Result<Stat, FileError> {
        let content = self.content();
        Ok(Stat::new(Kind::File, content.bytes.get().len() as u64, self.number, content.modified))
    }
}

impl Memory {
    /// An empty folder with room for as much as the quota says.
    pub fn scratch(quota: Arc<Quota>) -> Self {
        Self { top: Folder::default(), quota: Some(quota), born: SystemTime::now() }
    }

    /// A folder with these files, which nobody can change.
    pub fn frozen(files: impl IntoIterator<Item = (String, Bytes)>) -> Self {
        let mut top = Folder::default();
        for (path, bytes) in files {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let mut folder = &mut top;
            for name in folders.split('/').filter(|name| !name.is_empty()) {
                let fresh = || Node::Folder(Folder { number: next_number(), ..Folder::default() });
                match folder.entries.entry(name.to_owned()).or_insert_with(fresh) {
                    Node::Folder(next) => folder = next,
                    Node::File(_) => unreachable!("a file has nothing below it"),
                }
            }
            folder.entries.insert(name.to_owned(), Node::File(MemoryFile::fixed(bytes)));
        }
        Self { top, quota: None, born: SystemTime::UNIX_EPOCH + SOME_DAY }
    }

    fn find(&self, path: &str) -> Result<Found<'_>, FileError> {
        let mut folder = &self.top;
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        while let Some(name) = names.next() {
            match folder.entries.get(name).ok_or(FileError::NotFound)? {
                Node::Folder(next) => folder = next,
                Node::File(file) if names.peek().is_none() => return Ok(Found::File(file)),
                Node::File(_) => return Err(FileError::NotAFolder),
            }
        }
        Ok(Found::Folder(folder))
    }

    /// The folder that holds the last name of a path, and that name.
    fn parent<'path>(&mut self, path: &'path str) -> Result<(&mut Folder, &'path str), FileError> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() {
            return Err(FileError::Busy);
        }
        let mut folder = &mut self.top;
        for name in above.split('/').filter(|name| !name.is_empty()) {
            folder = match folder.entries.get_mut(name).ok_or(FileError::NotFound)? {
                Node::Folder(next) => next,
                Node::File(_) => return Err(FileError::NotAFolder),
            };
        }
        Ok((folder, name))
    }

    fn check_writable(&self) -> Result<(), FileError> {
        self.quota.as_ref().map(drop).ok_or(FileError::ReadOnly)
    }
}

enum Found<'a> {
    Folder(&'a Folder),
    File(&'a Arc<MemoryFile>),
}

impl Volume for Memory {
    fn stat(&self, path: &str, _follow: bool) -> Result<Stat, FileError> {
        match self.find(path)? {
            Found::Folder(folder) => Ok(Stat::new(Kind::Folder, 0, folder.number, self.born)),
            Found::File(file) => file.stat(),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, FileError> {
        let Found::Folder(folder) = self.find(path)? else { return Err(FileError::NotAFolder) };
        let entry = |(name, node): (&String, &Node)| match node {
            Node::Folder(folder) => Entry { name: name.clone(), kind: Kind::Folder, number: folder.number },
            Node::File(file) => Entry { name: name.clone(), kind: Kind::File, number: file.number },
        };
        Ok(folder.entries.iter().map(entry).collect())
    }

    fn open(&mut self, path: &str, how: How) -> Result<Opened, FileError> {
        match self.find(path) {
            Ok(_) if how.create && how.exclusive => Err(FileError::Exists),
            Ok(Found::Folder(_)) if how.write => Err(FileError::IsAFolder),
            Ok(Found::Folder(_)) => Ok(Opened::Folder),
            Ok(Found::File(_)) if how.folder => Err(FileError::NotAFolder),
            Ok(Found::File(file)) => {
                let file = Arc::clone(file);
                if how.write || how.truncate {
                    self.check_writable()?;
                }
                if how.truncate {
                    file.set_size(0)?;
                }
                Ok(Opened::File(file))
            }
            Err(FileError::NotFound) if how.create && !how.folder => {
                let place = Place::take(self.quota.as_ref())?;
                let (folder, name) = self.parent(path)?;
                let content = Content { bytes: Stored::Own(Vec::new()), modified: SystemTime::now() };
                let file = MemoryFile { content: Mutex::new(content), number: next_number(), place: Some(place) };
                let file = Arc::new(file);
                folder.entries.insert(name.to_owned(), Node::File(Arc::clone(&file)));
                Ok(Opened::File(file))
            }
            Err(error) => Err(error),
        }
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        if self.find(path).is_ok() {
            return Err(FileError::Exists);
        }
        let place = Place::take(self.quota.as_ref())?;
        let (folder, name) = self.parent(path)?;
        let fresh = Folder { entries: BTreeMap::new(), number: next_number(), _place: Some(place) };
        folder.entries.insert(name.to_owned(), Node::Folder(fresh));
        Ok(())
    }

    fn remove_folder(&mut self, path: &str) -> Result<(), FileError> {
        self.check_writable()?;
        match self.find(path)? {
            Found::File(_) => return Err(FileError::NotAFolder),
            Found::Folder(folder) if !folder.entries.is_empty() => return Err(FileError::NotEmpty),
            Found::Folder(_) => {}
        }
        let (folder, name) = self.parent(path)?;
        folder.entries.remove(name);
        Ok(())
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        self.check_writable()?;
        if matches!(self.find(path)?, Found::Folder(_)) {
            return Err(FileError::IsAFolder);
        }
        let (folder, name) = self.parent(path)?;
        folder.entries.remove(name);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        self.check_writable()?;
        let moves_folder = matches!(self.find(from)?, Found::Folder(_));
        if from == to {
            return Ok(());
        }
        if to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(FileError::BadPath);
        }
        match self.find(to) {
            Ok(Found::File(_)) if moves_folder => return Err(FileError::NotAFolder),
            Ok(Found::Folder(_)) if !moves_folder => return Err(FileError::IsAFolder),
            Ok(Found::Folder(folder)) if !folder.entries.is_empty() => return Err(FileError::NotEmpty),
            Ok(_) | Err(FileError::NotFound) => {}
            Err(error) => return Err(error),
        }
        self.parent(to)?;
        let (folder, name) = self.parent(from)?;
        let node = folder.entries.remove(name).ok_or(FileError::NotFound)?;
        let (folder, name) = self.parent(to)?;
        folder.entries.insert(name.to_owned(), node);
        Ok(())
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        self.find(path)?;
        Err(FileError::BadPath)
    }

    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError> {
        self.check_writable()?;
        match self.find(path)? {
            Found::Folder(_) => Ok(()),
            Found::File(file) => {
                if let Some(modified) = times.modified {
                    file.content().modified = modified;
                }
                Ok(())
            }
        }
    }
}
