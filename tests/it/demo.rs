//! `skillcell demo`, the first thing that a new user sees.

use crate::SKILLCELL;
use std::process::{Command, Stdio};

#[test]
fn the_demo_shows_a_match_an_ambiguity_scripts_and_refusals_without_color() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(SKILLCELL).arg("demo").current_dir(folder.path()).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    for part in [
        "18 skills",
        "ui/react/auth",
        "GLOBAL RULES",
        "api/auth",
        "orders.csv: 8 rows",
        "exit 0 after",
        "no grant covers it",
        "path traversal",
    ] {
        assert!(stdout.contains(part), "`{part}` is missing in:\n{stdout}");
    }
    assert!(!stdout.contains('\u{1b}'), "color without a terminal:\n{stdout}");
    assert!(stdout.lines().count() < 90, "too long to read in a minute:\n{stdout}");
}

#[test]
fn a_closed_pipe_ends_the_demo_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(SKILLCELL);
    demo.arg("demo").current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = demo.spawn().unwrap();
    drop(running.stdout.take());
    let output = running.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("panicked"), "{}: {stderr}", output.status);
}
