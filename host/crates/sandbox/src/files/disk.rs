//! A folder on disk, accessed through an open handle.

use super::memory::MemoryFile;
use super::path::{below, names, split_name};
use super::{Entry, FileError, Kind, NewTimes, OpenFile, OpenMode, OpenNode, Stat, Volume};
use cap_std::fs::{Dir, FileExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use library::reading::{is_hidden, leads_to_hidden};
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Files that control agents, editors, shells and git. A script may not write these even in a writable folder, because
/// opening the folder could then run what the script wrote.
pub const PROTECTED: [&str; 6] = [".git", ".claude", ".vscode", ".envrc", "CLAUDE.md", "AGENTS.md"];

/// Of a folder that is moved. Each entry is checked, because a protected one would move along.
const MAX_MOVED_ENTRIES: usize = 10_000;

const MAX_ENTRIES: usize = 100_000;

/// A folder on disk.
///
/// Reads go through a handle that refuses links out of the folder. Writes open one folder after the other and follow no
/// links at all, because a link could bypass the protection of files.
#[derive(Debug)]
pub struct Disk {
    folder: Arc<Dir>,
    /// The parts to which the guest may write.
    writable: Vec<Writable>,
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

/// Ignores case, as some file systems do.
pub fn is_protected(name: &str) -> bool {
    PROTECTED.iter().any(|protected| protected.eq_ignore_ascii_case(name))
}

impl Disk {
    /// A read-only skill. Hidden files are not served to clients, so scripts do not see them either.
    pub fn skill(folder: Arc<Dir>) -> Self {
        Self { folder, writable: Vec::new(), hides_hidden: true, checked: None }
    }

    pub fn writable(folder: Arc<Dir>, writable: Vec<Writable>) -> Self {
        Self { folder, writable, hides_hidden: false, checked: None }
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
        let hidden = self.hides_hidden && (path.split('/').any(is_hidden) || leads_to_hidden(&self.folder, path));
        if hidden { Err(FileError::NotFound) } else { Ok(()) }
    }

    fn check_writable(&self, path: &str) -> Result<(), FileError> {
        let mut refusal = FileError::ReadOnly;
        for part in self.writable.iter().filter(|part| below(path, &part.below).is_some()) {
            let unnamed = below(path, &part.named).unwrap_or(path);
            if !unnamed.split('/').any(is_protected) {
                return Ok(());
            }
            refusal = FileError::Protected;
        }
        Err(refusal)
    }

    /// Opens the parent folder of a path without following links. Returns it with the last name of the path.
    fn parent<'path>(&self, path: &'path str) -> Result<(OwnedFd, &'path str), FileError> {
        self.check_writable(path)?;
        let (parents, name) = split_name(path)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = rustix::fs::openat(&*self.folder, ".", flags, Mode::empty()).map_err(from_errno)?;
        for name in names(parents) {
            folder = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(|error| {
                let is_link = rustix::fs::readlinkat(&folder, name, Vec::new()).is_ok();
                if is_link { FileError::ThroughLink } else { from_errno(error) }
            })?;
        }
        Ok((folder, name))
    }

    /// Checks that a folder contains nothing protected and can be moved. Large folders are refused.
    fn check_movable(&self, path: &str, checked: &mut usize) -> Result<(), FileError> {
        for entry in self.list(path)? {
            *checked += 1;
            let inner = format!("{path}/{}", entry.name);
            if *checked > MAX_MOVED_ENTRIES || self.check_writable(&inner) == Err(FileError::Protected) {
                return Err(FileError::Protected);
            }
            if entry.kind == Kind::Folder {
                self.check_movable(&inner, checked)?;
            }
        }
        Ok(())
    }

    fn open_for_writing(&self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError> {
        let permit = open_file_permit()?;
        let (folder, name) = self.parent(path)?;
        let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::CREATE, mode.create);
        flags.set(OFlags::EXCL, mode.exclusive);
        let opened = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o666));
        let file = std::fs::File::from(opened.map_err(from_errno)?);
        let metadata = file.metadata().map_err(from_io)?;
        if !metadata.is_file() {
            return Err(if metadata.is_dir() { FileError::IsAFolder } else { FileError::NotPermitted });
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

    fn list(&self, path: &str) -> Result<Vec<Entry>, FileError> {
        self.check_visible(path)?;
        let listed = if path.is_empty() { self.folder.entries() } else { self.folder.read_dir(path) };
        let mut entries = Vec::new();
        for entry in listed.map_err(from_io)? {
            let entry = entry.map_err(from_io)?;
            // WASI cannot represent names that are not UTF-8.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type().map_or(Kind::Other, kind_of);
            let is_hidden_link = || kind == Kind::Link && leads_to_hidden(&self.folder, &format!("./{path}/{name}"));
            if self.hides_hidden && (is_hidden(&name) || is_hidden_link()) {
                continue;
            }
            let number = entry.metadata().map_or(0, |metadata| metadata.ino());
            entries.push(Entry { name, kind, number });
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
        let (folder, name) = self.parent(path)?;
        rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)).map_err(from_errno)
    }

    fn remove_folder(&mut self, path: &str) -> Result<(), FileError> {
        let (folder, name) = self.parent(path)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(from_errno)
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        let (folder, name) = self.parent(path)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(from_errno)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        if self.stat(from, false).is_ok_and(|stat| stat.kind == Kind::Folder) {
            self.check_movable(from, &mut 0)?;
        }
        let (old_folder, old_name) = self.parent(from)?;
        let (new_folder, new_name) = self.parent(to)?;
        rustix::fs::renameat(&old_folder, old_name, &new_folder, new_name).map_err(from_errno)
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        self.check_visible(path)?;
        let target = self.folder.read_link_contents(path).map_err(from_io)?;
        let target = target.into_os_string().into_string().map_err(|_| FileError::NotPermitted)?;
        // An absolute target would reveal paths of this machine.
        if target.starts_with('/') { Err(FileError::NotPermitted) } else { Ok(target) }
    }

    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError> {
        let (folder, name) = self.parent(path)?;
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

fn from_errno(error: rustix::io::Errno) -> FileError {
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
