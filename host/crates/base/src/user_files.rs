//! Files that only the user can access, locks between servers, and keys kept in such files.

use hmac::{Hmac, Mac};
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Why a file or folder is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    #[error("{path} belongs to another user\nhint: remove it")]
    OtherOwner { path: PathBuf },
    #[error("{path} can be changed or read by others (mode {mode:o})\nhint: run `chmod go-rwx {path}`")]
    TooPermissive { path: PathBuf, mode: u32 },
    #[error(
        "{path} can be changed by other users (mode {mode:o}), and decides what is allowed\nhint: run `chmod 644 {path}`, or `chmod 600 {path}` if it contains secrets"
    )]
    Changeable { path: PathBuf, mode: u32 },
    #[error(
        "{path} belongs to user {owner}, who could change what is allowed\nhint: run `chown $(id -u) {path}`, or mount it read-only"
    )]
    Foreign { path: PathBuf, owner: u32 },
    #[error(
        "{file} can be replaced by other users, because every user can write to its folder\nhint: run `chmod o-w {folder}`"
    )]
    Replaceable { file: PathBuf, folder: PathBuf },
    #[error("{path} is {what}\nhint: remove it")]
    Invalid { path: PathBuf, what: &'static str },
    #[error("cannot use {path}: {reason}")]
    Unusable { path: PathBuf, reason: io::Error },
}

/// Creates a folder that only the user can enter, along with its parents. An existing one is checked.
pub fn ensure_folder(path: &Path) -> Result<(), Untrusted> {
    let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
    let metadata = std::fs::symlink_metadata(path).map_err(unusable)?;
    if !metadata.is_dir() {
        return Err(Untrusted::Invalid { path: path.to_owned(), what: "not a folder" });
    }
    check(path, &metadata)
}

/// Creates the folder that a file belongs in, along with its parents.
pub fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| DirBuilder::new().recursive(true).mode(0o700).create(parent))
}

/// Opens a file for reading, unless other users can read or write it.
pub fn open(path: &Path) -> Result<File, Untrusted> {
    let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unusable)?;
    let metadata = file.metadata().map_err(unusable)?;
    if !metadata.is_file() {
        return Err(Untrusted::Invalid { path: path.to_owned(), what: "not a file" });
    }
    check(path, &metadata)?;
    Ok(file)
}

/// Opens a file for reading, through links, unless users other than this one and the superuser could change it. Others may
/// read it. What is not a regular file, such as a pipe, is not checked.
pub fn open_unchangeable(path: &Path) -> Result<File, Untrusted> {
    let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
    let file = File::open(path).map_err(unusable)?;
    let metadata = file.metadata().map_err(unusable)?;
    if !metadata.is_file() {
        return Ok(file);
    }
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o777);
    let is_foreign = owner != 0 && owner != rustix::process::geteuid().as_raw();
    // In a container, the operator often has another number than the server.
    if is_foreign && !is_read_only(path) {
        return Err(Untrusted::Foreign { path: path.to_owned(), owner });
    }
    if mode & 0o022 != 0 {
        return Err(Untrusted::Changeable { path: path.to_owned(), mode });
    }
    let real = path.canonicalize().map_err(unusable)?;
    for folder in [path.parent(), real.parent()].into_iter().flatten() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // In a sticky folder, only the owner of a file can replace it.
        let is_open_to_all = folder.metadata().map_err(unusable)?.mode() & 0o1002 == 0o002;
        if is_open_to_all && !is_read_only(folder) {
            return Err(Untrusted::Replaceable { file: path.to_owned(), folder: folder.to_owned() });
        }
    }
    Ok(file)
}

/// Whether a path is in a file system that is mounted read-only.
fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|system| system.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

/// Atomically writes a file that only the user can read.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_beside(path, bytes, Permissions::from_mode(0o600))?.persist(path)?;
    Ok(())
}

/// Writes a temporary file to the same folder, which replaces `path` once it is persisted.
pub fn write_beside(path: &Path, bytes: &[u8], permissions: Permissions) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".skillcell-").permissions(permissions).tempfile_in(folder)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// The longest pause between two attempts to take a lock.
const MAX_LOCK_PAUSE: Duration = Duration::from_millis(10);

/// How long to wait for a lock. Each is held for milliseconds, so a longer wait means that its owner hangs or is stopped.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Waits for a lock that is shared between servers, for [`LOCK_TIMEOUT`]. It is held while the returned file is open, so it is
/// released even if the process dies.
pub fn lock(path: &Path) -> io::Result<File> {
    lock_within(path, LOCK_TIMEOUT)
}

/// Like [`lock`], with another timeout. The error for a lock that is not free in time is [`io::ErrorKind::TimedOut`].
#[expect(clippy::disallowed_methods, reason = "no event tells when another process releases a lock")]
pub fn lock_within(path: &Path, timeout: Duration) -> io::Result<File> {
    let (file, start, mut pause) = (lock_file(path)?, Instant::now(), Duration::from_micros(100));
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() >= timeout => {
                let path = path.display();
                let message = format!(
                    "another process has locked {path} for more than {} seconds\nhint: end that process, which `fuser -v {path}` shows, and try again",
                    timeout.as_secs()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(MAX_LOCK_PAUSE);
    }
}

/// Takes the lock if it is free, without waiting.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opened for reading and writing, because some callers store a note in the lock file.
fn lock_file(path: &Path) -> io::Result<File> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(0o600).custom_flags(no_link).open(path)
}

fn check(path: &Path, metadata: &std::fs::Metadata) -> Result<(), Untrusted> {
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Untrusted::OtherOwner { path: path.to_owned() });
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 { Err(Untrusted::TooPermissive { path: path.to_owned(), mode }) } else { Ok(()) }
}

/// A secret that authenticates files written by this user's servers.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Reads the key from a file, creating it if it is missing. If several servers do so at once, all get the same key.
    pub fn in_file(path: &Path) -> Result<Self, Untrusted> {
        let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
        if !path.exists() {
            Self::random().map_err(unusable)?.store(path)?;
        }
        let mut bytes = Vec::new();
        open(path)?.take(33).read_to_end(&mut bytes).map_err(unusable)?;
        let invalid = |_| Untrusted::Invalid { path: path.to_owned(), what: "not a key of 32 bytes" };
        bytes.try_into().map(Self).map_err(invalid)
    }

    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        fill_random(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Writes the key to a file, unless there is one.
    pub fn store(&self, path: &Path) -> Result<(), Untrusted> {
        let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
        create_parent(path).map_err(unusable)?;
        let file = write_beside(path, &self.0, Permissions::from_mode(0o600)).map_err(unusable)?;
        // A power failure must not leave an empty key, which nothing would replace.
        file.as_file().sync_all().map_err(unusable)?;
        match file.persist_noclobber(path) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(unusable(error.error)),
            _ => Ok(()),
        }
    }

    /// Returns a message authentication code. Each part is prefixed with its length, so parts cannot be shifted.
    pub fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Checks a code in constant time.
    pub fn verify(&self, code: &[u8], parts: &[&[u8]]) -> bool {
        self.mac(parts).verify_slice(code).is_ok()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<sha2::Sha256> {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&self.0).expect("HMAC accepts keys of any length");
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

/// Fills a buffer with random bytes from the operating system.
pub fn fill_random(mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let filled = rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty())?;
        bytes = &mut bytes[filled..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_stable_and_refused_when_others_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/audit.key");
        let code = Key::in_file(&path).unwrap().sign(&[b"a", b"bc"]);
        let again = Key::in_file(&path).unwrap();
        assert!(again.verify(&code, &[b"a", b"bc"]));
        assert!(!again.verify(&code, &[b"ab", b"c"]));
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Key::in_file(&path), Err(Untrusted::TooPermissive { mode: 0o644, .. })));
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(Key::in_file(&path), Err(Untrusted::Invalid { .. })));
    }

    #[test]
    fn concurrent_creators_of_a_key_get_the_same_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.key");
        let sign = || Key::in_file(&path).unwrap().sign(&[b"x"]);
        let codes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(sign)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(codes.iter().all(|code| *code == codes[0]));
    }

    #[test]
    fn a_lock_has_one_owner_until_its_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = lock(&path).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        let (sender, receiver) = std::sync::mpsc::channel();
        let other_path = path.clone();
        std::thread::spawn(move || sender.send(lock(&other_path).unwrap()).unwrap());
        assert!(receiver.try_recv().is_err(), "the second owner waits");
        drop(first);
        let second = receiver.recv_timeout(std::time::Duration::from_mins(1)).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        let error = lock_within(&path, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains(&format!("`fuser -v {}`", path.display())), "{error}");
        drop(second);
        assert!(try_lock(&path).unwrap().is_some());
        assert!(lock_within(&path, Duration::ZERO).is_ok());
        assert!(lock(&folder.path().join("missing/lock")).is_err());
    }

    #[test]
    fn a_file_that_others_could_change_or_replace_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("config.yaml"), folder.path().join("link.yaml"));
        std::fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink("config.yaml", &link).unwrap();
        let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for mode in [0o600, 0o640, 0o644, 0o444] {
            set(&path, mode);
            assert!(open_unchangeable(&path).is_ok() && open_unchangeable(&link).is_ok(), "{mode:o}");
        }
        for mode in [0o666, 0o664, 0o602] {
            set(&path, mode);
            for path in [&path, &link] {
                let error = open_unchangeable(path).unwrap_err();
                assert!(matches!(error, Untrusted::Changeable { mode: found, .. } if found == mode), "{error}");
            }
        }
        set(&path, 0o644);
        for (mode, is_allowed) in [(0o1777, true), (0o775, true), (0o777, false), (0o702, false)] {
            set(folder.path(), mode);
            let opened = open_unchangeable(&path);
            assert_eq!(opened.is_ok(), is_allowed, "{mode:o}: {opened:?}");
        }
        set(folder.path(), 0o700);
        assert!(open_unchangeable(Path::new("/dev/null")).is_ok());
        // Only the superuser can give a file away.
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
            let error = open_unchangeable(&link).unwrap_err().to_string();
            assert!(error.contains("belongs to user 12345"), "{error}");
        }
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("native");
        ensure_folder(&path).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(ensure_folder(&path), Err(Untrusted::TooPermissive { .. })));
    }
}
