//! Scorers that fail: the engine's own scorer ranks instead, and the failure is reported once.

use super::{find, score_by_scorer, skills, wait_until_prepared, warnings, with_hostile_scorer};
use crate::{library, problems};
use serde_json::json;
use skillcell_tests::write_files;

/// Ways in which the hostile scorer fails, and the logged reasons.
const FAILURES: [(&str, &str); 15] = [
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

#[test]
fn each_failure_falls_back_to_keywords_and_only_the_first_is_reported() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
    let failures = FAILURES.len();
    for (before, (failure, reason)) in FAILURES.into_iter().enumerate() {
        wait_until_prepared(&session, 2 + before);
        let found = find(&mut session, &format!("form validation hostile: {failure}"));
        assert_eq!((&found["skill_path"], &found["score"]), (&json!("forms"), &json!(1.0)), "{failure}");
        // A valid answer in between, so that the scorer is not suspended.
        wait_until_prepared(&session, 3 + before);
        assert_eq!(score_by_scorer(&mut session), 0.9, "{failure}");
        let is_logged = |line: &str| line.contains("consecutive failure 1 of the scorer") && line.contains(reason);
        session.wait_for_log_that(reason, |log| log.lines().any(is_logged));
    }
    let log = session.log();
    assert_eq!(log.matches("of the scorer:").count(), failures);
    assert_eq!(warnings(&session), 1, "{log}");
    let reported = problems(&mut session, "message");
    let [(file, message)] = &reported[..] else { panic!("{reported:?}") };
    assert_eq!(file, "hostile_scorer.wasm");
    assert!(message.starts_with(FAILURES[0].1) && !message.contains("suspended"), "{message}");
    assert_eq!(problems(&mut session, "root"), [(file.clone(), "scorer".to_owned())]);
}

#[test]
fn a_scorer_is_suspended_after_three_consecutive_failures() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
    for failure in 0..3 {
        wait_until_prepared(&session, 2 + failure);
        assert_eq!(find(&mut session, "form validation hostile: trap")["skill_path"], "forms");
    }
    session.wait_for_log("failed 3 times in a row and is suspended");
    for _ in 0..5 {
        assert_eq!(find(&mut session, "form validation hostile: trap")["skill_path"], "forms");
        assert_eq!(find(&mut session, "form validation")["skill_path"], "forms");
    }
    assert_eq!(session.log().matches("of the scorer:").count(), 3, "it is no longer called");
    assert_eq!(warnings(&session), 1);
    let reported = problems(&mut session, "message");
    assert!(reported.len() == 1 && reported[0].1.contains("it is suspended until its file changes"), "{reported:?}");
}

#[test]
fn a_skill_that_crashes_the_scorer_disables_it_but_costs_no_answer() {
    for failure in ["trap", "spin", "eat memory"] {
        let bad = format!("---\nkeywords: [bad]\ndescription: d\n---\nhostile update: {failure}\n");
        let at_start = library(&[("bad.md", &bad), ("good.md", "---\nkeywords: [good]\ndescription: d\n---\n")]);
        let later = skills();
        let mut sessions = [with_hostile_scorer(at_start.path()).start(), with_hostile_scorer(later.path()).start()];
        assert_eq!(score_by_scorer(&mut sessions[1]), 0.9);
        write_files(later.path(), &[("bad.md", &bad)]);
        for mut session in sessions {
            assert_eq!(find(&mut session, "bad")["skill_path"], "bad", "{failure}");
            session.wait_for_log("failed 3 times in a row and is suspended");
            assert_eq!(find(&mut session, "bad")["skill_path"], "bad", "{failure}");
            assert_eq!(warnings(&session), 1, "{}", session.log());
            let reported = problems(&mut session, "message");
            assert!(reported.len() == 1 && reported[0].1.contains("in `update`"), "{failure}: {reported:?}");
        }
    }
}

#[test]
fn a_scorer_that_spins_over_a_change_does_not_block_requests() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
    assert_eq!(score_by_scorer(&mut session), 0.9);
    let bad = "---\nkeywords: [bad]\ndescription: d\n---\nhostile update: spin\n";
    write_files(folder.path(), &[("bad.md", bad)]);
    let mut answers = 0;
    while !session.log().contains("failed 3 times in a row and is suspended") {
        assert_eq!(find(&mut session, "form validation grapes")["skill_path"], "forms");
        answers += 1;
    }
    // A request that waits for the scorer gets one answer for each of its failures.
    assert!(answers > 10, "{answers} answers");
    assert!(session.log().contains("stopped in `update` after "), "{}", session.log());
}

#[test]
fn the_time_limit_of_a_scorer_grows_with_the_skill_but_is_bounded() {
    let long = "x".repeat(900 << 10);
    let bad = format!("---\nkeywords: [bad]\ndescription: d\n---\n{long}\nhostile update: spin\n");
    let folder = library(&[("bad.md", &bad), ("good.md", "---\nkeywords: [good]\ndescription: d\n---\n")]);
    let mut session = with_hostile_scorer(folder.path()).start();
    assert_eq!(find(&mut session, "good")["skill_path"], "good");
    session.wait_for_log_that("the limit", |log| {
        ["2000 ms", "4000000000 units of fuel"]
            .iter()
            .any(|limit| log.contains(&format!("stopped in `update` after {limit}")))
    });
}

#[test]
fn concurrent_requests_that_crash_the_scorer_are_all_answered() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
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
fn the_log_output_of_a_scorer_is_limited() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
    for failure in ["log", "print", "long reason"] {
        find(&mut session, &format!("grapes hostile: {failure}"));
    }
    wait_until_prepared(&session, 2);
    let lines = |log: &str| log.matches("hostile_scorer.wasm: line ").count();
    session.wait_for_log_that("20 lines", |log| lines(log) >= 20);
    assert_eq!(lines(&session.log()), 20);
    assert!(session.log().contains("line 0\\nand more"), "on one line");
}
