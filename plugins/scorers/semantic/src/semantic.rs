//! Adds the similarity of meaning to the evidence of words.

use crate::explain::close_words;
use crate::table::Source;
use crate::vectors::{Direction, Directions, Vectors};
use scorer_bm25::bindings::skillcell::plugin::types::{Scored, SkillText};
use scorer_bm25::component::Scorer;
use scorer_bm25::words::task_prefix;
use scorer_hybrid::hybrid::Hybrid;
use scorer_hybrid::weights::Weights;
use std::collections::BTreeMap;

/// Words of a description, and of a task.
const MAX_WORDS: usize = 256;

/// Paragraphs of a body, the words of each that are read, and the length in bytes from which on it is one.
const MAX_PARAGRAPHS: usize = 3;
const PARAGRAPH_WORDS: usize = 24;
const PARAGRAPH_BYTES: usize = 80;

/// How much the description counts against the best paragraphs.
const HEAD_SHARE: f64 = 0.6;

/// Skills whose reason says which words are close, and their least score.
const MAX_EXPLAINED: usize = 5;
const MIN_EXPLAINED: f64 = 0.1;

pub struct Semantic<S> {
    pub hybrid: Hybrid,
    /// Nothing without a usable model.
    vectors: Option<Vectors<S>>,
    skills: BTreeMap<u32, Known>,
}

/// What is known about one skill.
#[derive(Default)]
struct Known {
    /// Of its name and description and of its keywords, then of its paragraphs.
    directions: Directions,
    /// How many of them are not of paragraphs.
    heads: usize,
    /// The text of its head, for explanations.
    head: Box<str>,
}

impl<S: Source> Semantic<S> {
    pub fn new(vectors: Option<Vectors<S>>) -> Self {
        let weights = if vectors.is_some() { Weights::with_meaning() } else { Weights::default() };
        Self { hybrid: Hybrid::new(weights), vectors, skills: BTreeMap::new() }
    }

    /// Adds or replaces a skill.
    pub fn put(&mut self, skill: &SkillText) {
        self.hybrid.put(skill);
        let known = self.vectors.as_ref().map(|vectors| Known::of(skill, vectors));
        self.skills.insert(skill.number, known.unwrap_or_default());
    }

    /// Removes a skill, if there is one with this number.
    pub fn gone(&mut self, number: u32) {
        self.hybrid.gone(number);
        self.skills.remove(&number);
    }

    /// Returns one entry per skill, in ascending order of their numbers.
    pub fn score(&self, task: &str) -> Vec<Scored> {
        let Some(vectors) = &self.vectors else { return self.hybrid.score(task) };
        let start = task_prefix(task);
        let similarities = self.similarities(vectors, start);
        let mut scored = self.hybrid.rank(task, Some(&similarities));
        self.explain(vectors, start, &mut scored);
        scored
    }

    /// Returns the similarity of each skill to a task, in ascending order of their numbers.
    fn similarities(&self, vectors: &Vectors<S>, task: &str) -> Vec<f64> {
        let Some(task) = vectors.direction(task, MAX_WORDS) else { return vec![0.0; self.skills.len()] };
        self.skills.values().map(|skill| skill.similarity(&task)).collect()
    }

    /// Adds to the reasons of the best skills which words are close in meaning.
    fn explain(&self, vectors: &Vectors<S>, task: &str, scored: &mut [Scored]) {
        let mut best: Vec<usize> = (0..scored.len()).filter(|place| scored[*place].score >= MIN_EXPLAINED).collect();
        best.sort_by(|left, right| scored[*right].score.total_cmp(&scored[*left].score).then(left.cmp(right)));
        let heads: Vec<&str> = self.skills.values().map(|skill| &*skill.head).collect();
        for place in best.into_iter().take(MAX_EXPLAINED) {
            let close = close_words(vectors, task, heads[place]);
            if !close.is_empty() {
                let reason = &mut scored[place].reason;
                let separator = if reason.is_empty() { "" } else { "; " };
                *reason = format!("{reason}{separator}meaning: {}", close.join(", "));
            }
        }
    }
}

impl Known {
    fn of<S: Source>(skill: &SkillText, vectors: &Vectors<S>) -> Self {
        let own = if skill.name.starts_with('_') { &skill.path } else { &skill.name };
        // The name counts twice, because it is chosen with care.
        let head = format!("{own} {own} {}", skill.description);
        let keywords = skill.keywords.iter().chain(&skill.aliases).map(String::as_str).collect::<Vec<_>>().join(" ");
        let heads = [&head, &keywords].into_iter().filter_map(|text| vectors.direction(text, MAX_WORDS));
        let heads: Vec<Direction> = heads.collect();
        let paragraphs = skill.body.split("\n\n").filter(|text| text.len() >= PARAGRAPH_BYTES);
        let paragraphs = paragraphs.take(MAX_PARAGRAPHS).filter_map(|text| vectors.direction(text, PARAGRAPH_WORDS));
        Self {
            heads: heads.len(),
            directions: heads.into_iter().chain(paragraphs).collect(),
            head: format!("{own} {keywords} {}", skill.description).into(),
        }
    }

    /// Returns a mean of the similarity of the head and of the best two paragraphs.
    fn similarity(&self, task: &Direction) -> f64 {
        let (mut head, mut best, mut second) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (place, similarity) in self.directions.similarities(task).enumerate() {
            if place < self.heads {
                head = head.max(similarity);
            } else {
                second = second.max(similarity.min(best));
                best = best.max(similarity);
            }
        }
        match self.directions.len() - self.heads {
            0 => head,
            1 => HEAD_SHARE * head + (1.0 - HEAD_SHARE) * best,
            _ => HEAD_SHARE * head + (1.0 - HEAD_SHARE) * f64::midpoint(best, second),
        }
    }
}
