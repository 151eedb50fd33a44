//! Converts evidence to a score from 0 to 1.
//!
//! The score of the best skill is the confidence that it is the right one. The others follow by their share of its evidence:
//! the lower the confidence, the closer they are, and the more of them are offered.

use crate::weights::Weights;

/// The background is the evidence at this quantile of the ranking: one in five skills.
const BACKGROUND_RANK: usize = 5;
/// With fewer skills, all of them may fit.
const MIN_SKILLS: usize = 10;

/// The minimum score of a candidate.
const CANDIDATE: f64 = 0.2;
const HALF: f64 = 0.5;

pub struct Confidence {
    background: f64,
    /// The best evidence above the background, and the confidence in it.
    best: f64,
    of_best: f64,
    candidate_share: f64,
}

impl Confidence {
    /// `ideal` is the evidence of a skill about every word of the task, `max_idf` that of one word that only one skill
    /// has.
    pub fn new(evidence: &[f64], ideal: f64, max_idf: f64, weights: &Weights) -> Self {
        let background = weights.background * background(evidence);
        let best = evidence.iter().fold(0.0, |best: f64, evidence| best.max(*evidence)) - background;
        let share = (best / weights.required(ideal, max_idf).max(f64::MIN_POSITIVE)).max(0.0);
        let of_best = bounded(CANDIDATE * (share / CANDIDATE).powf(weights.contrast));
        Self { background, best, of_best, candidate_share: weights.candidate_share }
    }

    pub fn score(&self, evidence: f64) -> f64 {
        let own = evidence - self.background;
        if own <= 0.0 {
            return 0.0;
        }
        let share = (own / self.best).min(1.0);
        if self.of_best < CANDIDATE {
            self.of_best * share
        } else if share < self.candidate_share {
            CANDIDATE * share / self.candidate_share
        } else {
            let above = (share - self.candidate_share) / (1.0 - self.candidate_share);
            CANDIDATE + (self.of_best - CANDIDATE) * above
        }
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
            let confidence = Confidence::new(&evidence, ideal, 4.0, &Weights::default());
            let scores = evidence.iter().map(|evidence| confidence.score(*evidence));
            assert!(scores.into_iter().all(|score| (0.0..=1.0).contains(&score)), "{ideal}");
        }
    }

    #[test]
    fn more_evidence_is_a_better_score() {
        let evidence: Vec<f64> = (0..60).map(f64::from).collect();
        let confidence = Confidence::new(&evidence, 10.0, 4.0, &Weights::default());
        let scores: Vec<f64> = evidence.iter().map(|evidence| confidence.score(*evidence)).collect();
        assert!(scores.is_sorted(), "{scores:?}");
        assert!(scores[0].abs() < 1e-9 && scores[59] > 0.95);
    }

    #[test]
    fn the_less_is_found_the_more_is_offered() {
        let offered = |found: f64| {
            let evidence: Vec<f64> = [1.0, 0.95, 0.9, 0.85, 0.8, 0.1].map(|share| share * found).to_vec();
            let confidence = Confidence::new(&evidence, 10.0, 4.0, &Weights::default());
            let scores: Vec<f64> = evidence.iter().map(|evidence| confidence.score(*evidence)).collect();
            scores.iter().filter(|score| **score >= CANDIDATE && **score > scores[0] - 0.1).count()
        };
        assert!(offered(0.1) == 0 && offered(5.0) > offered(30.0) && offered(30.0) >= 1);
    }

    #[test]
    fn the_background_is_what_a_fifth_of_the_skills_have() {
        let evidence: Vec<f64> = (0..100).map(f64::from).collect();
        assert!((background(&evidence) - 79.0).abs() < 1e-9);
        assert!(background(&evidence[..10]).abs() < 1e-9);
    }
}
