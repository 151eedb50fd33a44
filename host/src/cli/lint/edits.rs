//! Applies the engine's edits to a file, and replaces it atomically.
//!
//! The engine reads untrusted text, so its edits are not trusted either: only Markdown files of the library are written, and
//! only below their root.

use base::digest::hex;
use base::user_files;
use bindings::catalog::Edit;
use cap_std::fs::{Dir, File, MetadataExt, OpenOptions, OpenOptionsExt};
use library::reading;
use library::stamp::Stamp;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, fchmod, fchown, statat};
use std::io::{self, ErrorKind, Write};

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("it is not a Markdown file of the library")]
    NotInLibrary,
    #[error("it is a link; fix the file it points to")]
    Link,
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

/// Replaces the text of a file atomically and with the same permissions, if it is still `before`.
pub fn replace_file(root: &Dir, path: &str, before: &str, after: &str) -> Result<(), ReplaceError> {
    let is_hidden = path.split('/').any(reading::is_hidden);
    if !path.ends_with(".md") || is_hidden {
        return Err(ReplaceError::NotInLibrary);
    }
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (root.open_dir(folder)?, name),
        None => (root.try_clone()?, path),
    };
    let stamp = check(&folder, name, before)?;
    let temporary = TemporaryFile::create_in(&folder)?;
    temporary.write(&folder.symlink_metadata(name)?, after.as_bytes())?;
    // A change since the comparison must not be lost.
    let now = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    if !stamp.same_as(&Stamp::of(&now)) {
        return Err(ReplaceError::Changed);
    }
    temporary.rename_to(name)
}

/// Checks that the file may be replaced, and still has the text that was read.
fn check(folder: &Dir, name: &str, before: &str) -> Result<Stamp, ReplaceError> {
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
        Ok(read) if read.bytes == before.as_bytes() => Ok(read.stamp),
        Ok(_) | Err(_) => Err(ReplaceError::Changed),
    }
}

/// A new file next to the old one, deleted on drop unless it was renamed. `tempfile` works with paths, which could lead out of
/// the root.
struct TemporaryFile<'folder> {
    folder: &'folder Dir,
    name: String,
    file: File,
    renamed: bool,
}

impl<'folder> TemporaryFile<'folder> {
    fn create_in(folder: &'folder Dir) -> io::Result<Self> {
        let mut bytes = [0; 8];
        user_files::fill_random(&mut bytes)?;
        let name = format!(".skillcell-{}", hex(&bytes));
        let file = folder.open_with(&name, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
        Ok(Self { folder, name, file, renamed: false })
    }

    /// Writes the content, with the owner and permissions of `like`.
    fn write(&self, like: &cap_std::fs::Metadata, bytes: &[u8]) -> Result<(), ReplaceError> {
        let mut file = &self.file;
        file.write_all(bytes)?;
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            let owned = fchown(file, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())));
            owned.map_err(|_| ReplaceError::Owner)?;
        }
        fchmod(file, Mode::from_raw_mode(like.mode() & 0o7777)).map_err(io::Error::from)?;
        file.sync_all()?;
        Ok(())
    }

    fn rename_to(mut self, name: &str) -> Result<(), ReplaceError> {
        self.folder.rename(&self.name, self.folder, name)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

#[cfg(test)]
mod tests;
