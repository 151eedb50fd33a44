//! Profile `skills-mcp`: six tools that answer with JSON as text.

use super::{error, names, only_text, serve_as, text, tools};
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::{Session, write_files};
use tempfile::TempDir;

const AUTH: &str = "---\nkeywords: [react, auth]\ndescription: React authentication\nassets: [a.txt]\nscripts: [{file: s.sh, execution: server}]\n---\n\nKeep tokens out of local storage.\n";

fn content() -> TempDir {
    library(&[("ui/react/auth.md", AUTH), ("ui/react/auth/a.txt", "A\n"), ("ui/react/auth/s.sh", "echo ok\n")])
}

fn start(folder: &TempDir) -> Session {
    serve_as("skills-mcp", folder.path()).start()
}

#[test]
fn the_tools_have_the_documented_arguments() {
    let folder = content();
    let mut session = start(&folder);
    let tools = tools(&mut session);
    assert_eq!(
        names(&tools),
        ["get_skill", "list_skills", "get_asset", "run_script", "report_usage", "refresh_skills"]
    );
    // Each argument with its type, and the required ones.
    let expected = [
        (json!({"context": "string"}), json!(["context"])),
        (json!({"path": "string"}), Value::Null),
        (json!({"skill_path": "string", "file": "string"}), json!(["skill_path", "file"])),
        (
            json!({"skill_path": "string", "file": "string", "args": "object", "cwd": "string"}),
            json!(["skill_path", "file", "args"]),
        ),
        (json!({"skill_path": "string", "useful": "boolean", "comment": "string"}), json!(["skill_path", "useful"])),
        (json!({}), Value::Null),
    ];
    for (tool, (arguments, required)) in tools.iter().zip(expected) {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["required"], required, "{tool}");
        let properties = schema["properties"].as_object().unwrap();
        for (name, kind) in arguments.as_object().unwrap() {
            assert_eq!(&properties[name]["type"], kind, "{name} of {tool}");
        }
        // Other arguments are only those that this server adds.
        let added: Vec<&String> = properties.keys().filter(|name| arguments.get(name.as_str()).is_none()).collect();
        let allowed: &[&str] = match text(&tool["name"]) {
            "get_skill" => &["include_assets", "skill_path"],
            "run_script" => &["argv", "dry_run", "files", "outputs", "save_to", "stdin"],
            _ => &[],
        };
        assert_eq!(added, allowed, "{tool}");
        assert!(tool.get("outputSchema").is_none(), "{tool}");
    }
    let args = &tools[3]["inputSchema"]["properties"]["args"];
    assert_eq!(args["additionalProperties"], json!({"type": "string"}), "{args}");
}

#[test]
fn every_answer_is_one_text_with_json() {
    let folder = content();
    let mut session = start(&folder);
    for (tool, arguments, field) in [
        ("get_skill", json!({"context": "react auth"}), "content"),
        ("get_skill", json!({"context": "cooking"}), "no_match"),
        ("get_asset", json!({"skill_path": "ui/react/auth", "file": "a.txt"}), "size_bytes"),
        ("run_script", json!({"skill_path": "ui/react/auth", "file": "s.sh", "args": {}}), "exit_code"),
        ("report_usage", json!({"skill_path": "ui/react/auth", "useful": true}), "recorded"),
        ("refresh_skills", json!({}), "success"),
    ] {
        let result = session.call(tool, arguments);
        let answer: Value =
            serde_json::from_str(only_text(&result)).unwrap_or_else(|error| panic!("{error}: {result}"));
        assert!(answer.get(field).is_some(), "{tool}: {answer}");
    }
    let tree = session.call("list_skills", json!({}));
    let tree: Value = serde_json::from_str(only_text(&tree)).unwrap();
    assert_eq!(
        tree,
        json!([{"name": "auth", "path": "ui/react/auth", "description": "React authentication", "keywords": ["react", "auth"], "assetCount": 1, "scriptCount": 1, "children": []}])
    );
}

#[test]
fn feedback_is_logged_and_its_comment_only_if_enabled() {
    let folder = content();
    let comment = format!("Says nothing about\nlogout {}", "x".repeat(4_000));
    for include_text in [false, true] {
        let config = format!("analytics: {{enabled: true, include_text: {include_text}}}\n");
        let mut session = serve_as("skills-mcp", folder.path()).config(&config).start();
        let feedback = json!({"skill_path": "auth", "useful": false, "comment": comment});
        let recorded = session.call_json("report_usage", feedback);
        assert_eq!(recorded, json!({"recorded": true, "message": "Feedback recorded for ui/react/auth"}));
        session.wait_for_log("`ui/react/auth` was not useful");
        let log = session.log();
        let line = log.lines().find(|line| line.contains("not useful")).unwrap();
        assert_eq!(line.contains("about\\nlogout"), include_text, "on one line, or not logged: {line}");
        assert!(line.len() < 500, "the comment is cut: {line}");
    }
}

#[test]
fn a_refresh_counts_the_skills_on_disk() {
    let folder = content();
    let mut session = start(&folder);
    let local = |skills: usize| {
        json!({
            "success": true,
            "mode": "local",
            "skills_reindexed": skills,
            "message": "Reindexed from local directory (no git sync configured).",
        })
    };
    assert_eq!(session.call_json("refresh_skills", json!({})), local(1));
    write_files(folder.path(), &[("api.md", AUTH), ("_root.md", AUTH)]);
    assert_eq!(session.call_json("refresh_skills", json!({})), local(3));
    std::fs::remove_dir_all(folder.path().join("ui")).unwrap();
    assert_eq!(session.call_json("refresh_skills", json!({})), local(2));
    let answer = session.call("refresh_skills", json!({"path": "ui"}));
    assert_eq!(error(&answer), (-32602, "path is not an argument of this tool"));
}

#[test]
fn a_concurrent_refresh_is_refused_immediately() {
    let folder = content();
    let mut session = start(&folder);
    for round in 0..20 {
        for number in 0..200 {
            write_files(folder.path(), &[(&format!("bulk/{round}-{number}.md"), AUTH)]);
        }
        let call = json!({"name": "refresh_skills", "arguments": {}});
        let ids = [session.post("tools/call", call.clone()), session.post("tools/call", call)];
        let answers = ids.map(|id| {
            let result = session.answer(&id)["result"].clone();
            serde_json::from_str::<Value>(only_text(&result)).unwrap()
        });
        assert!(answers.iter().any(|answer| answer["success"] == true), "{answers:?}");
        // The second refresh overlaps the first only by chance, but not never in twenty rounds.
        if let Some(second) = answers.iter().find(|answer| answer["success"] == false) {
            assert_eq!(*second, json!({"success": false}));
            return;
        }
    }
    panic!("no refresh was refused because of another one");
}
