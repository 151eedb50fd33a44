//! Faults on order: makes the n-th system call fail that a real process makes on files below a folder.
//!
//! Between `fork` and `exec` the process gets a seccomp filter that hands each call that opens or changes files to a thread
//! of the test, and waits (`SECCOMP_RET_USER_NOTIF`). The thread looks up which file it is about and lets the call pass,
//! returns an error in its place, carries out half of a write, or kills the process. So faults occur at the border to the
//! kernel: nothing in the process knows of them, and no library that makes system calls by itself escapes them.
//!
//! ```no_run
//! # use skillcell_tests::{Launch, faults::{Fault, Faults}};
//! # let (launch, folder) = (Launch::bare("x"), std::path::Path::new("/x"));
//! let faults = Faults::at(Fault::NoSpace, 3, folder);
//! let output = launch.with_faults(&faults).output();
//! println!("{:?} failed", faults.struck());
//! ```
//!
//! Writes through memory maps are not calls, so they are not seen. A machine that forbids seccomp or reading the memory of a
//! child fails the tests: the process does not start.

use crate::Launch;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails with `ENOSPC`, once.
    NoSpace,
    /// Half of a write that makes a file longer succeeds; from then on everything that needs room fails with `ENOSPC`.
    FullDisk,
    /// The call fails with `EIO`, once.
    InputOutput,
    /// The call and all later changes fail with `EIO`.
    BrokenDisk,
    /// An open fails with `EMFILE`, once.
    NoDescriptors,
    /// Half of a write succeeds, which is no error.
    ShortWrite,
    /// The process is killed right before the call, and so right after the one before.
    Crash,
    /// Half of a write that makes a file longer succeeds, and the process is killed.
    TornWrite,
    /// The power fails right after a rename: what was not synced before it is lost.
    TornRename,
}

impl Fault {
    pub const ALL: [Self; 9] = [
        Self::NoSpace,
        Self::FullDisk,
        Self::InputOutput,
        Self::BrokenDisk,
        Self::NoDescriptors,
        Self::ShortWrite,
        Self::Crash,
        Self::TornWrite,
        Self::TornRename,
    ];

    /// Whether the process ends by it.
    pub fn kills(self) -> bool {
        matches!(self, Self::Crash | Self::TornWrite | Self::TornRename)
    }

    /// Whether it can happen at a call.
    fn concerns(self, call: &Call) -> bool {
        match self {
            Self::NoSpace => call.kind.needs_room(),
            Self::InputOutput | Self::BrokenDisk | Self::Crash => call.kind != Kind::Open,
            Self::NoDescriptors => matches!(call.kind, Kind::Open | Kind::Create),
            Self::ShortWrite => call.bytes > 1,
            // The kernel neither needs room for what a file already has, nor stops in the middle of a block of it.
            Self::FullDisk | Self::TornWrite => call.bytes > 1 && call.lengthens,
            Self::TornRename => call.kind == Kind::Rename,
        }
    }

    /// The error of calls that come later.
    fn aftermath(self, call: &Call) -> Option<i32> {
        match self {
            Self::FullDisk if call.kind.needs_room() => Some(libc::ENOSPC),
            Self::BrokenDisk if self.concerns(call) => Some(libc::EIO),
            _ => None,
        }
    }
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Opens an existing file or folder.
    Open,
    /// Opens a file, and creates it if it is missing.
    Create,
    Write,
    Sync,
    /// Changes the length of a file.
    Resize,
    Rename,
    /// Creates another name, or a symbolic link.
    Link,
    /// Creates a folder.
    Folder,
    /// Removes a file or folder.
    Remove,
}

impl Kind {
    fn needs_room(self) -> bool {
        // A delayed allocation fails at the sync.
        !matches!(self, Self::Open | Self::Remove)
    }
}

/// A call below the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub kind: Kind,
    /// The file. For a rename, its new path.
    pub path: PathBuf,
    /// The old path of a rename.
    from: Option<PathBuf>,
    /// The length of a write.
    bytes: u64,
    /// Whether a write makes its file longer.
    lengthens: bool,
}

/// Watches one process, and harms it at most once.
#[derive(Clone)]
pub struct Faults(Arc<Mutex<State>>);

struct State {
    folder: PathBuf,
    /// The fault, and the number of the call that it hits, from 1, among those that it concerns.
    order: Option<(Fault, usize)>,
    calls: Vec<Call>,
    concerned: usize,
    struck: Option<Call>,
}

impl Faults {
    /// Only watches.
    pub fn none(folder: &Path) -> Self {
        Self::new(None, folder)
    }

    /// Orders a fault at the n-th call, from 1, of those below a folder that it can happen at.
    pub fn at(fault: Fault, nth: usize, folder: &Path) -> Self {
        Self::new(Some((fault, nth)), folder)
    }

    fn new(order: Option<(Fault, usize)>, folder: &Path) -> Self {
        let folder = folder.canonicalize().expect("a folder that exists");
        Self(Arc::new(Mutex::new(State { folder, order, calls: Vec::new(), concerned: 0, struck: None })))
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How many of the calls so far this fault can happen at.
    pub fn concerned(&self, fault: Fault) -> usize {
        self.state().calls.iter().filter(|call| fault.concerns(call)).count()
    }

    /// The call that the fault hit, if there was one.
    pub fn struck(&self) -> Option<Call> {
        self.state().struck.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches the process that the command will start.
    pub fn attach(&self, command: &mut Command) {
        let (ours, theirs) = UnixStream::pair().expect("two descriptors");
        let filter = filter();
        #[expect(unsafe_code, reason = "there is no other way to run something before `exec`")]
        // SAFETY: after `fork` it only makes system calls and allocates nothing.
        unsafe {
            command.pre_exec(move || hand_over(&filter, theirs.as_raw_fd()));
        }
        let faults = self.clone();
        std::thread::spawn(move || {
            // Nothing arrives if the process was never started.
            let Ok(watched) = Watched::receive(&ours) else { return };
            drop(ours);
            watched.serve(|process, request| faults.decide(process, request));
        });
    }

    /// Decides about one call. It is carried out if the result is `None`.
    fn decide(&self, process: i32, request: &libc::seccomp_notif) -> Option<Reply> {
        let thread = Thread(request.pid);
        let call = thread.call(&request.data)?;
        let mut state = self.state();
        let is_below = |path: &PathBuf| path.starts_with(&state.folder);
        if !is_below(&call.path) && !call.from.as_ref().is_some_and(is_below) {
            return None;
        }
        state.calls.push(call.clone());
        let (fault, nth) = state.order?;
        if state.struck.is_some() {
            return fault.aftermath(&call).map(Reply::Error);
        }
        state.concerned += usize::from(fault.concerns(&call));
        if !fault.concerns(&call) || state.concerned != nth {
            return None;
        }
        state.struck = Some(call.clone());
        match fault {
            Fault::NoSpace => Some(Reply::Error(libc::ENOSPC)),
            Fault::InputOutput | Fault::BrokenDisk => Some(Reply::Error(libc::EIO)),
            Fault::NoDescriptors => Some(Reply::Error(libc::EMFILE)),
            Fault::FullDisk | Fault::ShortWrite => Some(Reply::Value(thread.write_half(process, &request.data))),
            Fault::TornWrite => {
                thread.write_half(process, &request.data);
                Some(Reply::Kill)
            }
            Fault::Crash => Some(Reply::Kill),
            Fault::TornRename => {
                let from = call.from.as_ref().expect("it is a rename");
                let is_file = from.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
                if is_file && !is_synced(&state.calls, from) {
                    let file = File::options().write(true).open(from).expect("a file of the process");
                    file.set_len(0).expect("a file of the process");
                }
                std::fs::rename(from, &call.path).expect("the process could do it too");
                Some(Reply::Kill)
            }
        }
    }
}

/// Whether nothing was written to a file after its last sync.
fn is_synced(calls: &[Call], path: &Path) -> bool {
    let changes = |call: &&Call| call.path == *path && matches!(call.kind, Kind::Write | Kind::Sync | Kind::Resize);
    calls.iter().rev().find(changes).is_some_and(|call| call.kind == Kind::Sync)
}

impl Launch {
    /// Lets faults happen to the process.
    pub fn with_faults(mut self, faults: &Faults) -> Self {
        faults.attach(self.command());
        self
    }
}

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

/// A thread that waits in a call.
struct Thread(u32);

impl Thread {
    /// Describes the call, unless it is about something that is not a file.
    fn call(&self, data: &libc::seccomp_data) -> Option<Call> {
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
    fn write_half(&self, process: i32, data: &libc::seccomp_data) -> i64 {
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

/// The answer to a call.
enum Reply {
    Error(i32),
    Value(i64),
    Kill,
}

/// A process whose calls are handed over.
struct Watched {
    process: i32,
    listener: OwnedFd,
}

impl Watched {
    /// Answers its calls until it ends.
    fn serve(&self, decide: impl Fn(i32, &libc::seccomp_notif) -> Option<Reply>) {
        while let Some(request) = self.next() {
            let mut reply = libc::seccomp_notif_resp { id: request.id, val: 0, error: 0, flags: 0 };
            match decide(self.process, &request) {
                None => reply.flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("it is 1"),
                Some(Reply::Error(number)) => reply.error = -number,
                Some(Reply::Value(value)) => reply.val = value,
                Some(Reply::Kill) => {
                    #[expect(unsafe_code, reason = "a system call")]
                    // SAFETY: it has no memory arguments, and the process is a child that was not waited for.
                    unsafe {
                        libc::kill(self.process, libc::SIGKILL);
                    }
                    continue;
                }
            }
            #[expect(unsafe_code, reason = "a system call")]
            // SAFETY: the structure lives during the call. It fails if the process was killed.
            unsafe {
                libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut reply);
            }
        }
    }

    /// Waits for the next call. Returns `None` when the process has ended.
    fn next(&self) -> Option<libc::seccomp_notif> {
        loop {
            let mut poll = libc::pollfd { fd: self.listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            #[expect(unsafe_code, reason = "system calls")]
            // SAFETY: both structures live during the calls, and the kernel wants the second one zeroed.
            let (request, result) = unsafe {
                libc::poll(&raw mut poll, 1, -1);
                if poll.revents & libc::POLLIN == 0 && poll.revents != 0 {
                    return None;
                }
                let mut request: libc::seccomp_notif = zeroed();
                let result = libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut request);
                (request, result)
            };
            // It fails if the thread was killed in the meantime.
            if result == 0 {
                return Some(request);
            }
        }
    }

    /// Receives what `hand_over` sent.
    fn receive(socket: &UnixStream) -> io::Result<Self> {
        let mut process = 0_i32;
        let mut message = Message::new(&mut process);
        #[expect(unsafe_code, reason = "the standard library cannot receive descriptors")]
        // SAFETY: the buffers live during the calls. The kernel writes a complete control message, whose descriptor belongs
        // to the caller.
        unsafe {
            let mut header = message.header();
            let received = libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC);
            let control = libc::CMSG_FIRSTHDR(&raw const header);
            if received <= 0 || control.is_null() {
                return Err(io::Error::last_os_error());
            }
            let listener = OwnedFd::from_raw_fd(libc::CMSG_DATA(control).cast::<RawFd>().read_unaligned());
            Ok(Self { process, listener })
        }
    }
}

/// A message with a process id and a descriptor.
struct Message {
    part: libc::iovec,
    control: [u64; 4],
}

impl Message {
    fn new(process: &mut i32) -> Self {
        Self {
            part: libc::iovec { iov_base: std::ptr::from_mut(process).cast(), iov_len: size_of::<i32>() },
            control: [0; 4],
        }
    }

    fn header(&mut self) -> libc::msghdr {
        #[expect(unsafe_code, reason = "some fields are private")]
        // SAFETY: all fields are numbers and pointers.
        let mut header: libc::msghdr = unsafe { zeroed() };
        header.msg_iov = &raw mut self.part;
        header.msg_iovlen = 1;
        header.msg_control = self.control.as_mut_ptr().cast();
        #[expect(unsafe_code, reason = "a macro of the C library")]
        // SAFETY: it only computes.
        let space = unsafe { libc::CMSG_SPACE(u32::try_from(size_of::<RawFd>()).expect("4")) };
        header.msg_controllen = space.try_into().expect("it is small");
        header
    }
}

/// Builds the filter: every other call is allowed.
fn filter() -> Vec<libc::sock_filter> {
    let instruction = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: u16::try_from(code).expect("codes have 16 bits"),
        jt,
        jf,
        k,
    };
    // The number of the call is the first field of what filters see.
    let mut filter = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (left, (number, ..)) in (0..CALLS.len()).rev().zip(CALLS) {
        let number = u32::try_from(*number).expect("numbers of calls are small");
        let to_the_end = u8::try_from(left + 1).expect("there are few calls");
        filter.push(instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, to_the_end, 0));
    }
    filter.push(instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0));
    filter.push(instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0, 0));
    filter
}

/// Installs the filter in this process, and sends its listener to the test. Runs between `fork` and `exec`.
fn hand_over(filter: &[libc::sock_filter], socket: RawFd) -> io::Result<()> {
    let length = libc::c_ushort::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    #[expect(unsafe_code, reason = "system calls")]
    // SAFETY: everything that is passed lives during the calls, and the control message has room for one descriptor.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let listener = libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program);
        if listener < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut process = libc::getpid();
        let mut message = Message::new(&mut process);
        let header = message.header();
        let control = libc::CMSG_FIRSTHDR(&raw const header);
        (*control).cmsg_level = libc::SOL_SOCKET;
        (*control).cmsg_type = libc::SCM_RIGHTS;
        (*control).cmsg_len = libc::CMSG_LEN(4).try_into().unwrap_or(0);
        libc::CMSG_DATA(control).cast::<RawFd>().write_unaligned(RawFd::try_from(listener).unwrap_or(-1));
        if libc::sendmsg(socket, &raw const header, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Duplicates a descriptor of another process. Both share their position in the file.
fn descriptor_of(process: i32, number: u64) -> io::Result<File> {
    #[expect(unsafe_code, reason = "system calls")]
    // SAFETY: they have no memory arguments, and return descriptors that belong to the caller.
    unsafe {
        let handle = libc::syscall(libc::SYS_pidfd_open, process, 0);
        if handle < 0 {
            return Err(io::Error::last_os_error());
        }
        let handle = OwnedFd::from_raw_fd(RawFd::try_from(handle).map_err(io::Error::other)?);
        let copy = libc::syscall(libc::SYS_pidfd_getfd, handle.as_raw_fd(), number, 0);
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_fd(RawFd::try_from(copy).map_err(io::Error::other)?))
    }
}
