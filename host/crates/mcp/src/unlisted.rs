//! Skills that the extension cannot serve. They are reported as problems.

use crate::extension::NotListed;
use base::printable::printable;
use bindings::types::{Location, Problem, Severity};
use catalog::Listed;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct Unlisted {
    skills: Mutex<BTreeMap<(u32, String), NotListed>>,
}

impl Unlisted {
    pub fn insert(&self, file: &Location, reason: NotListed) {
        // A file that is being edited is not a problem.
        if reason == NotListed::Changed {
            return;
        }
        let message = format!("`{}` is not in skills/list: {reason}", printable(&file.path));
        if self.skills().insert((file.root, file.path.clone()), reason).is_none() {
            tracing::warn!("{message}");
        }
    }

    pub fn remove(&self, file: &Location) {
        self.skills().remove(&(file.root, file.path.clone()));
    }

    /// Removes all skills but these.
    pub fn retain(&self, skills: &[Arc<Listed>]) {
        let mut unlisted = self.skills();
        if !unlisted.is_empty() {
            let known: HashSet<(u32, &str)> =
                skills.iter().map(|skill| (skill.file.root, skill.file.path.as_str())).collect();
            unlisted.retain(|(root, path), _| known.contains(&(*root, path.as_str())));
        }
    }

    pub fn problems(&self) -> Vec<Problem> {
        let problem = |((root, path), reason): (&(u32, String), &NotListed)| Problem {
            location: Location { root: *root, path: path.clone() },
            line: None,
            column: None,
            severity: Severity::Warning,
            code: "not-in-skills-list".to_owned(),
            message: format!("it is not in skills/list: {reason}"),
            advice: "fix that for clients that use skills/list; tools, prompts and resources serve it anyway"
                .to_owned(),
        };
        self.skills().iter().map(problem).collect()
    }

    fn skills(&self) -> MutexGuard<'_, BTreeMap<(u32, String), NotListed>> {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
