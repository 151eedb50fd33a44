//! A folder in memory, for `/tmp` and for skills whose bytes were checked before a script runs.

use super::path::{names, split_name};
use super::{Entry, FileError, IsDue, Kind, NewTimes, OpenFile, OpenMode, OpenNode, Stat, Volume};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The date of immutable files, since 1970: the first day of 2000. Zip archives cannot represent dates before 1980.
const FIXED_DATE: Duration = Duration::from_hours(262_968);

/// The exact space left in the writable folders of one run, shared by all their files.
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

    /// Whether an operation failed for lack of space.
    pub fn was_hit(&self) -> bool {
        self.hit.load(Ordering::Relaxed)
    }

    /// Returns the bytes and files that are left.
    #[cfg(test)]
    pub(super) fn left(&self) -> (u64, u64) {
        (self.bytes_left.load(Ordering::Relaxed), self.files_left.load(Ordering::Relaxed))
    }

    fn take(&self, counter: &AtomicU64, amount: u64) -> Result<(), FileError> {
        let taken = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount));
        taken.map(drop).map_err(|_| {
            self.hit.store(true, Ordering::Relaxed);
            FileError::Full
        })
    }
}

/// A file tree in memory. Read-only without a quota.
#[derive(Debug)]
pub struct Memory {
    root: Node,
    quota: Option<Arc<Quota>>,
    created: SystemTime,
}

type Entries = BTreeMap<String, Node>;

#[derive(Debug, Default)]
struct Folder {
    entries: Entries,
    number: u64,
    /// Returned to the quota when the folder is removed.
    _slot: Option<QuotaSlot>,
}

#[derive(Debug)]
enum Node {
    Folder(Folder),
    File(Arc<MemoryFile>),
}

/// The share of one file or folder in the quota.
#[derive(Debug)]
struct QuotaSlot(Arc<Quota>);

impl QuotaSlot {
    fn take(quota: Option<&Arc<Quota>>) -> Result<Self, FileError> {
        let quota = quota.ok_or(FileError::ReadOnly)?;
        quota.take(&quota.files_left, 1)?;
        Ok(Self(Arc::clone(quota)))
    }
}

impl Drop for QuotaSlot {
    fn drop(&mut self) {
        self.0.files_left.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub struct MemoryFile {
    content: Mutex<Content>,
    number: u64,
    slot: Option<QuotaSlot>,
}

#[derive(Debug)]
struct Content {
    bytes: Stored,
    modified: SystemTime,
}

#[derive(Debug)]
enum Stored {
    Fixed(Bytes),
    Owned(Vec<u8>),
}

impl Stored {
    fn get(&self) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// Returns a unique number, like an inode number.
fn next_number() -> u64 {
    // Larger than the numbers of files on disk, next to which these appear in an overlay; exact as a JavaScript number.
    static NEXT: AtomicU64 = AtomicU64::new(1 << 52);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl MemoryFile {
    /// Creates an immutable file.
    pub fn fixed(bytes: Bytes) -> Arc<Self> {
        Self::with_metadata(bytes, next_number(), SystemTime::UNIX_EPOCH + FIXED_DATE)
    }

    /// Creates an immutable file with this number and time.
    pub(super) fn with_metadata(bytes: Bytes, number: u64, modified: SystemTime) -> Arc<Self> {
        let content = Content { bytes: Stored::Fixed(bytes), modified };
        Arc::new(Self { content: Mutex::new(content), number, slot: None })
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grows the file to this size, or with `shrink` sets its size exactly. Shared bytes are copied first.
    fn resize(&self, content: &mut Content, size: u64, shrink: bool) -> Result<(), FileError> {
        let Some(QuotaSlot(quota)) = &self.slot else { return Err(FileError::ReadOnly) };
        if let Stored::Fixed(shared) = &content.bytes {
            // What is cut off need not fit.
            let kept =
                if shrink { usize::try_from(size).unwrap_or(usize::MAX).min(shared.len()) } else { shared.len() };
            quota.take(&quota.bytes_left, kept as u64)?;
            content.bytes = Stored::Owned(shared[..kept].to_vec());
        }
        let Stored::Owned(bytes) = &mut content.bytes else { return Err(FileError::ReadOnly) };
        let old_size = bytes.len() as u64;
        if size > old_size {
            quota.take(&quota.bytes_left, size - old_size)?;
            bytes.resize(usize::try_from(size).map_err(|_| FileError::Full)?, 0);
        } else if shrink {
            bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
            bytes.shrink_to_fit();
            quota.bytes_left.fetch_add(old_size - size, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        if let (Some(QuotaSlot(quota)), Stored::Owned(bytes)) = (&self.slot, &self.content().bytes) {
            quota.bytes_left.fetch_add(bytes.len() as u64, Ordering::Relaxed);
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
        let Stored::Owned(bytes) = &mut content.bytes else { return Err(FileError::ReadOnly) };
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
    /// Creates an empty, writable folder.
    pub fn scratch(quota: Arc<Quota>) -> Self {
        Self { root: Node::Folder(Folder::default()), quota: Some(quota), created: SystemTime::now() }
    }

    /// Creates an immutable folder with these files.
    pub fn frozen(files: impl IntoIterator<Item = (String, Bytes)>) -> Self {
        let mut root = Folder::default();
        for (path, bytes) in files {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let mut folder = &mut root;
            for name in names(folders) {
                let new_folder = || Node::Folder(Folder { number: next_number(), ..Folder::default() });
                match folder.entries.entry(name.to_owned()).or_insert_with(new_folder) {
                    Node::Folder(next) => folder = next,
                    Node::File(_) => unreachable!("a file has no entries"),
                }
            }
            folder.entries.insert(name.to_owned(), Node::File(MemoryFile::fixed(bytes)));
        }
        Self { root: Node::Folder(root), quota: None, created: SystemTime::UNIX_EPOCH + FIXED_DATE }
    }

    /// Adds a file whose bytes count only once the guest changes them, with the folders above it.
    pub fn add_file(&mut self, path: &str, bytes: Bytes) -> Result<(), FileError> {
        let (folders, _) = split_name(path)?;
        let mut folder = String::new();
        for name in names(folders) {
            folder = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            match self.find(&folder) {
                Ok(Node::Folder(_)) => {}
                Ok(Node::File(_)) => return Err(FileError::NotAFolder),
                Err(_) => self.create_folder(&folder)?,
            }
        }
        if self.find(path).is_ok() {
            return Err(FileError::Exists);
        }
        let slot = Some(QuotaSlot::take(self.quota.as_ref())?);
        let content = Content { bytes: Stored::Fixed(bytes), modified: SystemTime::now() };
        self.insert(
            path,
            Node::File(Arc::new(MemoryFile { content: Mutex::new(content), number: next_number(), slot })),
        )
    }

    fn find(&self, path: &str) -> Result<&Node, FileError> {
        names(path).try_fold(&self.root, |node, name| match node {
            Node::Folder(folder) => folder.entries.get(name).ok_or(FileError::NotFound),
            Node::File(_) => Err(FileError::NotAFolder),
        })
    }

    /// Returns the entries of the parent folder of a path, and the last name of the path.
    fn parent<'path>(&mut self, path: &'path str) -> Result<(&mut Entries, &'path str), FileError> {
        let (parents, name) = split_name(path)?;
        let parent = names(parents).try_fold(&mut self.root, |node, name| match node {
            Node::Folder(folder) => folder.entries.get_mut(name).ok_or(FileError::NotFound),
            Node::File(_) => Err(FileError::NotAFolder),
        })?;
        match parent {
            Node::Folder(folder) => Ok((&mut folder.entries, name)),
            Node::File(_) => Err(FileError::NotAFolder),
        }
    }

    fn insert(&mut self, path: &str, node: Node) -> Result<(), FileError> {
        let (entries, name) = self.parent(path)?;
        entries.insert(name.to_owned(), node);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<Node, FileError> {
        let (entries, name) = self.parent(path)?;
        entries.remove(name).ok_or(FileError::NotFound)
    }

    fn check_writable(&self) -> Result<(), FileError> {
        self.quota.as_ref().map(drop).ok_or(FileError::ReadOnly)
    }
}

impl Volume for Memory {
    fn stat(&self, path: &str, _follow: bool) -> Result<Stat, FileError> {
        match self.find(path)? {
            Node::Folder(folder) => Ok(Stat::new(Kind::Folder, 0, folder.number, self.created)),
            Node::File(file) => file.stat(),
        }
    }

    fn list(&self, path: &str, _is_due: IsDue<'_>) -> Result<Vec<Entry>, FileError> {
        let Node::Folder(folder) = self.find(path)? else { return Err(FileError::NotAFolder) };
        let entry = |(name, node): (&String, &Node)| match node {
            Node::Folder(folder) => Entry { name: name.clone(), kind: Kind::Folder, number: folder.number },
            Node::File(file) => Entry { name: name.clone(), kind: Kind::File, number: file.number },
        };
        Ok(folder.entries.iter().map(entry).collect())
    }

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError> {
        match self.find(path) {
            Ok(_) if mode.create && mode.exclusive => Err(FileError::Exists),
            Ok(Node::Folder(_)) if mode.write => Err(FileError::IsAFolder),
            Ok(Node::Folder(_)) => Ok(None),
            Ok(Node::File(_)) if mode.folder => Err(FileError::NotAFolder),
            Ok(Node::File(file)) => {
                let file = Arc::clone(file);
                if mode.write || mode.truncate {
                    self.check_writable()?;
                }
                if mode.truncate {
                    file.set_size(0)?;
                }
                Ok(Some(file))
            }
            Err(FileError::NotFound) if mode.create && !mode.folder => {
                let slot = Some(QuotaSlot::take(self.quota.as_ref())?);
                let content = Content { bytes: Stored::Owned(Vec::new()), modified: SystemTime::now() };
                let file = Arc::new(MemoryFile { content: Mutex::new(content), number: next_number(), slot });
                self.insert(path, Node::File(Arc::clone(&file)))?;
                Ok(Some(file))
            }
            Err(error) => Err(error),
        }
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        if self.find(path).is_ok() {
            return Err(FileError::Exists);
        }
        let slot = Some(QuotaSlot::take(self.quota.as_ref())?);
        self.insert(path, Node::Folder(Folder { entries: Entries::new(), number: next_number(), _slot: slot }))
    }

    fn remove_folder(&mut self, path: &str) -> Result<(), FileError> {
        self.check_writable()?;
        match self.find(path)? {
            Node::File(_) => Err(FileError::NotAFolder),
            Node::Folder(folder) if !folder.entries.is_empty() => Err(FileError::NotEmpty),
            Node::Folder(_) => self.remove(path).map(drop),
        }
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        self.check_writable()?;
        match self.find(path)? {
            Node::Folder(_) => Err(FileError::IsAFolder),
            Node::File(_) => self.remove(path).map(drop),
        }
    }

    fn rename(&mut self, from: &str, to: &str, _is_due: IsDue<'_>) -> Result<(), FileError> {
        self.check_writable()?;
        let moves_folder = matches!(self.find(from)?, Node::Folder(_));
        if from == to {
            return Ok(());
        }
        if to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(FileError::BadPath);
        }
        match self.find(to) {
            Ok(Node::File(_)) if moves_folder => return Err(FileError::NotAFolder),
            Ok(Node::Folder(_)) if !moves_folder => return Err(FileError::IsAFolder),
            Ok(Node::Folder(folder)) if !folder.entries.is_empty() => return Err(FileError::NotEmpty),
            Ok(_) | Err(FileError::NotFound) => {}
            Err(error) => return Err(error),
        }
        self.parent(to)?;
        let node = self.remove(from)?;
        self.insert(to, node)
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        self.find(path)?;
        Err(FileError::BadPath)
    }

    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError> {
        self.check_writable()?;
        if let (Node::File(file), Some(modified)) = (self.find(path)?, times.modified) {
            file.content().modified = modified;
        }
        Ok(())
    }
}
