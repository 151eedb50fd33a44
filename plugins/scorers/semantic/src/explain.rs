//! Which words of a task and of a skill are close in meaning, for people.

use crate::table::Source;
use crate::vectors::{Vectors, Word, each_word};
use scorer_hybrid::stem::stem;
use std::rc::Rc;

/// Words of a task and of a skill that are compared, and pairs that are named.
const MAX_TASK_WORDS: usize = 16;
const MAX_SKILL_WORDS: usize = 48;
const MAX_PAIRS: usize = 3;

/// Less similar words have nothing to do with each other.
const MIN_SIMILARITY: f64 = 0.35;

/// Returns the closest pairs, as `slides ≈ presentation`. Forms of one word are not worth mentioning.
pub fn close_words<S: Source>(vectors: &Vectors<S>, task: &str, skill: &str) -> Vec<String> {
    let (task, skill) = (words(vectors, task, MAX_TASK_WORDS), words(vectors, skill, MAX_SKILL_WORDS));
    let mut pairs: Vec<(f64, &str, &str)> = Vec::new();
    for (asked, of_task) in &task {
        if skill.iter().any(|(word, _)| stem(word) == stem(asked)) {
            continue;
        }
        let close = skill.iter().map(|(word, of_skill)| (of_task.similarity(of_skill), word.as_str()));
        let closest = close.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(left.1)));
        pairs.extend(
            closest
                .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
                .map(|(by, word)| (by, asked.as_str(), word)),
        );
    }
    pairs.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    pairs.iter().take(MAX_PAIRS).map(|(_, asked, word)| format!("{asked} ≈ {word}")).collect()
}

/// Returns the distinct words that the table has as a whole: the parts of others mean something else.
fn words<S: Source>(vectors: &Vectors<S>, text: &str, max: usize) -> Vec<(String, Rc<Word>)> {
    let mut found: Vec<(String, Rc<Word>)> = Vec::new();
    each_word(text, |word| {
        if word.len() > 2 && found.iter().all(|(other, _)| other != word) {
            let known = vectors.word(word);
            if known.is_whole {
                found.push((word.to_owned(), known));
            }
        }
        found.len() < max
    });
    found
}
