//! Every change to the files of the record. Tests make the n-th change fail, halfway through, as a crash or a full disk would.

use base::user_files;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (bytes, outcome) = interrupted(bytes);
    options().append(true).open(path)?.write_all(bytes)?;
    outcome
}

/// Overwrites a part of the file. Replacing the file instead would make the file system flush it every time.
pub fn overwrite(path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let (bytes, outcome) = interrupted(bytes);
    options().write(true).truncate(false).open(path)?.write_all_at(bytes, offset)?;
    outcome
}

pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    interrupted(&[]).1?;
    user_files::write(path, bytes)
}

pub fn truncate(path: &Path, length: u64) -> io::Result<()> {
    interrupted(&[]).1?;
    OpenOptions::new().write(true).open(path)?.set_len(length)
}

pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    interrupted(&[]).1?;
    std::fs::rename(from, to)
}

pub fn remove(path: &Path) -> io::Result<()> {
    interrupted(&[]).1?;
    std::fs::remove_file(path)
}

fn options() -> OpenOptions {
    let mut options = File::options();
    options.create(true).mode(0o600);
    options
}

/// Returns `None` if the file does not exist.
pub fn existing<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the part of the bytes that is written, and whether the change succeeds.
#[cfg(not(test))]
fn interrupted(bytes: &[u8]) -> (&[u8], io::Result<()>) {
    (bytes, Ok(()))
}

#[cfg(test)]
fn interrupted(bytes: &[u8]) -> (&[u8], io::Result<()>) {
    faults::interrupted(bytes)
}

#[cfg(test)]
pub mod faults {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        /// How many more changes succeed, and the share of the bytes, in 256ths, that the failing one writes.
        static NEXT: Cell<Option<(u32, u8)>> = const { Cell::new(None) };
    }

    /// Lets the change after the next `changes` fail on this thread; `None` lets all succeed.
    pub fn set(next: Option<(u32, u8)>) {
        NEXT.set(next);
    }

    pub fn interrupted(bytes: &[u8]) -> (&[u8], io::Result<()>) {
        match NEXT.get() {
            None => (bytes, Ok(())),
            Some((0, share)) => {
                NEXT.set(None);
                let written = bytes.len() * usize::from(share) / 256;
                (&bytes[..written], Err(io::Error::other("interrupted")))
            }
            Some((changes, share)) => {
                NEXT.set(Some((changes - 1, share)));
                (bytes, Ok(()))
            }
        }
    }
}
