//! Documentation of commands: `--help`, shell completions, and the manual.

use super::{commands, large};
use crate::{SKILLCELL, library};
use skillcell_tests::{Launch, files_below};
use std::io::Read as _;
use std::process::Stdio;

/// Commands that change or start something, or write a file in a format of its own. All others are read-only.
const NOT_READ_ONLY: [&str; 12] = [
    "serve",
    "demo",
    "new",
    "plugin new",
    "package add",
    "package remove",
    "package update",
    "model add",
    "model remove",
    "ui",
    "completions",
    "man",
];

fn stdout(arguments: &str) -> String {
    let launch = arguments.split_whitespace().fold(Launch::bare(SKILLCELL), Launch::arg);
    let output = launch.output();
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_help_of_every_command_has_an_example_of_that_command() {
    let groups = ["", "plugin", "package", "model", "integration"].map(str::to_owned);
    for command in commands().into_iter().map(|(name, _)| name).chain(groups) {
        let help = stdout(&format!("{command} --help"));
        let example = format!("skillcell {command}");
        let examples = help.split_once("Example").map(|(_, rest)| rest.split("Usage:").next().unwrap_or_default());
        let examples = examples.unwrap_or_else(|| panic!("no example: {help}"));
        assert!(examples.contains(example.trim_end()), "`{example}` is not in its example: {help}");
    }
}

#[test]
fn every_read_only_command_has_json() {
    for (name, command) in commands() {
        let has_json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        assert_eq!(has_json, !NOT_READ_ONLY.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        for (name, _) in commands() {
            for word in name.split(' ') {
                assert!(script.contains(word), "{shell} does not know `{word}`");
            }
        }
    }
    let output = Launch::bare(SKILLCELL).arg("completions").arg("cmd").output();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("[possible values: bash, elvish, fish, powershell, zsh]"));
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = library(&[]);
    let pages = folder.path().join("share/man1");
    for _ in 0..2 {
        stdout(&format!("man {}", pages.display()));
    }
    for (name, _) in commands() {
        let page = pages.join(format!("skillcell-{}.1", name.replace(' ', "-")));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(text.contains(".SH NAME") && text.contains("Example"), "{text}");
    }
    assert!(files_below(&pages).iter().all(|page| page.extension().is_some_and(|extension| extension == "1")));
    assert_eq!(stdout("man"), std::fs::read_to_string(pages.join("skillcell.1")).unwrap());

    let (page, own) = (pages.join("skillcell-list.1"), folder.path().join("own"));
    std::fs::write(&own, "mine").unwrap();
    std::fs::remove_file(&page).unwrap();
    std::os::unix::fs::symlink(&own, &page).unwrap();
    stdout(&format!("man {}", pages.display()));
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine", "a page replaces a link, and is not written through it");
    assert!(std::fs::read_to_string(&page).unwrap().contains(".SH NAME"));

    let file = pages.join("skillcell.1");
    let output = Launch::bare(SKILLCELL).arg("man").arg(&file).output();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: cannot write pages into"), "{output:?}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let many = large();
    let root = many.path().to_str().expect("a path that is text");
    for arguments in [&["list"][..], &["list", "--json"], &["search", "a", "--limit", "25"], &["lint", "--json"]] {
        let mut launch = arguments.iter().fold(Launch::bare(SKILLCELL).env("SKILLS_DIR", root), Launch::arg);
        let command = launch.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Like `head -n 0`.
        drop(child.stdout.take());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!((child.wait().unwrap().code(), log.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
