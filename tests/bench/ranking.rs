//! How well each scorer finds the right skill: `just eval`.
//!
//! The real server is asked every question of `fixtures/ranking` over stdio, once with each scorer. `tune-*.yaml` is the part
//! that the scorers were tuned on; only `report-*.yaml` says how good they are. Ends with an error when `hybrid` misses what is
//! promised of it there.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde::Deserialize;
use serde_json::json;
use skillcell_tests::{Launch, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");
const SCORERS: [&str; 3] = ["keyword", "bm25", "hybrid"];

/// What is promised of `hybrid` on the part to report, in percent of the questions that have an answer or have none.
const LEAST_RIGHT_AT_1: f64 = 75.0;
const MOST_WRONGLY_EMPTY: f64 = 5.0;
const MOST_ANSWERED: f64 = 20.0;

/// One question, as the files have it. Without `right`, no skill is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    ask: String,
    right: Option<String>,
    style: String,
}

fn main() -> ExitCode {
    let parts = [("tune", questions("tune")), ("report", questions("report"))];
    check_answers_exist(parts.iter().flat_map(|(_, questions)| questions));
    let mut kept = true;
    for (part, questions) in &parts {
        println!("{part}: {} questions", questions.len());
        let tallies = SCORERS.map(|scorer| Tally::of(scorer, questions));
        print_table(&tallies);
        if *part == "report" {
            kept = tallies[2].keeps_promises();
        }
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "fixtures", "ranking"].iter().collect()
}

/// The questions of all files of one part.
fn questions(part: &str) -> Vec<Question> {
    let entries = std::fs::read_dir(folder().join("questions")).expect("the questions are in the repository");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    let of_part = |file: &&PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(part));
    let read = |file: &PathBuf| -> Vec<Question> {
        let text = std::fs::read_to_string(file).expect("a text");
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.iter().filter(of_part).flat_map(read).collect()
}

/// A server with one scorer, which shows more candidates than usual so that ranks can be seen.
fn server(scorer: &str) -> Session {
    let config = format!("matching: {{scorer: {scorer}, max_results: 10}}\n");
    Launch::new(SKILLCELL).config(&config).arg(folder().join("skills")).start()
}

/// A mistake in a name would count against every scorer.
fn check_answers_exist<'question>(questions: impl Iterator<Item = &'question Question>) {
    let mut session = server("keyword");
    for right in questions.filter_map(|question| question.right.as_ref()) {
        let answer = session.call_json("get_skill", json!({"context": "any", "skill_path": right}));
        assert_eq!(answer["skill_path"], json!(right), "a question names a skill that is not there");
    }
}

/// What became of the questions, counted.
#[derive(Default)]
struct Tally {
    scorer: &'static str,
    with_answer: u32,
    right_at_1: u32,
    right_in_3: u32,
    reciprocal_ranks: f64,
    /// Right at 1, and not only one of several to choose from.
    clearly_right: u32,
    /// One skill was given, and another would have been right.
    clearly_wrong: u32,
    wrongly_empty: u32,
    without_answer: u32,
    answered: u32,
    /// Right at 1, or rightly empty, and all, for each style.
    styles: BTreeMap<String, (u32, u32)>,
}

impl Tally {
    fn of(scorer: &'static str, questions: &[Question]) -> Self {
        let mut tally = Self { scorer, ..Self::default() };
        let mut session = server(scorer);
        for question in questions {
            tally.count(question, &Outcome::of(&mut session, &question.ask));
        }
        let log = session.log();
        // Where a scorer fails, the built-in one answers and a warning says so.
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

    fn keeps_promises(&self) -> bool {
        let right = percent(self.right_at_1, self.with_answer) >= LEAST_RIGHT_AT_1;
        let empty = percent(self.wrongly_empty, self.with_answer) <= MOST_WRONGLY_EMPTY;
        let answered = percent(self.answered, self.without_answer) <= MOST_ANSWERED;
        for (kept, promise) in [
            (right, format!("right at 1 for at least {LEAST_RIGHT_AT_1} %")),
            (empty, format!("wrongly empty for at most {MOST_WRONGLY_EMPTY} %")),
            (answered, format!("answers at most {MOST_ANSWERED} % of what has no answer")),
        ] {
            println!("{}: {} {promise}", if kept { "kept" } else { "MISSED" }, self.scorer);
        }
        right && empty && answered
    }
}

/// What `get_skill` answered: nothing, one skill, or several to choose from, best first.
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

/// A figure of a tally, as it is printed.
type Shown = fn(&Tally) -> String;

fn print_table(tallies: &[Tally]) {
    row("", tallies.iter().map(|tally| tally.scorer.to_owned()));
    let shares: [(&str, Shown); 7] = [
        ("right at 1", |tally| share(tally.right_at_1, tally.with_answer)),
        ("right in 3", |tally| share(tally.right_in_3, tally.with_answer)),
        ("mean reciprocal rank", |tally| format!("{:.3}", tally.reciprocal_ranks / f64::from(tally.with_answer))),
        ("wrongly `no_match`", |tally| share(tally.wrongly_empty, tally.with_answer)),
        ("answered though nothing is right", |tally| share(tally.answered, tally.without_answer)),
        ("right, and the only answer", |tally| share(tally.clearly_right, tally.with_answer)),
        ("wrong, and the only answer", |tally| share(tally.clearly_wrong, tally.with_answer)),
    ];
    for (name, figure) in shares {
        row(name, tallies.iter().map(figure));
    }
    for style in tallies[0].styles.keys() {
        let good = |tally: &Tally| format!("{} of {}", tally.styles[style].0, tally.styles[style].1);
        row(&format!("right on `{style}`"), tallies.iter().map(good));
    }
    println!();
}

fn row(name: &str, cells: impl Iterator<Item = String>) {
    println!("  {name:<34}{}", cells.map(|cell| format!("{cell:>12}")).collect::<String>());
}

fn share(part: u32, all: u32) -> String {
    format!("{:.1} %", percent(part, all))
}

fn percent(part: u32, all: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(all)
}
