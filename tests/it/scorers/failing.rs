//! Scorers that fail: the engine's own ranks in their place, and it is told once.

use super::{find, hostile, prepared, scored, skills, warnings};
use crate::{library, problems};
use serde_json::json;
use skillcell_tests::write_files;
use std::time::{Duration, Instant};

/// The longest that a question may take whose scorer fails.
const LONGEST: Duration = Duration::from_millis(100);

/// What the hostile scorer does, and what is said about it.
const DEEDS: [(&str, &str); 15] = [
    ("trap", "the scorer crashed in `score`"),
    ("exit", "the scorer crashed in `score`"),
    ("recurse", "the scorer crashed in `score`: wasm trap: call stack exhausted"),
    ("spin", "the scorer was stopped in `score` after 80 ms"),
    ("eat memory", "the scorer was stopped in `score` after "),
    ("too few", "the scorer gave 1 scores for 2 skills"),
    ("too many", "the scorer gave 3 scores for 2 skills"),
    ("nothing", "the scorer gave 0 scores for 2 skills"),
    ("not a number", "the scorer gave a skill the score NaN"),
    ("infinity", "the scorer gave a skill the score inf"),
    ("minus infinity", "the scorer gave a skill the score -inf"),
    ("negative", "the scorer gave a skill the score -0.5"),
    ("above one", "the scorer gave a skill the score 1.5"),
    ("hardly above one", "the scorer gave a skill the score 1.0000000000000002"),
    ("giant reason", "in `score`"),
];

/// Most tries for each. The quickest counts, because the machine may be busy with other tests.
const TRIES: usize = 20;

#[test]
fn each_failure_falls_back_in_time_and_all_are_told_once() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    let mut ready = 2;
    let mut failures = 0;
    for (deed, reason) in DEEDS {
        let task = format!("form validation hostile: {deed}");
        let mut quickest = Duration::MAX;
        let before = failures;
        while quickest >= LONGEST && failures < before + TRIES {
            prepared(&session, ready);
            let started = Instant::now();
            let found = find(&mut session, &task);
            quickest = quickest.min(started.elapsed());
            assert_eq!((&found["skill_path"], &found["score"]), (&json!("forms"), &json!(1.0)), "{deed}");
            (failures, ready) = (failures + 1, ready + 1);
            // One good answer in between, so that it does not rest.
            prepared(&session, ready);
            assert_eq!(scored(&mut session), 0.9, "{deed}");
        }
        assert!(quickest < LONGEST, "{deed} took {quickest:?}");
        let told = |line: &&str| line.contains("failure 1 of the scorer in a row") && line.contains(reason);
        assert!(session.log().lines().filter(told).count() >= failures - before, "{deed}:\n{}", session.log());
    }
    let log = session.log();
    assert_eq!(log.matches("of the scorer in a row").count(), failures);
    assert_eq!(warnings(&session), 1, "{log}");
    let told = problems(&mut session, "message");
    let [(file, message)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(file, "hostile_scorer.wasm");
    assert!(message.starts_with(DEEDS[0].1) && !message.contains("rests"), "{message}");
    assert_eq!(problems(&mut session, "root"), [(file.clone(), "scorer".to_owned())]);
}

#[test]
fn three_failures_in_a_row_and_the_scorer_rests() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    for failure in 0..3 {
        prepared(&session, 2 + failure);
        assert_eq!(find(&mut session, "form validation hostile: trap")["skill_path"], "forms");
    }
    session.wait_for_log("failed 3 times in a row and rests");
    for _ in 0..5 {
        assert_eq!(find(&mut session, "form validation hostile: trap")["skill_path"], "forms");
        assert_eq!(find(&mut session, "form validation")["skill_path"], "forms");
    }
    assert_eq!(session.log().matches("of the scorer in a row").count(), 3, "it is not asked any more");
    assert_eq!(warnings(&session), 1);
    let told = problems(&mut session, "message");
    assert!(told.len() == 1 && told[0].1.contains("it rests until its file changes"), "{told:?}");
}

#[test]
fn a_skill_that_breaks_the_scorer_costs_the_scorer_and_no_answer() {
    for deed in ["trap", "spin", "eat memory"] {
        let bad = format!("---\nkeywords: [bad]\ndescription: d\n---\nhostile update: {deed}\n");
        let at_start = library(&[("bad.md", &bad), ("good.md", "---\nkeywords: [good]\ndescription: d\n---\n")]);
        let later = skills();
        let mut sessions = [hostile(at_start.path()).start(), hostile(later.path()).start()];
        assert_eq!(scored(&mut sessions[1]), 0.9);
        write_files(later.path(), &[("bad.md", &bad)]);
        for mut session in sessions {
            assert_eq!(find(&mut session, "bad")["skill_path"], "bad", "{deed}");
            session.wait_for_log("failed 3 times in a row and rests");
            assert_eq!(find(&mut session, "bad")["skill_path"], "bad", "{deed}");
            assert_eq!(warnings(&session), 1, "{}", session.log());
            let told = problems(&mut session, "message");
            assert!(told.len() == 1 && told[0].1.contains("in `update`"), "{deed}: {told:?}");
        }
    }
}

#[test]
fn a_scorer_that_spins_over_a_change_holds_up_no_other_question() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    assert_eq!(scored(&mut session), 0.9);
    let bad = "---\nkeywords: [bad]\ndescription: d\n---\nhostile update: spin\n";
    let mut slowest = Duration::ZERO;
    write_files(folder.path(), &[("bad.md", bad)]);
    while !session.log().contains("failed 3 times in a row and rests") {
        let started = Instant::now();
        assert_eq!(find(&mut session, "form validation grapes")["skill_path"], "forms");
        slowest = slowest.max(started.elapsed());
    }
    assert!(slowest < LONGEST * 3, "on a busy machine: {slowest:?}");
    assert!(session.log().contains("stopped in `update` after "), "{}", session.log());
}

#[test]
fn a_large_skill_that_makes_the_scorer_spin_costs_the_start_two_seconds_at_most() {
    let long = "x".repeat(900 << 10);
    let bad = format!("---\nkeywords: [bad]\ndescription: d\n---\n{long}\nhostile update: spin\n");
    let folder = library(&[("bad.md", &bad), ("good.md", "---\nkeywords: [good]\ndescription: d\n---\n")]);
    let mut session = hostile(folder.path()).start();
    assert_eq!(find(&mut session, "good")["skill_path"], "good");
    session.wait_for_log_that("the limit", |log| {
        ["2000 ms", "4000000000 steps"].iter().any(|limit| log.contains(&format!("stopped in `update` after {limit}")))
    });
}

#[test]
fn many_questions_at_once_that_break_the_scorer_are_all_answered() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    let question = json!({"name": "get_skill", "arguments": {"context": "form validation hostile: trap"}});
    let ids: Vec<_> = (0..20).map(|_| session.post("tools/call", question.clone())).collect();
    for id in ids {
        let answer = session.answer(&id);
        assert!(answer.to_string().contains("favourite of grapes"), "{answer}");
    }
    assert_eq!(find(&mut session, "form validation hostile: trap")["skill_path"], "forms");
    assert_eq!(warnings(&session), 1);
}

#[test]
fn a_scorer_that_talks_a_lot_is_heard_a_little() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    for deed in ["log", "print", "long reason"] {
        find(&mut session, &format!("grapes hostile: {deed}"));
    }
    prepared(&session, 2);
    let lines = session.log().matches("hostile_scorer.wasm: line ").count();
    assert_eq!(lines, 20);
    assert!(session.log().contains("line 0\\nand more"), "on one line");
}
