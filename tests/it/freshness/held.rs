//! Rebuilds that last as long as a test wants.

use serde_json::json;
use skillcell_tests::{Launch, Session, component, write_files};
use std::path::Path;
use std::time::{Duration, Instant};

/// Engines are held at each of these files, but never longer than a file may take, which is two seconds.
const FILES: usize = 10;

/// Longest that anybody should wait for an answer about one skill, on a machine that has other things to do too.
const TIMELY: Duration = Duration::from_millis(500);

/// A server of an engine that can be held. Everything of the start is done, and the names of all skills are known.
pub fn serve(folders: &[&Path], how: impl FnOnce(Launch) -> Launch) -> Session {
    let launch = Launch::new(crate::SKILLCELL).arg("--verbose").arg("--engine").arg(component("fragile-engine"));
    let mut session = how(folders.iter().fold(launch, Launch::arg)).start();
    session.call_json("skills_list", json!({}));
    session.wait_for_log_that("both engines", |log| log.matches("brought generation 1 into engine").count() == 2);
    session
}

/// Whoever brings in what changed from now on is held in the middle of it.
pub fn hold(folder: &Path) {
    write_files(folder, &[("slow/.held", "")]);
    for number in 0..FILES {
        let text = format!("---\nkeywords: [slow]\ndescription: d\n---\nfragile: held by slow/.held {number}\n");
        write_files(folder, &[(&format!("slow/file{number}.md"), &text)]);
    }
}

/// Begins a rebuild that somebody else waits for, and waits until it is held.
pub fn begin_rebuild(session: &mut Session) {
    session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
    session.wait_for_log("the engine is held by slow/.held");
}

pub fn let_go(folder: &Path) {
    std::fs::remove_file(folder.join("slow/.held")).unwrap();
}

/// An answer that must not take long.
pub fn timely<T>(what: &str, answer: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let answer = answer();
    assert!(began.elapsed() < TIMELY, "{what} took {:?}", began.elapsed());
    answer
}

/// Nothing that changed was served before now. Asks for that once in a session: what was logged before a feedback is in the
/// log before its line.
pub fn is_still_held(session: &mut Session, skill: &str) {
    let feedback = json!({"skill_path": skill, "useful": true});
    let recorded = timely("report_usage", || session.call_json("report_usage", feedback));
    assert_eq!(recorded["recorded"], true, "{recorded}");
    session.wait_for_log("feedback:");
    let log = session.log();
    let before = log.split("feedback:").next().unwrap();
    assert!(!before.contains("generation 2 is served"), "the engine was not held for long enough: {log}");
}

/// How often engines have read a file so far.
pub fn reads(log: &str, file: &str) -> usize {
    log.lines().filter(|line| line.ends_with(&format!("the engine reads {file}"))).count()
}
