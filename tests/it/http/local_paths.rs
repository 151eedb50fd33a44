//! Answers over HTTP contain no local paths.

use super::{STATELESS, meta};
use crate::scripts::skill;
use crate::serve;
use serde_json::{Value, json};
use skillcell_tests::http::HttpServer;
use skillcell_tests::{Launch, write_files};
use std::path::Path;

/// Sends every kind of request, and returns all answers.
fn all_answers(server: &HttpServer) -> String {
    let mut answers = String::new();
    let mut ask = |method: &str, mut params: Value| {
        params["_meta"] = meta();
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        answers.push_str(&server.message(STATELESS, &message).reply().body);
        answers.push('\n');
    };
    for method in ["server/discover", "tools/list", "prompts/list", "resources/list", "skills/list"] {
        ask(method, json!({}));
    }
    ask("prompts/get", json!({"name": "tool"}));
    ask("prompts/get", json!({"name": "nobody"}));
    for uri in ["skill://tool", "skill://tool/", "skill://tool/SKILL.md", "skill://tool/a.sh", "skill://tool/none"] {
        ask("resources/read", json!({"uri": uri}));
        ask("skills/get", json!({"uri": uri}));
        ask("resources/directory/read", json!({"uri": uri}));
    }
    let run = |file: &str, more: Value| {
        let mut arguments = json!({"skill_path": "tool", "file": file, "args": {}});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("run_script", arguments)
    };
    for (tool, arguments) in [
        ("skill", json!({"name": "tool"})),
        ("read_skill", json!({"name": "tool"})),
        ("skill-resource", json!({"skill": "tool", "path": ""})),
        ("skill-resource", json!({"skill": "tool", "path": "none"})),
        ("skills_list", json!({"includeBody": true})),
        ("skills_search", json!({"query": "tool"})),
        ("get_skill", json!({"context": "tool", "skill_path": "tool", "include_assets": true})),
        ("list_skills", json!({})),
        ("get_asset", json!({"skill_path": "tool", "file": "a.sh"})),
        ("get_asset", json!({"skill_path": "tool", "file": "gone.txt"})),
        ("report_usage", json!({"skill_path": "tool", "useful": true})),
        ("refresh_skills", json!({})),
        ("query", json!({"query": "x", "integration": "github"})),
        run("a.sh", json!({})),
        run("a.sh", json!({"cwd": "/"})),
        run("a.sh", json!({"dry_run": true, "cwd": "/"})),
        run("a.sh", json!({"dry_run": true, "cwd": server.session.home()})),
        run("b.odd", json!({})),
        run("b.odd", json!({"dry_run": true})),
    ] {
        ask("tools/call", json!({"name": tool, "arguments": arguments}));
    }
    answers
}

fn check(launch: Launch, library: &Path) {
    let server = launch.http();
    let answers = all_answers(&server);
    assert!(answers.matches("\"jsonrpc\"").count() > 30 && answers.contains("echo ran"), "{answers}");
    assert!(
        !answers.contains("commit_hash") || answers.contains("there is no repository at repository none"),
        "{answers}"
    );
    for path in [library, server.session.home(), Path::new("/opt/secret")] {
        let path = path.to_str().unwrap();
        let found = answers.lines().find(|line| line.contains(path));
        assert_eq!(found, None, "an answer contains {path}");
    }
}

#[test]
fn no_answer_contains_a_local_path() {
    let folder = skill(&[("a.sh", "echo ran\n"), ("b.odd", "x\n")]);
    write_files(folder.path(), &[("broken/SKILL.md", "---\nname: broken\n---\n")]);
    let config = "scripts: {allowed_extensions: [.sh, .odd], runners: {.odd: /opt/secret/odd.wasm}}\n\
               repos: [{url: /opt/secret/none}, {url: 'file:///opt/secret/gone.git'}]\n";
    for profile in ["unified", "skilljack", "ccski", "sx", "skills-mcp"] {
        let launch = serve(folder.path()).arg("--tools").arg(TOOLS).arg("--profile").arg(profile).config(config);
        check(launch, folder.path());
    }
    // The path of an unwritable audit record is reported only to the operator.
    let launch = serve(folder.path());
    let data_folder = launch.home().join("data");
    std::fs::write(&data_folder, "no folder").unwrap();
    let data_folder = data_folder.to_str().unwrap().to_owned();
    check(launch.env("XDG_DATA_HOME", &data_folder), folder.path());
}

const TOOLS: &str = "skill,skill-resource,skills_list,skills_search,read_skill,query,get_skill,list_skills,get_asset,\
                     run_script,report_usage,refresh_skills";
