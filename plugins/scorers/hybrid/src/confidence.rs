//! From evidence to a score: how sure it is that a skill fits.

use crate::weights;

/// The neighbours of the best in the ranking, of which one in five tells how much any skill would get.
const BACKGROUND_RANK: usize = 5;
/// With fewer skills, all of them may fit.
const LEAST_SKILLS: usize = 10;

/// The score from which on a skill is a candidate.
const CANDIDATE: f64 = 0.2;
const HALF: f64 = 0.5;

/// Turns evidence into scores from 0 to 1.
pub struct Confidence {
    background: f64,
    perfect: f64,
}

impl Confidence {
    /// `whole` is the evidence of a skill about every word of the task, `rarest` that of one word that only one skill has.
    pub fn new(evidence: &[f64], whole: f64, rarest: f64) -> Self {
        let length = weights::TASK_LENGTH;
        let asked = whole.powf(length) * rarest.powf(1.0 - length);
        Self {
            background: weights::BACKGROUND * background(evidence),
            perfect: (weights::PERFECT * asked).max(f64::MIN_POSITIVE),
        }
    }

    pub fn score(&self, evidence: f64) -> f64 {
        let share = ((evidence - self.background) / self.perfect).max(0.0);
        bounded(CANDIDATE * (share / CANDIDATE).powf(weights::DISTANCE))
    }
}

/// Leaves the lower half as it is and lets the upper one come near to 1 without reaching it, so that the better of two good
/// skills stays the better one.
fn bounded(score: f64) -> f64 {
    if score < HALF { score } else { 1.0 - HALF * (-(score - HALF) / HALF).exp() }
}

/// What a skill gets that happens to share words with the task.
fn background(evidence: &[f64]) -> f64 {
    let rank = (evidence.len() / BACKGROUND_RANK).max(LEAST_SKILLS);
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
        for (evidence, whole) in [(vec![], 0.0), (vec![0.0; 3], 0.0), (vec![1e300; 60], 1e-300), (vec![1.0; 60], 1e300)]
        {
            let confidence = Confidence::new(&evidence, whole, 4.0);
            let scores = evidence.iter().map(|evidence| confidence.score(*evidence));
            assert!(scores.into_iter().all(|score| (0.0..=1.0).contains(&score)), "{whole}");
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
