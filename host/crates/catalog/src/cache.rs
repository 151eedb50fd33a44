//! Answers about one generation that are requested repeatedly.

use bindings::catalog::{FoundSkill, LookupError};
use bindings::types::{Location, Summary};
use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// More names than this are not cached: they cannot all exist.
const MAX_NAMES: usize = 20_000;

/// Longest name that is cached, in bytes.
pub const MAX_NAME_LENGTH: usize = 512;

/// Generations whose changes are kept.
const MAX_GENERATIONS: usize = 64;

/// With more files than this, making a new list is as fast.
const MAX_REARRANGED: usize = 1_000;

/// All skills of one generation.
#[derive(Debug)]
pub struct Index {
    pub generation: u64,
    pub skills: Vec<Arc<Listed>>,
}

/// A skill in the list, shared by all generations in which nothing about it changed.
#[derive(Debug)]
pub struct Listed {
    summary: Summary,
    /// Digests of what lists show of it. Computed once.
    pub prints: OnceLock<[u64; 2]>,
}

impl Listed {
    pub fn new(summary: Summary) -> Arc<Self> {
        Arc::new(Self { summary, prints: OnceLock::new() })
    }

    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl Deref for Listed {
    type Target = Summary;
    fn deref(&self) -> &Summary {
        &self.summary
    }
}

/// The files whose skills differ between two generations in what lists show; `None` if it may be any.
pub type Rearranged = Option<Vec<Location>>;

/// What a name resolved to.
pub type Resolved = Result<Arc<FoundSkill>, LookupError>;

#[derive(Default)]
pub struct Cache {
    answers: Mutex<Answers>,
    /// The newest last, each with its generation.
    rearranged: Mutex<VecDeque<(u64, Rearranged)>>,
}

#[derive(Default)]
struct Answers {
    /// The newest that was asked for, perhaps of an older generation: most of it still holds.
    index: Option<Arc<Index>>,
    /// By name, in this generation.
    skills: HashMap<String, Resolved>,
    generation: u64,
}

impl Cache {
    pub fn index(&self, generation: u64) -> Option<Arc<Index>> {
        self.last_index().filter(|index| index.generation == generation)
    }

    /// The newest list there is, of whichever generation.
    pub fn last_index(&self) -> Option<Arc<Index>> {
        self.answers().index.clone()
    }

    pub fn skill(&self, generation: u64, name: &str) -> Option<Resolved> {
        let answers = self.answers();
        answers.skills.get(name).filter(|_| answers.generation == generation).cloned()
    }

    pub fn keep_index(&self, index: &Arc<Index>) {
        let mut answers = self.answers();
        if answers.index.as_ref().is_none_or(|kept| kept.generation <= index.generation) {
            answers.index = Some(Arc::clone(index));
        }
    }

    pub fn keep_skill(&self, generation: u64, name: &str, found: &Resolved) {
        let Some(mut answers) = self.answers_of(generation) else { return };
        if name.len() <= MAX_NAME_LENGTH && answers.skills.len() < MAX_NAMES {
            answers.skills.insert(name.to_owned(), found.clone());
        }
    }

    pub fn keep_rearranged(&self, generation: u64, files: Rearranged) {
        let mut all = self.rearranged.lock().unwrap_or_else(PoisonError::into_inner);
        // A generation that failed is retried under the same number.
        all.retain(|(other, _)| *other < generation);
        if all.len() == MAX_GENERATIONS {
            all.pop_front();
        }
        all.push_back((generation, files.filter(|files| files.len() <= MAX_REARRANGED)));
    }

    /// What differs between two generations.
    pub fn rearranged(&self, before: u64, after: u64) -> Rearranged {
        let all = self.rearranged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = Vec::new();
        for wanted in before + 1..=after {
            let (_, more) = all.iter().find(|(generation, _)| *generation == wanted)?;
            files.extend(more.as_ref()?.iter().cloned());
        }
        Some(files)
    }

    /// The answers to names in this generation, unless there is a newer one.
    fn answers_of(&self, generation: u64) -> Option<MutexGuard<'_, Answers>> {
        let mut answers = self.answers();
        if answers.generation < generation {
            answers.generation = generation;
            answers.skills.clear();
        }
        (answers.generation == generation).then_some(answers)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_not_cached() {
        let cache = Cache::default();
        for (length, is_kept) in [(MAX_NAME_LENGTH, true), (MAX_NAME_LENGTH + 1, false)] {
            let name = "n".repeat(length);
            cache.keep_skill(1, &name, &Err(LookupError::Unknown(Vec::new())));
            assert_eq!(cache.skill(1, &name).is_some(), is_kept, "{length}");
        }
    }

    #[test]
    fn a_list_is_kept_until_there_is_a_newer_one() {
        let list = |generation: u64| Arc::new(Index { generation, skills: Vec::new() });
        let cache = Cache::default();
        let last = || cache.last_index().map(|index| index.generation);
        cache.keep_index(&list(1));
        cache.keep_skill(3, "name", &Err(LookupError::Unknown(Vec::new())));
        assert_eq!((last(), cache.index(3).is_some()), (Some(1), false));
        cache.keep_index(&list(2));
        cache.keep_index(&list(1));
        assert_eq!((last(), cache.index(2).is_some(), cache.index(3).is_some()), (Some(2), true, false));
    }
}
