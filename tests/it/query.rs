//! `query` without a service: arguments, repositories, tokens, and the command line.

mod answers;
mod hostile;
mod failures;
mod progress;
mod scene;
mod token_leaks;
mod hostile_scene;

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session};
use std::path::Path;
use tempfile::TempDir;

/// Creates a folder of skills in a repository with a remote on GitHub.
fn project() -> TempDir {
    let folder = library(&crate::SMALL);
    let repository = git2::Repository::init(folder.path()).unwrap();
    repository.remote("origin", "https://me:SECRET@github.com/octo-org/hello.git").unwrap();
    folder
}

fn start(folder: &Path, settings: &str) -> Session {
    serve(folder).folder(folder).config(settings).start()
}

/// Returns the refusal of a question.
fn refusal(session: &mut Session, query: &str, integration: &str) -> String {
    let answer = session.call("query", json!({"query": query, "integration": integration}));
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("SECRET"), "{text}");
    text
}

fn invalid_params(session: &mut Session, arguments: Value) -> String {
    let answer = session.call("query", arguments);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

/// Returns the lines of the audit record that tell how something ended.
fn record(session: &Session) -> Vec<Value> {
    let output =
        Launch::bare(SKILLCELL).arg("audit").arg("--json").arg("--last").arg("100000").with_home(session.home());
    let stdout = String::from_utf8(output.output().stdout).unwrap();
    let lines = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] != "query-begin").collect()
}

#[test]
fn wrong_arguments_are_reported_by_name() {
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
        assert_eq!(invalid_params(&mut session, arguments), message);
    }
    assert_eq!(record(&session), Vec::<Value>::new());
}

#[test]
fn without_an_enabled_integration_the_refusal_names_the_setting() {
    let folder = project();
    let names = ["github", "circleci", "linear", "gateway"];
    let off: String = names.iter().map(|name| format!("  {name}: {{enabled: false}}\n")).collect();
    let mut session = start(folder.path(), &format!("integrations:\n{off}"));
    let text = invalid_params(&mut session, json!({"query": "Get open PRs", "integration": "jira"}));
    assert_eq!(
        text,
        "integration is `jira`, and no integration is enabled\nhint: set `enabled: true` for one of `github`, `circleci`, `linear`, `gateway` under `integrations:` in the operator's file"
    );
    let text = refusal(&mut session, "Get open PRs", "github");
    assert!(text.contains("`integrations.github.enabled: true` in the operator's file"), "{text}");
}

#[test]
fn nothing_is_sent_if_it_cannot_be_recorded() {
    let folder = project();
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = service.local_addr().unwrap();
    let settings = format!("integrations: {{github: {{address: 'http://{address}'}}}}\n");
    let launch = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").config(&settings);
    let record = launch.home().join(".local/share/skillcell/audit");
    std::fs::create_dir_all(record.parent().unwrap()).unwrap();
    std::fs::write(&record, "no folder").unwrap();
    let mut session = launch.start();
    let reason = "the question is not sent, because it cannot be recorded: ";
    let text = refusal(&mut session, "List open pull requests", "github");
    assert!(text.starts_with(reason), "{text}");
    let launch = Launch::bare(SKILLCELL).env("GITHUB_TOKEN", "SECRET-TOKEN").with_home(session.home());
    let output = launch.arg("integration").arg("test").arg("github").output();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("github: the service does not work: {reason}")), "{text}");
    service.set_nonblocking(true).unwrap();
    let connection = service.accept();
    assert!(connection.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "a request was sent");
}

#[test]
fn the_repository_is_that_of_the_working_folder() {
    let folder = library(&crate::SMALL);
    let mut session = start(folder.path(), "");
    let text = refusal(&mut session, "List open pull requests", "github");
    assert_eq!(
        text,
        "not in a git repository\nhint: start the server in the folder of the project that the question is about"
    );
    // A repository is created while the server runs.
    git2::Repository::init(folder.path()).unwrap();
    assert!(refusal(&mut session, "List open pull requests", "github").contains("GITHUB_TOKEN"));
    std::fs::write(folder.path().join(".git/config"), "[remote \"origin\"\nurl = https://me:SECRET@h/a/b\n").unwrap();
    let text = refusal(&mut session, "List open pull requests", "github");
    assert!(text.starts_with("the git repository cannot be read"), "{text}");
}

#[test]
fn missing_settings_are_reported_with_what_to_set() {
    let folder = project();
    let mut session = start(folder.path(), "integrations: {circleci: {enabled: false}}\n");
    for (integration, expected) in [
        (
            "github",
            "`github` needs a token, and the variable GITHUB_TOKEN is not set\nhint: set GITHUB_TOKEN to a token of the service and restart the server",
        ),
        (
            "circleci",
            "the integration `circleci` is disabled\nhint: set `integrations.circleci.enabled: true` in the operator's file",
        ),
        (
            "linear",
            "`linear` needs a token, and the variable LINEAR_API_KEY is not set\nhint: set LINEAR_API_KEY to a token of the service and restart the server",
        ),
        (
            "gateway",
            "no address is configured for `gateway`\nhint: set `integrations.gateway.address` in the operator's file",
        ),
    ] {
        assert_eq!(refusal(&mut session, "Get my issues", integration), expected);
    }
    let lines = record(&session);
    assert_eq!(lines.len(), 4);
    for (line, integration) in lines.iter().zip(["github", "circleci", "linear", "gateway"]) {
        assert_eq!((&line["kind"], &line["integration"]), (&json!("refusal"), &json!(integration)), "{line}");
        assert_eq!(line["repository"], "github.com/octo-org/hello");
        assert!(!line.to_string().contains("Get my issues") && !line.to_string().contains("SECRET"), "{line}");
    }
    let output = Launch::bare(SKILLCELL).arg("audit").with_home(session.home()).output();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("  github  refused: `github` needs a token"), "{stdout}");
}

#[test]
fn an_invalid_token_is_neither_sent_nor_printed() {
    let folder = project();
    let launch = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET\nSECRET");
    let mut session = launch.start();
    let text = refusal(&mut session, "List open pull requests", "github");
    assert!(text.contains("the value of the variable GITHUB_TOKEN is not a token"), "{text}");
}

#[test]
fn an_unknown_question_is_refused_with_examples() {
    let folder = project();
    let mut session = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").start();
    let text = refusal(&mut session, "Sing me a song about the sea", "github");
    assert!(text.starts_with("`github` does not understand this question\nhint: ask one of these:\n- "), "{text}");
    assert!((5..=45).contains(&text.lines().count()), "the text fits on one screen: {text}");
    let line = record(&session).pop().unwrap();
    assert_eq!((&line["outcome"], &line["requests"]), (&json!("not understood"), &json!([])), "{line}");
    assert!(line["fuel_used"].as_u64().unwrap() > 0, "{line}");
}

#[test]
fn an_unreachable_address_is_reported() {
    let folder = project();
    // A privileged port that no service uses.
    let port = 1;
    let settings = format!("integrations: {{github: {{address: 'http://127.0.0.1:{port}'}}}}\n");
    let launch = serve(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").config(&settings);
    let mut session = launch.start();
    let text = refusal(&mut session, "List open pull requests", "github");
    assert!(
        text.starts_with("`github` cannot be reached: ") && text.contains("skillcell integration test github"),
        "{text}"
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
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(!stdout.contains("SECRET") && !stderr.contains("SECRET"), "{stdout}{stderr}");
        (output.status.code(), stdout, stderr)
    };
    let (code, stdout, _) = run(&["list"]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines.len() == 6 && lines[0].starts_with("NAME\t"), "{stdout}");
    assert!(lines[1].contains("https://api.github.com") && lines[1].contains("GITHUB_TOKEN set"), "{stdout}");
    assert!(lines[2].contains("CIRCLECI_TOKEN not set"), "{stdout}");
    let (_, stdout, _) = run(&["list", "--json"]);
    let views: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(views[0]["token"], json!({"variable": "GITHUB_TOKEN", "set": true, "required": true}));
    assert!(views[0]["digest"].as_str().unwrap().starts_with("sha256:"), "{stdout}");
    assert!(views[4]["digest"].is_null() && views[4]["problem"].is_string(), "{stdout}");
    let (code, _, stderr) = run(&["test", "jira"]);
    assert!(code == Some(2) && stderr.contains("there is no integration `jira`"), "{stderr}");
    let (code, stdout, _) = run(&["test", "circleci"]);
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("the component works") && stdout.contains("CIRCLECI_TOKEN is not set"), "{stdout}");
    let (code, stdout, _) = run(&["test", "mine", "--json"]);
    let view: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &view["parts"]["component"]["works"]), (Some(1), &json!(false)), "{stdout}");
}

#[test]
fn content_cannot_configure_integrations() {
    let folder = project();
    std::fs::write(folder.path().join("config.yaml"), "integrations: {github: {address: 'https://evil.example'}}\n")
        .unwrap();
    let mut session = start(folder.path(), "");
    let problems = crate::problems(&mut session, "code");
    assert_eq!(problems.len(), 1, "{problems:?}");
}
