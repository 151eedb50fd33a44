//! The explanation of an answer.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The scorer whose scores decide.
    #[serde(rename = "scorer")]
    pub decides: String,
    /// The configured scorer. Another decides only when it failed.
    #[serde(skip)]
    pub chosen: String,
    /// Of the best candidate's root.
    pub thresholds: Thresholds,
    /// Best first, including those below `min_score`.
    pub candidates: Vec<Ranked>,
    /// Scorers without an answer.
    pub failures: Vec<Refused>,
}

#[derive(Debug, Serialize)]
pub struct Thresholds {
    pub min_score: f64,
    pub ambiguity_threshold: f64,
    pub max_results: u32,
}

/// A skill with the score of each scorer.
#[derive(Debug, Serialize)]
pub struct Ranked {
    pub skill_path: String,
    /// With a thousandth added for each point of priority.
    pub score: f64,
    /// Of its root.
    pub min_score: f64,
    pub scores: Vec<Given>,
}

#[derive(Debug, Serialize)]
pub struct Given {
    pub scorer: String,
    pub score: f64,
    pub reason: String,
}

/// A scorer that gave no answer.
#[derive(Debug, Serialize)]
pub struct Refused {
    pub scorer: String,
    pub reason: String,
}
