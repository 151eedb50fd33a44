//! How soon a change is served and told, and whether anybody waits for it, on 10,000 skills: `just bench`.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::{Value, json};
use skillcell_tests::measure::{median, shown};
use skillcell_tests::{Launch, Session, write_library};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

const SKILLS: usize = 10_000;

/// Edits for each figure.
const EDITS: usize = 20;

/// Rebuilds during which single skills are asked for.
const REBUILDS: usize = 3;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_library(folder.path(), SKILLS);
    let mut session = Launch::new(SKILLCELL).arg("--verbose").arg(folder.path()).start();
    session.call_json("skills_list", json!({"query": "skill-0"}));
    // From here on nothing of the start is left to do.
    session.wait_for_log_that("both engines", |log| log.matches("brought generation 1 into engine").count() == 2);
    println!("{SKILLS} skills");
    next_calls(&mut session, folder.path());
    notifications(&mut session, folder.path());
    during_rebuilds(&mut session, folder.path());
}

/// One file is edited, and the next call has its new text.
fn next_calls(session: &mut Session, library: &Path) {
    let file = file_of(library, 0);
    let before = read(&file);
    let times = (0..EDITS).map(|edit| {
        let text = format!("{before}Edition {edit}.\n");
        put(&file, &text);
        let started = Instant::now();
        let answer = session.call("skill", json!({"name": "skill-0"}));
        let time = started.elapsed();
        assert!(answer["content"][0]["text"].as_str().is_some_and(|served| served.ends_with(&text)), "the old text");
        time
    });
    report("`skill` right behind an edit", times.collect(), "");
}

/// One description is edited, and clients are told.
fn notifications(session: &mut Session, library: &Path) {
    let file = file_of(library, 2);
    let before = read(&file);
    let (mut told, mut rebuilt) = (Vec::new(), Vec::new());
    for edit in 0..EDITS {
        let started = Instant::now();
        put(&file, &before.replacen("description: ", &format!("description: edit {edit} "), 1));
        let notice = session.notification("notifications/resources/list_changed");
        told.push(started.elapsed());
        assert_eq!(notice["params"]["_meta"]["reason"], "1 change in the folders of skills");
        rebuilt.push(rebuilds(&session.log()).pop().expect("a rebuild was logged"));
    }
    report("from the edit to the notification", told, ", of which 500 ms are for quiet; to be under 700 ms");
    report("from the look to the new generation", rebuilt, "; to be under 30 ms");
}

/// The times of all rebuilds, as the server logs them.
fn rebuilds(log: &str) -> Vec<Duration> {
    let number = |rest: &str| rest.split_whitespace().next().and_then(|text| text.parse().ok());
    let times = log.split("is served after ").skip(1).filter_map(number);
    times.map(Duration::from_micros).collect()
}

/// Nearly all files change, and single skills are asked for while that is brought in.
fn during_rebuilds(session: &mut Session, library: &Path) {
    // The last hundred stay as they are.
    let changed: Vec<PathBuf> = (0..SKILLS - 100).map(|number| file_of(library, number)).collect();
    let (mut same, mut other, mut lasted) = (Vec::new(), Vec::new(), Vec::new());
    for rebuild in 0..REBUILDS {
        for file in &changed {
            put(file, &format!("{}Rebuild {rebuild}.\n", read(file)));
        }
        let logged = session.log().len();
        let refresh = session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
        let began = Instant::now();
        let mut number = 0;
        let mut over = false;
        while !over {
            number += 2;
            // One that stays and one that changes, in turn. Only skills in folders have a name.
            let unchanged = number % 4 == 0;
            let skill = if unchanged { SKILLS - 100 + number % 100 } else { number * 7 % (SKILLS - 200) / 2 * 2 };
            let started = Instant::now();
            let arguments = json!({"name": format!("skill-{skill}")});
            let id = session.post("tools/call", json!({"name": "skill", "arguments": arguments}));
            let answer = loop {
                let message = session.next_message();
                over |= message["id"] == refresh;
                if message["id"] == id {
                    break message;
                }
            };
            let time = started.elapsed();
            assert!(is_newest(&answer, unchanged, rebuild), "an old text: {answer}");
            // What was answered behind the rebuild was not answered during it.
            if !over {
                (if unchanged { &mut same } else { &mut other }).push(time);
            }
        }
        lasted.push(began.elapsed());
        let rebuilds = rebuilds(&session.log()[logged..]);
        assert!(rebuilds.iter().any(|time| *time > Duration::from_millis(100)), "{rebuilds:?} are none of everything");
        session.call_json("skills_list", json!({"query": "skill-0"}));
    }
    report("a rebuild of everything", lasted, "");
    report("`skill` meanwhile, its file unchanged", same, "; to be 5 ms, 99 of 100 under 50 ms");
    report("`skill` meanwhile, its file changed", other, "; the same");
}

fn is_newest(answer: &Value, unchanged: bool, rebuild: usize) -> bool {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    unchanged && text.starts_with("Loading: ") || text.ends_with(&format!("Rebuild {rebuild}.\n"))
}

fn report(what: &str, mut times: Vec<Duration>, note: &str) {
    times.sort_unstable();
    let (worst, most) = (times[times.len() - 1], times[times.len() * 99 / 100]);
    let count = times.len();
    let (middle, most, worst) = (shown(median(times)), shown(most), shown(worst));
    println!("  {what:<40} median {middle}, p99 {most}, worst {worst} ({count} times{note})");
}

/// As `write_library` has them.
fn file_of(library: &Path, number: usize) -> PathBuf {
    let group = number % 50;
    let path = match number % 2 {
        0 => format!("team{group}/skill-{number}/SKILL.md"),
        _ => format!("area{group}/topic-{number}.md"),
    };
    library.join(path)
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a readable file")
}

/// Writes a file in one step.
fn put(file: &Path, text: &str) {
    let next = file.with_file_name(".next");
    std::fs::write(&next, text).expect("a writable folder");
    std::fs::rename(next, file).expect("a writable folder");
}
