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

mod calls;
mod supervisor;

use crate::Launch;
use calls::Thread;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use supervisor::{Reply, supervise};

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
        let faults = self.clone();
        supervise(command, &calls::numbers(), move |process, request| faults.decide(process, request));
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
