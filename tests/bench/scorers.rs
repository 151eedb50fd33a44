//! What a scorer in a component costs, through the real server: `just bench`.
//!
//! Ends with an error when a question takes longer than promised.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::json;
use skillcell_tests::measure::{median, shown, timed};
use skillcell_tests::{Launch, Session, write_library};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// How many skills, and how long `get_skill` may take at the median.
const PROMISES: [(usize, Duration); 2] = [(1_000, Duration::from_millis(5)), (10_000, Duration::from_millis(40))];

/// Questions for each figure, starts of the server, and edits.
const QUESTIONS: usize = 100;
const STARTS: usize = 3;
const EDITS: usize = 10;

fn main() -> ExitCode {
    let mut kept = true;
    for (skills, longest) in PROMISES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let task = write_library(folder.path(), skills);
        println!("{skills} skills of 2 to 6 KB, `get_skill` to be under {}", shown(longest));
        for scorer in ["keyword", "bm25", "hybrid"] {
            let asked = measure(folder.path(), &task, scorer);
            kept &= asked < longest;
        }
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A task of words that many skills have, one in which every word is misspelt, and a long ticket.
fn hard_tasks(library: &Path) -> [(&'static str, String); 3] {
    let text = std::fs::read_to_string(library.join("team0/skill-0/SKILL.md")).expect("it was written");
    let words: Vec<&str> = text.rsplit("---").next().unwrap_or_default().split_whitespace().collect();
    let misspelt = words.iter().take(12).map(|word| format!("{word}x")).collect::<Vec<_>>().join(" ");
    let ticket: String = words.iter().flat_map(|word| [word, " "]).collect();
    [
        ("frequent words", words[..12].join(" ")),
        ("misspelt", misspelt),
        ("a ticket of 2 KB", ticket[..ticket.floor_char_boundary(2_000)].to_owned()),
    ]
}

/// Prints what a scorer costs, hard tasks included, and returns the time of a usual question.
fn measure(library: &Path, task: &str, scorer: &str) -> Duration {
    let start = || Launch::new(SKILLCELL).arg("--verbose").arg("--scorer").arg(scorer).arg(library);
    let first = |_| {
        timed(|| {
            find(&mut start().start(), task);
        })
    };
    let started = median((0..STARTS).map(first).collect());
    let mut session = start().start();
    session.wait_for_log_that("both engines", |log| log.matches("brought generation 1 into engine").count() == 2);
    let asked = median((0..QUESTIONS).map(|_| timed(|| find(&mut session, task))).collect());
    let hard = hard_tasks(library).map(|(kind, task)| {
        let ask = |_| timed(|| _ = session.call_json("get_skill", json!({"context": task})));
        (kind, median((0..QUESTIONS).map(ask).collect()))
    });
    let searched = median((0..QUESTIONS).map(|_| timed(|| search(&mut session))).collect());
    let edited = median((0..EDITS).map(|edit| rebuild(&mut session, library, edit)).collect());
    let figures = [started, asked, searched, edited].map(shown);
    let [started, _, searched, edited] = &figures;
    let asked_shown = &figures[1];
    println!(
        "  {scorer:<8} `get_skill` {asked_shown}, `skills_search` {searched}, start to first answer {started}, new generation after an edit {edited}"
    );
    println!("           {}", hard.map(|(kind, time)| format!("{kind} {}", shown(time))).join(", "));
    assert!(!session.log().contains("of the scorer in a row"), "the scorer failed:\n{}", session.log());
    asked
}

fn find(session: &mut Session, task: &str) {
    let found = session.call_json("get_skill", json!({"context": task}));
    assert!(found.get("skill_path").is_some() || found.get("candidates").is_some(), "{found}");
}

fn search(session: &mut Session) {
    session.call("skills_search", json!({"query": "bade ta"}));
}

/// Edits a skill, and returns how long the server took from its look at the disk to the next generation.
fn rebuild(session: &mut Session, library: &Path, edit: usize) -> Duration {
    let file = library.join("team0/skill-0/SKILL.md");
    let text = std::fs::read_to_string(&file).expect("it was written");
    let logged = session.log().len();
    std::fs::write(&file, format!("{text}Edit {edit}.\n")).expect("a writable folder");
    let began = Instant::now();
    session.call("skills_search", json!({"query": "bade ta"}));
    session.wait_for_log_that("a generation", |log| log[logged..].contains("is served after "));
    let log = session.log();
    let after = log[logged..].split("is served after ").nth(1).and_then(|rest| rest.split_whitespace().next());
    after.and_then(|number| number.parse().ok()).map_or_else(|| began.elapsed(), Duration::from_micros)
}
