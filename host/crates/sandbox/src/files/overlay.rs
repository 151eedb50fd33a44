//! A folder that shows another one and keeps all changes in memory, as an overlay file system does.

use super::memory::{Memory, Quota};
use super::path::{names, split_name};
use super::{Entry, FileError, IsDue, Kind, NewTimes, OpenMode, OpenNode, Stat, Volume};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// For folders whose listing is limited by their volume.
const NEVER: IsDue<'static> = &|| false;

/// Bytes of the lower folder that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Copy-on-write over a folder that is never written to. Copies count against the quota.
///
/// Links of the lower folder can be read through, but not be changed or written through.
pub struct Overlay {
    lower: Box<dyn Volume>,
    upper: Memory,
    /// Paths of the lower folder that are gone, with everything below them.
    removed: BTreeSet<String>,
}

/// The layer that a path is found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Upper,
    Lower,
}

impl Overlay {
    pub fn new(lower: impl Volume + 'static, quota: Arc<Quota>) -> Self {
        Self { lower: Box::new(lower), upper: Memory::scratch(quota), removed: BTreeSet::new() }
    }

    /// Adds a file that the lower folder does not have, before the guest starts.
    pub fn add_file(&mut self, path: &str, bytes: Bytes) -> Result<(), FileError> {
        let (folders, _) = split_name(path)?;
        if self.stat(path, false).is_ok() {
            return Err(FileError::Exists);
        }
        for folder in prefixes(folders) {
            match self.stat(folder, false).map(|stat| stat.kind) {
                Ok(Kind::Folder) | Err(FileError::NotFound) => {}
                Ok(Kind::Link) => return Err(FileError::ThroughLink),
                Ok(_) => return Err(FileError::NotAFolder),
                Err(error) => return Err(error),
            }
        }
        self.upper.add_file(path, bytes)
    }

    /// Returns the layer in which to look for a path. It need not exist in the lower one.
    fn layer(&self, path: &str) -> Result<Layer, FileError> {
        match self.upper.stat(path, false) {
            Ok(_) => Ok(Layer::Upper),
            Err(FileError::NotFound) if self.is_removed(path) => Err(FileError::NotFound),
            Err(FileError::NotFound) => Ok(Layer::Lower),
            Err(error) => Err(error),
        }
    }

    fn is_removed(&self, path: &str) -> bool {
        !self.removed.is_empty() && prefixes(path).any(|prefix| self.removed.contains(prefix))
    }

    /// Whether the lower folder has something at this path that is not removed.
    fn is_in_lower(&self, path: &str) -> bool {
        !self.is_removed(path) && self.lower.stat(path, false).is_ok()
    }

    fn remove_from_lower(&mut self, path: &str) {
        if self.is_in_lower(path) {
            self.removed.insert(path.to_owned());
        }
    }

    /// Checks that only folders lead to a path, and no links.
    fn check_parents(&self, path: &str) -> Result<(), FileError> {
        let (folders, _) = split_name(path)?;
        prefixes(folders).try_for_each(|folder| match self.stat(folder, false)?.kind {
            Kind::Folder => Ok(()),
            Kind::Link => Err(FileError::ThroughLink),
            _ => Err(FileError::NotAFolder),
        })
    }

    /// Makes sure that the folder of a path is in the upper layer.
    fn copy_parents(&mut self, path: &str) -> Result<(), FileError> {
        self.check_parents(path)?;
        let (folders, _) = split_name(path)?;
        for folder in prefixes(folders) {
            if self.layer(folder)? == Layer::Lower {
                self.upper.create_folder(folder)?;
            }
        }
        Ok(())
    }

    /// Copies a file of the lower layer. With `empty`, only its name.
    fn copy_file(&mut self, path: &str, empty: bool) -> Result<(), FileError> {
        match self.lower.stat(path, false)?.kind {
            Kind::File => {}
            Kind::Folder => return Err(FileError::IsAFolder),
            Kind::Link => return Err(FileError::ThroughLink),
            Kind::Other => return Err(FileError::NotPermitted),
        }
        let source = self.lower.open(path, OpenMode::default())?.ok_or(FileError::IsAFolder)?;
        self.copy_parents(path)?;
        let mode = OpenMode { write: true, create: true, exclusive: true, ..OpenMode::default() };
        let copy = self.upper.open(path, mode)?.ok_or(FileError::IsAFolder)?;
        if empty {
            return Ok(());
        }
        let size = source.stat()?.size;
        let copied = copy.set_size(size).and_then(|()| {
            let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(size).unwrap_or(CHUNK_BYTES))];
            let mut position = 0;
            while position < size {
                let count = source.read_at(&mut chunk, position)?;
                if count == 0 {
                    return copy.set_size(position);
                }
                let wanted = usize::try_from(size - position).unwrap_or(count).min(count);
                copy.write_at(&chunk[..wanted], position)?;
                position += wanted as u64;
            }
            Ok(())
        });
        copied.inspect_err(|_| {
            // What is half copied would count against the quota.
            let _ = self.upper.remove_file(path);
        })
    }

    /// Moves a file or folder of the lower layer, with everything below it, to the upper layer.
    fn copy_tree(&mut self, path: &str, is_due: IsDue<'_>) -> Result<(), FileError> {
        if self.stat(path, false)?.kind != Kind::Folder {
            return if self.layer(path)? == Layer::Upper { Ok(()) } else { self.copy_file(path, false) };
        }
        self.copy_parents(path)?;
        if self.layer(path)? == Layer::Lower {
            self.upper.create_folder(path)?;
        }
        for entry in self.list(path, is_due)? {
            self.copy_tree(&format!("{path}/{}", entry.name), is_due)?;
        }
        Ok(())
    }
}

/// Returns every part of a path that starts at the root, shortest first; nothing for the root itself.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain((!path.is_empty()).then_some(path.len()));
    ends.map(|end| &path[..end])
}

impl Volume for Overlay {
    fn stat(&self, path: &str, follow: bool) -> Result<Stat, FileError> {
        match self.layer(path)? {
            Layer::Upper => self.upper.stat(path, follow),
            Layer::Lower => self.lower.stat(path, follow),
        }
    }

    fn list(&self, path: &str, is_due: IsDue<'_>) -> Result<Vec<Entry>, FileError> {
        let upper = match self.upper.list(path, is_due) {
            Err(FileError::NotFound) => None,
            listed => Some(listed?),
        };
        let lower = match self.lower.list(path, is_due) {
            _ if self.is_removed(path) => None,
            Err(_) if upper.is_some() => None,
            listed => Some(listed?),
        };
        if upper.is_none() && lower.is_none() {
            return Err(FileError::NotFound);
        }
        let gone = |entry: &Entry| !self.removed.is_empty() && self.removed.contains(&join(path, &entry.name));
        let lower = lower.into_iter().flatten().filter(|entry| !gone(entry));
        let merged = lower.chain(upper.into_iter().flatten()).map(|entry| (entry.name.clone(), entry));
        Ok(merged.collect::<BTreeMap<String, Entry>>().into_values().collect())
    }

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<OpenNode, FileError> {
        if self.upper.stat(path, false).is_ok() {
            return self.upper.open(path, mode);
        }
        if self.layer(path) == Ok(Layer::Lower) && self.lower.stat(path, mode.follow).is_ok() {
            return match mode {
                OpenMode { create: true, exclusive: true, .. } => Err(FileError::Exists),
                OpenMode { write: false, truncate: false, .. } => {
                    self.lower.open(path, OpenMode { create: false, ..mode })
                }
                OpenMode { truncate, .. } => {
                    self.copy_file(path, truncate)?;
                    self.upper.open(path, mode)
                }
            };
        }
        if self.is_in_lower(path) {
            // A link that leads out, or to nothing.
            let writes = mode.create || mode.write || mode.truncate;
            return if writes { Err(FileError::ThroughLink) } else { self.lower.open(path, mode) };
        }
        if !mode.create || mode.folder {
            return Err(self.stat(path, mode.follow).err().unwrap_or(FileError::NotFound));
        }
        self.copy_parents(path)?;
        self.upper.open(path, mode)
    }

    fn create_folder(&mut self, path: &str) -> Result<(), FileError> {
        if self.stat(path, false).is_ok() {
            return Err(FileError::Exists);
        }
        self.copy_parents(path)?;
        self.upper.create_folder(path)
    }

    fn remove_folder(&mut self, path: &str) -> Result<(), FileError> {
        match self.stat(path, false)?.kind {
            Kind::Folder if !self.list(path, NEVER)?.is_empty() => return Err(FileError::NotEmpty),
            Kind::Folder => {}
            _ => return Err(FileError::NotAFolder),
        }
        self.check_parents(path)?;
        if self.layer(path)? == Layer::Upper {
            self.upper.remove_folder(path)?;
        }
        self.remove_from_lower(path);
        Ok(())
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        if self.stat(path, false)?.kind == Kind::Folder {
            return Err(FileError::IsAFolder);
        }
        self.check_parents(path)?;
        if self.layer(path)? == Layer::Upper {
            self.upper.remove_file(path)?;
        }
        self.remove_from_lower(path);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str, is_due: IsDue<'_>) -> Result<(), FileError> {
        let kind = self.stat(from, false)?.kind;
        if from == to {
            return Ok(());
        }
        if to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(FileError::BadPath);
        }
        match self.stat(to, false).map(|stat| stat.kind) {
            Ok(Kind::Folder) if kind != Kind::Folder => return Err(FileError::IsAFolder),
            Ok(Kind::Folder) if !self.list(to, is_due)?.is_empty() => return Err(FileError::NotEmpty),
            Ok(other) if kind == Kind::Folder && other != Kind::Folder => return Err(FileError::NotAFolder),
            Ok(_) | Err(FileError::NotFound) => {}
            Err(error) => return Err(error),
        }
        self.copy_parents(to)?;
        self.copy_tree(from, is_due)?;
        self.upper.rename(from, to, is_due)?;
        self.remove_from_lower(to);
        self.remove_from_lower(from);
        Ok(())
    }

    fn read_link(&self, path: &str) -> Result<String, FileError> {
        match self.layer(path)? {
            Layer::Upper => self.upper.read_link(path),
            Layer::Lower => self.lower.read_link(path),
        }
    }

    fn set_times(&mut self, path: &str, times: NewTimes) -> Result<(), FileError> {
        if self.layer(path)? == Layer::Lower && self.lower.stat(path, false)?.kind != Kind::Folder {
            self.copy_file(path, false)?;
        }
        match self.layer(path)? {
            Layer::Upper => self.upper.set_times(path, times),
            Layer::Lower => Ok(()),
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    names(folder).chain([name]).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
