//! Whoever looks at a terminal sees how far the first clone is.

use super::{Scene, noise};
use crate::terminal::{Stream, Watched};
use crate::{SKILLCELL, SMALL};
use skillcell_tests::Launch;
use skillcell_tests::git_server::{Fault, On};
use std::time::Duration;

/// Takes away the line of progress.
const CLEAR: &str = "\r\x1b[K";

/// Text that takes a while to come.
const MUCH: usize = 400_000;

impl Scene {
    fn much() -> Self {
        Self::with(&[&SMALL[..], &[("notes.txt", &noise(MUCH))]].concat())
    }

    /// A command of somebody who looks.
    fn list(&self, url: &str) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(self.home.path()).folder(self.home.path()).arg("list");
        launch.env("SKILLS_REPO", url).env("TERM", "xterm").env("NO_COLOR", "")
    }
}

#[test]
fn the_first_clone_is_followed_on_a_terminal_and_the_line_is_gone_at_the_end() {
    let scene = Scene::much();
    let server = scene.http();
    let url = server.url("skills");
    server.misbehave(On::Pack, Fault::Stall(MUCH / 2));
    let mut watched = Watched::start(scene.list(&url), Stream::Error);
    watched.until(" MB");
    server.behave();
    assert_eq!(watched.end(), Some(0));
    let seen = &watched.seen;
    let lines: Vec<&str> = seen.split(CLEAR).filter_map(|part| part.strip_prefix("cloning skills [")).collect();
    let (_, told) = lines.last().and_then(|line| line.split_once("] ")).unwrap_or_else(|| panic!("no line: {seen:?}"));
    let (objects, bytes) = told.split_once(" objects, ").unwrap_or_else(|| panic!("{told}"));
    let (received, all) = objects.split_once('/').unwrap();
    let [received, all]: [usize; 2] = [received, all].map(|number| number.parse().unwrap());
    assert!(received <= all && all >= 5, "{told}");
    assert!(bytes.ends_with(" MB"), "{told}");
    assert!(seen.ends_with(CLEAR), "nothing is left: {seen:?}");
    // The clone is there now, so there is nothing to follow.
    let mut again = Watched::start(scene.list(&url), Stream::Error);
    assert_eq!((again.end(), again.seen.as_str()), (Some(0), ""));
}

#[test]
fn a_server_on_a_terminal_shows_it_too_and_its_log_stays_whole() {
    let scene = Scene::much();
    let server = scene.http();
    server.misbehave(On::Pack, Fault::Stall(MUCH / 2));
    let launch = scene.launch(&server.url("skills")).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut served = Watched::start(launch, Stream::Error);
    served.until(" MB");
    server.behave();
    served.until(": 2 skills");
    assert_eq!(served.end(), Some(0));
    let seen = &served.seen;
    assert!(seen.split(CLEAR).any(|part| part.starts_with("cloning skills [")), "{seen:?}");
    let lines: Vec<&str> = seen.lines().filter_map(|line| line.rsplit(CLEAR).next()).collect();
    let is_whole = |line: &&str| line.is_empty() || line.starts_with("20") || line.starts_with("hint:");
    assert!(lines.iter().all(is_whole), "{seen:?}");
}

#[test]
fn no_program_follows_it() {
    let slowly = Fault::Drip(MUCH / 20, Duration::from_millis(100));
    let scene = Scene::much();
    let server = scene.http();
    server.misbehave(On::Pack, slowly.clone());
    let served = scene.launch(&server.url("skills")).env("TERM", "xterm").start();
    served.wait_for_log(": 2 skills");
    assert!(!served.log().contains("cloning"), "{}", served.log());

    let other = Scene::much();
    let server = other.http();
    server.misbehave(On::Pack, slowly);
    let output = other.list(&server.url("skills")).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2, "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
