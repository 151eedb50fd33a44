//! Requests that wait for a slow rebuild: those whose answer depends on all skills, and for the rebuild of another request only
//! for a second.

use super::paused::{self, assert_still_paused, begin_rebuild, pause, resume};
use super::settle;
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::{Launch, MAX_WAIT, Session, component, write_files};
use std::time::Instant;
use tempfile::TempDir;

const FORMS: &str = "---\nkeywords: [form, validation, input, field]\ndescription: d\n---\nfavourite of grapes\n";
const OTHER: &str = "---\nkeywords: [form, picture, upload, gallery, size]\ndescription: d\n---\n";

/// The task `form validation` matches `forms` with half of its keywords, and `other` with one in five.
fn skills() -> TempDir {
    let library = library(&[("forms.md", FORMS), ("other.md", OTHER)]);
    settle(library.path());
    library
}

/// Sends `get_skill` during a rebuild that does not end.
fn get_skill_during_rebuild(session: &mut Session, arguments: &Value) -> Value {
    begin_rebuild(session);
    session.call("get_skill", arguments.clone())
}

/// Returns the answer for a task whose files change during a rebuild.
fn match_during_rebuild(task: &str, files: &[(&str, &str)], configure: impl FnOnce(Launch) -> Launch) -> Value {
    let library = skills();
    let mut session = paused::serve(&[library.path()], configure);
    assert_eq!(session.call_json("get_skill", json!({"context": task}))["skill_path"], "forms");
    pause(library.path());
    write_files(library.path(), files);
    let answer = get_skill_during_rebuild(&mut session, &json!({"context": task}));
    serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn a_match_is_decided_again_when_the_skill_or_the_settings_changed() {
    let by_keywords = |files: &[(&str, &str)]| match_during_rebuild("form validation", files, |launch| launch);
    let many: Vec<String> = (0..16).map(|number| format!("word{number}")).collect();
    let diluted = FORMS.replace("field", &format!("field, {}", many.join(", ")));
    assert_eq!(by_keywords(&[("forms.md", &diluted)])["skill_path"], "other");
    let preferred = FORMS.replace("description", "priority: 5\ndescription");
    assert_eq!(by_keywords(&[("forms.md", &preferred)])["score"], 0.505);
    assert_eq!(by_keywords(&[("config.yaml", "matching: {min_score: 0.6}\n")])["no_match"], true);
    assert_eq!(by_keywords(&[("config.yaml", "matching: {ambiguity_threshold: 0.4}\n")])["ambiguous"], true);
    let by_scorer = |launch: Launch| launch.arg("--scorer").arg(component("hostile-scorer"));
    assert_eq!(
        match_during_rebuild("grapes", &[("config.yaml", "matching: {min_score: 0.95}\n")], by_scorer)["no_match"],
        true
    );
}

#[test]
fn a_skill_that_a_new_file_hides_is_not_served() {
    let library = library(&[("guide/inner.md", FORMS)]);
    settle(library.path());
    let mut session = paused::serve(&[library.path()], |launch| launch);
    pause(library.path());
    write_files(library.path(), &[("guide.md", OTHER)]);
    let answer = get_skill_during_rebuild(&mut session, &json!({"context": "x", "skill_path": "guide/inner"}));
    assert_eq!(answer["isError"], true, "its folder belongs to another skill: {answer}");
}

#[test]
fn requests_wait_only_briefly_for_the_rebuild_of_another_request() {
    let library = skills();
    let mut session = paused::serve(&[library.path()], |launch| launch);
    pause(library.path());
    write_files(library.path(), &[("forms.md", &FORMS.replace("input, ", ""))]);
    // A request waits ten times as long for its own rebuild.
    let first = begin_rebuild(&mut session);
    let questions = [
        ("skill", json!({"name": "nothing"})),
        ("get_skill", json!({"context": "nothing"})),
        ("get_skill", json!({"context": "form validation"})),
        ("skills_list", json!({})),
        ("skills_search", json!({"query": "grapes"})),
    ];
    let ids =
        questions.map(|(tool, arguments)| session.post("tools/call", json!({"name": tool, "arguments": arguments})));
    for id in ids {
        session.answer(&id);
    }
    assert!(!session.is_answered(&first), "they waited as long as the request that rebuilds");
    assert_still_paused(&mut session, "forms");
}

#[test]
fn a_request_that_applies_changes_has_them_in_its_answer() {
    let library = skills();
    let mut session = paused::serve(&[library.path()], |launch| launch);
    pause(library.path());
    let list = json!({"name": "skills_list", "arguments": {}});
    let has_slow = |answer: &Value| answer["result"]["structuredContent"]["skills"].to_string().contains("slow/file");
    let first = begin_rebuild(&mut session);
    // The second request stops waiting after a second, so the first has waited longer.
    let second = session.post("tools/call", list);
    assert!(!has_slow(&session.answer(&second)));
    resume(library.path());
    assert!(has_slow(&session.answer(&first)));
}

#[test]
fn a_request_that_waits_for_a_rebuild_does_not_wait_for_the_second_engine() {
    assert!((0..10).any(|_| is_answered_by_the_first_engine()), "every answer waited for the second engine");
}

/// Pauses the second engine and checks the answer of the first one. False if the answer took so long that it may be stale, or
/// that an engine gave up on the file at which it was paused.
fn is_answered_by_the_first_engine() -> bool {
    let library = library(&[("forms.md", FORMS)]);
    let paused_by =
        |pause_file: &str| format!("---\nkeywords: [slow]\ndescription: d\n---\nfragile: paused by {pause_file}\n");
    let mut session = paused::serve(&[library.path()], |launch| launch);
    let create = |pause_file: &str| write_files(library.path(), &[(pause_file, "")]);
    create(".second");
    write_files(library.path(), &[("slow1.md", &paused_by(".first")), ("slow2.md", &paused_by(".second"))]);
    let list = json!({"name": "skills_list", "arguments": {}});
    session.post("tools/call", list.clone());
    session.wait_for_log("the engine is paused by .second");
    // The first engine has already read the file that is paused by this one, so only the second stops there.
    create(".first");
    let asked = Instant::now();
    let id = session.post("tools/call", list);
    // When a later request is answered, the list is waiting.
    session.result("ping", json!({}));
    std::fs::remove_file(library.path().join(".second")).unwrap();
    let answer = session.answer(&id);
    let is_quick = asked.elapsed() < MAX_WAIT;
    let is_second_done = session.log().matches("is paused by .second").count() >= 2;
    session.wait_for_log_that("the second engine", |log| log.matches("is paused by .first").count() >= 2);
    if !is_quick || is_second_done || !session.log().contains("generation 2: 3 skills") {
        return false;
    }
    let listed = answer["result"]["structuredContent"]["skills"].as_array().unwrap().len();
    assert_eq!(listed, 3, "{answer}");
    true
}
