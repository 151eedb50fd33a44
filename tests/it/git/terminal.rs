//! Whoever looks at a terminal sees how far the first clone is.

use super::Scene;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Longer than a clone takes on the slowest machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A pseudo-terminal: what a program is given, and what a person would see on it.
fn terminal() -> (File, Receiver<Vec<u8>>) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let (sender, shown) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut ours, mut buffer) = (File::from(ours), [0; 4096]);
        // When the last program is gone, reading fails.
        while let Ok(length @ 1..) = ours.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    (File::from(theirs), shown)
}

/// What a server shows on its terminal until this text comes.
fn shown_until(command: &mut Command, text: &str) -> String {
    let (theirs, shown) = terminal();
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(theirs).spawn().unwrap();
    // Otherwise the terminal stays open as long as the command is there.
    command.stderr(Stdio::null());
    let (began, mut seen) = (Instant::now(), String::new());
    while !seen.contains(text) {
        let left = PATIENCE.saturating_sub(began.elapsed());
        let Ok(bytes) = shown.recv_timeout(left) else {
            let _ = server.kill();
            panic!("`{text}` did not come: {seen}");
        };
        seen.push_str(&String::from_utf8_lossy(&bytes));
    }
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
    seen
}

#[test]
fn the_first_clone_is_followed_on_a_terminal_and_only_there() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    let seen = shown_until(scene.launch(&url).command(), ": 2 skills");
    let lines: Vec<&str> =
        seen.split("\x1b[K").filter_map(|part| part.split_once("\rcloning skills: ")).map(|(_, line)| line).collect();
    let last = lines.last().unwrap_or_else(|| panic!("no line: {seen}"));
    let (objects, bytes) = last.split_once(" objects, ").unwrap_or_else(|| panic!("{last}"));
    let (received, all) = objects.split_once('/').unwrap();
    assert!(received == all && all.parse::<usize>().unwrap() >= 4, "{last}");
    assert!(bytes.ends_with(" MB"), "{last}");
    let behind = seen.rsplit_once("\x1b[K").unwrap().1;
    assert!(behind.starts_with("\r\n"), "what comes next has a line of its own: {behind:?}");
    // The clone is there now, so there is nothing to follow.
    let again = shown_until(scene.launch(&url).command(), ": 2 skills");
    assert!(!again.contains("cloning"), "{again}");
    // And nobody looks at a pipe.
    let other = Scene::new();
    let mut session = other.launch(&url).start();
    assert_eq!(super::names(&mut session), ["forms", "pdf"]);
    assert!(!session.log().contains("cloning"), "{}", session.log());
}
