//! Answers of the engines about one generation that are asked for again and again.

use super::namesakes::Namesakes;
use crate::bindings::catalog::{FoundSkill, LookupError};
use crate::bindings::types::{Location, Summary};
use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Most names that are remembered. Whoever asks for more asks for names that do not exist.
const MOST_NAMES: usize = 20_000;

/// Longest name that is remembered, in bytes. Nobody calls a skill so.
const LONGEST_NAME: usize = 512;

/// Generations for which it is remembered how they came about.
const MOST_GENERATIONS: usize = 64;

/// All skills of one generation.
#[derive(Debug)]
pub struct Index {
    pub generation: u64,
    pub skills: Vec<Arc<Listed>>,
    pub namesakes: Arc<Namesakes>,
}

/// A skill in the list, shared by all generations in which nothing about it changed.
#[derive(Debug)]
pub struct Listed {
    summary: Summary,
    /// What lists say about it, as numbers to compare. Computed once.
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

/// Whether nothing differs that lists say about a skill besides its description.
pub fn is_called_like(one: &Summary, other: &Summary) -> bool {
    let place = |skill: &Summary| (skill.file.root, skill.file.path.clone(), skill.model);
    let names = |skill: &Summary| {
        [&skill.address, &skill.install_name, &skill.name, &skill.skill_path, &skill.shown_name, &skill.uri]
            .map(Clone::clone)
    };
    place(one) == place(other) && names(one) == names(other)
}

impl Deref for Listed {
    type Target = Summary;
    fn deref(&self) -> &Summary {
        &self.summary
    }
}

/// The files with another text that made a generation of the one before; nothing if more than that changed.
type Edits = Option<Vec<Location>>;

/// What a name turned out to mean.
pub type Found = Result<Arc<FoundSkill>, LookupError>;

#[derive(Default)]
pub struct Remembered {
    answers: Mutex<Answers>,
    /// The newest last, each with its generation.
    edits: Mutex<VecDeque<(u64, Edits)>>,
}

#[derive(Default)]
struct Answers {
    /// The newest that was asked for, perhaps of an older generation: most of it is still true.
    index: Option<Arc<Index>>,
    /// By name, in this generation.
    skills: HashMap<String, Found>,
    generation: u64,
}

impl Remembered {
    pub fn index(&self, generation: u64) -> Option<Arc<Index>> {
        self.last_index().filter(|index| index.generation == generation)
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
        let mut answers = self.answers();
        if answers.index.as_ref().is_none_or(|kept| kept.generation <= index.generation) {
            answers.index = Some(Arc::clone(index));
        }
    }

    pub fn keep_skill(&self, generation: u64, name: &str, found: &Found) {
        let Some(mut answers) = self.answers_of(generation) else { return };
        if name.len() <= LONGEST_NAME && answers.skills.len() < MOST_NAMES {
            answers.skills.insert(name.to_owned(), found.clone());
        }
    }

    pub fn keep_edits(&self, generation: u64, edits: Edits) {
        let mut all = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        // One that failed is tried again under the same number.
        all.retain(|(other, _)| *other < generation);
        if all.len() == MOST_GENERATIONS {
            all.pop_front();
        }
        all.push_back((generation, edits));
    }

    /// The files whose text is another one in a later generation, if that is all that changed.
    pub fn edits(&self, before: u64, after: u64) -> Edits {
        let all = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = Vec::new();
        for wanted in before + 1..=after {
            let (_, edits) = all.iter().find(|(generation, _)| *generation == wanted)?;
            files.extend(edits.as_ref()?.iter().cloned());
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
    fn a_name_that_is_too_long_is_not_remembered() {
        let remembered = Remembered::default();
        for (length, is_kept) in [(LONGEST_NAME, true), (LONGEST_NAME + 1, false)] {
            let name = "n".repeat(length);
            remembered.keep_skill(1, &name, &Err(LookupError::Unknown(Vec::new())));
            assert_eq!(remembered.skill(1, &name).is_some(), is_kept, "{length}");
        }
    }

    #[test]
    fn a_list_is_kept_until_there_is_a_newer_one() {
        let list = |generation: u64| {
            let (skills, namesakes) = (Vec::new(), Arc::default());
            Arc::new(Index { generation, skills, namesakes })
        };
        let remembered = Remembered::default();
        let last = || remembered.last_index().map(|index| index.generation);
        remembered.keep_index(&list(1));
        remembered.keep_skill(3, "name", &Err(LookupError::Unknown(Vec::new())));
        assert_eq!((last(), remembered.index(3).is_some()), (Some(1), false));
        remembered.keep_index(&list(2));
        remembered.keep_index(&list(1));
        assert_eq!((last(), remembered.index(2).is_some(), remembered.index(3).is_some()), (Some(2), true, false));
    }
}
