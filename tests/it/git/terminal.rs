//! On a terminal, the first clone shows its progress.

use super::{Scene, incompressible};
use crate::terminal::{Stream, TerminalRun};
use crate::{SKILLCELL, SMALL};
use skillcell_tests::Launch;
use skillcell_tests::git_server::{Fault, On};
use std::time::Duration;

/// Clears the progress line.
const CLEAR: &str = "\r\x1b[K";

/// Bytes that take a while to transfer.
const LARGE: usize = 400_000;

impl Scene {
    fn large() -> Self {
        Self::with(&[&SMALL[..], &[("notes.txt", &incompressible(LARGE))]].concat())
    }

    /// Prepares a `list` on a terminal.
    fn list(&self, url: &str) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(self.home.path()).folder(self.home.path()).arg("list");
        launch.env("SKILLS_REPO", url).env("TERM", "xterm").env("NO_COLOR", "")
    }
}

#[test]
fn the_first_clone_shows_progress_on_a_terminal_and_clears_the_line() {
    let scene = Scene::large();
    let server = scene.http();
    let url = server.url("skills");
    server.misbehave(On::Pack, Fault::Stall(LARGE / 2));
    let mut terminal = TerminalRun::start(scene.list(&url), Stream::Error);
    terminal.until(" MB");
    server.behave();
    assert_eq!(terminal.end(), Some(0));
    let screen = &terminal.screen;
    let lines: Vec<&str> = screen.split(CLEAR).filter_map(|part| part.strip_prefix("cloning skills [")).collect();
    let (_, counts) =
        lines.last().and_then(|line| line.split_once("] ")).unwrap_or_else(|| panic!("no line: {screen:?}"));
    let (objects, bytes) = counts.split_once(" objects, ").unwrap_or_else(|| panic!("{counts}"));
    let (received, all) = objects.split_once('/').unwrap();
    let [received, all]: [usize; 2] = [received, all].map(|number| number.parse().unwrap());
    assert!(received <= all && all >= 5, "{counts}");
    assert!(bytes.ends_with(" MB"), "{counts}");
    assert!(screen.ends_with(CLEAR), "nothing is left: {screen:?}");
    // The clone exists now, so there is no progress to show.
    let mut again = TerminalRun::start(scene.list(&url), Stream::Error);
    assert_eq!((again.end(), again.screen.as_str()), (Some(0), ""));
}

#[test]
fn a_server_on_a_terminal_shows_progress_between_whole_log_lines() {
    let scene = Scene::large();
    let server = scene.http();
    server.misbehave(On::Pack, Fault::Stall(LARGE / 2));
    let launch = scene.launch(&server.url("skills")).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut server_terminal = TerminalRun::start(launch, Stream::Error);
    server_terminal.until(" MB");
    server.behave();
    server_terminal.until(": 2 skills");
    assert_eq!(server_terminal.end(), Some(0));
    let screen = &server_terminal.screen;
    assert!(screen.split(CLEAR).any(|part| part.starts_with("cloning skills [")), "{screen:?}");
    let lines: Vec<&str> = screen.lines().filter_map(|line| line.rsplit(CLEAR).next()).collect();
    let is_whole = |line: &&str| line.is_empty() || line.starts_with("20") || line.starts_with("hint:");
    assert!(lines.iter().all(is_whole), "{screen:?}");
}

#[test]
fn without_a_terminal_no_progress_is_shown() {
    // Longer than the delay before progress is shown.
    let slowly = Fault::Drip(LARGE / 8, Duration::from_millis(100));
    let scene = Scene::large();
    let server = scene.http();
    server.misbehave(On::Pack, slowly.clone());
    let server_terminal = scene.launch(&server.url("skills")).env("TERM", "xterm").start();
    server_terminal.wait_for_log(": 2 skills");
    assert!(!server_terminal.log().contains("cloning"), "{}", server_terminal.log());

    let other = Scene::large();
    let server = other.http();
    server.misbehave(On::Pack, slowly);
    let output = other.list(&server.url("skills")).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2, "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
