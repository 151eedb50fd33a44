//! The folder with the installed model and the lock file that names it.
//!
//! A table is named after its digest and written before the lock file, so that both are always the old ones or the new ones.

use crate::known::ModelFiles;
use crate::table::{self, ConvertError, MAX_BYTES, Shape};
use base::digest::Sha256;
use base::user_files::{self, Untrusted};
use serde::{Deserialize, Serialize};
use std::fs::Permissions;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the lock file.
const FORMAT: u32 = 1;
const MAX_LOCK_BYTES: u64 = 64 << 10;

/// How long a change waits for another one.
const CHANGE_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}")]
    Untrusted(#[from] Untrusted),
    #[error("{}: {reason}\nhint: run `skillcell model add` again", path.display())]
    Lock { path: PathBuf, reason: String },
    #[error("{}: {what}\nhint: run `skillcell model add` again", path.display())]
    Damaged { path: PathBuf, what: &'static str },
    #[error("cannot write {}: {reason}", path.display())]
    Write { path: PathBuf, reason: io::Error },
    #[error("{0}")]
    Convert(#[from] ConvertError),
}

/// What is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    format: u32,
    pub name: String,
    /// The address of the package, or the files.
    pub source: String,
    /// Of the table, not of the files that it was made from.
    sha256: String,
}

/// The installed model.
#[derive(Debug)]
pub struct Installed {
    pub locked: Locked,
    pub digest: Sha256,
    pub shape: Shape,
    pub table: Vec<u8>,
}

/// The folder of the model of one user.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn lock_file(&self) -> PathBuf {
        self.folder.join("lock.json")
    }

    fn table_file(&self, digest: &Sha256) -> PathBuf {
        self.folder.join(format!("{}.vectors", digest.hex()))
    }

    /// Reads the installed model, if there is one. It must be the one that the lock file names.
    pub fn installed(&self) -> Result<Option<Installed>, StoreError> {
        let lock_file = self.lock_file();
        let invalid = |reason: String| StoreError::Lock { path: lock_file.clone(), reason };
        let bytes = match read(&lock_file, MAX_LOCK_BYTES) {
            Err(Untrusted::Unusable { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let locked: Locked = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if locked.format != FORMAT {
            return Err(invalid(format!(
                "its format is {}, and this version of skillcell reads {FORMAT}",
                locked.format
            )));
        }
        let digest: Sha256 = locked.sha256.parse().map_err(|_| invalid("it has no digest".to_owned()))?;
        let path = self.table_file(&digest);
        let damaged = |what| StoreError::Damaged { path: path.clone(), what };
        let table = match read(&path, MAX_BYTES) {
            Err(Untrusted::Unusable { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => {
                return Err(damaged("the lock file names it, and it does not exist"));
            }
            read => read?,
        };
        if Sha256::of(&table) != digest {
            return Err(damaged("its content is not what the lock file says"));
        }
        let shape = table::shape(&table).ok_or_else(|| damaged("it is not a table of vectors"))?;
        Ok(Some(Installed { locked, digest, shape, table }))
    }

    /// Converts and installs a model in the place of the one before.
    pub fn install(&self, files: &ModelFiles) -> Result<Installed, StoreError> {
        let table = table::convert(&files.weights, &files.tokenizer)?;
        let digest = Sha256::of(&table);
        let (name, source) = (files.name.clone(), files.source.clone());
        let locked = Locked { format: FORMAT, name, source, sha256: digest.to_string() };
        let _lock = self.for_change()?;
        write(&self.table_file(&digest), &table)?;
        let text = serde_json::to_string_pretty(&locked).expect("texts are JSON");
        write(&self.lock_file(), format!("{text}\n").as_bytes())?;
        self.clean(Some(&digest));
        let shape = table::shape(&table).expect("it was just made");
        Ok(Installed { locked, digest, shape, table })
    }

    /// Removes the model. Returns whether there was one.
    pub fn remove(&self) -> Result<bool, StoreError> {
        let _lock = self.for_change()?;
        let path = self.lock_file();
        let removed = match std::fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(reason) => return Err(StoreError::Write { path, reason }),
            Ok(()) => true,
        };
        self.clean(None);
        Ok(removed)
    }

    fn for_change(&self) -> Result<std::fs::File, StoreError> {
        user_files::ensure_folder(&self.folder)?;
        let path = self.folder.join("change.lock");
        user_files::lock_within(&path, CHANGE_TIMEOUT).map_err(|reason| StoreError::Write { path, reason })
    }

    /// Removes other tables. What cannot be removed is left, and does no harm.
    fn clean(&self, used: Option<&Sha256>) {
        let used = used.map(|digest| self.table_file(digest));
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_table = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "vectors");
        for path in entries.filter(is_table).filter(|path| Some(path) != used.as_ref()) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Untrusted> {
    let mut bytes = Vec::new();
    let read = user_files::open(path)?.take(limit + 1).read_to_end(&mut bytes);
    let too_large = || io::Error::other(format!("it is larger than {} KiB", limit >> 10));
    let read = read.and_then(|count| if count as u64 > limit { Err(too_large()) } else { Ok(()) });
    read.map_err(|reason| Untrusted::Unusable { path: path.to_owned(), reason })?;
    Ok(bytes)
}

/// Writes a file that survives a power failure as a whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |reason| StoreError::Write { path: path.to_owned(), reason };
    let file = user_files::write_beside(path, bytes, Permissions::from_mode(0o600)).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::tests::safetensors;
    use std::os::unix::fs::symlink;

    fn files(value: f32) -> ModelFiles {
        let numbers = [value, 1.0].map(f32::to_le_bytes).concat();
        ModelFiles {
            name: "tiny".to_owned(),
            source: "file".to_owned(),
            weights: safetensors("F32", &[1, 2], &numbers),
            tokenizer: br#"{"model": {"type": "WordPiece", "vocab": {"slides": 0}}}"#.to_vec(),
        }
    }

    #[test]
    fn a_model_is_installed_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("models"));
        assert!(store.installed().unwrap().is_none());
        store.install(&files(0.5)).unwrap();
        let second = store.install(&files(0.25)).unwrap();
        let installed = store.installed().unwrap().unwrap();
        assert_eq!((installed.digest, installed.shape.pieces), (second.digest, 1));
        let tables = std::fs::read_dir(folder.path().join("models")).unwrap().flatten();
        assert_eq!(tables.filter(|entry| entry.path().extension().is_some_and(|end| end == "vectors")).count(), 1);
        assert!(store.remove().unwrap() && !store.remove().unwrap());
        assert!(store.installed().unwrap().is_none());
    }

    #[test]
    fn a_table_that_is_not_the_locked_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("models"));
        let digest = store.install(&files(0.5)).unwrap().digest;
        let path = store.table_file(&digest);
        let table = std::fs::read(&path).unwrap();
        let error = || store.installed().unwrap_err().to_string();
        std::fs::write(&path, &table[..20]).unwrap();
        assert!(error().contains("its content is not what the lock file says"));
        std::fs::File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(error().contains("it is larger than 65536 KiB"), "{}", error());
        std::fs::remove_file(&path).unwrap();
        assert!(error().contains("it does not exist"));
        symlink("/dev/zero", &path).unwrap();
        assert!(error().contains("cannot use"), "{}", error());
        for lock in ["", "{}", r#"{"format": 2, "name": "x", "source": "y", "sha256": "z"}"#] {
            std::fs::write(store.lock_file(), lock).unwrap();
            assert!(error().contains("hint: run `skillcell model add` again"), "{lock}");
        }
    }

    #[test]
    fn a_locked_file_that_is_no_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("models"));
        store.install(&files(0.5)).unwrap();
        let digest = Sha256::of(b"anything");
        user_files::write(&store.table_file(&digest), b"anything").unwrap();
        let lock = format!(r#"{{"format": 1, "name": "x", "source": "y", "sha256": "{digest}"}}"#);
        std::fs::write(store.lock_file(), lock).unwrap();
        assert!(store.installed().unwrap_err().to_string().contains("it is not a table of vectors"));
    }
}
