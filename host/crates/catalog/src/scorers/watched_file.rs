//! The scorer's file as it changes while the server runs.

use super::Scorers;
use super::options::ScorerFile;
use base::place::Audience;
use guests::load::FileState;
use guests::scorer::Scorer;
use std::sync::{Arc, PoisonError};

/// The states of the file that were seen.
pub struct WatchedFile {
    file: ScorerFile,
    /// The state that was acted upon, and the one of the last check. Nothing for a missing file.
    handled: Option<FileState>,
    seen: Option<FileState>,
}

impl WatchedFile {
    pub fn new(file: ScorerFile) -> Self {
        let now = FileState::of(&file.path);
        Self { file, handled: now, seen: now }
    }

    /// Whether the file changed, and did not change again since the last check: it is no longer being written.
    fn has_settled(&mut self, now: Option<FileState>) -> bool {
        let settled = now != self.handled && now == self.seen;
        self.seen = now;
        if settled {
            self.handled = now;
        }
        settled
    }
}

impl Scorers {
    /// Whether the scorer comes from a file that may change.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Checks the file. Returns another scorer if it changed; one that cannot be used is reported. May compile.
    pub fn check(&self) -> Option<Arc<Scorer>> {
        let mut file = self.file.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FileState::of(&file.file.path);
        if !file.has_settled(now) {
            return None;
        }
        let ScorerFile { path, sha256 } = file.file.clone();
        let loaded = self.world.from_file(&path, sha256);
        if FileState::of(&path) != now {
            // It changed while it was read, so it is checked again.
            file.handled = None;
            file.seen = None;
            return None;
        }
        match loaded {
            // The same bytes under other times, or put back.
            Ok(scorer) if scorer.digest == self.health().scorer.digest => {
                self.health().refusal = None;
                tracing::debug!("the scorer's file is unchanged");
                None
            }
            Ok(scorer) => Some(Arc::new(scorer)),
            Err(error) => {
                // A problem that every client can list.
                self.refuse(&error.for_audience(Audience::Remote));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_loaded_once_it_is_no_longer_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scorer.wasm");
        std::fs::write(&path, "one").unwrap();
        let mut file = WatchedFile::new(ScorerFile { path: path.clone(), sha256: None });
        let mut check = || {
            let now = FileState::of(&path);
            file.has_settled(now)
        };
        assert!(!check(), "nothing changed");
        std::fs::write(&path, "one and a half").unwrap();
        assert!(!check(), "it may be half of it");
        std::fs::write(&path, "one and a half, and the rest").unwrap();
        assert!(!check(), "it was still written");
        assert!(check());
        assert!(!check(), "once");
        let next = folder.path().join("next");
        std::fs::write(&next, "one and a half, and the rest").unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert_eq!([check(), check(), check()], [false, true, false], "another file of the same size");
        std::fs::remove_file(&path).unwrap();
        assert_eq!([check(), check(), check()], [false, true, false]);
    }
}
