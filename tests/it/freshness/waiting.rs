//! Who waits for changes that take their time: questions in which all skills have a say, and for others at most a second.

use super::held::{self, begin_rebuild, hold, is_still_held, let_go, reads, timely};
use super::settle;
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, component, write_files};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The second that they wait, and what an answer takes besides.
const LONGEST: Duration = Duration::from_secs(2);

const FORMS: &str = "---\nkeywords: [form, validation, input, field]\ndescription: d\n---\nfavourite of grapes\n";
const OTHER: &str = "---\nkeywords: [form, picture, upload, gallery, size]\ndescription: d\n---\n";

/// By keywords `form validation` is for `forms`, with half of its keywords, and `other` has one in five.
fn skills() -> TempDir {
    let library = library(&[("forms.md", FORMS), ("other.md", OTHER)]);
    settle(library.path());
    library
}

/// The answer to a question that comes in the middle of somebody else's rebuild, which ends when this file was read so many
/// times for it: the last time by a small engine.
fn asked_meanwhile(session: &mut Session, folder: &Path, arguments: &Value, (file, times): (&str, usize)) -> Value {
    begin_rebuild(session);
    let before = reads(&session.log(), file);
    let id = session.post("tools/call", json!({"name": "get_skill", "arguments": arguments}));
    session.wait_for_log_that("a small engine", |log| reads(log, file) >= before + times);
    let_go(folder);
    session.answer(&id)["result"].take()
}

/// What comes of a task when these files change meanwhile.
fn found(task: &str, files: &[(&str, &str)], how: impl FnOnce(Launch) -> Launch) -> Value {
    let library = skills();
    let mut session = held::serve(&[library.path()], how);
    assert_eq!(session.call_json("get_skill", json!({"context": task}))["skill_path"], "forms");
    hold(library.path());
    write_files(library.path(), files);
    let answer = asked_meanwhile(&mut session, library.path(), &json!({"context": task}), ("forms.md", 2));
    serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn a_match_is_decided_anew_when_the_skill_or_the_rules_for_it_changed() {
    let by_keywords = |files: &[(&str, &str)]| found("form validation", files, |launch| launch);
    let many: Vec<String> = (0..16).map(|number| format!("word{number}")).collect();
    let diluted = FORMS.replace("field", &format!("field, {}", many.join(", ")));
    assert_eq!(by_keywords(&[("forms.md", &diluted)])["skill_path"], "other");
    let preferred = FORMS.replace("description", "priority: 5\ndescription");
    assert_eq!(by_keywords(&[("forms.md", &preferred)])["score"], 0.505);
    assert_eq!(by_keywords(&[("config.yaml", "matching: {min_score: 0.6}\n")])["no_match"], true);
    assert_eq!(by_keywords(&[("config.yaml", "matching: {ambiguity_threshold: 0.4}\n")])["ambiguous"], true);
    let by_scorer = |launch: Launch| launch.arg("--scorer").arg(component("hostile-scorer"));
    assert_eq!(found("grapes", &[("config.yaml", "matching: {min_score: 0.95}\n")], by_scorer)["no_match"], true);
}

#[test]
fn a_skill_that_something_beside_it_took_away_is_not_served() {
    let library = library(&[("guide/inner.md", FORMS)]);
    settle(library.path());
    let mut session = held::serve(&[library.path()], |launch| launch);
    hold(library.path());
    write_files(library.path(), &[("guide.md", OTHER)]);
    let arguments = json!({"context": "x", "skill_path": "guide/inner"});
    let answer = asked_meanwhile(&mut session, library.path(), &arguments, ("guide.md", 1));
    assert_eq!(answer["isError"], true, "its folder belongs to another skill: {answer}");
}

#[test]
fn nobody_waits_longer_than_a_second_for_others() {
    let library = skills();
    let mut session = held::serve(&[library.path()], |launch| launch);
    hold(library.path());
    write_files(library.path(), &[("forms.md", &FORMS.replace("input, ", ""))]);
    begin_rebuild(&mut session);
    for (tool, arguments) in [
        ("skill", json!({"name": "nothing"})),
        ("get_skill", json!({"context": "nothing"})),
        ("get_skill", json!({"context": "form validation"})),
        ("skills_list", json!({})),
        ("skills_search", json!({"query": "grapes"})),
    ] {
        let began = Instant::now();
        session.call(tool, arguments.clone());
        assert!(began.elapsed() < LONGEST, "{tool} {arguments} took {:?}", began.elapsed());
    }
    is_still_held(&mut session, "forms");
}

#[test]
fn whoever_brings_something_in_has_it_in_the_answer_however_long_that_takes() {
    let library = skills();
    let mut session = held::serve(&[library.path()], |launch| launch);
    hold(library.path());
    let list = json!({"name": "skills_list", "arguments": {}});
    let has_slow = |answer: &Value| answer["result"]["structuredContent"]["skills"].to_string().contains("slow/file");
    let first = session.post("tools/call", list.clone());
    session.wait_for_log("the engine is held by slow/.held");
    // It waits for the second that others are waited for, so the first has waited for longer.
    let second = session.post("tools/call", list);
    assert!(!has_slow(&session.answer(&second)));
    let_go(library.path());
    assert!(has_slow(&session.answer(&first)));
}

#[test]
fn whoever_waits_for_a_rebuild_does_not_wait_for_the_second_engine() {
    let library = library(&[("forms.md", FORMS)]);
    let held_by = |holder: &str| format!("---\nkeywords: [slow]\ndescription: d\n---\nfragile: held by {holder}\n");
    let mut session = held::serve(&[library.path()], |launch| launch);
    let put = |holder: &str| write_files(library.path(), &[(holder, "")]);
    put(".second");
    write_files(library.path(), &[("slow1.md", &held_by(".first")), ("slow2.md", &held_by(".second"))]);
    let list = json!({"name": "skills_list", "arguments": {}});
    session.post("tools/call", list.clone());
    session.wait_for_log("the engine is held by .second");
    // The first engine is beyond this one, so it is for the second.
    put(".first");
    let looks = |log: &str| log.matches("looked at the disk").count();
    let before = looks(&session.log());
    let id = session.post("tools/call", list);
    session.wait_for_log_that("another look", |log| looks(log) > before);
    std::fs::remove_file(library.path().join(".second")).unwrap();
    let answer = timely("the list", || session.answer(&id));
    let listed = answer["result"]["structuredContent"]["skills"].as_array().unwrap().len();
    assert_eq!(listed, 3, "{answer}");
    session.wait_for_log_that("the second engine", |log| log.matches("is held by .first").count() == 2);
    assert_eq!(session.log().matches("brought generation 2 into engine").count(), 1, "{}", session.log());
}
