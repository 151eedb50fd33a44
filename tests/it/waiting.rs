//! Scripts that wait for a slot: how many may, what they hold meanwhile, and what runs in the end.

use crate::scripts::skill;
use crate::{library, serve};
use serde_json::{Value, json};
use skillcell_tests::Session;
use std::fs;

const SPIN: (&str, &str) = ("spin.sh", "while :; do :; done\n");

/// One slot, and a script that never leaves it by itself.
const CONFIG: &str = "scripts: {runs_at_once: 1, timeout_seconds: 600}\n";

/// Posts a run, with the file as the token of its progress.
fn post(session: &mut Session, file: &str) -> Value {
    let arguments = json!({"skill_path": "tool", "file": file, "args": {}});
    let meta = json!({"progressToken": file});
    session.post("tools/call", json!({"name": "run_script", "arguments": arguments, "_meta": meta}))
}

/// Waits until each run reports this.
fn wait_for_reports(session: &mut Session, files: &[&str], message: &str) {
    let mut silent = files.to_vec();
    while !silent.is_empty() {
        let report = session.notification("notifications/progress")["params"].take();
        if report["message"].as_str().unwrap().starts_with(message) {
            silent.retain(|file| report["progressToken"] != *file);
        }
    }
}

/// Posts a run that never ends, and waits until it has the slot.
fn occupy(session: &mut Session) -> Value {
    let id = post(session, SPIN.0);
    wait_for_reports(session, &[SPIN.0], "running");
    id
}

fn cancel(session: &mut Session, id: &Value) {
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn runs_that_would_wait_behind_too_many_others_are_refused() {
    let folder = skill(&[SPIN, ("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).config(CONFIG).start();
    let spinning = occupy(&mut session);
    let mut posted: Vec<Value> = (0..260).map(|_| post(&mut session, "a.sh")).collect();
    // No run can end, so four have no place.
    for _ in 256..260 {
        let answer = loop {
            let message = session.next_message();
            if message.get("id").is_some() {
                break message;
            }
        };
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).starts_with("256 scripts are already waiting to run\nhint: "), "{answer}");
        posted.retain(|id| *id != answer["id"]);
    }
    cancel(&mut session, &spinning);
    for id in &posted {
        assert!(text(&session.answer(id)).contains("ran"));
    }
    let id = post(&mut session, "a.sh");
    assert!(text(&session.answer(&id)).contains("ran"), "there is room again");
}

#[test]
fn runs_that_are_cancelled_while_they_wait_never_begin() {
    let folder = skill(&[SPIN, ("a.sh", "echo ran\n"), ("b.sh", "echo also\n")]);
    let mut session = serve(folder.path()).config(CONFIG).start();
    let spinning = occupy(&mut session);
    let posted: Vec<Value> = (0..100).map(|_| post(&mut session, "a.sh")).collect();
    // Each of them waits, so the last report is about a queue of all.
    while !session.notification("notifications/progress")["params"]["message"].as_str().unwrap().contains("; 100 in") {}
    for id in &posted {
        cancel(&mut session, id);
    }
    cancel(&mut session, &spinning);
    let id = post(&mut session, "b.sh");
    assert!(text(&session.answer(&id)).contains("also"));
    let home = session.home().to_owned();
    session.close_input();
    session.wait();
    let lines = crate::audit::lines(&home);
    let begun: Vec<&str> = lines.iter().filter_map(|line| line["script"].as_str()).collect();
    assert_eq!(begun, ["spin.sh", "spin.sh", "b.sh", "b.sh"]);
}

#[test]
#[cfg(target_os = "linux")]
fn runs_that_wait_do_not_hold_their_scripts() {
    const MAX_KIBIBYTES: u64 = 512 << 10;
    let large = "# padding that makes the script as large as one may be\n".repeat(76_000);
    assert!(((4 << 20) - 32_768..4 << 20).contains(&large.len()), "{}", large.len());
    let files: Vec<(String, &str)> = (0..200).map(|number| (format!("{number}.sh"), large.as_str())).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
    files.push(SPIN);
    let folder = skill(&files);
    let mut session = serve(folder.path()).config(CONFIG).start();
    occupy(&mut session);
    for (file, _) in &files[..200] {
        post(&mut session, file);
    }
    let files: Vec<&str> = files[..200].iter().map(|(file, _)| *file).collect();
    wait_for_reports(&mut session, &files, "waiting for a free slot");
    let status = fs::read_to_string(format!("/proc/{}/status", session.process_id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MAX_KIBIBYTES, "the server had {peak} KiB");
}

#[test]
fn a_script_that_changes_while_it_waits_is_checked_again() {
    let declared =
        "  - {file: spin.sh, execution: server}\n  - {file: a.sh, execution: server, needs: {env: [TOKEN]}}\n";
    let skill = format!("---\nname: tool\ndescription: d\nscripts:\n{declared}---\n");
    let script = "echo \"before [$TOKEN]\"\n";
    let folder = library(&[("tool/SKILL.md", &skill), ("tool/a.sh", script), ("tool/spin.sh", SPIN.1)]);
    let dry = json!({"skill_path": "tool", "file": "a.sh", "args": {}, "dry_run": true});
    let digest = serve(folder.path()).start().call_json("run_script", dry)["digests"]["skill"].clone();
    let root = folder.path().display();
    let config = format!("{CONFIG}grants:\n  {root}:\n    tool: {{env: [TOKEN], digest: {digest}}}\n");
    let mut session = serve(folder.path()).env("TOKEN", "granted").config(&config).start();
    let run = |session: &mut Session, change: &dyn Fn()| {
        let spinning = occupy(session);
        let waiting = post(session, "a.sh");
        wait_for_reports(session, &["a.sh"], "waiting for a free slot");
        change();
        cancel(session, &spinning);
        text(&session.answer(&waiting)).to_owned()
    };
    let unchanged = run(&mut session, &|| {});
    assert!(unchanged.contains("before [granted]"), "{unchanged}");
    let changed =
        run(&mut session, &|| fs::write(folder.path().join("tool/a.sh"), "echo \"after [$TOKEN]\"\n").unwrap());
    assert!(changed.contains("after []") && changed.contains("the skill changed since it was pinned"), "{changed}");
    let removed = run(&mut session, &|| fs::remove_file(folder.path().join("tool/a.sh")).unwrap());
    assert!(removed.starts_with("script `a.sh` is declared but missing on disk"), "{removed}");
}
