//! The system calls that are handed over, and what a thread that waits in one is about to do.

use super::supervisor::descriptor_of;
use super::{Call, Kind};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};

/// Where a call has the file that it is about.
enum Place {
    /// The first argument is a descriptor.
    Descriptor,
    /// Each pair: the argument with the folder, if there is one, and the argument with the path. The last is the result.
    Paths(&'static [(Option<usize>, usize)]),
}

const IN_FOLDER: Place = Place::Paths(&[(Some(0), 1)]);

/// The calls that are handed over.
const CALLS: &[(libc::c_long, Kind, Place)] = &[
    (libc::SYS_openat, Kind::Open, IN_FOLDER),
    (libc::SYS_openat2, Kind::Open, IN_FOLDER),
    (libc::SYS_write, Kind::Write, Place::Descriptor),
    (libc::SYS_writev, Kind::Write, Place::Descriptor),
    (libc::SYS_pwrite64, Kind::Write, Place::Descriptor),
    (libc::SYS_fsync, Kind::Sync, Place::Descriptor),
    (libc::SYS_fdatasync, Kind::Sync, Place::Descriptor),
    (libc::SYS_ftruncate, Kind::Resize, Place::Descriptor),
    (libc::SYS_fallocate, Kind::Resize, Place::Descriptor),
    #[cfg(target_arch = "aarch64")]
    (38, Kind::Rename, Place::Paths(&[(Some(0), 1), (Some(2), 3)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_renameat, Kind::Rename, Place::Paths(&[(Some(0), 1), (Some(2), 3)])),
    (libc::SYS_renameat2, Kind::Rename, Place::Paths(&[(Some(0), 1), (Some(2), 3)])),
    (libc::SYS_linkat, Kind::Link, Place::Paths(&[(Some(0), 1), (Some(2), 3)])),
    (libc::SYS_symlinkat, Kind::Link, Place::Paths(&[(Some(1), 2)])),
    (libc::SYS_mkdirat, Kind::Folder, IN_FOLDER),
    (libc::SYS_unlinkat, Kind::Remove, IN_FOLDER),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, Kind::Rename, Place::Paths(&[(None, 0), (None, 1)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_link, Kind::Link, Place::Paths(&[(None, 0), (None, 1)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_symlink, Kind::Link, Place::Paths(&[(None, 1)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, Kind::Folder, Place::Paths(&[(None, 0)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, Kind::Remove, Place::Paths(&[(None, 0)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, Kind::Remove, Place::Paths(&[(None, 0)])),
];

/// The numbers of the calls that are handed over.
pub fn numbers() -> Vec<libc::c_long> {
    CALLS.iter().map(|(number, ..)| *number).collect()
}

/// A thread that waits in a call.
pub struct Thread(pub u32);

impl Thread {
    /// Describes the call, unless it is about something that is not a file.
    pub fn call(&self, data: &libc::seccomp_data) -> Option<Call> {
        let (number, kind, place) = CALLS.iter().find(|(number, ..)| *number == libc::c_long::from(data.nr))?;
        let paths: Vec<PathBuf> = match place {
            Place::Descriptor => vec![self.descriptor(data.args[0])?],
            Place::Paths(pairs) => {
                let path = |(folder, path): &(Option<usize>, usize)| {
                    self.path(folder.map(|argument| data.args[argument]), data.args[*path])
                };
                pairs.iter().map(path).collect::<Option<_>>()?
            }
        };
        let kind = if *kind == Kind::Open {
            // The flags of `openat2` are the first field of a structure.
            let in_memory = *number == libc::SYS_openat2;
            let flags = if in_memory { self.number(data.args[2])? } else { data.args[2] };
            let creates = libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY) | libc::O_TRUNC;
            if flags & u64::from(creates.cast_unsigned()) == 0 { Kind::Open } else { Kind::Create }
        } else {
            *kind
        };
        let bytes = match (kind, *number) {
            (Kind::Write, libc::SYS_writev) => self.number(data.args[1] + size_of::<u64>() as u64)?,
            (Kind::Write, _) => data.args[2],
            _ => 0,
        };
        let path = paths.last()?.clone();
        let from = (kind == Kind::Rename).then(|| paths.first().cloned()).flatten();
        let position = (*number == libc::SYS_pwrite64).then_some(data.args[3]);
        let lengthens = kind == Kind::Write && self.lengthens(data.args[0], position, bytes).unwrap_or(false);
        Some(Call { kind, path, from, bytes, lengthens })
    }

    /// Whether a write ends beyond the end of its file.
    fn lengthens(&self, descriptor: u64, position: Option<u64>, bytes: u64) -> Option<bool> {
        let length = std::fs::metadata(format!("/proc/{}/fd/{descriptor}", self.0)).ok()?.len();
        let information = std::fs::read_to_string(format!("/proc/{}/fdinfo/{descriptor}", self.0)).ok()?;
        let field = |name: &str| information.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let flags = i32::from_str_radix(field("flags:")?, 8).ok()?;
        let current = if flags & libc::O_APPEND == 0 { field("pos:")?.parse().ok()? } else { length };
        Some(position.unwrap_or(current) + bytes > length)
    }

    /// The path of a descriptor. Pipes and sockets have none.
    fn descriptor(&self, number: u64) -> Option<PathBuf> {
        let path = std::fs::read_link(format!("/proc/{}/fd/{}", self.0, number.cast_signed())).ok()?;
        path.is_absolute().then_some(path)
    }

    fn path(&self, folder: Option<u64>, address: u64) -> Option<PathBuf> {
        let mut text = self.read(address, libc::PATH_MAX.cast_unsigned().into())?;
        text.truncate(text.iter().position(|byte| *byte == 0)?);
        let path = Path::new(OsStr::from_bytes(&text));
        let folder = match folder.map(|folder| folder & u64::from(u32::MAX)) {
            _ if path.is_absolute() => PathBuf::new(),
            None => self.working_folder()?,
            Some(folder) if folder == u64::from(libc::AT_FDCWD.cast_unsigned()) => self.working_folder()?,
            Some(folder) => self.descriptor(folder)?,
        };
        let mut plain = PathBuf::new();
        for part in folder.join(path).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => drop(plain.pop()),
                part => plain.push(part),
            }
        }
        Some(plain)
    }

    fn working_folder(&self) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{}/cwd", self.0)).ok()
    }

    /// Reads from the memory of the process, up to a length. Returns `None` if it was killed in the meantime.
    fn read(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let memory = match File::open(format!("/proc/{}/mem", self.0)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            opened => opened.expect("the memory of a child can be read"),
        };
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let read = memory.read_at(&mut bytes, address).ok()?;
        bytes.truncate(read);
        Some(bytes)
    }

    fn number(&self, address: u64) -> Option<u64> {
        Some(u64::from_ne_bytes(self.read(address, 8)?.try_into().ok()?))
    }

    /// Carries out the first half of a write, and returns its length.
    pub fn write_half(&self, process: i32, data: &libc::seccomp_data) -> i64 {
        let number = libc::c_long::from(data.nr);
        let (address, length) = if number == libc::SYS_writev {
            // Half of its first part.
            let field = |index: u64| self.number(data.args[1] + 8 * index).expect("an address of the process");
            (field(0), field(1))
        } else {
            (data.args[1], data.args[2])
        };
        let bytes = self.read(address, length / 2).expect("an address of the process");
        let mut file = descriptor_of(process, data.args[0]).expect("a descriptor of the process");
        if number == libc::SYS_pwrite64 {
            file.write_all_at(&bytes, data.args[3]).expect("room on disk");
        } else {
            file.write_all(&bytes).expect("room on disk");
        }
        i64::try_from(bytes.len()).expect("it fits in memory")
    }
}
