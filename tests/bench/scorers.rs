//! The cost of scorers, through the real server: `just bench`.
//!
//! Fails when a question takes longer than promised.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::json;
use skillcell_tests::measure::{median, shown, timed};
use skillcell_tests::{Launch, Numbers, SYLLABLES, Session, write_library};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// The number of skills, and the limits for the median of `get_skill` with `hybrid` and with `semantic`.
const PROMISES: [(usize, Duration, Duration); 2] = [
    (1_000, Duration::from_millis(2), Duration::from_millis(3)),
    (10_000, Duration::from_millis(12), Duration::from_millis(20)),
];

/// The size of the model of `semantic`, like that of a real one.
const VECTORS: usize = 32_000;
const DIMENSIONS: usize = 256;

/// Questions for each figure, starts of the server, and edits.
const QUESTIONS: usize = 100;
const STARTS: usize = 3;
const EDITS: usize = 10;

fn main() -> ExitCode {
    let mut kept = true;
    let home = install_model();
    for (skills, limit, with_meaning) in PROMISES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let task = write_library(folder.path(), skills);
        let limits = [limit, with_meaning].map(shown).join(" and ");
        println!("{skills} skills of 2 to 6 KB, `get_skill` to be under {limits} with `hybrid` and `semantic`");
        for scorer in ["keyword", "bm25", "hybrid", "semantic"] {
            let time = measure(folder.path(), &task, scorer, home.path());
            kept &= match scorer {
                "hybrid" => time < limit,
                "semantic" => time < with_meaning,
                _ => true,
            };
        }
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Installs a model of random vectors, for the pieces that the words of the library consist of and many others.
fn install_model() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut numbers = Numbers(7);
    let known = SYLLABLES.iter().flat_map(|syllable| [(*syllable).to_owned(), format!("##{syllable}")]);
    let vocabulary: serde_json::Map<String, serde_json::Value> = known
        .chain((0..).map(|number| format!("piece{number}")))
        .zip(0..VECTORS)
        .map(|(text, row)| (text, row.into()))
        .collect();
    let values = (0..VECTORS * DIMENSIONS)
        .flat_map(|_| (0x3000 + u16::try_from(numbers.below(0x0800)).unwrap_or(0)).to_le_bytes());
    let values: Vec<u8> = values.collect();
    let header =
        json!({"vectors": {"dtype": "F16", "shape": [VECTORS, DIMENSIONS], "data_offsets": [0, values.len()]}})
            .to_string();
    let weights = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &values].concat();
    let [weights_file, tokenizer] = ["random.safetensors", "tokenizer.json"].map(|name| home.path().join(name));
    std::fs::write(&weights_file, weights).expect("a writable folder");
    let file = json!({"model": {"type": "WordPiece", "vocab": vocabulary}});
    std::fs::write(&tokenizer, file.to_string()).expect("a writable folder");
    let add = Launch::bare(SKILLCELL).with_home(home.path()).arg("model").arg("add").arg(weights_file).arg(tokenizer);
    let output = add.output();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    home
}

/// Returns a task of words that many skills have, one in which every word is misspelled, and a long ticket.
fn hard_tasks(library: &Path) -> [(&'static str, String); 3] {
    let text = std::fs::read_to_string(library.join("team0/skill-0/SKILL.md")).expect("the library was written");
    let words: Vec<&str> = text.rsplit("---").next().unwrap_or_default().split_whitespace().collect();
    let misspelled = words.iter().take(12).map(|word| format!("{word}x")).collect::<Vec<_>>().join(" ");
    let ticket: String = words.iter().flat_map(|word| [word, " "]).collect();
    [
        ("frequent words", words[..12].join(" ")),
        ("misspelled", misspelled),
        ("a ticket of 2 KB", ticket[..ticket.floor_char_boundary(2_000)].to_owned()),
    ]
}

/// Prints the cost of a scorer, including hard tasks, and returns the time of an ordinary question.
fn measure(library: &Path, task: &str, scorer: &str, home: &Path) -> Duration {
    let start = || Launch::new(SKILLCELL).with_home(home).arg("--verbose").arg("--scorer").arg(scorer).arg(library);
    let first = |_| {
        timed(|| {
            find(&mut start().start(), task);
        })
    };
    let started = median((0..STARTS).map(first).collect());
    let mut session = start().start();
    session.wait_for_log_that("both engines", |log| log.matches("generation 1 is in slot").count() == 2);
    let answered = median((0..QUESTIONS).map(|_| timed(|| find(&mut session, task))).collect());
    let hard = hard_tasks(library).map(|(kind, task)| {
        let ask = |_| timed(|| _ = session.call_json("get_skill", json!({"context": task})));
        (kind, median((0..QUESTIONS).map(ask).collect()))
    });
    let searched = median((0..QUESTIONS).map(|_| timed(|| search(&mut session))).collect());
    let edited = median((0..EDITS).map(|edit| rebuild(&mut session, library, edit)).collect());
    let figures = [started, answered, searched, edited].map(shown);
    let [started, _, searched, edited] = &figures;
    let answered_text = &figures[1];
    println!(
        "  {scorer:<8} `get_skill` {answered_text}, `skills_search` {searched}, start to first answer {started}, new generation after an edit {edited}"
    );
    println!("           {}", hard.map(|(kind, time)| format!("{kind} {}", shown(time))).join(", "));
    assert!(!session.log().contains("consecutive failure"), "the scorer failed:\n{}", session.log());
    answered
}

fn find(session: &mut Session, task: &str) {
    let found = session.call_json("get_skill", json!({"context": task}));
    assert!(found.get("skill_path").is_some() || found.get("candidates").is_some(), "{found}");
}

fn search(session: &mut Session) {
    session.call("skills_search", json!({"query": "bade ta"}));
}

/// Edits a skill, and returns the time that the server took from the scan to the next generation.
fn rebuild(session: &mut Session, library: &Path, edit: usize) -> Duration {
    let file = library.join("team0/skill-0/SKILL.md");
    let text = std::fs::read_to_string(&file).expect("the library was written");
    let logged = session.log().len();
    std::fs::write(&file, format!("{text}Edit {edit}.\n")).expect("a writable folder");
    let started = Instant::now();
    session.call("skills_search", json!({"query": "bade ta"}));
    session.wait_for_log_that("a generation", |log| log[logged..].contains("is served after "));
    let log = session.log();
    let after = log[logged..].split("is served after ").nth(1).and_then(|rest| rest.split_whitespace().next());
    after.and_then(|number| number.parse().ok()).map_or_else(|| started.elapsed(), Duration::from_micros)
}
