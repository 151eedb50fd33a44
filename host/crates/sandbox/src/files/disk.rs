//! A folder on disk, accessed through an open handle.

use super::memory::MemoryFile;
use super::path::{below, names, split_name};
use super::protected::{FOLDER, ProtectedPlace, descend_unprotected, is_head, is_link, is_protected};
use super::{Entry, FileError, IsDue, Kind, NewTimes, OpenFile, OpenMode, OpenNode, Stat, Volume};
use cap_std::fs::{Dir, FileExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use library::links::Links;
use library::reading::is_hidden;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Of a folder that is moved. Each entry is checked, because a protected one would move along.
const MAX_MOVED_ENTRIES: usize = 10_000;

/// Of a folder that is moved. Each level is open while those below it are checked.
const MAX_MOVED_DEPTH: usize = 64;

const MAX_ENTRIES: usize = 100_000;

/// A folder on disk.
///
/// Reads go through a handle that refuses links out of the folder. Writes open one folder after the other and follow no
/// links at all, because a link could bypass the protection of files. Links themselves cannot be changed, so that no path of
/// the operator gets another meaning.
#[derive(Debug)]
pub struct Disk {
    folder: Arc<Dir>,
    /// The parts to which the guest may write.
    writable: Vec<Writable>,
    protected: Vec<ProtectedPlace>,
    /// Whether hidden files do not exist for the guest, even through a link.
    hides_hidden: bool,
    /// A file whose bytes are served from memory, so that the script that was checked is the one that runs.
    checked: Option<(String, Arc<MemoryFile>)>,
}

/// A part of a folder to which a guest may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writable {
    /// Relative path; empty for the whole folder.
    pub below: String,
    /// The relative path that the operator named. Its own names do not count as protected; names below it do.
    pub named: String,
}

/// The folder in which an entry is changed.
struct Parent<'path> {
    folder: OwnedFd,
    /// Of the entry.
    name: &'path str,
    /// Whether the operator named a git directory that contains the folder.
    in_git: bool,
}

impl Parent<'_> {
    /// A file `HEAD` would make a git directory of a folder.
    fn check_head(&self) -> Result<(), FileError> {
        if is_head(self.name) && !self.in_git { Err(FileError::Protected) } else { Ok(()) }
    }

    fn check_link(&self) -> Result<(), FileError> {
        if is_link(&self.folder, self.name) { Err(FileError::Link) } else { Ok(()) }
    }
}

impl Disk {
    /// A read-only skill. Hidden files are not served to clients, so scripts do not see them either.
    pub fn skill(folder: Arc<Dir>) -> Self {
        Self { folder, writable: Vec::new(), protected: Vec::new(), hides_hidden: true, checked: None }
    }

    pub fn writable(folder: Arc<Dir>, writable: Vec<Writable>, protected: Vec<ProtectedPlace>) -> Self {
        Self { folder, writable, protected, hides_hidden: false, checked: None }
    }

    /// Serves one file from these bytes instead of the disk.
    pub fn with_checked(mut self, path: &str, bytes: bytes::Bytes) -> Self {
        self.checked = Some((path.to_owned(), MemoryFile::fixed(bytes)));
        self
    }

    fn checked(&self, path: &str) -> Option<&Arc<MemoryFile>> {
        self.checked.as_ref().filter(|(checked, _)| checked == path).map(|(_, file)| file)
    }

    fn check_visible(&self, path: &str) -> Result<(), FileError> {
        let hidden = self.hides_hidden
            && (path.split('/').any(is_hidden) || Links::everywhere(&self.folder).lead_to_hidden(path));
        if hidden { Err(FileError::NotFound) } else { Ok(()) }
    }

    /// Checks that a path is writable and its names are not protected. Returns how many of them the operator named.
    fn check_writable(&self, path: &str) -> Result<usize, FileError> {
        let mut refusal = FileError::ReadOnly;
        let mut most_named = None;
        for part in self.writable.iter().filter(|part| below(path, &part.below).is_some()) {
            let unnamed = below(path, &part.named).unwrap_or(path);
            if names(unnamed).any(is_protected) {
                refusal = FileError::Protected;
            } else {
                most_named = most_named.max(Some(names(&part.named).count()));
            }
        }
        most_named.ok_or(refusal)
    }

    /// Opens the parent folder of a path to change that entry.
    fn parent<'path>(&self, path: &'path str) -> Result<Parent<'path>, FileError> {
        let named = self.check_writable(path)?;
        let (parents, name) = split_name(path)?;
        let (folder, in_git) = descend_unprotected(&*self.folder, parents, named, &self.protected)?;
        if names(path).count() > named {
            ProtectedPlace::check(&self.protected, &folder, name)?;
        }
        Ok(Parent { folder, name, in_git })
    }

    /// Checks that a folder can be moved: that it contains nothing protected, whether named by the operator or not, because the
    /// name would arrive in another place; and no link, because a relative one would lead elsewhere. Large folders are refused.
    fn check_movable(
        &self,
        folder: OwnedFd,
        checked: &mut usize,
        depth: usize,
        is_due: IsDue<'_>,
    ) -> Result<(), FileError> {
        if depth > MAX_MOVED_DEPTH {
            return Err(FileError::TooLargeToMove);
        }
        ProtectedPlace::check_contents(&self.protected, &folder)?;
        let mut entries = rustix::fs::Dir::new(folder).map_err(from_errno)?;
        let mut inner = Vec::new();
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(from_errno)?;
            let name = entry.file_name();
            if [&b"."[..], b".."].contains(&name.to_bytes()) {
                continue;
            }
            if is_due() {
                return Err(FileError::Interrupted);
            }
            *checked += 1;
            if *checked > MAX_MOVED_ENTRIES {
                return Err(FileError::TooLargeToMove);
            }
            if is_protected(&name.to_string_lossy()) {
                return Err(FileError::Protected);
            }
            match entry.file_type() {
                FileType::Symlink => return Err(FileError::Link),
                FileType::Directory | FileType::Unknown => inner.push(name.to_owned()),
                _ if is_head(&name.to_string_lossy()) => return Err(FileError::Protected),
                _ => {}
            }
        }
        let folder = entries.fd().map_err(from_errno)?;
        for name in inner {
            let text = name.to_string_lossy();
            match rustix::fs::openat(folder, &name, FOLDER, Mode::empty()) {
                Ok(inner) => self.check_movable(inner, checked, depth + 1, is_due)?,
                Err(_) if is_link(folder, &text) => return Err(FileError::Link),
                Err(rustix::io::Errno::NOTDIR) if is_head(&text) => return Err(FileError::Protected),
                Err(rustix::io::Errno::NOTDIR) => {}
                Err(error) => return Err(from_errno(error)),
            }
        }
        Ok(())
    }

    fn open_for_writing(&self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError> {
        let permit = open_file_permit()?;
        let parent = self.parent(path)?;
        if mode.create {
            parent.check_head()?;
        }
        let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::CREATE, mode.create);
        flags.set(OFlags::EXCL, mode.exclusive);
        let opened = rustix::fs::openat(&parent.folder, parent.name, flags, Mode::from_raw_mode(0o666));
        let file = std::fs::File::from(opened.map_err(from_errno)?);
        let metadata = file.metadata().map_err(from_io)?;
        if !metadata.is_file() {
            return Err(if metadata.is_dir() { FileError::IsAFolder } else { FileError::NotPermitted });
        }
        if metadata.nlink() > 1 {
            return Err(FileError::HardLink);
        }
        if mode.truncate {
            file.set_len(0).map_err(from_io)?;
        }
        let file = cap_std::fs::File::from_std(file);
        Ok(Some(Arc::new(DiskFile { file, writable: true, _permit: permit })))
    }
}

impl Volume for Disk {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError> {
        if let Some(file) = self.checked(path) {
            return file.stat();
        }
        self.check_visible(path)?;
        let metadata = match path {
            "" => self.folder.dir_metadata(),
            _ if follow => self.folder.metadata(path),
            _ => self.folder.symlink_metadata(path),
        };
        metadata.map(|metadata| stat_of(&metadata)).map_err(from_io)
    }

    fn list(&self, path: &str, is_due: IsDue<'_>) -> Result<Vec<Entry>, FileError> {
        self.check_visible(path)?;
        let listed = if path.is_empty() { self.folder.entries() } else { self.folder.read_dir(path) };
        // One for all, so that links that share a part of their way cost little.
        let links = Links::everywhere(&self.folder);
        let mut entries = Vec::new();
        for entry in listed.map_err(from_io)? {
            if is_due() {
                return Err(FileError::Interrupted);
            }
            let entry = entry.map_err(from_io)?;
            // WASI cannot represent names that are not UTF-8.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type().map_or(Kind::Other, kind_of);
            let is_hidden_link = || kind == Kind::Link && links.lead_to_hidden(&format!("./{path}/{name}"));
            if self.hides_hidden && (is_hidden(&name) || is_hidden_link()) {
                continue;
            }
            entries.push(Entry { name, kind, number: entry.ino() });
            if entries.len() > MAX_ENTRIES {
                return Err(FileError::TooManyOpen);
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError> {
        let creates = mode.create && (mode.exclusive || self.stat(path, false).is_err());
        if mode.write || mode.truncate || creates {
            return if mode.folder { Err(FileError::IsAFolder) } else { self.open_for_writing(path, mode) };
        }
        if let Some(file) = self.checked(path) {
            return Ok(Some(Arc::clone(file) as Arc<dyn OpenFile>));
        }
        self.check_visible(path)?;
        let mut options = OpenOptions::new();
        // Non-blocking, so that opening a pipe does not wait for its other end; pipes are then refused.
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, !mode.follow);
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = self.folder.open_with(if path.is_empty() { "." } else { path }, &options).map_err(from_io)?;
        let metadata = file.metadata().map_err(from_io)?;
        match kind_of(metadata.file_type()) {
            Kind::Folder => Ok(None),
            Kind::File if mode.folder => Err(FileError::NotAFolder),
            Kind::File => Ok(Some(Arc::new(DiskFile { file, writable: false, _permit: open_file_permit()? }))),
            Kind::Link | Kind::Other => Err(FileError::NotPermitted),
        }
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        if self.stat(path, false).is_ok() {
            return Err(FileError::Exists);
        }
        let Parent { folder, name, .. } = self.parent(path)?;
        rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)).map_err(from_errno)
    }

    fn remove_folder(&mut self, path: &str) -> Result<(), FileError> {
        let Parent { folder, name, .. } = self.parent(path)?;
        if let Ok(removed) = rustix::fs::openat(&folder, name, FOLDER, Mode::empty()) {
            ProtectedPlace::check_contents(&self.protected, removed)?;
        }
        rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(from_errno)
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        let parent = self.parent(path)?;
        parent.check_link()?;
        rustix::fs::unlinkat(&parent.folder, parent.name, AtFlags::empty()).map_err(from_errno)
    }

    fn rename(&mut self, from: &str, to: &str, is_due: IsDue<'_>) -> Result<(), FileError> {
        let (old, new) = (self.parent(from)?, self.parent(to)?);
        old.check_link()?;
        new.check_link()?;
        new.check_head()?;
        match rustix::fs::openat(&old.folder, old.name, FOLDER, Mode::empty()) {
            Ok(moved) => self.check_movable(moved, &mut 0, 0, is_due)?,
            Err(rustix::io::Errno::NOTDIR) => {}
            Err(error) => return Err(from_errno(error)),
        }
        rustix::fs::renameat(&old.folder, old.name, &new.folder, new.name).map_err(from_errno)
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        self.check_visible(path)?;
        let target = self.folder.read_link_contents(path).map_err(from_io)?;
        let target = target.into_os_string().into_string().map_err(|_| FileError::NotPermitted)?;
        // An absolute target would reveal paths of this machine.
        if target.starts_with('/') { Err(FileError::NotPermitted) } else { Ok(target) }
    }

    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError> {
        let Parent { folder, name, .. } = self.parent(path)?;
        rustix::fs::utimensat(&folder, name, &timestamps(times), AtFlags::SYMLINK_NOFOLLOW).map_err(from_errno)
    }
}

#[derive(Debug)]
struct DiskFile {
    file: cap_std::fs::File,
    writable: bool,
    _permit: SemaphorePermit<'static>,
}

/// The files that all scripts together may have open: a quarter of the limit of this process, which needs the rest.
static OPEN_FILES: LazyLock<Semaphore> = LazyLock::new(|| {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(4096);
    Semaphore::new(usize::try_from(limit / 4).unwrap_or(usize::MAX).min(4096))
});

fn open_file_permit() -> Result<SemaphorePermit<'static>, FileError> {
    OPEN_FILES.try_acquire().map_err(|_| FileError::TooManyOpen)
}

impl DiskFile {
    fn check_writable(&self) -> Result<(), FileError> {
        if self.writable { Ok(()) } else { Err(FileError::ReadOnly) }
    }
}

impl OpenFile for DiskFile {
    fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.file.read_at(into, offset).map_err(from_io)
    }

    fn write_at(&self, from: &[u8], offset: u64) -> Result<usize, FileError> {
        self.check_writable()?;
        self.file.write_at(from, offset).map_err(from_io)
    }

    fn set_size(&self, size: u64) -> Result<(), FileError> {
        self.check_writable()?;
        self.file.set_len(size).map_err(from_io)
    }

    fn stat(&self) -> Result<Stat, FileError> {
        self.file.metadata().map(|metadata| stat_of(&metadata)).map_err(from_io)
    }
}

fn timestamps(times: NewTimes) -> Timestamps {
    let timespec = |time: Option<SystemTime>| match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(time) => {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
            Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: since.subsec_nanos().into() }
        }
    };
    Timestamps { last_access: timespec(times.accessed), last_modification: timespec(times.modified) }
}

fn stat_of(metadata: &Metadata) -> Stat {
    let system_time = |time: io::Result<cap_std::time::SystemTime>| {
        time.map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std)
    };
    Stat {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        number: metadata.ino(),
        links: metadata.nlink(),
        accessed: system_time(metadata.accessed()),
        modified: system_time(metadata.modified()),
    }
}

fn kind_of(kind: cap_std::fs::FileType) -> Kind {
    match kind {
        _ if kind.is_dir() => Kind::Folder,
        _ if kind.is_file() => Kind::File,
        _ if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn from_io(error: io::Error) -> FileError {
    match error.raw_os_error() {
        Some(number) => from_errno(rustix::io::Errno::from_raw_os_error(number)),
        // The folder handle reports an escape without an error number.
        None if error.kind() == io::ErrorKind::PermissionDenied => FileError::Escapes,
        None => FileError::Failed,
    }
}

pub(super) fn from_errno(error: rustix::io::Errno) -> FileError {
    use rustix::io::Errno;
    match error {
        Errno::NOENT => FileError::NotFound,
        Errno::EXIST => FileError::Exists,
        Errno::NOTDIR => FileError::NotAFolder,
        Errno::ISDIR => FileError::IsAFolder,
        Errno::NOTEMPTY => FileError::NotEmpty,
        Errno::ACCESS | Errno::PERM => FileError::NotPermitted,
        Errno::ROFS => FileError::ReadOnly,
        Errno::XDEV => FileError::OtherVolume,
        Errno::NOSPC | Errno::DQUOT => FileError::Full,
        Errno::INVAL => FileError::BadPath,
        Errno::NAMETOOLONG => FileError::LongName,
        Errno::LOOP => FileError::ThroughLink,
        Errno::BUSY => FileError::Busy,
        _ => FileError::Failed,
    }
}
