//! How often a scorer finds the right skill, on the questions of `fixtures/ranking`.

pub mod libraries;

use crate::{Launch, Session, repository};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The library of one company, in a tree of folders, and those that are written like public ones.
pub const COMPANY: &str = "company";
pub const PUBLIC: [&str; 3] = ["studio", "startup", "workshop"];

/// Candidates in an answer, so that ranks are seen.
const MAX_RESULTS: u32 = 5;

/// One question in the format of the files. Without `right`, no skill matches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub ask: String,
    pub right: Option<String>,
    pub style: String,
}

/// The skills that questions are about, on disk.
pub struct Library {
    pub folder: PathBuf,
    _temporary: Option<TempDir>,
}

impl Library {
    pub fn open(name: &str) -> Self {
        if name == COMPANY {
            return Self { folder: repository().join("fixtures/ranking/skills"), _temporary: None };
        }
        let temporary = tempfile::tempdir().expect("a temporary folder");
        libraries::write(name, temporary.path());
        Self { folder: temporary.path().to_owned(), _temporary: Some(temporary) }
    }
}

/// Reads the questions of one part about a library: scorers are tuned on `tune`, and only `report` measures how good they are.
pub fn questions(part: &str, library: &str) -> Vec<Question> {
    let files = if library == COMPANY { vec!["engineering", "office"] } else { vec![library] };
    let read = |file: &str| -> Vec<Question> {
        let file = repository().join("fixtures/ranking/questions").join(format!("{part}-{file}.yaml"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.into_iter().flat_map(read).collect()
}

/// A scorer, with the home folder in which a model may be installed.
#[derive(Clone, Copy)]
pub struct Contestant<'home> {
    pub scorer: &'static str,
    pub home: Option<&'home Path>,
}

impl Contestant<'_> {
    /// Starts a server that ranks with this scorer.
    pub fn server(&self, binary: &Path, library: &Library) -> Session {
        let config = format!("matching: {{scorer: {}, max_results: {MAX_RESULTS}}}\n", self.scorer);
        let launch = Launch::new(binary).config(&config);
        // The configuration stays in the home folder of the launch; only the data is shared.
        let launch = match self.home {
            Some(home) => launch.env("XDG_DATA_HOME", &home.join(".local/share").to_string_lossy()),
            None => launch,
        };
        launch.arg(&library.folder).start()
    }
}

/// Counts of the outcomes.
#[derive(Default, Clone)]
pub struct Tally {
    pub with_answer: u32,
    pub right_at_1: u32,
    pub right_in_3: u32,
    /// Among all candidates that are offered.
    pub right_in_5: u32,
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
    pub fn of(binary: &Path, contestant: Contestant, library: &Library, questions: &[Question]) -> Self {
        let mut tally = Self::default();
        let mut session = contestant.server(binary, library);
        for question in questions {
            tally.count(question, &Outcome::of(&mut session, &question.ask));
        }
        let (log, scorer) = (session.log(), contestant.scorer);
        // When a scorer fails, the built-in one answers and a warning is logged.
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "`{scorer}` did not rank everything:\n{log}");
        tally
    }

    fn count(&mut self, question: &Question, outcome: &Outcome) {
        let is_good = if let Some(right) = &question.right {
            let rank = (1..).zip(&outcome.found).find(|(_, found)| *found == right).map(|(rank, _)| rank);
            let within = |most: u32| u32::from(rank.is_some_and(|rank| rank <= most));
            self.with_answer += 1;
            self.right_at_1 += within(1);
            self.right_in_3 += within(3);
            self.right_in_5 += within(5);
            self.clearly_right += u32::from(outcome.is_clear) * within(1);
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

    /// Adds the counts of another library.
    pub fn add(&mut self, other: &Self) {
        self.with_answer += other.with_answer;
        self.right_at_1 += other.right_at_1;
        self.right_in_3 += other.right_in_3;
        self.right_in_5 += other.right_in_5;
        self.clearly_right += other.clearly_right;
        self.clearly_wrong += other.clearly_wrong;
        self.wrongly_empty += other.wrongly_empty;
        self.without_answer += other.without_answer;
        self.answered += other.answered;
        for (style, (good, all)) in &other.styles {
            let own = self.styles.entry(style.clone()).or_default();
            *own = (own.0 + good, own.1 + all);
        }
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
