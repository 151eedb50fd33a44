//! Answers of the engines about one generation that are asked for again and again.

use crate::bindings::catalog::{FoundSkill, LookupError};
use crate::bindings::types::Summary;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most names that are remembered. Whoever asks for more asks for names that do not exist.
const MOST_NAMES: usize = 20_000;

/// All skills of one generation.
#[derive(Debug)]
pub struct Index {
    pub generation: u64,
    pub skills: Vec<Summary>,
}

/// What a name turned out to mean.
pub type Found = Result<Arc<FoundSkill>, LookupError>;

#[derive(Default)]
pub struct Remembered {
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    generation: u64,
    index: Option<Arc<Index>>,
    skills: HashMap<String, Found>,
}

impl Remembered {
    pub fn index(&self, generation: u64) -> Option<Arc<Index>> {
        let answers = self.answers();
        answers.index.clone().filter(|_| answers.generation == generation)
    }

    /// The newest list there is, of whichever generation.
    pub fn last_index(&self) -> Option<Arc<Index>> {
        self.answers().index.clone()
    }

    pub fn skill(&self, generation: u64, name: &str) -> Option<Found> {
        let answers = self.answers();
        answers.skills.get(name).filter(|_| answers.generation == generation).cloned()
    }

    pub fn keep_index(&self, index: &Arc<Index>) {
        if let Some(mut answers) = self.answers_of(index.generation) {
            answers.index = Some(Arc::clone(index));
        }
    }

    pub fn keep_skill(&self, generation: u64, name: &str, found: &Found) {
        if let Some(mut answers) = self.answers_of(generation).filter(|answers| answers.skills.len() < MOST_NAMES) {
            answers.skills.insert(name.to_owned(), found.clone());
        }
    }

    /// The answers about this generation, unless there is a newer one.
    fn answers_of(&self, generation: u64) -> Option<MutexGuard<'_, Answers>> {
        let mut answers = self.answers();
        if answers.generation < generation {
            answers.generation = generation;
            answers.skills.clear();
            answers.index = None;
        }
        (answers.generation == generation).then_some(answers)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
