//! How commands report a refusal.

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

fn command(folder: &TempDir, arguments: &[&str]) -> Launch {
    let launch = Launch::bare(SKILLCELL).arg(arguments[0]).arg("--root").arg(folder.path());
    arguments[1..].iter().fold(launch, Launch::arg)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_refusal_is_json_on_stdout_and_text_on_stderr() {
    let folder = skill();
    for (arguments, part) in [
        (&["show", "nope"][..], "no skill is called `nope`"),
        (&["run", "nope", "a.sh"], "no skill is called `nope`"),
        (&["run", "tool", "a.sh"], "needs the arguments `who`"),
        (&["run", "tool", "a.sh", "--dry-run"], "needs the arguments `who`"),
    ] {
        let output = command(&folder, arguments).arg("--json").output();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        let json: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"));
        assert!(json["error"].as_str().unwrap().contains(part), "{arguments:?}: {json}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {output:?}");
        assert_eq!(command(&folder, arguments).output().stdout, b"", "{arguments:?}");
    }
}

#[test]
fn a_missing_argument_is_reported_with_the_option_for_it() {
    let output = command(&skill(), &["run", "tool", "a.sh"]).output();
    assert!(stderr(&output).contains("hint: give each as `--arg NAME=VALUE`"), "{output:?}");
}

#[test]
fn the_last_message_of_the_host_ends_with_a_line_break() {
    let folder = skill();
    let launch = command(&folder, &["run", "tool", "spin.sh", "-q"]).config("scripts: {timeout_seconds: 1}\n");
    let output = launch.output();
    assert!(stderr(&output).contains("timeout exceeded.\n"), "{output:?}");
}

#[test]
fn a_closed_pipe_does_not_fail_a_command() {
    let folder = skill();
    let other_folder = library(&[]);
    for arguments in [
        &["run", "tool", "a.sh", "--arg", "who=you"][..],
        &["run", "tool", "a.sh", "--arg", "who=you", "--json"],
        &["run", "tool", "a.sh", "--arg", "who=you", "--dry-run"],
    ] {
        succeeds_with_a_closed_pipe(command(&folder, arguments));
    }
    succeeds_with_a_closed_pipe(
        Launch::bare(SKILLCELL).arg("plugin").arg("new").arg("my-scorer").folder(other_folder.path()),
    );
}

/// Runs a command whose stdout is closed.
fn succeeds_with_a_closed_pipe(mut launch: Launch) {
    let mut running =
        launch.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success() && !stderr(&output).contains("panicked"), "{output:?}");
}
