//! The engine as a component that can be replaced, and that may crash without taking the server down.

use crate::freshness::paused;
use crate::{SMALL, library, problems, serve};
use serde_json::{Value, json};
use skillcell_tests::{Session, component, write_files};
use std::path::Path;

fn with_fragile_engine(folder: &Path) -> Session {
    serve(folder).arg("--verbose").arg("--engine").arg(component("fragile-engine")).start()
}

fn skill(body: &str) -> String {
    format!("---\nkeywords: [bad]\ndescription: d\n---\n{body}\n")
}

#[test]
fn a_file_that_crashes_the_engine_is_quarantined_and_the_others_are_served() {
    let library = library(&SMALL);
    write_files(
        library.path(),
        &[
            ("a-crash.md", &skill("fragile: crash")),
            ("b-spin.md", &skill("fragile: spin")),
            ("z/memory.md", &skill("fragile: eat memory")),
        ],
    );
    let mut session = with_fragile_engine(library.path());
    assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["skill_path"], "forms");
    let expected = [
        ("a-crash.md", "the engine crashed on this file"),
        ("b-spin.md", "the engine did not finish this file in time"),
        ("z/memory.md", "this file needs more memory than the engine has for one"),
    ];
    assert_eq!(
        problems(&mut session, "message"),
        expected.map(|(file, message)| (file.to_owned(), message.to_owned()))
    );
}

#[test]
fn a_quarantined_file_is_retried_when_it_changes() {
    let library = library(&SMALL);
    let mut session = with_fragile_engine(library.path());
    assert_eq!(problems(&mut session, "message"), []);
    write_files(library.path(), &[("bad.md", &skill("fragile: crash"))]);
    assert_eq!(problems(&mut session, "message").len(), 1);
    assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["skill_path"], "forms");
    write_files(library.path(), &[("bad.md", &skill("mended"))]);
    assert_eq!(problems(&mut session, "message"), []);
    assert_eq!(
        session.call_json("get_skill", json!({"context": "bad"}))["content"],
        "=== BAD (from bad.md) ===\n\nmended"
    );
}

#[test]
fn each_file_that_crashes_the_engine_costs_one_engine() {
    const FILES: usize = 60;
    let library = library(&SMALL);
    for number in 0..FILES {
        write_files(
            library.path(),
            &[(&format!("folder{}/crash{number}.md", number % 16), &skill(&format!("fragile: crash {number}")))],
        );
        write_files(library.path(), &[(&format!("folder{}/fine{number}.md", number % 16), &skill("fine"))]);
    }
    let mut session = with_fragile_engine(library.path());
    assert_eq!(session.all_skills().len(), FILES + 2);
    let crashes = |log: &str| log.matches("crashed in `update`").count();
    session.wait_for_log_that("a crash for each file", |log| crashes(log) >= FILES);
    let crashes = crashes(&session.log());
    assert!(crashes < FILES + 10, "{crashes} crashes for {FILES} files");
}

#[test]
fn a_failed_rebuild_changes_nothing_until_the_next_one_succeeds() {
    let library = library(&SMALL);
    let mut session = with_fragile_engine(library.path());
    let list = session.call_json("skills_list", json!({}));
    let failures = |log: &str| log.matches("the catalog stays as it was").count();
    for (round, edition) in (1..).zip(["first", "second"]) {
        // Earlier log lines come before the line of a feedback.
        session.call("report_usage", json!({"skill_path": "forms", "useful": true}));
        session.wait_for_log_that("feedback", |log| log.matches("feedback:").count() == round);
        let before = failures(&session.log());
        // No engine can be built while this file exists.
        write_files(library.path(), &[("stubborn.md", &skill(&format!("fragile: crash {edition}")))]);
        session.wait_for_log_that("a failure", |log| failures(log) > before);
        for number in 0..3 {
            assert_eq!(session.call_json("skills_list", json!({})), list);
            // Single skills are still fresh.
            let text = format!("The {edition} text, {number}.");
            let edited = SMALL.map(|(file, before)| {
                let (front, _) = before.rsplit_once("\n\n").unwrap();
                (file, format!("{front}\n\n{text}\n"))
            });
            for (file, text) in &edited {
                write_files(library.path(), &[(file, text)]);
            }
            let question = json!({"context": "form validation"});
            let found = session.fresh(|session| session.call_json("get_skill", question.clone()));
            assert!(found["skill_path"] == "forms" && found["content"].as_str().unwrap().ends_with(&text), "{found}");
            let served = session.fresh(|session| session.call("skill", json!({"name": "pdf"})));
            assert!(served["content"][0]["text"].as_str().unwrap().ends_with(&format!("{text}\n")), "{served}");
        }
        write_files(library.path(), &[("stubborn.md", &skill("mended"))]);
        let fixed = session.fresh(|session| session.call_json("skills_list", json!({})));
        assert_eq!(fixed["skills"].as_array().unwrap().len(), 3, "{fixed}");
        assert_eq!(fixed.get("problems"), None, "no other file is reported");
        std::fs::remove_file(library.path().join("stubborn.md")).unwrap();
        assert_eq!(session.fresh(|session| session.call_json("skills_list", json!({}))), list);
    }
}

#[test]
fn an_engine_that_crashes_on_a_request_is_replaced() {
    let library = library(&SMALL);
    write_files(library.path(), &[("trap.md", &skill("fragile: break when asked"))]);
    let mut session = with_fragile_engine(library.path());
    for _ in 0..5 {
        let answer = session.call("get_skill", json!({"context": "x", "skill_path": "trap"}));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["skill_path"], "forms");
    }
    session.wait_for_log("a new engine replaces it");
}

#[test]
fn a_slow_request_does_not_block_others() {
    let library = library(&SMALL);
    write_files(library.path(), &[("slow.md", &skill("fragile: hang when asked"))]);
    let mut session = with_fragile_engine(library.path());
    // Both engines must be there before one of them is kept busy.
    session.call_json("skills_list", json!({}));
    paused::both_engines_read(&session);
    let slow =
        session.post("tools/call", json!({"name": "get_skill", "arguments": {"context": "x", "skill_path": "slow"}}));
    let quick = session.post("tools/call", json!({"name": "get_skill", "arguments": {"context": "form validation"}}));
    assert_eq!(session.next_message()["id"], quick, "the quick answer comes first");
    let answer = session.answer(&slow);
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("was stopped in `find` after 5000 ms"), "{answer}");
}

#[test]
fn a_slow_rebuild_does_not_block_requests() {
    let library = library(&SMALL);
    let mut session = paused::serve(&[library.path()], |launch| launch);
    paused::pause(library.path());
    let slow = paused::begin_rebuild(&mut session);
    let question = json!({"name": "get_skill", "arguments": {"context": "form validation"}});
    let quick = [(); 20].map(|()| session.post("tools/call", question.clone()));
    for id in &quick {
        assert!(session.answer(id)["result"].is_object());
    }
    assert!(!session.is_answered(&slow), "the rebuild was done first");
    paused::resume(library.path());
    let listed = session.answer(&slow)["result"]["structuredContent"]["skills"].as_array().unwrap().len();
    assert!(listed >= 2, "{listed} skills");
}

#[test]
fn a_file_that_the_engine_never_finishes_is_quarantined_during_a_rebuild() {
    let library = library(&SMALL);
    let mut session = with_fragile_engine(library.path());
    session.call_json("skills_list", json!({}));
    write_files(library.path(), &[("spin.md", &skill("fragile: spin"))]);
    session.call_json("skills_list", json!({}));
    session.wait_for_log("generation 2: 2 skills");
    assert_eq!(problems(&mut session, "message").len(), 1);
}

#[test]
fn concurrent_requests_that_crash_engines_do_not_end_the_service() {
    let library = library(&SMALL);
    write_files(library.path(), &[("trap.md", &skill("fragile: break when asked"))]);
    let mut session = with_fragile_engine(library.path());
    for _ in 0..5 {
        let question = json!({"name": "get_skill", "arguments": {"context": "x", "skill_path": "trap"}});
        let ids: Vec<Value> = (0..8).map(|_| session.post("tools/call", question.clone())).collect();
        for id in ids {
            assert_eq!(session.answer(&id)["error"]["code"], -32603);
        }
        assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["skill_path"], "forms");
    }
}

#[test]
fn another_engine_gives_the_same_answers() {
    let library = library(&SMALL);
    let question = json!({"context": "form validation"});
    let bundled = serve(library.path()).start().call_json("get_skill", question.clone());
    assert_eq!(with_fragile_engine(library.path()).call_json("get_skill", question), bundled);
}

#[test]
fn a_file_that_is_not_an_engine_is_refused_with_one_clear_message() {
    let library = library(&SMALL);
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("text.wasm", b"hello".to_vec(), "is not a WebAssembly component"),
        ("module.wasm", b"\0asm\x01\0\0\0".to_vec(), "is not a WebAssembly component"),
        ("empty.wasm", b"\0asm\x0d\0\x01\0".to_vec(), "exports nothing instead of `skillcell:plugin/catalog@0.1.1`"),
        ("other.wasm", exporting("acme:thing/run@1.0.0"), "exports `acme:thing/run@1.0.0`"),
        ("newer.wasm", exporting("skillcell:plugin/catalog@0.2.0"), "is built for `skillcell:plugin/catalog@0.2.0`"),
    ];
    for (name, bytes, message) in cases {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        refuses(library.path(), &file, message);
    }
    refuses(library.path(), &folder.path().join("missing.wasm"), "cannot be read");
}

fn refuses(library: &Path, engine: &Path, message: &str) {
    let mut session = serve(library).arg("--engine").arg(engine).silent();
    let (status, _) = session.wait();
    assert_eq!(status.code(), Some(2), "{}", engine.display());
    session.wait_for_log(message);
    session.wait_for_log("hint: ");
    assert_eq!(session.log().lines().filter(|line| line.contains("ERROR")).count(), 1, "{}", session.log());
}

/// The smallest component that exports an empty instance under a name.
fn exporting(name: &str) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    bytes.extend([5, 3, 1, 1, 0]);
    bytes.extend([11, length + 6, 1, 0, length]);
    bytes.extend(name.as_bytes());
    bytes.extend([5, 0, 0]);
    bytes
}
