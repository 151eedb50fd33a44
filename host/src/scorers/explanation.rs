//! Why a task is answered as it is.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The scorer whose numbers rank.
    #[serde(rename = "scorer")]
    pub decides: String,
    /// The scorer that was chosen. Another decides only when it failed.
    #[serde(skip)]
    pub chosen: String,
    /// Of the best candidate's root.
    pub thresholds: Thresholds,
    /// The best first, also those that score too little.
    pub candidates: Vec<Ranked>,
    /// Scorers without an answer.
    pub failures: Vec<Refused>,
}

/// When a skill counts as an answer.
#[derive(Debug, Serialize)]
pub struct Thresholds {
    pub min_score: f64,
    pub ambiguity_threshold: f64,
    pub max_results: u32,
}

/// A skill, and what each scorer gives it.
#[derive(Debug, Serialize)]
pub struct Ranked {
    pub skill_path: String,
    /// What the ranking goes by, with a thousandth for each point of priority.
    pub score: f64,
    /// What its root asks for.
    pub min_score: f64,
    pub scores: Vec<Given>,
}

/// What one scorer gives a skill.
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
