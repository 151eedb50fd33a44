//! What commands tell when the answer is no.

use crate::{SKILLCELL, library};
use serde_json::Value;
use skillcell_tests::Launch;
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// A skill whose first script needs an argument, and whose second one never ends.
fn skill() -> TempDir {
    let skill = "---\nname: tool\ndescription: d\nscripts:\n  - {file: a.sh, description: d, execution: server, args: [{name: who, required: true}]}\n  - {file: spin.sh, description: d, execution: server}\n---\n";
    library(&[
        ("tool/SKILL.md", skill),
        ("tool/a.sh", "echo \"hello $SKILL_ARG_WHO\"\n"),
        ("tool/spin.sh", "while :; do :; done\n"),
    ])
}

fn command(folder: &TempDir, words: &[&str]) -> Launch {
    let launch = Launch::bare(SKILLCELL).arg(words[0]).arg("--root").arg(folder.path());
    words[1..].iter().fold(launch, Launch::arg)
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn programs_are_told_why_in_json_and_people_beside_it() {
    let folder = skill();
    for (words, part) in [
        (&["show", "nope"][..], "no skill is called `nope`"),
        (&["run", "nope", "a.sh"], "no skill is called `nope`"),
        (&["run", "tool", "a.sh"], "needs the arguments `who`"),
        (&["run", "tool", "a.sh", "--dry-run"], "needs the arguments `who`"),
    ] {
        let output = command(&folder, words).arg("--json").output();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {output:?}"));
        assert!(told["error"].as_str().unwrap().contains(part), "{words:?}: {told}");
        assert!(error(&output).contains(part), "{words:?}: {output:?}");
        assert_eq!(command(&folder, words).output().stdout, b"", "{words:?}");
    }
}

#[test]
fn a_missing_argument_is_told_as_it_is_given_here() {
    let output = command(&skill(), &["run", "tool", "a.sh"]).output();
    assert!(error(&output).contains("hint: give each as `--arg NAME=VALUE`"), "{output:?}");
}

#[test]
fn what_the_host_says_last_is_a_line() {
    let folder = skill();
    let launch = command(&folder, &["run", "tool", "spin.sh", "-q"]).config("scripts: {timeout_seconds: 1}\n");
    let output = launch.output();
    assert!(error(&output).contains("timeout exceeded.\n"), "{output:?}");
}

#[test]
fn a_reader_that_went_away_ends_nothing_badly() {
    let folder = skill();
    let elsewhere = library(&[]);
    for words in [
        &["run", "tool", "a.sh", "--arg", "who=you"][..],
        &["run", "tool", "a.sh", "--arg", "who=you", "--json"],
        &["run", "tool", "a.sh", "--arg", "who=you", "--dry-run"],
    ] {
        ends_well(command(&folder, words));
    }
    ends_well(Launch::bare(SKILLCELL).arg("plugin").arg("new").arg("my-scorer").folder(elsewhere.path()));
}

/// Runs a command whose output nobody reads.
fn ends_well(mut launch: Launch) {
    let mut running =
        launch.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success() && !error(&output).contains("panicked"), "{output:?}");
}
