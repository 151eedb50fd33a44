//! Explains a score on one short line: which words of the task are where in a skill.

use crate::bindings::skillcell::plugin::types::Scored;
use crate::field::{FIELDS, Field};

/// Maximum number of words per field.
const MAX_WORDS: usize = 6;

/// Words by field, as in `name: invoice; body: bank`.
#[derive(Debug, Default)]
pub struct Reason<'word> {
    words: [Vec<&'word str>; FIELDS],
}

impl<'word> Reason<'word> {
    pub fn add(&mut self, field: Field, word: &'word str) {
        let words = &mut self.words[field as usize];
        if words.len() < MAX_WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
}

impl std::fmt::Display for Reason<'_> {
    fn fmt(&self, line: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let found = Field::ALL.into_iter().zip(&self.words).filter(|(_, words)| !words.is_empty());
        for (place, (field, words)) in found.enumerate() {
            let before = if place == 0 { "" } else { "; " };
            write!(line, "{before}{}: {}", field.title(), words.join(", "))?;
        }
        Ok(())
    }
}

/// Reasons are computed only for the best skills with at least this score.
const MIN_SCORE: f64 = 0.1;
const MAX_REASONS: usize = 32;

/// Adds reasons to the scores that are shown. `reason` is called with the position of a score.
pub fn with_reasons(scores: impl Iterator<Item = f64>, reason: impl Fn(usize) -> String) -> Vec<Scored> {
    let scores: Vec<f64> = scores.collect();
    let mut scored: Vec<Scored> = scores.iter().map(|score| Scored { score: *score, reason: String::new() }).collect();
    for place in best(&scores, MIN_SCORE, MAX_REASONS) {
        scored[place].reason = reason(place);
    }
    scored
}

/// Returns the positions of the best scores, best first; ties in order.
fn best(scores: &[f64], min: f64, max: usize) -> Vec<usize> {
    let mut best: Vec<usize> = (0..scores.len()).filter(|place| scores[*place] >= min).collect();
    let order = |left: &usize, right: &usize| scores[*right].total_cmp(&scores[*left]).then(left.cmp(right));
    if best.len() > max {
        best.select_nth_unstable_by(max, order);
        best.truncate(max);
    }
    best.sort_unstable_by(order);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_sorted_by_weight_and_words_are_unique() {
        let mut reason = Reason::default();
        reason.add(Field::Body, "bank");
        reason.add(Field::Name, "invoice");
        reason.add(Field::Body, "bank");
        assert_eq!(reason.to_string(), "name: invoice; body: bank");
        assert_eq!(Reason::default().to_string(), "");
    }

    #[test]
    fn the_best_are_limited_and_sorted() {
        let scores = [0.1, 0.9, 0.5, 0.9, 0.0, 0.5];
        assert_eq!(best(&scores, 0.2, 3), [1, 3, 2]);
        assert_eq!(best(&scores, 0.2, 9), [1, 3, 2, 5]);
        assert_eq!(best(&[], 0.2, 9), [0_usize; 0]);
    }
}
