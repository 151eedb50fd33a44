//! `query` as far as it needs no service: arguments, repositories, tokens, and what the command line shows.

mod answers;
mod hostile;
mod misbehaving;
mod progress;
mod scene;
mod secrecy;
mod stage;

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session};
use std::path::Path;
use tempfile::TempDir;

/// A folder of skills in a repository that comes from GitHub.
fn project() -> TempDir {
    let folder = library(&crate::SMALL);
    let repository = git2::Repository::init(folder.path()).unwrap();
    repository.remote("origin", "https://me:SECRET@github.com/octo-org/hello.git").unwrap();
    folder
}

fn start(folder: &Path, settings: &str) -> Session {
    serve(folder).folder(folder).config(settings).start()
}

/// What is refused, and nothing else is said.
fn refused(session: &mut Session, query: &str, integration: &str) -> String {
    let answer = session.call("query", json!({"query": query, "integration": integration}));
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("SECRET"), "{text}");
    text
}

fn wrong(session: &mut Session, arguments: Value) -> String {
    let answer = session.call("query", arguments);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

/// The lines of the record, without what proves them.
fn record(session: &Session) -> Vec<Value> {
    let lines = std::fs::read_to_string(session.home().join(".local/share/skillcell/audit/audit.jsonl"));
    lines.unwrap_or_default().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn wrong_arguments_are_named() {
    let folder = project();
    let mut session = start(folder.path(), "integrations: {linear: {enabled: false}}\n");
    for (arguments, message) in [
        (json!({"integration": "github"}), "query is required"),
        (json!({"query": "Get open PRs"}), "integration is required"),
        (json!({"query": " \n", "integration": "github"}), "query is required"),
        (json!({"query": "Get open PRs", "integration": ""}), "integration is required"),
        (
            json!({"query": "Get open PRs", "integration": "GitHub"}),
            "integration is `GitHub`, and must be one of github, circleci, gateway",
        ),
        (
            json!({"query": "x".repeat(4_001), "integration": "github"}),
            "query has 4001 characters, and must have at most 4000",
        ),
    ] {
        assert_eq!(wrong(&mut session, arguments), message);
    }
    assert_eq!(record(&session), Vec::<Value>::new());
}

#[test]
fn where_no_integration_is_switched_on_it_is_told_what_to_set() {
    let folder = project();
    let names = ["github", "circleci", "linear", "gateway"];
    let off: String = names.iter().map(|name| format!("  {name}: {{enabled: false}}\n")).collect();
    let mut session = start(folder.path(), &format!("integrations:\n{off}"));
    let told = wrong(&mut session, json!({"query": "Get open PRs", "integration": "jira"}));
    assert_eq!(
        told,
        "integration is `jira`, and none is switched on\nhint: set `enabled: true` for one of `github`, `circleci`, `linear`, `gateway` under `integrations:` in the operator's file"
    );
    let told = refused(&mut session, "Get open PRs", "github");
    assert!(told.contains("`integrations.github.enabled` in the operator's file"), "{told}");
}

#[test]
fn nothing_is_sent_that_cannot_be_written_down() {
    let folder = project();
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = service.local_addr().unwrap();
    let settings = format!("integrations: {{github: {{address: 'http://{address}'}}}}\n");
    let launch = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").config(&settings);
    let record = launch.home().join(".local/share/skillcell/audit");
    std::fs::create_dir_all(record.parent().unwrap()).unwrap();
    std::fs::write(&record, "no folder").unwrap();
    let mut session = launch.start();
    let reason = "nothing is asked, because it cannot be written down: ";
    let told = refused(&mut session, "List open pull requests", "github");
    assert!(told.starts_with(reason), "{told}");
    let launch = Launch::bare(SKILLCELL).env("GITHUB_TOKEN", "SECRET-TOKEN").with_home(session.home());
    let output = launch.arg("integration").arg("test").arg("github").output();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("github: the service does not work: {reason}")), "{told}");
    service.set_nonblocking(true).unwrap();
    let came = service.accept();
    assert!(came.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "somebody was asked");
}

#[test]
fn the_repository_is_the_one_of_the_working_folder() {
    let folder = library(&crate::SMALL);
    let mut session = start(folder.path(), "");
    let told = refused(&mut session, "List open pull requests", "github");
    assert_eq!(told, "not in a git repository\nhint: start the server in the folder of the project you ask about");
    // It becomes one while the server runs.
    git2::Repository::init(folder.path()).unwrap();
    assert!(refused(&mut session, "List open pull requests", "github").contains("GITHUB_TOKEN"));
    std::fs::write(folder.path().join(".git/config"), "[remote \"origin\"\nurl = https://me:SECRET@h/a/b\n").unwrap();
    let told = refused(&mut session, "List open pull requests", "github");
    assert!(told.starts_with("the git repository cannot be read"), "{told}");
}

#[test]
fn what_is_missing_is_told_with_what_to_set() {
    let folder = project();
    let mut session = start(folder.path(), "integrations: {circleci: {enabled: false}}\n");
    for (integration, expected) in [
        (
            "github",
            "`github` needs a token, and the variable GITHUB_TOKEN is not set\nhint: set GITHUB_TOKEN to a token of the service and start the server again",
        ),
        (
            "circleci",
            "the integration `circleci` is switched off\nhint: `integrations.circleci.enabled` in the operator's file does that",
        ),
        (
            "linear",
            "`linear` needs a token, and the variable LINEAR_API_KEY is not set\nhint: set LINEAR_API_KEY to a token of the service and start the server again",
        ),
        (
            "gateway",
            "nobody said where the service of `gateway` is\nhint: set `integrations.gateway.address` in the operator's file",
        ),
    ] {
        assert_eq!(refused(&mut session, "Get my issues", integration), expected);
    }
    let lines = record(&session);
    assert_eq!(lines.len(), 4);
    for (line, integration) in lines.iter().zip(["github", "circleci", "linear", "gateway"]) {
        assert_eq!((&line["kind"], &line["integration"]), (&json!("refusal"), &json!(integration)), "{line}");
        assert_eq!(line["repository"], "github.com/octo-org/hello");
        assert!(!line.to_string().contains("Get my issues") && !line.to_string().contains("SECRET"), "{line}");
    }
    let output = Launch::bare(SKILLCELL).arg("audit").with_home(session.home()).output();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("  github  refused: `github` needs a token"), "{shown}");
}

#[test]
fn a_token_that_is_none_is_not_sent_and_not_shown() {
    let folder = project();
    let launch = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET\nSECRET");
    let mut session = launch.start();
    let told = refused(&mut session, "List open pull requests", "github");
    assert!(told.contains("what the variable GITHUB_TOKEN holds is none"), "{told}");
}

#[test]
fn a_question_that_is_not_understood_is_answered_with_those_that_are() {
    let folder = project();
    let mut session = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").start();
    let told = refused(&mut session, "Sing me a song about the sea", "github");
    assert!(told.starts_with("`github` does not understand this question\nhint: ask one of these:\n- "), "{told}");
    assert!((5..=45).contains(&told.lines().count()), "it fits on one screen: {told}");
    let line = record(&session).pop().unwrap();
    assert_eq!((&line["outcome"], &line["requests"]), (&json!("not understood"), &json!([])), "{line}");
    assert!(line["fuel_used"].as_u64().unwrap() > 0, "{line}");
}

#[test]
fn an_address_that_nobody_listens_at_is_told() {
    let folder = project();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!("integrations: {{github: {{address: 'http://127.0.0.1:{port}'}}}}\n");
    let launch = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").config(&settings);
    let mut session = launch.start();
    let told = refused(&mut session, "List open pull requests", "github");
    assert!(
        told.starts_with("`github` has no answer: ") && told.contains("skillcell integration test github"),
        "{told}"
    );
    let line = record(&session).pop().unwrap();
    assert_eq!(line["outcome"], "unreachable", "{line}");
    let sent = &line["requests"][0];
    assert_eq!((&sent["method"], &sent["host"]), (&json!("GET"), &json!(format!("127.0.0.1:{port}"))), "{line}");
    assert!(sent["status"].is_null() && sent["failure"].is_string(), "{line}");
    assert!(!line.to_string().contains("SECRET"), "{line}");
}

#[test]
fn integrations_are_listed_without_their_tokens() {
    let settings =
        "integrations: {mine: {file: missing.wasm, address: 'https://api.example.com', token_variable: MINE}}\n";
    let run = |arguments: &[&str]| {
        let launch = Launch::bare(SKILLCELL).env("GITHUB_TOKEN", "SECRET-TOKEN").config(settings);
        let output = arguments.iter().fold(launch.arg("integration"), skillcell_tests::Launch::arg).output();
        let (told, log) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(!told.contains("SECRET") && !log.contains("SECRET"), "{told}{log}");
        (output.status.code(), told, log)
    };
    let (code, told, _) = run(&["list"]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines.len() == 6 && lines[0].starts_with("NAME\t"), "{told}");
    assert!(lines[1].contains("https://api.github.com") && lines[1].contains("GITHUB_TOKEN set"), "{told}");
    assert!(lines[2].contains("CIRCLECI_TOKEN not set"), "{told}");
    let (_, told, _) = run(&["list", "--json"]);
    let views: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(views[0]["token"], json!({"variable": "GITHUB_TOKEN", "set": true, "required": true}));
    assert!(views[0]["digest"].as_str().unwrap().starts_with("sha256:"), "{told}");
    assert!(views[4]["digest"].is_null() && views[4]["problem"].is_string(), "{told}");
    let (code, _, log) = run(&["test", "jira"]);
    assert!(code == Some(2) && log.contains("there is no integration `jira`"), "{log}");
    let (code, told, _) = run(&["test", "circleci"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("the component works") && told.contains("CIRCLECI_TOKEN is not set"), "{told}");
    let (code, told, _) = run(&["test", "mine", "--json"]);
    let view: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &view["parts"]["component"]["works"]), (Some(1), &json!(false)), "{told}");
}

#[test]
fn content_says_nothing_about_integrations() {
    let folder = project();
    std::fs::write(folder.path().join("config.yaml"), "integrations: {github: {address: 'https://evil.example'}}\n")
        .unwrap();
    let mut session = start(folder.path(), "");
    let problems = crate::problems(&mut session, "code");
    assert_eq!(problems.len(), 1, "{problems:?}");
}
