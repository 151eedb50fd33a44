//! Checks that `/tmp` is counted to the byte.

use sandbox::denials::Denials;
use sandbox::files::memory::{Memory, Quota};
use sandbox::files::path::GuestPath;
use sandbox::files::{FileError, Files, Kind, OpenMode};
use std::sync::Arc;

pub const SCRATCH_BYTES: u64 = 1000;
const SCRATCH_FILES: u64 = 10;

pub fn quota() -> Arc<Quota> {
    Quota::new(SCRATCH_BYTES, SCRATCH_FILES)
}

/// What is in `/tmp` fits.
pub fn check_size(files: &Files) {
    let (bytes, entries) = size_of(files, &GuestPath::default().join("tmp").expect("a path").path);
    assert!(bytes <= SCRATCH_BYTES && entries <= SCRATCH_FILES, "{bytes} bytes in {entries} files in /tmp");
}

/// The bytes and the number of entries below a folder.
fn size_of(files: &Files, folder: &GuestPath) -> (u64, u64) {
    let mut size = (0, 0);
    for entry in files.list(folder, &|| false).expect("a folder") {
        let path = folder.join(&entry.name).expect("a listed name").path;
        let below = match entry.kind {
            Kind::Folder => size_of(files, &path),
            _ => (files.stat_at(&path, false).expect("a listed file").size, 0),
        };
        size = (size.0 + below.0, size.1 + below.1 + 1);
    }
    size
}

/// After the end of a run, everything that files in `/tmp` took is free again.
pub fn check_returned(quota: Arc<Quota>) {
    let mut files = Files::new(Denials::default());
    files.mount("tmp", Memory::scratch(quota));
    let top = GuestPath::default();
    let mode = OpenMode { write: true, create: true, ..OpenMode::default() };
    let file = files.open(&top, "tmp/all", mode).expect("room for a file").file.expect("a file");
    assert_eq!(file.set_size(SCRATCH_BYTES + 1), Err(FileError::Full));
    assert_eq!(file.set_size(SCRATCH_BYTES), Ok(()));
    for number in 1..=SCRATCH_FILES {
        let made = files.create_folder(&top, &format!("tmp/{number}"));
        assert_eq!(made.is_ok(), number < SCRATCH_FILES, "folder {number}");
    }
}
