//! Events and history: what is recorded, what is sent, and what never is.

mod crash;
mod events;
mod sending;
mod stats;

use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::endpoint::Endpoint;
use skillcell_tests::{Launch, Session, write_files};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// No event is sent during a test.
const NEVER: &str = "interval_seconds: 3600";

/// Events are sent at once, and no endpoint is too slow.
const IMMEDIATELY: &str = "interval_seconds: 0.02, timeout_seconds: 600";

/// Events are sent at once, and an attempt at a hanging endpoint times out.
const SHORT_TIMEOUT: &str = "interval_seconds: 0.02, timeout_seconds: 2";

const SKILLS: [(&str, &str); 9] = [
    ("_root.md", "---\nkeywords: [everything]\ndescription: All\n---\nRules.\n"),
    (
        "ui/_index.md",
        "---\nkeywords: [screen]\ndescription: UI\nassets:\n  - {file: base.css, description: d, type: template}\n---\nUI.\n",
    ),
    ("ui/_index/base.css", "body {}\n"),
    (
        "ui/auth.md",
        "---\nkeywords: [login, form]\ndescription: Login\nassets:\n  - {file: logo.svg, description: d, type: image}\n\
         scripts:\n  - {file: check.sh, description: d, execution: server}\n---\nLog in.\n",
    ),
    ("ui/auth/logo.svg", "<svg/>"),
    ("ui/auth/check.sh", "exit \"$SKILL_ARG_CODE\"\n"),
    ("api/auth.md", "---\nkeywords: [login, api]\ndescription: API\n---\nTokens.\n"),
    ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n"),
    ("pdf/notes/a.txt", "aaa"),
];

/// Creates a home with these settings for analytics.
fn home(analytics: &str) -> TempDir {
    library(&[(".config/skillcell/config.yaml", &format!("analytics: {{{analytics}}}\n"))])
}

/// Creates a home whose settings name an endpoint.
fn home_for(endpoint: &Endpoint, more: &str) -> TempDir {
    home(&format!("endpoint: \"{}\", {more}", endpoint.url()))
}

fn launch(skills: &Path, home: &Path) -> Launch {
    Launch::new(SKILLCELL).arg(skills).with_home(home).env("USER", "tester")
}

fn analytics_folder(home: &Path) -> PathBuf {
    home.join(".local/share/skillcell/analytics")
}

/// Returns the files of unsent events.
fn waiting_files(home: &Path) -> Vec<PathBuf> {
    let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let endpoints = entries(analytics_folder(home).join("waiting"));
    let entries = endpoints.flat_map(|endpoint| entries(endpoint.path()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

/// Returns the unsent events, the oldest first.
fn waiting(home: &Path) -> Vec<Value> {
    // A server may send a file, and remove it, right after it was listed.
    let text: String = waiting_files(home).iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Sends feedback with a comment.
fn post_feedback(session: &mut Session, comment: &str) -> Value {
    let arguments = json!({"skill_path": "pdf", "useful": true, "comment": comment});
    session.post("tools/call", json!({"name": "report_usage", "arguments": arguments}))
}

fn feedback(session: &mut Session, comment: &str) {
    let id = post_feedback(session, comment);
    let answer = session.answer(&id);
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("\"recorded\":true"), "{answer}");
}

/// Sends feedback that cannot be recorded, and checks that the answer reports it.
fn lost_feedback(session: &mut Session, comment: &str) {
    let arguments = json!({"skill_path": "pdf", "useful": true, "comment": comment});
    let answer = session.call_json("report_usage", arguments);
    assert_eq!(answer["recorded"], false, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("\nhint: the server's log says why"), "{answer}");
}

fn comment(event: &Value) -> String {
    event["data"]["comment"].as_str().unwrap_or_else(|| panic!("{event}")).to_owned()
}

fn stats(home: &Path) -> Value {
    let output = Launch::bare(SKILLCELL).with_home(home).arg("stats").arg("--json").output();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Writes a file into the folder of the only endpoint, as if an earlier server had left it.
fn write_leftover(home: &Path, name: &str, bytes: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let mut endpoints = std::fs::read_dir(analytics_folder(home).join("waiting")).unwrap();
    let folder = endpoints.next().unwrap().unwrap().path();
    write_files(&folder, &[(name, bytes)]);
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
}
