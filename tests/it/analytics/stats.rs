//! `skillcell stats`: what was used on this machine.

use super::{NEVER, SKILLS, analytics_folder, feedback, home, launch, stats};
use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::Launch;
use skillcell_tests::http::call;
use std::path::Path;

fn stats_text(home: &Path) -> String {
    let output = Launch::bare(SKILLCELL).with_home(home).arg("stats").output();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn without_history_stats_explains_how_to_enable_it() {
    let home = library(&[]);
    let text = stats_text(home.path());
    assert!(text.contains("no history yet") && text.contains("analytics: {enabled: true}"), "{text}");
    assert!(text.contains(".config/skillcell/config.yaml"), "{text}");
    let stats_json = stats(home.path());
    assert_eq!((&stats_json["since"], &stats_json["skills"]), (&Value::Null, &json!([])));
    assert!(!analytics_folder(home.path()).exists(), "reading creates nothing");
}

#[test]
fn stats_counts_uses_and_the_tools_called_afterwards_in_the_session() {
    let (skills, home) = (library(&SKILLS), home("enabled: true"));
    let mut session = launch(skills.path(), home.path()).start();
    session.call("skills_list", json!({}));
    session.call("skill", json!({"name": "pdf"}));
    session.call("get_skill", json!({"context": "gardening"}));
    session.call("get_skill", json!({"context": "login"}));
    session.call("get_skill", json!({"context": "login form"}));
    for code in ["0", "1"] {
        session.call("run_script", json!({"skill_path": "ui/auth", "file": "check.sh", "args": {"code": code}}));
    }
    session.call("get_asset", json!({"skill_path": "ui/auth", "file": "logo.svg"}));
    feedback(&mut session, "words");
    drop(session);
    let mut other = launch(skills.path(), home.path()).start();
    other.call("read_skill", json!({"name": "pdf"}));
    other.call("skills_search", json!({"query": "login"}));
    let mut stats_json = stats(home.path());
    let take_last_used = |skill: &mut Value| {
        let used = skill["last_used"].take();
        assert_eq!(used.as_str().unwrap().len(), 24, "{used}");
    };
    stats_json["skills"].as_array_mut().unwrap().iter_mut().for_each(take_last_used);
    stats_json["since"].take();
    let pdf = json!({
        "skill_path": "pdf", "served": 2, "last_used": null, "useful": 1, "not_useful": 0, "assets_served": 0,
        "scripts_run": 0, "scripts_failed": 0,
        "tools_after": {"get_asset": 1, "get_skill": 3, "report_usage": 1, "run_script": 2, "skills_search": 1}
    });
    let auth = json!({
        "skill_path": "ui/auth", "served": 1, "last_used": null, "useful": 0, "not_useful": 0, "assets_served": 1,
        "scripts_run": 2, "scripts_failed": 1,
        "tools_after": {"get_asset": 1, "report_usage": 1, "run_script": 2}
    });
    let expected = json!({
        "since": null, "skills": [pdf, auth], "no_match": 1, "ambiguous": 1, "events_waiting": 0, "events_dropped": 0
    });
    assert_eq!(stats_json, expected);
    assert!(!analytics_folder(home.path()).join("waiting").exists(), "without an endpoint nothing waits for one");
    let text = stats_text(home.path());
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][0], "skill", "{text}");
    assert_eq!((rows[1][0], rows[1][1]), ("pdf", "2"), "{text}");
    assert_eq!((rows[2][0], rows[2][6], rows[2][7]), ("ui/auth", "2", "1"), "{text}");
    assert!(text.contains(": no match 1, ambiguous 1\nevents: 0 waiting, 0 dropped\n"), "{text}");
}

#[test]
fn over_http_a_session_is_identified_by_its_id_or_else_the_client_name() {
    let (skills, home) = (library(&SKILLS), home(&format!("enabled: true, {NEVER}")));
    let server = launch(skills.path(), home.path()).http();
    let with_session = |session: &str, tool: &str, arguments: &Value| {
        let request = server.message("2025-11-25", &call(1, tool, arguments));
        assert_eq!(request.header("Mcp-Session-Id", session).reply().status, 200);
    };
    let with_client_name = |name: &str, tool: &str, arguments: &Value| {
        let mut message = call(1, tool, arguments);
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        });
        assert_eq!(server.message("2026-07-28", &message).reply().status, 200);
    };
    with_session("one", "skill", &json!({"name": "pdf"}));
    with_session("two", "list_skills", &json!({}));
    with_session("one", "skills_list", &json!({}));
    with_client_name("three", "skill", &json!({"name": "ui/auth"}));
    with_client_name("four", "skills_search", &json!({"query": "login"}));
    with_client_name("three", "list_skills", &json!({}));
    let stats_json = stats(home.path());
    let tools_after =
        |skill: usize| (&stats_json["skills"][skill]["skill_path"], &stats_json["skills"][skill]["tools_after"]);
    assert_eq!(tools_after(0), (&json!("pdf"), &json!({"skills_list": 1})), "{stats_json}");
    assert_eq!(tools_after(1), (&json!("ui/auth"), &json!({"list_skills": 1})), "{stats_json}");
}
