//! Which calls raise which events, and what is in them.

use super::{NEVER, SKILLS, analytics_folder, feedback, home, home_for, launch, waiting, waiting_files};
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::endpoint::Endpoint;
use skillcell_tests::{Session, component, files_below, write_files};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Sends a request, and returns its result and the events on disk right after it.
fn result_and_events(session: &mut Session, home: &Path, method: &str, params: Value) -> (Value, Vec<Value>) {
    let before = waiting(home).len();
    let answer = session.result(method, params);
    let mut events = waiting(home).split_off(before);
    for event in &mut events {
        let id = event["id"].as_str().unwrap();
        assert!(id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{event}");
        let time = event["timestamp"].as_str().unwrap();
        assert!(time.len() == 24 && time.ends_with('Z') && &time[10..11] == "T" && &time[19..20] == ".", "{event}");
        assert_eq!(event["server_id"], "dev-tester");
        assert_eq!(event.as_object().unwrap().len(), 5, "{event}");
    }
    (answer, events.iter().map(|event| json!({"type": event["type"], "data": event["data"]})).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
fn tool(name: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

fn served(skill: &str) -> Value {
    let data =
        json!({"context": null, "skill_path": skill, "score": null, "matched_keywords": [], "was_ambiguous": false});
    json!({"type": "skill_served", "data": data})
}

fn asset(skill: &str, file: &str, kind: &str, is_inherited: bool, size: usize) -> Value {
    let data = json!({
        "skill_path": skill, "file": file, "asset_type": kind, "is_inherited": is_inherited, "size_bytes": size
    });
    json!({"type": "asset_served", "data": data})
}

#[test]
fn every_call_writes_its_event_to_disk_before_the_answer() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, NEVER);
    let mut session = launch(skills.path(), home.path()).arg("--scorer").arg("keyword").start();
    let matched = |was_ambiguous: bool| {
        let data = json!({
            "context": null, "skill_path": "ui/auth", "score": 1.0, "matched_keywords": ["login", "form"],
            "was_ambiguous": was_ambiguous
        });
        json!({"type": "skill_served", "data": data})
    };
    let ambiguous = json!({"context": null, "candidates": ["api/auth", "ui/auth"]});
    let feedback_data = json!({"skill_path": "pdf", "useful": false, "comment": null});
    let (login_form, pdf) = (json!({"context": "a login form"}), json!({"name": "pdf"}));
    let cases: Vec<((&str, Value), Vec<Value>)> = vec![
        (
            tool("get_skill", json!({"context": "gardening"})),
            vec![json!({"type": "no_match", "data": {"context": null}})],
        ),
        (tool("get_skill", json!({"context": "login"})), vec![json!({"type": "ambiguous", "data": ambiguous})]),
        (tool("get_skill", login_form), vec![matched(false)]),
        (tool("get_skill", json!({"context": "login form", "skill_path": "ui/auth"})), vec![matched(true)]),
        (tool("get_skill", json!({"context": "login", "skill_path": "nowhere"})), vec![]),
        (tool("skill", pdf.clone()), vec![served("pdf")]),
        (tool("read_skill", pdf.clone()), vec![served("pdf")]),
        (tool("skill", json!({"name": "nowhere"})), vec![]),
        (("prompts/get", json!({"name": "skill", "arguments": pdf})), vec![served("pdf")]),
        (("prompts/get", json!({"name": "pdf"})), vec![served("pdf")]),
        (("resources/read", json!({"uri": "skill://pdf/SKILL.md"})), vec![served("pdf")]),
        (("resources/read", json!({"uri": "skill://pdf"})), vec![served("pdf")]),
        (("resources/read", json!({"uri": "skill://pdf/"})), vec![served("pdf")]),
        (
            ("resources/read", json!({"uri": "skill://pdf/notes/a.txt"})),
            vec![asset("pdf", "notes/a.txt", "other", false, 3)],
        ),
        (
            tool("get_asset", json!({"skill_path": "ui/auth", "file": "logo.svg"})),
            vec![asset("ui/auth", "logo.svg", "image", false, 6)],
        ),
        (
            tool("get_asset", json!({"skill_path": "ui/auth", "file": "base.css"})),
            vec![asset("ui/auth", "base.css", "template", true, 8)],
        ),
        (tool("get_asset", json!({"skill_path": "ui/auth", "file": "nowhere"})), vec![]),
        (
            tool("skill-resource", json!({"skill": "pdf", "path": "notes/a.txt"})),
            vec![asset("pdf", "notes/a.txt", "other", false, 3)],
        ),
        (
            tool("skill-resource", json!({"skill": "pdf", "path": "notes"})),
            vec![asset("pdf", "notes/a.txt", "other", false, 3)],
        ),
        (tool("skill-resource", json!({"skill": "pdf", "path": ""})), vec![]),
        (
            tool("report_usage", json!({"skill_path": "pdf", "useful": false, "comment": "secret"})),
            vec![json!({"type": "skill_feedback", "data": feedback_data})],
        ),
        (tool("report_usage", json!({"skill_path": "nowhere", "useful": true})), vec![]),
        (tool("skills_list", json!({})), vec![]),
        (tool("skills_search", json!({"query": "login"})), vec![]),
        (tool("list_skills", json!({})), vec![]),
        (("resources/subscribe", json!({"uri": "skill://pdf"})), vec![]),
        (("prompts/list", json!({})), vec![]),
    ];
    for ((method, params), expected) in cases {
        let (answer, events) = result_and_events(&mut session, home.path(), method, params.clone());
        assert_eq!(events, expected, "{method} {params}: {answer}");
    }
    for file in waiting_files(home.path()) {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(endpoint.received().requests.len(), 0, "nothing is sent before its time");
}

#[test]
fn script_runs_and_refreshes_raise_events_with_their_outcome() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, NEVER);
    let mut session = launch(skills.path(), home.path()).start();
    for code in [0, 3] {
        let arguments =
            json!({"skill_path": "ui/auth", "file": "check.sh", "args": {"code": code.to_string(), "other": "secret"}});
        let (method, params) = tool("run_script", arguments.clone());
        let (answer, events) = result_and_events(&mut session, home.path(), method, params);
        let answer: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
        let data = json!({
            "skill_path": "ui/auth", "file": "check.sh", "execution_mode": "server", "success": code == 0,
            "exit_code": code, "duration_ms": answer["duration_ms"], "args_provided": ["code", "other"]
        });
        assert_eq!(events, [json!({"type": "script_executed", "data": data})], "{answer}");
        let mut dry = arguments.clone();
        dry["dry_run"] = json!(true);
        let mut refused = arguments;
        refused["file"] = json!("logo.svg");
        for eventless in [dry, refused] {
            let (method, params) = tool("run_script", eventless);
            assert_eq!(result_and_events(&mut session, home.path(), method, params).1, Vec::<Value>::new());
        }
    }
    let (method, params) = tool("refresh_skills", json!({}));
    let (answer, events) = result_and_events(&mut session, home.path(), method, params);
    let answer: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    let data = json!({
        "mode": "local", "success": true, "commit_hash": null, "files_changed": null,
        "skills_reindexed": answer["skills_reindexed"]
    });
    assert_eq!(events, [json!({"type": "refresh", "data": data})]);
}

#[test]
fn a_refresh_that_cannot_reload_is_reported_and_counted_as_a_failure() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, NEVER);
    let mut session = launch(skills.path(), home.path()).arg("--engine").arg(component("fragile-engine")).start();
    session.call_json("skills_list", json!({}));
    // No engine can be built while this file exists.
    let stubborn = SKILLS[6].1.replace("Tokens.", "fragile: crash");
    write_files(skills.path(), &[("stubborn.md", &stubborn)]);
    let (method, params) = tool("refresh_skills", json!({}));
    let (answer, events) = result_and_events(&mut session, home.path(), method, params);
    let answer: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    let message = answer["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("The skills stay as they were, because they could not be reloaded: "), "{answer}");
    let expected = json!({"success": false, "mode": "local", "skills_reindexed": 0, "message": message});
    assert_eq!(answer, expected);
    let data = json!({
        "mode": "local", "success": false, "commit_hash": null, "files_changed": null, "skills_reindexed": 0
    });
    assert_eq!(events, [json!({"type": "refresh", "data": data})]);
    std::fs::remove_file(skills.path().join("stubborn.md")).unwrap();
    assert_eq!(session.call_json("refresh_skills", json!({}))["success"], true);
}

/// Returns everything that analytics wrote, concatenated.
fn everything_written(home: &Path) -> String {
    let text = |file: &PathBuf| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
    files_below(&analytics_folder(home)).iter().map(text).collect()
}

#[test]
fn free_text_is_written_only_if_enabled_and_argument_values_never() {
    for (is_enabled, more) in [(false, NEVER.to_owned()), (true, format!("{NEVER}, include_text: true"))] {
        let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
        let home = home_for(&endpoint, &more);
        let mut session = launch(skills.path(), home.path()).start();
        for context in ["login free-text", "login form free-text", "gardening free-text"] {
            session.call("get_skill", json!({"context": context}));
        }
        feedback(&mut session, "free-text");
        let arguments = json!({"code": "0", "token": "private-value"});
        session.call("run_script", json!({"skill_path": "ui/auth", "file": "check.sh", "args": arguments}));
        session.call("skills_search", json!({"query": "private-value"}));
        let written = everything_written(home.path());
        assert_eq!(written.matches("free-text").count(), if is_enabled { 4 } else { 0 }, "{written}");
        assert!(!written.contains("private-value"), "{written}");
        assert!(written.contains("\"token\"") && written.contains("skills_search"), "names are recorded: {written}");
        let history = std::fs::read_to_string(analytics_folder(home.path()).join("history.jsonl")).unwrap();
        assert!(!history.contains("free-text"), "{history}");
    }
}

#[test]
fn nothing_is_written_or_sent_unless_the_operator_enables_it() {
    let endpoint = Endpoint::start();
    let in_content = format!("analytics:\n  enabled: true\n  endpoint: {}\n", endpoint.url());
    let skills = library(&SKILLS);
    skillcell_tests::write_files(skills.path(), &[("config.yaml", &in_content)]);
    let off = [String::new(), "enabled: false".to_owned(), format!("enabled: false, endpoint: \"{}\"", endpoint.url())];
    for analytics in off {
        let home = home(&analytics);
        let mut session = launch(skills.path(), home.path()).start();
        feedback(&mut session, "anything");
        session.close_input();
        assert!(session.wait().0.success());
        assert!(!analytics_folder(home.path()).exists(), "{analytics}");
    }
    assert_eq!(endpoint.received().requests.len(), 0);
}

#[test]
fn an_endpoint_in_the_environment_enables_sending() {
    let (skills, endpoint, home) =
        (library(&SKILLS), Endpoint::start(), home("enabled: false, interval_seconds: 0.02"));
    let mut session = launch(skills.path(), home.path()).env("ANALYTICS_ENDPOINT", &endpoint.url()).start();
    feedback(&mut session, "anything");
    let received = endpoint.wait("the event", |received| !received.taken.is_empty());
    let head = received.heads[0].to_ascii_lowercase();
    assert!(head.starts_with("post /secret-path?key=secret-key http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
    let body = &received.requests[0];
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["events"], "{body}");
}

#[test]
fn invalid_settings_are_reported_with_file_and_line_but_no_secrets() {
    let skills = library(&SKILLS);
    for (yaml, line, part) in [
        ("analytics:\n  endpoint: ftp://a.example/secret\n", ":2:", "must begin with `http://` or `https://`"),
        ("analytics:\n  enabled: true\n  endpoint: https://me:secret@a.example/\n", ":3:", "user name or password"),
        ("analytics:\n  interval_seconds: 0\n", ":2:", "from 0.01 to 86400"),
        ("analytics:\n  buffer_max_bytes: 10\n", ":2:", "at least 65536"),
        ("analytics:\n  endpoints: x\n", ":2:", "unknown field `endpoints`"),
        ("analytics:\n  enabled: perhaps\n", ":2:", "invalid type"),
    ] {
        let home = library(&[(".config/skillcell/config.yaml", yaml)]);
        let output = launch(skills.path(), home.path()).output();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(&format!("config.yaml{line}")) && stderr.contains(part), "{yaml}: {stderr}");
        assert!(!stderr.contains("secret"), "{stderr}");
    }
    let home = home("");
    let output = launch(skills.path(), home.path()).env("ANALYTICS_ENDPOINT", "ftp://a.example/secret").output();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("ANALYTICS_ENDPOINT must begin with") && !stderr.contains("secret"), "{stderr}");
}
