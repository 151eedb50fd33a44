//! Mending a file: the engine says which bytes become which, and a new file takes the place of the old one.
//!
//! The engine reads what strangers wrote, so it is not trusted here either: only Markdown that was read as a part of the
//! library is written, below its root, and nothing else.

use crate::bindings::catalog::Edit;
use crate::library::reading;
use crate::library::stamp::Stamp;
use crate::private;
use crate::sha256::hex;
use cap_std::fs::{Dir, File, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, fchmod, fchown, statat};
use std::io::{self, ErrorKind, Write};

/// Why a file stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum Unmended {
    #[error("it is no Markdown file of the library")]
    NotOurs,
    #[error("it is a link; mend the file that it leads to")]
    Link,
    #[error("it is no regular file")]
    NotAFile,
    #[error("it is read-only; let yourself write it, as with `chmod u+w`")]
    ReadOnly,
    #[error("it changed meanwhile; run the command again")]
    Changed,
    #[error("it cannot keep its owner; run the command as the owner")]
    Owner,
    #[error("it cannot be written: {0}")]
    Failed(#[from] io::Error),
}

/// The edits of a file that can be applied together, in order. Those that overlap an earlier one wait for the next look.
pub fn settled(text: &str, mut edits: Vec<Edit>) -> Vec<Edit> {
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

/// A text with settled edits.
pub fn applied(text: &str, edits: &[Edit]) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        mended.push_str(&text[at..edit.start as usize]);
        mended.push_str(&edit.text);
        at = edit.end as usize;
    }
    mended.push_str(&text[at..]);
    mended
}

/// Puts a text in the place of another, at once and with the same permissions, if the file still holds the other.
pub fn replace(root: &Dir, path: &str, before: &str, after: &str) -> Result<(), Unmended> {
    let is_hidden = path.split('/').any(reading::is_hidden);
    if !path.ends_with(".md") || is_hidden {
        return Err(Unmended::NotOurs);
    }
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (root.open_dir(folder)?, name),
        None => (root.try_clone()?, path),
    };
    let stamp = check(&folder, name, before)?;
    let fresh = Fresh::beside(&folder)?;
    fresh.fill(&folder.symlink_metadata(name)?, after.as_bytes())?;
    // Whoever saved the file since it was compared does not lose anything.
    let now = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    if !stamp.same_as(&Stamp::of(&now)) {
        return Err(Unmended::Changed);
    }
    fresh.take_place_of(name)
}

/// Makes sure that the file is one that may be replaced, and holds what was read.
fn check(folder: &Dir, name: &str, before: &str) -> Result<Stamp, Unmended> {
    let metadata = folder.symlink_metadata(name)?;
    if metadata.is_symlink() {
        return Err(Unmended::Link);
    }
    if !metadata.is_file() {
        return Err(Unmended::NotAFile);
    }
    let mut options = OpenOptions::new();
    options.write(true).custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed());
    let is_refused = folder.open_with(name, &options).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    // Nothing stops the superuser from writing, but whoever made it read-only meant it.
    if is_refused || metadata.mode() & 0o222 == 0 {
        return Err(Unmended::ReadOnly);
    }
    match reading::read(folder, name, before.len() as u64) {
        Ok(read) if read.bytes == before.as_bytes() => Ok(read.stamp),
        Ok(_) | Err(_) => Err(Unmended::Changed),
    }
}

/// A new file beside the old one. Gone with the value, unless it took its place.
struct Fresh<'folder> {
    folder: &'folder Dir,
    name: String,
    file: File,
    placed: bool,
}

impl<'folder> Fresh<'folder> {
    fn beside(folder: &'folder Dir) -> io::Result<Self> {
        let mut bytes = [0; 8];
        private::fill(&mut bytes)?;
        let name = format!(".skillcell-{}", hex(&bytes));
        let file = folder.open_with(&name, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
        Ok(Self { folder, name, file, placed: false })
    }

    fn fill(&self, like: &cap_std::fs::Metadata, bytes: &[u8]) -> Result<(), Unmended> {
        let mut file = &self.file;
        file.write_all(bytes)?;
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            let owned = fchown(file, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())));
            owned.map_err(|_| Unmended::Owner)?;
        }
        fchmod(file, Mode::from_raw_mode(like.mode() & 0o7777)).map_err(io::Error::from)?;
        file.sync_all()?;
        Ok(())
    }

    fn take_place_of(mut self, name: &str) -> Result<(), Unmended> {
        self.folder.rename(&self.name, self.folder, name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

#[cfg(test)]
mod tests;
