//! Several servers on one machine with the same roots and the same home folder.

use crate::SKILLCELL;
use crate::resources::{bytes, read, skill};
use crate::subscriptions::wait_until_announcing;
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, component, repository, write_files};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs of each script on each server.
const RUNS: usize = 4;

/// One script in each language, and one for a runtime that has to be compiled.
const SCRIPTS: [(&str, &str); 4] = [
    ("a.py", "import os\nprint('python', os.environ['SKILL_ARG_N'])\n"),
    ("a.mjs", "console.log('javascript', process.env.SKILL_ARG_N)\n"),
    ("a.sh", "echo \"shell $SKILL_ARG_N\"\n"),
    ("a.js", "anything"),
];

/// Creates a library and a home for four servers. The operator has replaced a runtime with a component.
fn shared() -> (TempDir, TempDir) {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let from = repository().join("fixtures/skills");
    assert!(Command::new("cp").arg("-R").arg(from).arg(folder.path().join("skills")).status().unwrap().success());
    let declared: String =
        SCRIPTS.iter().map(|(file, _)| format!("  - {{file: {file}, execution: server, description: d}}\n")).collect();
    let document = format!("---\nname: tool\ndescription: Scripts\nscripts:\n{declared}---\n");
    write_files(&folder.path().join("skills/tool"), &[("SKILL.md", document.as_str())]);
    write_files(&folder.path().join("skills/tool"), &SCRIPTS);
    let config = format!("scripts: {{runners: {{.js: {}}}}}", component("echo-runtime").display());
    write_files(home.path(), &[(".config/skillcell/config.yaml", &config)]);
    (folder, home)
}

fn launch(folder: &Path, home: &Path) -> Launch {
    Launch::new(SKILLCELL).arg(folder).with_home(home)
}

fn audit(home: &Path, arguments: &[&str]) -> String {
    let launch = Launch::bare(SKILLCELL).with_home(home).arg("audit");
    let output = arguments.iter().fold(launch, Launch::arg).output();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns everything that a client can see of the skills.
fn all_lists(session: &mut Session) -> Value {
    let lists = [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("skills/list", "skills"),
    ];
    lists.map(|(method, field)| session.all(method, field)).into_iter().flatten().collect()
}

#[test]
fn four_servers_share_roots_and_home() {
    let (folder, home) = shared();
    // All at the same time, with an empty home.
    let mut servers: Vec<Session> = [true, false, true, false]
        .map(|handshake| {
            let launch = launch(folder.path(), home.path());
            if handshake { launch.silent() } else { launch.modern() }
        })
        .into();
    for server in servers.iter_mut().filter(|server| !server.is_stateless()) {
        server.initialize("2025-11-25");
    }
    let mut posted: Vec<(usize, Value, String)> = Vec::new();
    for run in 0..RUNS {
        for (index, server) in servers.iter_mut().enumerate() {
            for (file, _) in SCRIPTS {
                let n = format!("{index}-{run}");
                let arguments = json!({"skill_path": "tool", "file": file, "args": {"n": n}});
                let id = server.post("tools/call", json!({"name": "run_script", "arguments": arguments}));
                let expected = match file {
                    "a.py" => format!("python {n}\n"),
                    "a.mjs" => format!("javascript {n}\n"),
                    "a.sh" => format!("shell {n}\n"),
                    _ => "/skill/a.js: anything".to_owned(),
                };
                posted.push((index, id, expected));
            }
        }
    }
    // In the meantime each answers other requests, and all answers are the same.
    let seen: Vec<Value> = servers.iter_mut().map(all_lists).collect();
    assert!(seen[0].as_array().unwrap().len() > 40, "{}", seen[0]);
    assert!(seen.iter().all(|other| *other == seen[0]), "the answers differ");
    for (index, id, expected) in &posted {
        let answer = servers[*index].answer(id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let result: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(result["stdout"], *expected, "server {index}: {result}");
    }
    let runs = posted.len();
    assert_eq!(audit(home.path(), &["verify"]), format!("{} lines: the record is intact\n", 2 * runs));
    let audit_lines = audit(home.path(), &["--json", "--last", "1000"]);
    let mut lines: Vec<Value> = audit_lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["kind"] != "run-begin");
    assert!(lines.iter().all(|line| line["kind"] == "run"), "{audit_lines}");
    for (file, _) in SCRIPTS {
        assert_eq!(lines.iter().filter(|line| line["script"] == file).count(), 4 * RUNS, "{file}");
    }
    let native = home.path().join(".cache/skillcell/native");
    let cached: Vec<_> = std::fs::read_dir(native).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(cached.len(), 1, "one component, compiled code once: {cached:?}");
}

#[test]
fn a_change_on_disk_reaches_every_server_and_a_kill_affects_only_one() {
    let (folder, home) = shared();
    let start = |handshake: bool| {
        let launch = launch(folder.path(), home.path()).arg("--verbose");
        if handshake { launch.start() } else { launch.modern() }
    };
    let mut servers: Vec<Session> = [true, false, true, false].map(start).into();
    for server in &mut servers {
        server.result("prompts/list", json!({}));
        if server.is_stateless() {
            server.post("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
            server.notification("notifications/subscriptions/acknowledged");
        }
        wait_until_announcing(server);
    }
    write_files(folder.path(), &[("skills/new/SKILL.md", &skill("new", "for all"))]);
    for server in &mut servers {
        server.notification("notifications/tools/list_changed");
        assert_eq!(bytes(&read(server, "skill://new")), skill("new", "for all").as_bytes());
    }
    // One is killed during a run; the others and the record are not affected.
    let arguments = |file: &str| json!({"name": "run_script", "arguments": {"skill_path": "tool", "file": file, "args": {"n": "1"}}});
    servers[0].post("tools/call", arguments("a.py"));
    drop(servers.remove(0));
    for server in &mut servers {
        let answer = server.result("tools/call", arguments("a.sh"));
        assert!(answer["content"][0]["text"].as_str().unwrap().contains("shell 1"), "{answer}");
    }
    let verified = audit(home.path(), &["verify"]);
    assert!(verified.ends_with(" lines: the record is intact\n"), "{verified}");
    let audit_lines = audit(home.path(), &["--json"]);
    let has_run = |line: &&str| line.contains("\"kind\":\"run\"") && line.contains("\"a.sh\"");
    assert_eq!(audit_lines.lines().filter(has_run).count(), 3, "{audit_lines}");
}
