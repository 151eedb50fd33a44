//! The scorer's file as it changes while the server runs.

use super::Scorers;
use crate::config::ScorerFile;
use crate::worlds::plugin_file::FileState;
use crate::worlds::scorer::Scorer;
use std::sync::{Arc, PoisonError};

/// What was seen of a file.
pub struct Following {
    file: ScorerFile,
    /// The state that was acted upon, and the one seen at the last look. Nothing stands for a file that is not there.
    handled: Option<FileState>,
    seen: Option<FileState>,
}

impl Following {
    pub fn new(file: ScorerFile) -> Self {
        let now = FileState::of(&file.path);
        Self { file, handled: now, seen: now }
    }

    /// Whether the file is another one than before, and was the same at the last look: nobody is still writing it.
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
    /// Whether there is a file that may change.
    pub fn has_file(&self) -> bool {
        self.following.is_some()
    }

    /// Looks at the file. Returns another scorer if there is one now; what is no good is told and left alone. May compile.
    pub fn look(&self) -> Option<Arc<Scorer>> {
        let mut following = self.following.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FileState::of(&following.file.path);
        if !following.has_settled(now) {
            return None;
        }
        let ScorerFile { path, sha256 } = following.file.clone();
        let loaded = self.world.from_file(&path, sha256);
        if FileState::of(&path) != now {
            // It changed while it was read, so it is looked at again.
            following.handled = None;
            following.seen = None;
            return None;
        }
        match loaded {
            // The same bytes under other times, or put back.
            Ok(scorer) if scorer.digest == self.conduct().scorer.digest => {
                self.conduct().refusal = None;
                tracing::debug!("the scorer's file is as it was");
                None
            }
            Ok(scorer) => Some(Arc::new(scorer)),
            Err(error) => {
                // Clients may be told, and they need not know where it is.
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                self.refuse(&error.to_string().replace(&*path.to_string_lossy(), &name));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_loaded_when_it_changed_and_nobody_writes_it_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scorer.wasm");
        std::fs::write(&path, "one").unwrap();
        let mut following = Following::new(ScorerFile { path: path.clone(), sha256: None });
        let mut look = || {
            let now = FileState::of(&path);
            following.has_settled(now)
        };
        assert!(!look(), "nothing changed");
        std::fs::write(&path, "one and a half").unwrap();
        assert!(!look(), "it may be half of it");
        std::fs::write(&path, "one and a half, and the rest").unwrap();
        assert!(!look(), "it was still written");
        assert!(look());
        assert!(!look(), "once");
        let next = folder.path().join("next");
        std::fs::write(&next, "one and a half, and the rest").unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert_eq!([look(), look(), look()], [false, true, false], "another file of the same size");
        std::fs::remove_file(&path).unwrap();
        assert_eq!([look(), look(), look()], [false, true, false]);
    }
}
