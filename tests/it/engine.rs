//! The engine as a part that can be exchanged, and that may break without taking the server along.

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
fn a_file_that_breaks_the_engine_is_set_aside_and_the_others_are_served() {
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
fn a_file_set_aside_is_tried_again_when_it_changes() {
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
fn many_files_that_break_the_engine_cost_no_more_than_a_few() {
    let library = library(&SMALL);
    for number in 0..150 {
        write_files(
            library.path(),
            &[(&format!("folder{}/crash{number}.md", number % 40), &skill(&format!("fragile: crash {number}")))],
        );
        write_files(library.path(), &[(&format!("folder{}/fine{number}.md", number % 40), &skill("fine"))]);
    }
    let mut session = with_fragile_engine(library.path());
    let list = session.call_json("skills_list", json!({}));
    assert_eq!(list["skills"].as_array().unwrap().len(), 152);
    let fresh_engines = session.log().matches("crashed in `update`").count();
    assert!((150..160).contains(&fresh_engines), "{fresh_engines} crashes for 150 files");
}

#[test]
fn a_rebuild_that_fails_leaves_everything_as_it_was_until_the_next_succeeds() {
    let library = library(&SMALL);
    let mut session = with_fragile_engine(library.path());
    let list = session.call_json("skills_list", json!({}));
    let failures = |log: &str| log.matches("the catalog stays as it was").count();
    for (round, edition) in (1..).zip(["first", "second"]) {
        // What was logged before a feedback is in the log before its line.
        session.call("report_usage", json!({"skill_path": "forms", "useful": true}));
        session.wait_for_log_that("feedback", |log| log.matches("feedback:").count() == round);
        let before = failures(&session.log());
        // No engine can be built as long as it is there.
        write_files(library.path(), &[("stubborn.md", &skill(&format!("fragile: crash {edition}")))]);
        session.wait_for_log_that("a failure", |log| failures(log) > before);
        for number in 0..3 {
            assert_eq!(session.call_json("skills_list", json!({})), list);
            // What is served is as new as ever.
            let text = format!("The {edition} text, {number}.");
            let edited = SMALL.map(|(file, before)| {
                let (front, _) = before.rsplit_once("\n\n").unwrap();
                (file, format!("{front}\n\n{text}\n"))
            });
            for (file, text) in &edited {
                write_files(library.path(), &[(file, text)]);
            }
            let found = session.call_json("get_skill", json!({"context": "form validation"}));
            assert!(found["skill_path"] == "forms" && found["content"].as_str().unwrap().ends_with(&text), "{found}");
            let served = session.call("skill", json!({"name": "pdf"}));
            assert!(served["content"][0]["text"].as_str().unwrap().ends_with(&format!("{text}\n")), "{served}");
        }
        write_files(library.path(), &[("stubborn.md", &skill("mended"))]);
        let mended = session.call_json("skills_list", json!({}));
        assert_eq!(mended["skills"].as_array().unwrap().len(), 3, "{mended}");
        assert_eq!(mended.get("problems"), None, "nobody else is blamed");
        std::fs::remove_file(library.path().join("stubborn.md")).unwrap();
        assert_eq!(session.call_json("skills_list", json!({})), list);
    }
}

#[test]
fn an_engine_that_breaks_on_a_question_is_replaced() {
    let library = library(&SMALL);
    write_files(library.path(), &[("trap.md", &skill("fragile: break when asked"))]);
    let mut session = with_fragile_engine(library.path());
    for _ in 0..5 {
        let answer = session.call("get_skill", json!({"context": "x", "skill_path": "trap"}));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["skill_path"], "forms");
    }
    session.wait_for_log("a fresh engine takes over");
}

#[test]
fn a_question_that_takes_long_holds_up_no_other() {
    let library = library(&SMALL);
    write_files(library.path(), &[("slow.md", &skill("fragile: hang when asked"))]);
    let mut session = with_fragile_engine(library.path());
    // Both engines must be there before one of them is kept busy.
    session.call_json("skills_list", json!({}));
    let slow =
        session.post("tools/call", json!({"name": "get_skill", "arguments": {"context": "x", "skill_path": "slow"}}));
    let quick = session.post("tools/call", json!({"name": "get_skill", "arguments": {"context": "form validation"}}));
    assert_eq!(session.next_message()["id"], quick, "the quick answer comes first");
    let answer = session.answer(&slow);
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("was stopped in `find` after 5000 ms"), "{answer}");
}

#[test]
fn a_rebuild_that_takes_long_holds_up_no_request() {
    let library = library(&SMALL);
    let mut session = with_fragile_engine(library.path());
    session.call_json("skills_list", json!({}));
    write_files(library.path(), &[("spin.md", &skill("fragile: spin"))]);
    let slow = session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
    session.wait_for_log("bringing in generation 2");
    let quick: Vec<Value> = (0..20)
        .map(|_| session.post("tools/call", json!({"name": "get_skill", "arguments": {"context": "form validation"}})))
        .collect();
    for _ in &quick {
        assert!(quick.contains(&session.next_message()["id"]), "the rebuild came first");
    }
    assert!(session.answer(&slow)["result"]["structuredContent"]["skills"].as_array().unwrap().len() >= 2);
    session.wait_for_log("generation 2: 2 skills");
    assert_eq!(problems(&mut session, "message").len(), 1);
}

#[test]
fn many_questions_that_break_engines_at_once_do_not_end_the_service() {
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
fn a_file_that_is_no_engine_is_refused_with_one_clear_message() {
    let library = library(&SMALL);
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("text.wasm", b"hello".to_vec(), "is no WebAssembly component"),
        ("module.wasm", b"\0asm\x01\0\0\0".to_vec(), "is no WebAssembly component"),
        ("empty.wasm", b"\0asm\x0d\0\x01\0".to_vec(), "is no engine: it exports nothing"),
        ("other.wasm", exporting("acme:thing/run@1.0.0"), "is no engine: it exports `acme:thing/run@1.0.0`"),
        (
            "newer.wasm",
            exporting("skillcell:plugin/catalog@0.2.0"),
            "is an engine for `skillcell:plugin/catalog@0.2.0`",
        ),
    ];
    for (name, bytes, message) in cases {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        refuses(library.path(), &file, message);
    }
    refuses(library.path(), &folder.path().join("missing.wasm"), "cannot read the engine");
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
