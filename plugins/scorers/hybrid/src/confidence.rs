//! Converts evidence to a score from 0 to 1.

use crate::weights;

/// The background is the evidence at this quantile of the ranking: one in five skills.
const BACKGROUND_RANK: usize = 5;
/// With fewer skills, all of them may fit.
const MIN_SKILLS: usize = 10;

/// The minimum score of a candidate.
const CANDIDATE: f64 = 0.2;
const HALF: f64 = 0.5;

pub struct Confidence {
    background: f64,
    perfect: f64,
}

impl Confidence {
    /// `ideal` is the evidence of a skill about every word of the task, `max_idf` that of one word that only one skill
    /// has.
    pub fn new(evidence: &[f64], ideal: f64, max_idf: f64) -> Self {
        let length = weights::TASK_LENGTH;
        let asked = ideal.powf(length) * max_idf.powf(1.0 - length);
        Self {
            background: weights::BACKGROUND * background(evidence),
            perfect: (weights::PERFECT * asked).max(f64::MIN_POSITIVE),
        }
    }

    pub fn score(&self, evidence: f64) -> f64 {
        let share = ((evidence - self.background) / self.perfect).max(0.0);
        bounded(CANDIDATE * (share / CANDIDATE).powf(weights::CONTRAST))
    }
}

/// Keeps the lower half and compresses the upper half below 1, so that the order of good skills is preserved.
fn bounded(score: f64) -> f64 {
    if score < HALF { score } else { 1.0 - HALF * (-(score - HALF) / HALF).exp() }
}

/// Returns the evidence of a skill that shares words with the task by chance.
fn background(evidence: &[f64]) -> f64 {
    let rank = (evidence.len() / BACKGROUND_RANK).max(MIN_SKILLS);
    if rank >= evidence.len() {
        return 0.0;
    }
    let mut sorted = evidence.to_vec();
    *sorted.select_nth_unstable_by(rank, |left, right| right.total_cmp(left)).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_within_bounds_whatever_the_evidence() {
        for (evidence, ideal) in [(vec![], 0.0), (vec![0.0; 3], 0.0), (vec![1e300; 60], 1e-300), (vec![1.0; 60], 1e300)]
        {
            let confidence = Confidence::new(&evidence, ideal, 4.0);
            let scores = evidence.iter().map(|evidence| confidence.score(*evidence));
            assert!(scores.into_iter().all(|score| (0.0..=1.0).contains(&score)), "{ideal}");
        }
    }

    #[test]
    fn more_evidence_is_a_better_score() {
        let confidence = Confidence::new(&[], 10.0, 4.0);
        let scores: Vec<f64> = (0..60).map(|evidence| confidence.score(f64::from(evidence))).collect();
        assert!(scores.is_sorted_by(|left, right| left < right), "{scores:?}");
        assert!(scores[0].abs() < 1e-9 && scores[59] > 0.95);
    }

    #[test]
    fn the_background_is_what_a_fifth_of_the_skills_have() {
        let evidence: Vec<f64> = (0..100).map(f64::from).collect();
        assert!((background(&evidence) - 79.0).abs() < 1e-9);
        assert!(background(&evidence[..10]).abs() < 1e-9);
    }
}
