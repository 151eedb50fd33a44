//! The audit record, and the keys.

use super::server::{SCRIPTS, run_module};
use super::{Conversation, Trial, at_every_call};
use serde_json::json;

#[test]
fn reported_runs_are_in_an_intact_record() {
    at_every_call(&SCRIPTS, "home", |trial| {
        let run = |server: &mut Conversation, script: &str| {
            server.ask("run_script", &json!({"skill_path": "tool", "file": script, "args": {}}))
        };
        let is_result = |answer: &String| answer.contains("\"exit_code\":0");
        let serve = || trial.launch().arg("serve").arg("skills");
        let mut server = Conversation::start(serve().with_faults(&trial.faults));
        let mut reported = Vec::new();
        for script in ["a.sh", "b.sh"] {
            let Some(answer) = run(&mut server, script) else { break };
            if is_result(&answer) {
                reported.push(script);
            } else {
                assert!(answer.contains("audit"), "no result, and no reason: {answer}");
            }
        }
        let log = server.end();
        assert!(!reported.is_empty() || trial.faults.struck().is_some(), "{log}");
        // Whatever happened, the next server works.
        let mut server = Conversation::start(serve());
        let answer = run(&mut server, "c.sh");
        assert!(answer.as_ref().is_some_and(is_result), "{answer:?}");
        server.end();
        reported.push("c.sh");
        let verified = Trial::spare(trial.launch().arg("audit").arg("verify"));
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
        let record = Trial::spare(trial.launch().arg("audit").arg("--json"));
        let record = String::from_utf8(record.stdout).expect("text");
        for script in reported {
            let is_run = |line: &str| line.contains(&format!("\"{script}\"")) && line.contains("\"exit_code\":0");
            assert_eq!(record.lines().filter(|line| is_run(line)).count(), 1, "{script}: {record}");
        }
    });
}

#[test]
fn keys_are_whole_or_missing() {
    at_every_call(&SCRIPTS, "home/.config", run_module);
}
