//! How often a scorer finds the right skill, on the questions of `fixtures/ranking`.

use crate::{Launch, Session, repository};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One question in the format of the files. Without `right`, no skill matches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub ask: String,
    pub right: Option<String>,
    pub style: String,
}

/// The skills that the questions are about.
pub fn skills() -> PathBuf {
    repository().join("fixtures/ranking/skills")
}

/// Reads the questions of one part: scorers are tuned on `tune`, and only `report` measures how good they are.
pub fn questions(part: &str) -> Vec<Question> {
    let entries = std::fs::read_dir(repository().join("fixtures/ranking/questions")).expect("in the repository");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    let of_part = |file: &&PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(part));
    let read = |file: &PathBuf| -> Vec<Question> {
        let text = std::fs::read_to_string(file).expect("a text");
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.iter().filter(of_part).flat_map(read).collect()
}

/// Starts a server with one scorer, and with enough candidates in its answers to see ranks.
pub fn server(binary: &Path, scorer: &str) -> Session {
    let config = format!("matching: {{scorer: {scorer}, max_results: 10}}\n");
    Launch::new(binary).config(&config).arg(skills()).start()
}

/// Counts of the outcomes.
#[derive(Default)]
pub struct Tally {
    pub scorer: &'static str,
    pub with_answer: u32,
    pub right_at_1: u32,
    pub right_in_3: u32,
    pub reciprocal_ranks: f64,
    /// Right at 1, as the only answer.
    pub clearly_right: u32,
    /// A single answer that is wrong.
    pub clearly_wrong: u32,
    pub wrongly_empty: u32,
    pub without_answer: u32,
    pub answered: u32,
    /// For each style, the number of good outcomes (right at 1 or rightly empty) and of all.
    pub styles: BTreeMap<String, (u32, u32)>,
}

impl Tally {
    pub fn of(binary: &Path, scorer: &'static str, questions: &[Question]) -> Self {
        let mut tally = Self { scorer, ..Self::default() };
        let mut session = server(binary, scorer);
        for question in questions {
            tally.count(question, &Outcome::of(&mut session, &question.ask));
        }
        let log = session.log();
        // When a scorer fails, the built-in one answers and a warning is logged.
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "`{scorer}` did not rank everything:\n{log}");
        tally
    }

    fn count(&mut self, question: &Question, outcome: &Outcome) {
        let is_good = if let Some(right) = &question.right {
            let rank = (1..).zip(&outcome.found).find(|(_, found)| *found == right).map(|(rank, _)| rank);
            self.with_answer += 1;
            self.right_at_1 += u32::from(rank == Some(1));
            self.right_in_3 += u32::from(rank.is_some_and(|rank| rank <= 3));
            self.reciprocal_ranks += rank.map_or(0.0, |rank| 1.0 / f64::from(rank));
            self.clearly_right += u32::from(outcome.is_clear && rank == Some(1));
            self.clearly_wrong += u32::from(outcome.is_clear && rank != Some(1));
            self.wrongly_empty += u32::from(outcome.found.is_empty());
            rank == Some(1)
        } else {
            self.without_answer += 1;
            self.answered += u32::from(!outcome.found.is_empty());
            outcome.found.is_empty()
        };
        let style = self.styles.entry(question.style.clone()).or_default();
        *style = (style.0 + u32::from(is_good), style.1 + 1);
    }

    /// The promises of `hybrid` on the part `report`, and whether they hold.
    pub fn promises(&self) -> [(bool, String); 3] {
        /// In percent of the questions that have an answer, or have none.
        const MIN_RIGHT_AT_1: f64 = 75.0;
        const MAX_WRONGLY_EMPTY: f64 = 5.0;
        const MAX_ANSWERED: f64 = 20.0;
        let right = percent(self.right_at_1, self.with_answer);
        let empty = percent(self.wrongly_empty, self.with_answer);
        let answered = percent(self.answered, self.without_answer);
        [
            (right >= MIN_RIGHT_AT_1, format!("right at 1 for at least {MIN_RIGHT_AT_1} %: {right:.1}")),
            (empty <= MAX_WRONGLY_EMPTY, format!("wrongly empty for at most {MAX_WRONGLY_EMPTY} %: {empty:.1}")),
            (answered <= MAX_ANSWERED, format!("answers at most {MAX_ANSWERED} % of what has none: {answered:.1}")),
        ]
    }
}

pub fn percent(part: u32, all: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(all)
}

/// The answer of `get_skill`: nothing, one skill, or several candidates, best first.
struct Outcome {
    found: Vec<String>,
    is_clear: bool,
}

impl Outcome {
    fn of(session: &mut Session, ask: &str) -> Self {
        let answer = session.call_json("get_skill", json!({"context": ask}));
        let path = |of: &serde_json::Value| of["skill_path"].as_str().map(str::to_owned);
        if let Some(only) = path(&answer) {
            return Self { found: vec![only], is_clear: true };
        }
        let candidates = answer["candidates"].as_array();
        assert!(candidates.is_some() || answer["no_match"] == true, "{answer}");
        Self { found: candidates.into_iter().flatten().filter_map(path).collect(), is_clear: false }
    }
}
