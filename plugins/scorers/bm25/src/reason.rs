//! One short line for people: which words of the task are where in a skill.

use crate::bindings::skillcell::plugin::types::Scored;
use crate::field::{FIELDS, Field};

/// Most words that a reason names for one field.
const MOST_WORDS: usize = 6;

/// Words by field, as in `name: invoice; body: bank`.
#[derive(Debug, Default)]
pub struct Reason<'word> {
    words: [Vec<&'word str>; FIELDS],
}

impl<'word> Reason<'word> {
    pub fn add(&mut self, field: Field, word: &'word str) {
        let words = &mut self.words[field as usize];
        if words.len() < MOST_WORDS && !words.contains(&word) {
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

/// Reasons are made only for skills that come near to being candidates, and for the best of them.
const LEAST: f64 = 0.1;
const MOST: usize = 32;

/// The scores, with reasons where anybody looks at them. `reason` is asked with the place of a score.
pub fn with_reasons(scores: impl Iterator<Item = f64>, reason: impl Fn(usize) -> String) -> Vec<Scored> {
    let scores: Vec<f64> = scores.collect();
    let mut scored: Vec<Scored> = scores.iter().map(|score| Scored { score: *score, reason: String::new() }).collect();
    for place in best(&scores, LEAST, MOST) {
        scored[place].reason = reason(place);
    }
    scored
}

/// The best places of a ranking, best first and equal ones in order.
fn best(scores: &[f64], least: f64, most: usize) -> Vec<usize> {
    let mut best: Vec<usize> = (0..scores.len()).filter(|place| scores[*place] >= least).collect();
    let order = |left: &usize, right: &usize| scores[*right].total_cmp(&scores[*left]).then(left.cmp(right));
    if best.len() > most {
        best.select_nth_unstable_by(most, order);
        best.truncate(most);
    }
    best.sort_unstable_by(order);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_by_weight_and_words_once() {
        let mut reason = Reason::default();
        reason.add(Field::Body, "bank");
        reason.add(Field::Name, "invoice");
        reason.add(Field::Body, "bank");
        assert_eq!(reason.to_string(), "name: invoice; body: bank");
        assert_eq!(Reason::default().to_string(), "");
    }

    #[test]
    fn the_best_are_few_and_in_order() {
        let scores = [0.1, 0.9, 0.5, 0.9, 0.0, 0.5];
        assert_eq!(best(&scores, 0.2, 3), [1, 3, 2]);
        assert_eq!(best(&scores, 0.2, 9), [1, 3, 2, 5]);
        assert_eq!(best(&[], 0.2, 9), [0_usize; 0]);
    }
}
