//! The folder with the lock file, the wheels and the archive.
//!
//! The archive is named after its digest and written before the lock file, whose replacement is the one step that counts: after a
//! crash at any time, the lock file and the archive that it names are both the old ones, or both the new ones.

use crate::lock::{Lock, Locked};
use base::digest::Sha256;
use base::user_files::{self, Untrusted};
use std::fs::{File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// In bytes.
const MAX_LOCK_BYTES: u64 = 4 << 20;
const MAX_ARCHIVE_BYTES: u64 = 512 << 20;

/// How long a change waits for another one, which may be downloading.
const CHANGE_TIMEOUT: Duration = Duration::from_mins(5);

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}")]
    Untrusted(#[from] Untrusted),
    #[error("{}: {reason}\nhint: `skillcell package add` writes it again once it is removed", path.display())]
    Lock { path: PathBuf, reason: String },
    #[error("{}: {what}\nhint: `skillcell package update` makes it again", path.display())]
    Damaged { path: PathBuf, what: &'static str },
    #[error("cannot write {}: {reason}", path.display())]
    Write { path: PathBuf, reason: io::Error },
    #[error("cannot lock {}: {reason}", path.display())]
    Busy { path: PathBuf, reason: io::Error },
}

/// The folder of packages of one user.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// A store that no other process changes meanwhile.
pub struct LockedStore<'store> {
    store: &'store Store,
    _lock: File,
}

impl Store {
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn lock_file(&self) -> PathBuf {
        self.folder.join("lock.json")
    }

    pub fn archive_file(&self, digest: &Sha256) -> PathBuf {
        self.folder.join("archives").join(format!("{}.zip", digest.hex()))
    }

    fn wheel_file(&self, digest: &Sha256) -> PathBuf {
        self.folder.join("wheels").join(format!("{}.whl", digest.hex()))
    }

    /// Reads the lock file. Without one, there are no packages.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        let path = self.lock_file();
        match read(&path, MAX_LOCK_BYTES) {
            Ok(bytes) => Lock::parse(&bytes).map_err(|reason| StoreError::Lock { path, reason }),
            Err(Untrusted::Unusable { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => Ok(Lock::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the archive, if it is the one that the lock file names.
    pub fn archive(&self, digest: &Sha256) -> Result<Vec<u8>, StoreError> {
        checked(self.archive_file(digest), MAX_ARCHIVE_BYTES, digest)
    }

    /// Reads the wheel of an installed package.
    pub fn wheel(&self, package: &Locked) -> Result<Vec<u8>, StoreError> {
        checked(self.wheel_file(&package.sha256), crate::wheel::MAX_WHEEL_BYTES, &package.sha256)
    }

    /// Waits for the right to change the store.
    pub fn for_change(&self) -> Result<LockedStore<'_>, StoreError> {
        for folder in [self.folder.clone(), self.folder.join("wheels"), self.folder.join("archives")] {
            user_files::ensure_folder(&folder)?;
        }
        let path = self.folder.join("change.lock");
        let lock =
            user_files::lock_within(&path, CHANGE_TIMEOUT).map_err(|reason| StoreError::Busy { path, reason })?;
        Ok(LockedStore { store: self, _lock: lock })
    }
}

impl LockedStore<'_> {
    /// Replaces everything, then removes what is no longer needed.
    pub fn commit<'wheel>(
        &self,
        lock: &Lock,
        wheels: impl Iterator<Item = (&'wheel Sha256, &'wheel [u8])>,
        archive: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        for (digest, bytes) in wheels {
            let path = self.store.wheel_file(digest);
            if checked(path.clone(), crate::wheel::MAX_WHEEL_BYTES, digest).is_err() {
                write(&path, bytes)?;
            }
        }
        if let (Some(digest), Some(archive)) = (&lock.archive, archive) {
            write(&self.store.archive_file(digest), archive)?;
        }
        let text = serde_json::to_string_pretty(lock).expect("texts and lists are JSON");
        write(&self.store.lock_file(), format!("{text}\n").as_bytes())?;
        self.clean(lock);
        Ok(())
    }

    /// Removes files that the lock file does not name. What cannot be removed is left, and does no harm.
    fn clean(&self, lock: &Lock) {
        let wheels = lock.packages.iter().map(|package| self.store.wheel_file(&package.sha256));
        let archive = lock.archive.as_ref().map(|digest| self.store.archive_file(digest));
        let needed: Vec<PathBuf> = wheels.chain(archive).collect();
        for folder in ["wheels", "archives"] {
            let entries = std::fs::read_dir(self.store.folder.join(folder)).into_iter().flatten().flatten();
            for path in entries.map(|entry| entry.path()).filter(|path| !needed.contains(path)) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Writes a file atomically, so that it survives a power failure as a whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |reason| StoreError::Write { path: path.to_owned(), reason };
    let file = user_files::write_beside(path, bytes, Permissions::from_mode(0o600)).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Untrusted> {
    let mut bytes = Vec::new();
    let read = user_files::open(path)?.take(limit + 1).read_to_end(&mut bytes);
    let too_large = || io::Error::other(format!("it is larger than {} MiB", limit >> 20));
    let read = read.and_then(|count| if count as u64 > limit { Err(too_large()) } else { Ok(()) });
    read.map_err(|reason| Untrusted::Unusable { path: path.to_owned(), reason })?;
    Ok(bytes)
}

fn checked(path: PathBuf, limit: u64, digest: &Sha256) -> Result<Vec<u8>, StoreError> {
    let bytes = match read(&path, limit) {
        Err(Untrusted::Unusable { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Damaged { path, what: "the lock file names it, and it does not exist" });
        }
        read => read?,
    };
    if Sha256::of(&bytes) == *digest {
        Ok(bytes)
    } else {
        Err(StoreError::Damaged { path, what: "its content is not what the lock file says" })
    }
}
