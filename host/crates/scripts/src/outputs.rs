//! The files that a run created or changed, as they go back to the caller.

use crate::patterns::Pattern;
use base::digest::Sha256;
use bytes::Bytes;
use sandbox::files::path::{GuestPath, below, names};
use sandbox::files::{FileError, Files, OpenMode};

/// Of one run. More are counted only.
const MAX_FILES: usize = 256;

/// Of all files of one run together.
pub const MAX_BYTES: u64 = 64 << 20;

/// Changed files that are looked at.
const MAX_EXAMINED: usize = 10_000;

#[derive(Debug, Clone)]
pub struct OutputFile {
    /// Relative to the working folder, or absolute as the script sees it.
    pub path: String,
    pub bytes: Bytes,
    pub digest: Sha256,
}

/// What a run leaves behind for its caller.
#[derive(Debug, Default)]
pub struct Outputs {
    pub files: Vec<OutputFile>,
    /// Files that were wanted, but are too many or too large.
    pub omitted: usize,
    /// Files in `/tmp` that no pattern names.
    pub in_tmp: usize,
    /// Patterns that match no file.
    pub unmatched: Vec<String>,
}

impl Outputs {
    /// Collects what was changed and is wanted: what the patterns match, or everything outside `/tmp`.
    pub fn collect(files: &mut Files, wanted: Option<&[Pattern]>) -> Self {
        let mut outputs = Self::default();
        let mut room = MAX_BYTES;
        let mut is_unmatched = vec![true; wanted.map_or(0, <[Pattern]>::len)];
        for (guest_path, size) in files.changed_files(MAX_EXAMINED) {
            let path = path_for_caller(&guest_path);
            let is_wanted = match wanted {
                None if path.starts_with("/tmp/") => {
                    outputs.in_tmp += 1;
                    false
                }
                None => true,
                Some(patterns) => patterns.iter().zip(&mut is_unmatched).fold(false, |wanted, (pattern, unmatched)| {
                    let matches = pattern.matches(&path);
                    *unmatched &= !matches;
                    wanted | matches
                }),
            };
            if !is_wanted {
                continue;
            }
            let read = if outputs.files.len() < MAX_FILES && size <= room {
                read(files, &guest_path, size).ok()
            } else {
                None
            };
            match read {
                Some(bytes) => {
                    room -= bytes.len() as u64;
                    outputs.files.push(OutputFile { path, digest: Sha256::of(&bytes), bytes });
                }
                None => outputs.omitted += 1,
            }
        }
        let unmatched = wanted.into_iter().flatten().zip(is_unmatched).filter(|(_, unmatched)| *unmatched);
        outputs.unmatched = unmatched.map(|(pattern, _)| pattern.to_string()).collect();
        outputs
    }

    /// Writes the files that are not there already to a folder below `/work`, under the same rules as the script. Returns how
    /// many were written.
    pub fn save(&self, files: &mut Files, folder: &str) -> Result<usize, (String, FileError)> {
        let outside = self.files.iter().filter(|file| file.path.starts_with('/'));
        let mut saved = 0;
        for file in outside {
            let path = format!("work/{folder}{}", file.path);
            write(files, &path, &file.bytes).map_err(|error| (file.path.clone(), error))?;
            saved += 1;
        }
        Ok(saved)
    }
}

/// Names a file as the caller does: relative to the working folder if it is there.
fn path_for_caller(path: &GuestPath) -> String {
    below(path.as_str(), "work").map_or_else(|| path.to_string(), str::to_owned)
}

/// Reads at most the size that was announced, also from a file that grows meanwhile.
fn read(files: &mut Files, path: &GuestPath, size: u64) -> Result<Bytes, FileError> {
    let file =
        files.open(&GuestPath::default(), path.as_str(), OpenMode::default())?.file.ok_or(FileError::IsAFolder)?;
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| FileError::Full)?];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], length as u64)? {
            0 => break,
            count => length += count,
        }
    }
    bytes.truncate(length);
    Ok(bytes.into())
}

fn write(files: &mut Files, path: &str, bytes: &[u8]) -> Result<(), FileError> {
    let top = GuestPath::default();
    let mut folder = String::new();
    let (folders, _) = path.rsplit_once('/').unwrap_or(("", path));
    for name in names(folders) {
        folder = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        match files.create_folder(&top, &folder) {
            Ok(()) | Err(FileError::Exists) => {}
            // A folder above the writable part that exists.
            Err(FileError::ReadOnly | FileError::Protected) if files.stat(&top, &folder, false).is_ok() => {}
            Err(error) => return Err(error),
        }
    }
    let mode = OpenMode { write: true, create: true, truncate: true, ..OpenMode::default() };
    let file = files.open(&top, path, mode)?.file.ok_or(FileError::IsAFolder)?;
    let mut written = 0;
    while written < bytes.len() {
        match file.write_at(&bytes[written..], written as u64)? {
            0 => return Err(FileError::Full),
            count => written += count,
        }
    }
    Ok(())
}
