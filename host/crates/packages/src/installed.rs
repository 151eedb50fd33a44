//! The archive as servers use it: read and checked once, and again when the lock file changes.

use crate::directory;
use crate::lock::Lock;
use crate::store::{Store, StoreError};
use base::digest::Sha256;
use bytes::Bytes;
use guests::script::PYTHON_VERSION;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The archive of all packages, in memory. Its digest is the one in the lock file.
#[derive(Debug, Clone)]
pub struct Archive {
    pub digest: Sha256,
    pub bytes: Bytes,
    /// The list of its files for `zipimport`.
    pub directory: Bytes,
}

/// Why the packages cannot be used: a message with a hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);

/// The packages of this user, if there are any.
pub struct Installed {
    store: Option<Store>,
    last: Mutex<Option<(Stamps, Loaded)>>,
}

type Loaded = Result<Option<Arc<Archive>>, Arc<Unusable>>;

/// What changes when a file is replaced.
type Stamp = Option<[u64; 4]>;

/// Of the lock file; and of the archive, if that one cannot be used.
type Stamps = (Stamp, Option<Stamp>);

impl Installed {
    /// Without a folder there are no packages.
    pub fn new(store: Option<Store>) -> Self {
        Self { store, last: Mutex::new(None) }
    }

    /// Returns the archive, which is read only if the lock file has changed. Blocks.
    pub fn archive(&self) -> Loaded {
        let Some(store) = &self.store else { return Ok(None) };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let lock_stamp = stamp(&store.lock_file());
        if let Some(((known, of_archive), loaded)) = &*last
            && *known == lock_stamp
            && of_archive.is_none_or(|known| known == archive_stamp(store))
        {
            return loaded.clone();
        }
        let loaded = load(store).map(|archive| archive.map(Arc::new)).map_err(Arc::new);
        if let Err(problem) = &loaded {
            tracing::warn!("packages cannot be used: {problem}");
        }
        // The stamp is older than what was read, so a change in between is noticed the next time.
        let stamps = (lock_stamp, loaded.is_err().then(|| archive_stamp(store)));
        *last = Some((stamps, loaded.clone()));
        loaded
    }
}

fn load(store: &Store) -> Result<Option<Archive>, Unusable> {
    let unusable = |error: StoreError| Unusable(error.to_string());
    let mut lock = store.lock().map_err(unusable)?;
    loop {
        check_python(&lock)?;
        let Some(digest) = lock.archive else { return Ok(None) };
        match store.archive(&digest) {
            Ok(bytes) => {
                let directory =
                    directory::marshalled(&bytes).map_err(|error| Unusable(format!("the archive: {error}")))?;
                return Ok(Some(Archive { digest, bytes: bytes.into(), directory: directory.into() }));
            }
            Err(error) => {
                // Another process may have replaced both files since the first was read.
                let again = store.lock().map_err(unusable)?;
                if again == lock {
                    return Err(unusable(error));
                }
                lock = again;
            }
        }
    }
}

/// Compiled modules are for one version of Python.
pub fn check_python(lock: &Lock) -> Result<(), Unusable> {
    if lock.python == PYTHON_VERSION {
        return Ok(());
    }
    Err(Unusable(format!(
        "the packages are compiled for Python {}, and the sandbox has {PYTHON_VERSION}\nhint: run `skillcell package update`",
        lock.python.escape_debug()
    )))
}

fn archive_stamp(store: &Store) -> Stamp {
    let digest = store.lock().ok()?.archive?;
    stamp(&store.archive_file(&digest))
}

fn stamp(path: &Path) -> Stamp {
    let metadata: io::Result<std::fs::Metadata> = std::fs::symlink_metadata(path);
    let metadata = metadata.ok()?;
    let time = |seconds: i64, nanoseconds: i64| {
        seconds.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(nanoseconds.cast_unsigned())
    };
    let (modified, changed) =
        (time(metadata.mtime(), metadata.mtime_nsec()), time(metadata.ctime(), metadata.ctime_nsec()));
    Some([metadata.ino(), metadata.size(), modified, changed])
}
