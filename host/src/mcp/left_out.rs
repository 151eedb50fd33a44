//! Skills that the extension cannot serve, so that they are told as problems.

use crate::bindings::types::{Location, Problem, Severity};
use crate::catalog::Listed;
use crate::mcp::extension::NotListed;
use crate::printable::printable;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct LeftOut {
    skills: Mutex<BTreeMap<(u32, String), NotListed>>,
}

impl LeftOut {
    pub fn note(&self, file: &Location, reason: NotListed) {
        // What changes at this moment is no mistake.
        if reason == NotListed::WentAway {
            return;
        }
        let told = format!("`{}` is not in skills/list: {reason}", printable(&file.path));
        if self.skills().insert((file.root, file.path.clone()), reason).is_none() {
            tracing::warn!("{told}");
        }
    }

    pub fn clear(&self, file: &Location) {
        self.skills().remove(&(file.root, file.path.clone()));
    }

    /// Forgets skills that are gone.
    pub fn keep_only(&self, skills: &[Arc<Listed>]) {
        let mut left_out = self.skills();
        if !left_out.is_empty() {
            let known: HashSet<(u32, &str)> =
                skills.iter().map(|skill| (skill.file.root, skill.file.path.as_str())).collect();
            left_out.retain(|(root, path), _| known.contains(&(*root, path.as_str())));
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
            advice: "mend that for clients that use skills/list; tools, prompts and resources serve it all the same"
                .to_owned(),
        };
        self.skills().iter().map(problem).collect()
    }

    fn skills(&self) -> MutexGuard<'_, BTreeMap<(u32, String), NotListed>> {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
