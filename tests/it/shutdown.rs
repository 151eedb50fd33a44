//! The shutdown of the server while scripts run and clients listen.

use crate::scripts::skill;
use crate::serve;
use serde_json::{Value, json};
use skillcell_tests::Session;
use tempfile::TempDir;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The ways in which a client or the operating system ends a server.
const WAYS: [&str; 3] = ["INT", "TERM", "end of input"];

fn end(session: &mut Session, way: &str) {
    if way == "end of input" { session.close_input() } else { session.signal(way) }
}

fn scripts() -> TempDir {
    skill(&[("spin.sh", "while :; do :; done\n"), ("sleep.py", "import time\ntime.sleep(3600)\n")])
}

/// Starts scripts that never end, and waits until they are running.
fn start(session: &mut Session, files: &[&str]) {
    for file in files {
        let arguments = json!({"skill_path": "tool", "file": file, "args": {}});
        session.post(
            "tools/call",
            json!({"name": "run_script", "arguments": arguments, "_meta": {"progressToken": file}}),
        );
    }
    let mut waiting = files.to_vec();
    while !waiting.is_empty() {
        let progress = session.notification("notifications/progress");
        if progress["params"]["message"].as_str().is_some_and(|message| message.starts_with("running")) {
            waiting.retain(|file| progress["params"]["progressToken"] != *file);
        }
    }
}

fn listen(session: &mut Session) -> Value {
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["skill://tool", "skill://tool/"]});
    let id = session.post("subscriptions/listen", json!({"notifications": filter}));
    session.notification("notifications/subscriptions/acknowledged");
    id
}

#[test]
fn scripts_and_subscriptions_do_not_delay_the_shutdown() {
    let folder = scripts();
    for way in WAYS {
        for stateless in [false, true] {
            let launch = serve(folder.path());
            let mut session = if stateless { launch.modern() } else { launch.start() };
            if stateless {
                listen(&mut session);
            } else {
                session.result("resources/subscribe", json!({"uri": "skill://tool/"}));
            }
            start(&mut session, &["spin.sh", "sleep.py"]);
            end(&mut session, way);
            session.exits_soon();
            session.wait_for_log("shutting down");
        }
    }
}

#[test]
fn the_end_of_input_ends_subscriptions_with_their_results() {
    let folder = scripts();
    let mut session = serve(folder.path()).modern();
    let ids = [listen(&mut session), listen(&mut session)];
    session.close_input();
    for id in ids {
        let answer = session.answer(&id);
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert_eq!(answer["result"]["_meta"][SUBSCRIPTION], id, "{answer}");
    }
    session.exits_soon();
}

#[test]
fn a_subscription_next_to_a_script_ends_with_its_result() {
    let folder = scripts();
    let mut session = serve(folder.path()).modern();
    let id = listen(&mut session);
    start(&mut session, &["spin.sh"]);
    session.close_input();
    let answer = session.answer(&id);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[test]
fn resource_subscriptions_do_not_delay_the_shutdown() {
    let folder = scripts();
    for way in WAYS {
        let mut session = serve(folder.path()).start();
        session.result("resources/subscribe", json!({"uri": "skill://tool/"}));
        end(&mut session, way);
        session.exits_soon();
    }
}

#[test]
fn no_temporary_files_are_left_however_the_server_ends() {
    let folder = scripts();
    let temporary = TempDir::new().unwrap();
    for way in ["INT", "KILL", "end of input"] {
        let mut session = serve(folder.path()).env("TMPDIR", temporary.path().to_str().unwrap()).start();
        session.call("skills_list", json!({}));
        end(&mut session, way);
        session.wait();
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{way}");
    }
}
