//! What servers write while they serve.

use super::{Conversation, Trial, at_every_call, complaint, error_text};
use serde_json::{Value, json};
use skillcell_tests::faults::Fault;
use skillcell_tests::files_below;

pub const TOOL: &str = "---\nname: tool\ndescription: d\nscripts:\n  - {file: a.sh, execution: server}\n  \
     - {file: b.sh, execution: server}\n  - {file: c.sh, execution: server}\n  - {file: a.wasm, execution: server}\n---\n";

pub const SCRIPTS: [(&str, &str); 4] = [
    ("skills/tool/SKILL.md", TOOL),
    ("skills/tool/a.sh", "echo a\n"),
    ("skills/tool/b.sh", "echo b\n"),
    ("skills/tool/c.sh", "echo c\n"),
];

#[test]
fn confirmed_events_are_on_disk() {
    const CONFIG: &str = "analytics: {endpoint: 'http://127.0.0.1:9/', interval_seconds: 3600, include_text: true}\n";
    let files = [("home/.config/skillcell/config.yaml", CONFIG), ("skills/pdf/SKILL.md", TOOL)];
    at_every_call(&files, "home/.local", |trial| {
        let launch = trial.launch().arg("serve").arg("skills");
        let mut server = Conversation::start(launch.with_faults(&trial.faults));
        let mut confirmed = Vec::new();
        let mut answers = 0;
        for comment in ["one", "two", "three"] {
            let arguments = json!({"skill_path": "tool", "useful": true, "comment": comment});
            let Some(answer) = server.ask("report_usage", &arguments) else { break };
            answers += 1;
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            match answer["recorded"].as_bool() {
                Some(true) => confirmed.push(comment),
                _ => assert!(answer["message"].as_str().unwrap().contains("hint: "), "{answer}"),
            }
        }
        let log = server.end();
        assert!(answers == 3 || trial.is_killed(), "{log}");
        let is_lost = confirmed.len() < answers;
        assert!(!is_lost || log.contains("cannot write analytics events to disk, so events are lost"), "{log}");
        // The disk works again after these, and so do events.
        let is_brief = matches!(trial.fault, Some(Fault::NoSpace | Fault::InputOutput | Fault::NoDescriptors));
        assert!(!is_brief || confirmed.len() >= 2, "{confirmed:?}: {log}");
        assert!(trial.fault != Some(Fault::ShortWrite) || confirmed.len() == 3, "{log}");
        let mut events = Vec::new();
        for file in files_below(&trial.path("home/.local")) {
            // Lines that are not complete are skipped by readers.
            let text = std::fs::read_to_string(&file).unwrap();
            let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
            let is_segment = file.parent().is_some_and(|folder| !folder.ends_with("analytics"));
            for line in lines.filter(|line| is_segment && !line.is_empty()) {
                let event: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("half a line: {line}"));
                events.extend(event["data"]["comment"].as_str().map(str::to_owned));
            }
        }
        assert!(
            confirmed.iter().all(|comment| events.iter().any(|event| event == comment)),
            "{events:?} {confirmed:?}"
        );
        let stats = Trial::spare(trial.launch().arg("stats").arg("--json"));
        let stats: Value = serde_json::from_slice(&stats.stdout).expect("JSON");
        let feedback = stats["skills"][0]["useful"].as_u64().unwrap_or(0);
        assert!(feedback >= confirmed.len() as u64, "{stats}");
    });
}

/// Runs a module, whose compiled code is cached.
pub fn run_module(trial: &Trial) {
    let module = wat::parse_str(
        "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32))) \
         (memory (export \"memory\") 1) (func (export \"_start\") (call $exit (i32.const 42))))",
    );
    std::fs::write(trial.path("skills/tool/a.wasm"), module.expect("a module")).unwrap();
    let run = || trial.launch().arg("run").arg("--root").arg("skills").arg("tool").arg("a.wasm");
    let harmed = trial.harm(run());
    let error = error_text(&harmed);
    // Without a key there is no record, and without a record nothing runs.
    let is_refused = matches!(harmed.status.code(), Some(1 | 2)) && error.contains("audit");
    assert!(harmed.status.code() == Some(42) || is_refused || trial.is_killed(), "{:?} {error}", harmed.status);
    for attempt in 0..2 {
        let spared = Trial::spare(run());
        let log = error_text(&spared);
        assert_eq!(spared.status.code(), Some(42), "{log}");
        // What a power failure left is noticed, and compiled again.
        let is_torn = trial.fault == Some(Fault::TornRename) && attempt == 0;
        let is_expected = |line: &&str| is_torn && line.contains("is not used");
        assert_eq!(complaint(&log).filter(|line| !is_expected(line)), None);
    }
    let cached = files_below(&trial.path("home/.cache"));
    assert!(cached.iter().any(|file| file.extension().is_some_and(|extension| extension == "cwasm")), "{cached:?}");
    trial.assert_tidy("home/.config");
}

#[test]
fn compiled_code_is_cached_whole_or_not_at_all() {
    at_every_call(&SCRIPTS, "home/.cache", run_module);
}
