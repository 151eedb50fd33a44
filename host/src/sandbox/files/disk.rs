//! A folder of this machine, lent to a guest through an opened handle.

use super::memory::MemoryFile;
use super::path::below;
use super::{Entry, FileError, How, Kind, NewTimes, OpenFile, Opened, Stat, Volume};
use crate::library::reading::{is_hidden, leads_to_hidden};
use cap_std::fs::{Dir, FileExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

/// Files that steer agents, editors, shells and git. A script that may write in a folder may still not write these,
/// because whoever opens the folder next would run what it wrote.
pub const PROTECTED: [&str; 6] = [".git", ".claude", ".vscode", ".envrc", "CLAUDE.md", "AGENTS.md"];

/// Most files in a folder that is moved. Each is looked at, because something protected would move with it.
const MOST_MOVED: usize = 10_000;

/// Most entries of a folder that is listed.
const MOST_ENTRIES: usize = 100_000;

/// A folder on disk.
///
/// Reading goes through a handle that refuses links out of the folder. Writing walks from folder to folder by handle and
/// follows no link at all: a link could lead around what is protected.
#[derive(Debug)]
pub struct Disk {
    folder: Arc<Dir>,
    /// Where the guest may write; nothing when empty.
    writable: Vec<Writable>,
    /// Whether what is hidden in it is not there for the guest, also by a link.
    hides: bool,
    /// A file whose bytes were read before, so that what was checked is what runs.
    checked: Option<(String, Arc<MemoryFile>)>,
}

/// A part of a folder that a guest may write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writable {
    /// Path below the folder; empty for all of it.
    pub below: String,
    /// The part that the operator named, as a path below the folder. What is protected is so only beyond it.
    pub named: String,
}

impl Writable {
    fn covers(&self, path: &str) -> Coverage {
        if below(path, &self.below).is_none() {
            return Coverage::Outside;
        }
        let beyond = below(path, &self.named).unwrap_or(path);
        if beyond.split('/').any(is_protected) { Coverage::Protected } else { Coverage::Covered }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverage {
    Outside,
    Protected,
    Covered,
}

/// Compared without regard to case: some file systems do so too.
pub fn is_protected(name: &str) -> bool {
    PROTECTED.iter().any(|protected| protected.eq_ignore_ascii_case(name))
}

impl Disk {
    /// The files of a skill. Hidden ones are not served, so a script does not see them either.
    pub fn skill(folder: Arc<Dir>) -> Self {
        Self { folder, writable: Vec::new(), hides: true, checked: None }
    }

    pub fn writable(folder: Arc<Dir>, writable: Vec<Writable>) -> Self {
        Self { folder, writable, hides: false, checked: None }
    }

    /// Serves one file from bytes that were read before.
    pub fn with_checked(mut self, path: &str, bytes: bytes::Bytes) -> Self {
        self.checked = Some((path.to_owned(), MemoryFile::fixed(bytes)));
        self
    }

    fn checked(&self, path: &str) -> Option<&Arc<MemoryFile>> {
        self.checked.as_ref().filter(|(checked, _)| checked == path).map(|(_, file)| file)
    }

    fn check_seen(&self, path: &str) -> Result<(), FileError> {
        let hidden = self.hides && (path.split('/').any(is_hidden) || leads_to_hidden(&self.folder, path));
        if hidden { Err(FileError::NotFound) } else { Ok(()) }
    }

    fn check_writable(&self, path: &str) -> Result<(), FileError> {
        match self.writable.iter().map(|part| part.covers(path)).max() {
            Some(Coverage::Covered) => Ok(()),
            Some(Coverage::Protected) => Err(FileError::Protected),
            Some(Coverage::Outside) | None => Err(FileError::ReadOnly),
        }
    }

    /// The opened folder around the last name of a path, reached without following a link, and that name.
    fn parent<'path>(&self, path: &'path str) -> Result<(OwnedFd, &'path str), FileError> {
        self.check_writable(path)?;
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() {
            return Err(FileError::Busy);
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = rustix::fs::openat(&*self.folder, ".", flags, Mode::empty()).map_err(of_number)?;
        for name in above.split('/').filter(|name| !name.is_empty()) {
            folder = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(|error| {
                let is_link = rustix::fs::readlinkat(&folder, name, Vec::new()).is_ok();
                if is_link { FileError::ThroughLink } else { of_number(error) }
            })?;
        }
        Ok((folder, name))
    }

    /// Whether a folder can be moved: nothing in it is protected, as far as one can look.
    fn check_moves(&self, path: &str, seen: &mut usize) -> Result<(), FileError> {
        for entry in self.list(path)? {
            *seen += 1;
            let inner = format!("{path}/{}", entry.name);
            if *seen > MOST_MOVED || self.check_writable(&inner) == Err(FileError::Protected) {
                return Err(FileError::Protected);
            }
            if entry.kind == Kind::Folder {
                self.check_moves(&inner, seen)?;
            }
        }
        Ok(())
    }

    fn open_for_writing(&self, path: &str, how: How) -> Result<Opened, FileError> {
        let place = OpenPlace::take()?;
        let (folder, name) = self.parent(path)?;
        let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::CREATE, how.create);
        flags.set(OFlags::EXCL, how.exclusive);
        let opened = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o666));
        let file = match opened {
            Ok(file) => std::fs::File::from(file),
            Err(rustix::io::Errno::LOOP) => return Err(FileError::ThroughLink),
            Err(error) => return Err(of_number(error)),
        };
        let metadata = file.metadata().map_err(of_io)?;
        if !metadata.is_file() {
            return Err(if metadata.is_dir() { FileError::IsAFolder } else { FileError::NotPermitted });
        }
        if how.truncate {
            file.set_len(0).map_err(of_io)?;
        }
        Ok(Opened::File(Arc::new(DiskFile { file: cap_std::fs::File::from_std(file), writable: true, _place: place })))
    }
}

impl Volume for Disk {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError> {
        if let Some(file) = self.checked(path) {
            return file.stat();
        }
        self.check_seen(path)?;
        let metadata = match path {
            "" => self.folder.dir_metadata(),
            _ if follow => self.folder.metadata(path),
            _ => self.folder.symlink_metadata(path),
        };
        metadata.map(|metadata| stat_of(&metadata)).map_err(of_io)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, FileError> {
        self.check_seen(path)?;
        let listed = if path.is_empty() { self.folder.entries() } else { self.folder.read_dir(path) };
        let mut entries = Vec::new();
        for entry in listed.map_err(of_io)? {
            let entry = entry.map_err(of_io)?;
            // A name that is not UTF-8 cannot be said in WASI.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type().map_or(Kind::Other, kind_of);
            let leads_away = || kind == Kind::Link && leads_to_hidden(&self.folder, &format!("./{path}/{name}"));
            if self.hides && (is_hidden(&name) || leads_away()) {
                continue;
            }
            let number = entry.metadata().map_or(0, |metadata| metadata.ino());
            entries.push(Entry { name, kind, number });
            if entries.len() > MOST_ENTRIES {
                return Err(FileError::TooManyOpen);
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn open(&mut self, path: &str, how: How) -> Result<Opened, FileError> {
        let creates = how.create && (how.exclusive || self.stat(path, false).is_err());
        if how.write || how.truncate || creates {
            return if how.folder { Err(FileError::IsAFolder) } else { self.open_for_writing(path, how) };
        }
        if let Some(file) = self.checked(path) {
            return Ok(Opened::File(Arc::clone(file) as Arc<dyn OpenFile>));
        }
        self.check_seen(path)?;
        let mut options = OpenOptions::new();
        // A pipe is opened without waiting for its other end, and then refused.
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, !how.follow);
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = self.folder.open_with(if path.is_empty() { "." } else { path }, &options).map_err(of_io)?;
        let metadata = file.metadata().map_err(of_io)?;
        match kind_of(metadata.file_type()) {
            Kind::Folder => Ok(Opened::Folder),
            Kind::File if how.folder => Err(FileError::NotAFolder),
            Kind::File => Ok(Opened::File(Arc::new(DiskFile { file, writable: false, _place: OpenPlace::take()? }))),
            Kind::Link | Kind::Other => Err(FileError::NotPermitted),
        }
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        if self.stat(path, false).is_ok() {
            return Err(FileError::Exists);
        }
        let (folder, name) = self.parent(path)?;
        rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)).map_err(of_number)
    }

    fn remove_folder(&mut self, path: &str) -> Result<(), FileError> {
        let (folder, name) = self.parent(path)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(of_number)
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        let (folder, name) = self.parent(path)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(of_number)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        if self.stat(from, false).is_ok_and(|stat| stat.kind == Kind::Folder) {
            self.check_moves(from, &mut 0)?;
        }
        let (old_folder, old_name) = self.parent(from)?;
        let (new_folder, new_name) = self.parent(to)?;
        rustix::fs::renameat_with(&old_folder, old_name, &new_folder, new_name, RenameFlags::empty()).map_err(of_number)
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        self.check_seen(path)?;
        let target = self.folder.read_link_contents(path).map_err(of_io)?;
        let target = target.into_os_string().into_string().map_err(|_| FileError::NotPermitted)?;
        // Where the folder is on this machine is none of the guest's business.
        if target.starts_with('/') { Err(FileError::NotPermitted) } else { Ok(target) }
    }

    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError> {
        let (folder, name) = self.parent(path)?;
        rustix::fs::utimensat(&folder, name, &timestamps(times), AtFlags::SYMLINK_NOFOLLOW).map_err(of_number)
    }
}

#[derive(Debug)]
struct DiskFile {
    file: cap_std::fs::File,
    writable: bool,
    _place: OpenPlace,
}

/// One of the files that all scripts together may hold open. The server needs the rest for itself.
#[derive(Debug)]
struct OpenPlace;

static OPEN: AtomicU64 = AtomicU64::new(0);

/// A quarter of what the operating system lets this process have.
static MOST_OPEN: LazyLock<u64> = LazyLock::new(|| {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(4096);
    (limit / 4).min(4096)
});

impl OpenPlace {
    fn take() -> Result<Self, FileError> {
        let taken =
            OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| (open < *MOST_OPEN).then_some(open + 1));
        taken.map(|_| Self).map_err(|_| FileError::TooManyOpen)
    }
}

impl Drop for OpenPlace {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

impl DiskFile {
    fn check_writable(&self) -> Result<(), FileError> {
        if self.writable { Ok(()) } else { Err(FileError::ReadOnly) }
    }
}

impl OpenFile for DiskFile {
    fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.file.read_at(into, offset).map_err(of_io)
    }

    fn write_at(&self, from: &[u8], offset: u64) -> Result<usize, FileError> {
        self.check_writable()?;
        self.file.write_at(from, offset).map_err(of_io)
    }

    fn set_size(&self, size: u64) -> Result<(), FileError> {
        self.check_writable()?;
        self.file.set_len(size).map_err(of_io)
    }

    fn stat(&self) -> Result<Stat, FileError> {
        self.file.metadata().map(|metadata| stat_of(&metadata)).map_err(of_io)
    }
}

fn timestamps(times: NewTimes) -> Timestamps {
    let of = |time: Option<SystemTime>| match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(time) => {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
            Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: since.subsec_nanos().into() }
        }
    };
    Timestamps { last_access: of(times.accessed), last_modification: of(times.modified) }
}

fn stat_of(metadata: &Metadata) -> Stat {
    let of = |time: io::Result<cap_std::time::SystemTime>| {
        time.map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std)
    };
    Stat {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        number: metadata.ino(),
        links: metadata.nlink(),
        accessed: of(metadata.accessed()),
        modified: of(metadata.modified()),
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
fn of_io(error: io::Error) -> FileError {
    match error.raw_os_error() {
        Some(number) => of_number(rustix::io::Errno::from_raw_os_error(number)),
        // The folder handle reports an escape without a number of the operating system.
        None if error.kind() == io::ErrorKind::PermissionDenied => FileError::Escapes,
        None => FileError::Failed,
    }
}

fn of_number(error: rustix::io::Errno) -> FileError {
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
