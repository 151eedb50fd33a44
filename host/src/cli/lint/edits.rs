//! Applies the engine's edits to a file, and replaces it atomically.
//!
//! The engine reads untrusted text, so its edits are not trusted either: only Markdown files of the library are written, and
//! only below their root.

use crate::cli::replace::{OpenError, TemporaryFile, open_folder};
use bindings::catalog::Edit;
use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use library::reading;
use library::stamp::Stamp;
use rustix::fs::{AtFlags, OFlags, statat};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("it is not a Markdown file of the library")]
    NotInLibrary,
    #[error("it is a link; fix the file it points to")]
    Link,
    #[error("`{0}` is a link; fix the file where it is")]
    LinkedFolder(String),
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is read-only; make it writable, as with `chmod u+w`")]
    ReadOnly,
    #[error("it changed in the meantime; run the command again")]
    Changed,
    #[error("it cannot keep its owner; run the command as the owner")]
    Owner,
    #[error("it cannot be written: {0}")]
    Failed(#[from] io::Error),
}

/// Sorts the edits, and drops those that are invalid or overlap an earlier one. The next round may apply them.
pub fn without_overlaps(text: &str, mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    edits.dedup();
    let mut end = 0;
    edits.retain(|edit| {
        let on_boundaries = [edit.start, edit.end].iter().all(|at| text.is_char_boundary(*at as usize));
        let fits = edit.start >= end && edit.start <= edit.end && on_boundaries;
        end = if fits { edit.end } else { end };
        fits
    });
    edits
}

/// Applies sorted edits without overlaps.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        edited.push_str(&text[at..edit.start as usize]);
        edited.push_str(&edit.text);
        at = edit.end as usize;
    }
    edited.push_str(&text[at..]);
    edited
}

impl From<OpenError> for ReplaceError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Link(folder) => Self::LinkedFolder(folder.display().to_string()),
            OpenError::Failed(error) => Self::Failed(error),
        }
    }
}

/// Replaces the text of a file atomically and with the same permissions, if it is still `before`.
///
/// The path names the place: no part of it may be a link, which could lead to a hidden folder.
pub fn replace_file(root: &Dir, path: &str, before: &str, after: &str) -> Result<(), ReplaceError> {
    let is_hidden = path.split('/').any(reading::is_hidden);
    if !path.ends_with(".md") || is_hidden {
        return Err(ReplaceError::NotInLibrary);
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = open_folder(root, Path::new(folder), false)?;
    let (metadata, stamp) = check(&folder, name, before)?;
    let mut temporary = TemporaryFile::create_in(&folder, 0o600)?;
    temporary.write(after.as_bytes())?;
    temporary.resemble((metadata.uid(), metadata.gid()), metadata.mode()).map_err(|_| ReplaceError::Owner)?;
    temporary.sync()?;
    // A change since the comparison must not be lost.
    let now = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    if !stamp.same_as(&Stamp::of(&now)) {
        return Err(ReplaceError::Changed);
    }
    Ok(temporary.rename_to(OsStr::new(name))?)
}

/// Checks that the file may be replaced, and still has the text that was read.
fn check(folder: &Dir, name: &str, before: &str) -> Result<(Metadata, Stamp), ReplaceError> {
    let metadata = folder.symlink_metadata(name)?;
    if metadata.is_symlink() {
        return Err(ReplaceError::Link);
    }
    if !metadata.is_file() {
        return Err(ReplaceError::NotAFile);
    }
    let mut options = OpenOptions::new();
    options.write(true).custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed());
    let is_refused = folder.open_with(name, &options).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    // The superuser could write it, but it is read-only on purpose.
    if is_refused || metadata.mode() & 0o222 == 0 {
        return Err(ReplaceError::ReadOnly);
    }
    match reading::read(folder, name, before.len() as u64) {
        Ok(read) if read.bytes == before.as_bytes() => Ok((metadata, read.stamp)),
        Ok(_) | Err(_) => Err(ReplaceError::Changed),
    }
}

#[cfg(test)]
mod tests;
