//! Detects that the file of a component was replaced.

use library::stamp::Stamp;
use std::path::Path;

/// The metadata of a file, which shows whether it changed since it was loaded.
#[derive(Debug, Clone, Copy)]
pub struct FileState(Stamp);

impl FileState {
    /// Returns `None` for a missing file.
    pub fn of(path: &Path) -> Option<Self> {
        rustix::fs::stat(path).ok().map(|stat| Self(Stamp::of(&stat)))
    }
}

impl PartialEq for FileState {
    fn eq(&self, other: &Self) -> bool {
        self.0.same_as(&other.0)
    }
}

impl Eq for FileState {}
