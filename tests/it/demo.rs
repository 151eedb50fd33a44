//! `skillcell demo`: what a newcomer sees first.

use crate::SKILLCELL;
use std::process::{Command, Stdio};

#[test]
fn the_demo_shows_a_match_an_ambiguity_scripts_and_refusals_without_colour() {
    let elsewhere = tempfile::tempdir().unwrap();
    let output = Command::new(SKILLCELL).arg("demo").current_dir(elsewhere.path()).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
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
        assert!(shown.contains(part), "`{part}` is missing in:\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "colour where nobody sees it:\n{shown}");
    assert!(shown.lines().count() < 90, "too long for a minute:\n{shown}");
}

#[test]
fn whoever_has_seen_enough_ends_it_quietly() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut demo = Command::new(SKILLCELL);
    demo.arg("demo").current_dir(elsewhere.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = demo.spawn().unwrap();
    drop(running.stdout.take());
    let output = running.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains("panicked"), "{}: {told}", output.status);
}
