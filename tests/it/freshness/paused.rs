//! Rebuilds that a test pauses and resumes.

use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, component, write_files};
use std::collections::BTreeMap;
use std::path::Path;

/// Engines pause at each of these files, but at most for the time limit of a file, which is two seconds.
const FILES: usize = 40;

/// Starts a server with an engine that can be paused, and waits until both engines know all skills.
pub fn serve(folders: &[&Path], configure: impl FnOnce(Launch) -> Launch) -> Session {
    let launch = Launch::new(crate::SKILLCELL).arg("--verbose").arg("--engine").arg(component("fragile-engine"));
    // A scorer would read every file again. `configure` may choose one all the same.
    let launch = launch.config("matching: {scorer: keyword}\n");
    let mut session = configure(folders.iter().fold(launch, Launch::arg)).start();
    session.call_json("skills_list", json!({}));
    both_engines_read(&session);
    session
}

/// Waits until both engines have read all files that one has.
pub fn both_engines_read(session: &Session) {
    session.wait_for_log_that("both engines", |log| {
        let mut reads = BTreeMap::<&str, usize>::new();
        for (_, file) in log.lines().filter_map(|line| line.split_once("the engine reads ")) {
            *reads.entry(file).or_default() += 1;
        }
        !reads.is_empty() && reads.values().all(|times| *times >= 2)
    });
}

/// Pauses every engine that applies changes from now on.
pub fn pause(folder: &Path) {
    write_files(folder, &[("slow/.paused", "")]);
    for number in 0..FILES {
        let text = format!("---\nkeywords: [slow]\ndescription: d\n---\nfragile: paused by slow/.paused {number}\n");
        write_files(folder, &[(&format!("slow/file{number}.md"), &text)]);
    }
}

/// Begins a rebuild with a list, and waits until it is paused. Returns the id of the list, which waits for the rebuild.
pub fn begin_rebuild(session: &mut Session) -> Value {
    let id = session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
    session.wait_for_log("the engine is paused by slow/.paused");
    id
}

pub fn resume(folder: &Path) {
    std::fs::remove_file(folder.join("slow/.paused")).unwrap();
}

/// Checks that the rebuild is still paused: no answer so far waited for it. To be called once in a session.
pub fn assert_still_paused(session: &mut Session, skill: &str) {
    let feedback = json!({"skill_path": skill, "useful": true});
    let recorded = session.call_json("report_usage", feedback);
    assert_eq!(recorded["recorded"], true, "{recorded}");
    // Earlier log lines come before the line of a feedback.
    session.wait_for_log("feedback:");
    let log = session.log();
    let before = log.split("feedback:").next().unwrap();
    assert!(!before.contains("generation 2 is served"), "an answer waited for the rebuild: {log}");
}
