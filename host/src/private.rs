//! Files that belong to the user alone, and keys that are kept in them.

use hmac::{Hmac, Mac};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Why a file or folder is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    #[error("{path} belongs to another user\nhint: remove it")]
    Foreign { path: PathBuf },
    #[error("{path} can be changed or read by others (mode {mode:o})\nhint: run `chmod go-rwx {path}`")]
    Open { path: PathBuf, mode: u32 },
    #[error("{path} is not what it should be: {what}\nhint: remove it")]
    Odd { path: PathBuf, what: &'static str },
    #[error("cannot use {path}: {reason}")]
    Unusable { path: PathBuf, reason: io::Error },
}

/// Makes a folder that only the user can enter, with everything above it, or checks that it is one.
pub fn folder(path: &Path) -> Result<(), Untrusted> {
    let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
    let metadata = std::fs::symlink_metadata(path).map_err(unusable)?;
    if !metadata.is_dir() {
        return Err(Untrusted::Odd { path: path.to_owned(), what: "no folder" });
    }
    check(path, &metadata)
}

/// Opens a file of the user's for reading, if nobody else can write or read it.
pub fn open(path: &Path) -> Result<File, Untrusted> {
    let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unusable)?;
    let metadata = file.metadata().map_err(unusable)?;
    if !metadata.is_file() {
        return Err(Untrusted::Odd { path: path.to_owned(), what: "no file" });
    }
    check(path, &metadata)?;
    Ok(file)
}

/// Writes a file that only the user can read, all of it or nothing.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = beside(path)?;
    fresh.persist(path, bytes)
}

/// Takes a lock that servers share, after whoever has it. It is held while the file is open, and free when its owner dies.
pub fn lock(path: &Path) -> io::Result<File> {
    let file = lock_file(path)?;
    file.lock()?;
    Ok(file)
}

/// The same if it is free.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Can be read and written too, by whoever keeps a note in it.
fn lock_file(path: &Path) -> io::Result<File> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(0o600).custom_flags(no_link).open(path)
}

fn check(path: &Path, metadata: &std::fs::Metadata) -> Result<(), Untrusted> {
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Untrusted::Foreign { path: path.to_owned() });
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 { Err(Untrusted::Open { path: path.to_owned(), mode }) } else { Ok(()) }
}

/// A new file beside another, which takes its place when it is complete.
struct Fresh(tempfile::NamedTempFile);

fn beside(path: &Path) -> io::Result<Fresh> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are made with mode 0600.
    tempfile::Builder::new().prefix(".new-").tempfile_in(folder).map(Fresh)
}

impl Fresh {
    fn persist(mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// A secret that tells our own files from others'.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Reads the key in a file. Makes one if there is none; of several servers that do so at once, one wins.
    pub fn in_file(path: &Path) -> Result<Self, Untrusted> {
        let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(unusable)?;
        }
        if !path.exists() {
            let mut bytes = [0; 32];
            fill(&mut bytes).map_err(unusable)?;
            let mut fresh = beside(path).map_err(unusable)?.0;
            fresh.write_all(&bytes).map_err(unusable)?;
            match fresh.persist_noclobber(path) {
                Ok(_) => {}
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unusable(error.error)),
            }
        }
        let mut bytes = Vec::new();
        open(path)?.take(33).read_to_end(&mut bytes).map_err(unusable)?;
        let odd = |_| Untrusted::Odd { path: path.to_owned(), what: "no key of 32 bytes" };
        bytes.try_into().map(Self).map_err(odd)
    }

    /// A code that only somebody with the key can make. The parts are told apart by their lengths.
    pub fn code(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Whether a code was made with this key, in a time that does not depend on where it differs.
    pub fn made(&self, code: &[u8], parts: &[&[u8]]) -> bool {
        self.mac(parts).verify_slice(code).is_ok()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<sha2::Sha256> {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&self.0).expect("a key may have any length");
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

/// Random bytes of the operating system.
pub fn fill(mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let filled = rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty())?;
        bytes = &mut bytes[filled..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_stays_the_same_and_is_refused_when_others_could_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/audit.key");
        let code = Key::in_file(&path).unwrap().code(&[b"a", b"bc"]);
        let again = Key::in_file(&path).unwrap();
        assert!(again.made(&code, &[b"a", b"bc"]));
        assert!(!again.made(&code, &[b"ab", b"c"]));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Key::in_file(&path), Err(Untrusted::Open { mode: 0o644, .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(Key::in_file(&path), Err(Untrusted::Odd { .. })));
    }

    #[test]
    fn of_many_that_make_a_key_at_once_all_get_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.key");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || Key::in_file(&path).unwrap().code(&[b"x"]))
            })
            .collect();
        let codes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(codes.iter().all(|code| *code == codes[0]));
    }

    #[test]
    fn a_lock_has_one_owner_until_its_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = lock(&path).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        let (sender, receiver) = std::sync::mpsc::channel();
        let theirs = path.clone();
        std::thread::spawn(move || sender.send(lock(&theirs).unwrap()).unwrap());
        assert!(receiver.try_recv().is_err(), "it waits");
        drop(first);
        let second = receiver.recv_timeout(std::time::Duration::from_mins(1)).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(second);
        assert!(try_lock(&path).unwrap().is_some());
        assert!(lock(&folder.path().join("missing/lock")).is_err());
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("native");
        super::folder(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(super::folder(&path), Err(Untrusted::Open { .. })));
    }
}
