//! Work that takes longer than half a second shows progress on a terminal, and leaves nothing there.

use super::{Stream, TerminalRun, command};
use crate::library;
use skillcell_tests::{Launch, component};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Clears the progress line.
const CLEAR: &str = "\r\x1b[K";

/// Work that takes less time shows no progress.
const SHOWN_AFTER: Duration = Duration::from_millis(500);

/// The number of skills in `slow()`.
const SKILLS: usize = 8;

/// Creates a library that keeps the hostile scorer busy for seconds on any machine: it logs a million lines for each skill.
fn slow() -> TempDir {
    // Each skill is large enough for a separate call, so that none hits a limit.
    let padding = "x".repeat(70 << 10);
    let text = format!("---\nkeywords: [slow]\ndescription: d\n---\n{padding}\nhostile update: log\n");
    let files: Vec<String> = (0..SKILLS).map(|number| format!("slow{number}.md")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), text.as_str())).collect();
    library(&files)
}

/// Prepares a command that reads all skills and passes them to the hostile scorer.
fn match_with_scorer(folder: &Path) -> Launch {
    let scorer = component("hostile-scorer");
    let arguments = ["match", "anything at all", "--scorer", scorer.to_str().expect("a path that is text")];
    command(&arguments, folder).with_shared_cache()
}

#[test]
fn reading_skills_shows_progress_and_the_line_is_cleared_at_the_end() {
    let slow = slow();
    let screen = screen_at_end(TerminalRun::start(match_with_scorer(slow.path()), Stream::Error));
    let lines: Vec<&str> = screen.split(CLEAR).filter(|part| part.starts_with("reading skills [")).collect();
    let last = lines.last().unwrap_or_else(|| panic!("no line: {screen:?}"));
    let counts = last.rsplit_once("] ").unwrap_or_else(|| panic!("{last}")).1;
    let (read_files, all) =
        counts.strip_suffix(" files").and_then(|counts| counts.split_once('/')).unwrap_or_else(|| panic!("{counts}"));
    let [read_files, all]: [usize; 2] = [read_files, all].map(|number| number.parse().unwrap());
    assert!(read_files <= all && all == SKILLS, "{last}");
    assert!(lines.iter().all(|line| line.chars().count() < 60), "{lines:#?}");
    let rest = screen.rsplit_once("files").unwrap().1;
    assert!(rest.starts_with(CLEAR), "the line is cleared: {rest:?}");

    let quiet = TerminalRun::start(match_with_scorer(slow.path()).arg("--quiet"), Stream::Error);
    assert_eq!(screen_at_end(quiet), "", "`--quiet` shows no progress");
    let output = match_with_scorer(slow.path()).output();
    let piped = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!piped.contains("reading skills"), "a pipe gets no progress: {piped}");
}

#[test]
fn asking_every_scorer_shows_progress() {
    let slow = slow();
    let config = format!("scorers: {{slow: '{}'}}\n", component("hostile-scorer").display());
    let launch = command(&["match", "anything at all", "--explain"], slow.path()).config(&config).with_shared_cache();
    let screen = screen_at_end(TerminalRun::start(launch, Stream::Error));
    assert!(screen.contains(&format!("{CLEAR}asking every scorer …")) && screen.ends_with(CLEAR), "{screen:?}");
}

#[test]
fn quick_commands_show_no_progress() {
    let few = library(&crate::SMALL);
    for arguments in [&["list"][..], &["show", "pdf"], &["lint"], &["search", "reader"]] {
        // On a busy machine not every run is quick.
        let was_quick = (0..50).any(|_| {
            let started = Instant::now();
            let screen = screen_at_end(TerminalRun::start(command(arguments, few.path()), Stream::Error));
            let was_quick = started.elapsed() < SHOWN_AFTER;
            assert!(screen.is_empty() || !was_quick, "{arguments:?}: {screen:?}");
            was_quick
        });
        assert!(was_quick, "{arguments:?} always took {SHOWN_AFTER:?}");
    }
}

#[test]
fn a_server_shows_no_progress() {
    let slow = slow();
    let scorer = component("hostile-scorer");
    let arguments = ["serve", "--scorer", scorer.to_str().expect("a path that is text")];
    let mut server = TerminalRun::start(command(&arguments, slow.path()).with_shared_cache(), Stream::Error);
    server.until(&format!("generation 1: {SKILLS} skills"));
    assert!(!screen_at_end(server).contains("reading skills"));
}

/// Returns everything that is shown on the terminal until the end.
fn screen_at_end(mut run: TerminalRun) -> String {
    run.end();
    run.screen
}
