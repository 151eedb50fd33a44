//! What takes longer than half a second is followed on a terminal, and leaves nothing there.

use super::{Stream, Watched, command};
use crate::commands::large;
use crate::library;

/// Takes away the line of progress.
const CLEAR: &str = "\r\x1b[K";

/// A task for which all skills are read, and given to a scorer.
const SLOW: [&str; 4] = ["match", "anything at all", "--scorer", "hybrid"];

#[test]
fn reading_many_skills_is_followed_and_the_line_is_gone_at_the_end() {
    let many = large();
    let mut watched = Watched::start(command(&SLOW, many.path()), Stream::Error);
    watched.end();
    let seen = &watched.seen;
    let lines: Vec<&str> = seen.split(CLEAR).filter(|part| part.starts_with("reading skills [")).collect();
    let last = lines.last().unwrap_or_else(|| panic!("no line: {seen:?}"));
    let told = last.rsplit_once("] ").unwrap_or_else(|| panic!("{last}")).1;
    let (read, all) =
        told.strip_suffix(" files").and_then(|told| told.split_once('/')).unwrap_or_else(|| panic!("{told}"));
    let [read, all]: [usize; 2] = [read, all].map(|number| number.parse().unwrap());
    assert!(read <= all && all == 10_025, "{last}");
    assert!(lines.iter().all(|line| line.chars().count() < 60), "{lines:#?}");
    let behind = seen.rsplit_once("files").unwrap().1;
    assert!(behind.starts_with(CLEAR), "the line is taken away: {behind:?}");

    let quiet = Watched::start(command(&SLOW, many.path()).arg("--quiet"), Stream::Error);
    assert_eq!(ended(quiet), "", "nobody wants to see it");
    let output = command(&SLOW, many.path()).output();
    let piped = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!piped.contains("reading skills"), "a program does not see it: {piped}");
}

#[test]
fn asking_every_scorer_is_followed() {
    let many = large();
    let watched = Watched::start(command(&["match", "anything at all", "--explain"], many.path()), Stream::Error);
    let seen = ended(watched);
    assert!(seen.contains(&format!("{CLEAR}asking every scorer …")) && seen.ends_with(CLEAR), "{seen:?}");
}

#[test]
fn what_is_done_at_once_is_not_followed() {
    let few = library(&crate::SMALL);
    for arguments in [&["list"][..], &["show", "pdf"], &["lint"], &["search", "reader"]] {
        let watched = Watched::start(command(arguments, few.path()), Stream::Error);
        assert_eq!(ended(watched), "", "{arguments:?}");
    }
}

#[test]
fn a_server_shows_no_progress() {
    let many = large();
    let mut server = Watched::start(command(&["serve"], many.path()), Stream::Error);
    server.until("generation 1: 10025 skills");
    assert!(!ended(server).contains("reading skills"));
}

/// All that is shown on the terminal until the end.
fn ended(mut watched: Watched) -> String {
    watched.end();
    watched.seen
}
