//! Files that are read before anyone asks for them, by threads that do nothing else.

use crate::snapshot::File;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Fewer files than this are read faster by the one who asks.
const MIN_FILES: usize = 64;

/// More threads only compete for the disk.
const MAX_THREADS: usize = 4;

/// How many files a thread takes at once.
const TAKEN_AT_ONCE: usize = 8;

#[derive(Default)]
pub struct ReadAhead {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: HashMap<String, File>,
    plan: Option<Arc<Plan>>,
}

/// Which files to read.
struct Plan {
    paths: Vec<String>,
    next: AtomicUsize,
}

impl ReadAhead {
    /// Begins to read these files. `owner` keeps this alive while `read` is used.
    pub fn begin<Owner: AsRef<Self> + Send + Sync + 'static>(
        owner: &Arc<Owner>,
        paths: Vec<String>,
        read: impl Fn(&Owner, &str) -> File + Clone + Send + 'static,
    ) {
        if paths.len() < MIN_FILES {
            return;
        }
        let plan = Arc::new(Plan { paths, next: AtomicUsize::new(0) });
        let ahead: &Self = (**owner).as_ref();
        ahead.state().plan = Some(Arc::clone(&plan));
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        for _ in 0..threads {
            let (owner, plan, read) = (Arc::clone(owner), Arc::clone(&plan), read.clone());
            let run = move || {
                let ahead: &Self = (*owner).as_ref();
                while let Some(paths) = plan.take() {
                    let files: Vec<(String, File)> =
                        paths.iter().map(|path| (path.clone(), read(&owner, path))).collect();
                    let mut state = ahead.state();
                    // Another plan, or none, may be followed by now.
                    if !state.plan.as_ref().is_some_and(|current| Arc::ptr_eq(current, &plan)) {
                        return;
                    }
                    state.files.extend(files);
                }
            };
            // Without the thread, files are read when they are asked for.
            let _ = std::thread::Builder::new().name("reading ahead".to_owned()).spawn(run);
        }
    }

    /// Returns a file that was read.
    pub fn take(&self, path: &str) -> Option<File> {
        self.state().files.remove(path)
    }

    /// Ends reading, and forgets what was read.
    pub fn end(&self) {
        let State { files, plan } = std::mem::take(&mut *self.state());
        if let Some(plan) = plan {
            plan.next.store(plan.paths.len(), Ordering::Relaxed);
        }
        drop(files);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    fn take(&self) -> Option<&[String]> {
        let start = self.next.fetch_add(TAKEN_AT_ONCE, Ordering::Relaxed);
        let end = self.paths.len().min(start + TAKEN_AT_ONCE);
        self.paths.get(start..end).filter(|paths| !paths.is_empty())
    }
}

impl fmt::Debug for ReadAhead {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ReadAhead").field("files", &self.state().files.len()).finish()
    }
}
