//! How strongly a skill is about one of its words.

use crate::weights::Weights;
use scorer_bm25::field::Field;
use scorer_bm25::index::Posting;

/// Repetitions in a body beyond this number add nothing.
const MAX_COUNT: usize = 64;

/// The strength of each field, prepared for one task.
pub struct Strengths {
    /// What a word in the field leaves open, in the order of `Field`.
    open: [f64; 5],
    /// The strength of a word by how often a short body has it.
    body: Vec<f64>,
    body_length: f64,
}

impl Strengths {
    pub fn new(weights: &Weights) -> Self {
        let Weights { name, keywords, description, path, headings, .. } = *weights;
        let by_count = |count: usize| {
            let often = f64::from(u32::try_from(count).unwrap_or(u32::MAX)).ln_1p();
            weights.body * often / (1.0 + often) * (1.0 + std::f64::consts::LN_2) / std::f64::consts::LN_2
        };
        Self {
            open: [name, keywords, description, path, headings].map(|strength| 1.0 - strength),
            body: (0..=MAX_COUNT).map(|count| by_count(count).min(1.0)).collect(),
            body_length: weights.body_length,
        }
    }

    /// Returns the strength of a word, from 0 to 1. In the body it is weaker the longer the body is.
    pub fn of(&self, posting: &Posting, body_length: u32) -> f64 {
        let in_field = posting.counts.iter().zip(&self.open).filter(|(count, _)| **count > 0);
        let open: f64 = in_field.map(|(_, open)| open).product();
        let count = usize::from(posting.counts[Field::Body as usize]);
        if count == 0 {
            return 1.0 - open;
        }
        let in_body = self.body[count.min(MAX_COUNT)] / (1.0 + f64::from(body_length) / self.body_length).sqrt();
        1.0 - open * (1.0 - in_body)
    }
}

/// Whether a skill has the word in what it says about itself, not only in its body.
pub fn is_in_head(posting: &Posting) -> bool {
    posting.best_field() < Field::Headings
}
