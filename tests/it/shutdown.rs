//! The end of the server while scripts run and clients listen.

use crate::scripts::skill;
use crate::serve;
use serde_json::{Value, json};
use skillcell_tests::Session;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest a server may take to end.
const END: Duration = Duration::from_secs(1);

/// Longest with nothing left to do: less than what requests that still run are given.
const AT_ONCE: Duration = Duration::from_millis(650);

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Ways in which a client or the operating system ends a server.
const WAYS: [&str; 3] = ["INT", "TERM", "end of input"];

fn end(session: &mut Session, way: &str) {
    if way == "end of input" { session.close_input() } else { session.signal(way) }
}

fn scripts() -> TempDir {
    skill(&[("spin.sh", "while :; do :; done\n"), ("sleep.py", "import time\ntime.sleep(3600)\n")])
}

/// Starts scripts that never end, and waits until they run.
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
fn a_script_and_a_subscription_do_not_hold_up_the_end() {
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
            let began = Instant::now();
            end(&mut session, way);
            let (status, _) = session.wait();
            assert!(status.success() && began.elapsed() < END, "{way}: {status} after {:?}", began.elapsed());
            session.wait_for_log("shutting down");
        }
    }
}

#[test]
fn a_subscription_alone_ends_at_once_with_its_result() {
    let folder = scripts();
    let mut session = serve(folder.path()).modern();
    let ids = [listen(&mut session), listen(&mut session)];
    let began = Instant::now();
    session.close_input();
    for id in ids {
        let answer = session.answer(&id);
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert_eq!(answer["result"]["_meta"][SUBSCRIPTION], id, "{answer}");
    }
    let (status, _) = session.wait();
    assert!(status.success() && began.elapsed() < AT_ONCE, "{status} after {:?}", began.elapsed());
}

#[test]
fn a_subscription_with_a_script_beside_it_ends_with_its_result() {
    let folder = scripts();
    let mut session = serve(folder.path()).modern();
    let id = listen(&mut session);
    start(&mut session, &["spin.sh"]);
    session.close_input();
    let answer = session.answer(&id);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[test]
fn subscriptions_of_the_handshake_do_not_hold_up_the_end() {
    let folder = scripts();
    for way in WAYS {
        let mut session = serve(folder.path()).start();
        session.result("resources/subscribe", json!({"uri": "skill://tool/"}));
        let began = Instant::now();
        end(&mut session, way);
        let (status, _) = session.wait();
        assert!(status.success() && began.elapsed() < AT_ONCE, "{way}: {status} after {:?}", began.elapsed());
    }
}

#[test]
fn nothing_is_left_in_the_temporary_folder_however_it_ends() {
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
