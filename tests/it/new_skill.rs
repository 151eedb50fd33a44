//! `skillcell new`: a skill that works as it is, and is never written over another.

use crate::SKILLCELL;
use serde_json::{Value, json};
use skillcell_tests::{Launch, files_below, write_files};
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// A working folder, which is the home too.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn launch(&self, arguments: &[&str]) -> Launch {
        arguments.iter().fold(Launch::bare(SKILLCELL).with_home(self.path()).folder(self.path()), Launch::arg)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.launch(arguments).output()
    }

    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let before = files_below(self.path());
        let output = self.run(arguments);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{arguments:?}: {output:?}");
        assert_eq!(files_below(self.path()), before, "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn a_new_skill_lints_clean_and_every_command_it_shows_works() {
    let desk = Desk::new();
    let shown = desk.stdout(&["new", "word-count", "--dir", "team skills"]);
    let lint: Value = serde_json::from_str(&desk.stdout(&["lint", "team skills", "--json"])).unwrap();
    assert_eq!((&lint["skills"], &lint["problems"]), (&json!(1), &json!([])), "{lint:#}");

    let commands: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("  skillcell ")).collect();
    let [lint, run, client, run_here] = commands[..] else { panic!("four commands: {shown}") };
    assert_eq!(lint, "lint 'team skills'");
    assert!(shell(&desk, lint).0.contains("1 skill: no problems"));
    let (table, code) = shell(&desk, run);
    assert!(code == Some(0) && table.contains("| SKILL.md | 8 | "), "{table}");
    let (entry, code) = shell(&desk, client);
    assert!(code == Some(0) && entry.contains("added `skillcell`"), "{entry}");

    write_files(desk.path(), &[("FILE", "one two\nthree\n")]);
    let (refused, code) = shell(&desk, run_here);
    assert!(code == Some(1) && refused.contains("no grant covers it"), "{refused}");
    let grant: String =
        shown.lines().skip_while(|line| *line != "grants:").take(4).map(|line| format!("{line}\n")).collect();
    let file = desk.path().join(".config/skillcell/config.yaml");
    assert!(shown.contains(&format!("add to {}:", file.display())), "{shown}");
    write_files(desk.path(), &[(".config/skillcell/config.yaml", &grant)]);
    let (granted, code) = shell(&desk, run_here);
    assert!(code == Some(0) && granted.contains("| FILE | 2 | 3 | 14 |"), "{grant}{granted}");
}

/// Runs what was printed for a shell, and returns everything it prints, and its exit code.
fn shell(desk: &Desk, command: &str) -> (String, Option<i32>) {
    let mut launch = Launch::bare("bash").with_home(desk.path()).folder(desk.path());
    launch = launch.arg("-c").arg(format!("{SKILLCELL} {command} 2>&1"));
    let output = launch.output();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn without_a_folder_it_goes_where_skills_are_served_from() {
    let desk = Desk::new();
    desk.stdout(&["new", "one"]);
    let found = desk.launch(&["serve"]).start().call_json("get_skill", json!({"context": "count the words of a text"}));
    assert_eq!(found["skill_path"], "one", "{found:#}");
    desk.stdout(&["new", "two"]);
    let list: Value = serde_json::from_str(&desk.stdout(&["list", "--json"])).unwrap();
    let names: Vec<&Value> = list["skills"].as_array().unwrap().iter().map(|skill| &skill["skillPath"]).collect();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn an_agent_can_run_the_script_of_a_new_skill() {
    let desk = Desk::new();
    desk.stdout(&["new", "one"]);
    let mut session = desk.launch(&["serve"]).start();
    let call = |argv: Value| json!({"skill_path": "one", "file": "scripts/count.py", "argv": argv, "files": [{"path": "a.txt", "text": "a b"}]});
    let result = session.call_json("run_script", call(json!(["a.txt"])));
    assert!(result["stdout"].as_str().unwrap().ends_with("| a.txt | 1 | 2 | 3 |\n"), "{result:#}");
    let result = session.call_json("run_script", call(json!([])));
    assert_eq!(result["exit_code"], 1, "{result:#}");
    assert!(result["hint"].as_str().unwrap().contains("argv"), "{result:#}");
    let result = session.call_json("run_script", call(json!(["missing.txt"])));
    assert!(result["stderr"].as_str().unwrap().starts_with("cannot read missing.txt: "), "{result:#}");
}

#[test]
fn a_bad_name_is_refused_with_the_reason() {
    let desk = Desk::new();
    let long = "a".repeat(65);
    for (name, reason) in [
        ("", "it is empty"),
        ("My-Skill", "it contains `M`"),
        ("my skill", "it contains ` `"),
        ("my_skill", "it contains `_`"),
        ("été", "it contains `é`"),
        ("../up", "it contains `.`"),
        ("a/b", "it contains `/`"),
        ("a\u{202e}b", "it contains `\\u{202e}`"),
        ("a\nb", "it contains `\\n`"),
        ("a--b", "a `-` is not between two words"),
        ("a-", "a `-` is not between two words"),
        (&long, "it has more than 64 characters"),
    ] {
        let error = desk.refusal(&["new", name]);
        assert!(error.contains("is not a valid name for a skill") && error.contains(reason), "{name:?}: {error}");
        assert!(error.contains("hint: use words of `a-z` and `0-9` joined by `-`"), "{name:?}: {error}");
    }
    assert!(!desk.path().join("skills").exists());
}

#[test]
fn nothing_is_overwritten() {
    let desk = Desk::new();
    write_files(desk.path(), &[("skills/mine/notes.txt", "mine"), ("skills/file", "a file"), ("flat", "a file")]);
    std::os::unix::fs::symlink("nowhere", desk.path().join("skills/link")).unwrap();
    std::os::unix::fs::symlink(".", desk.path().join("skills/around")).unwrap();
    for name in ["mine", "file", "link", "around"] {
        let error = desk.refusal(&["new", name]);
        assert!(error.contains("already exists\nhint: use another name, or another folder with `--dir`"), "{error}");
    }
    for folder in ["flat", "flat/below"] {
        let error = desk.refusal(&["new", "fine", "--dir", folder]);
        assert!(error.starts_with(&format!("error: cannot create the folder {folder}: ")), "{error}");
    }
    assert_eq!(std::fs::read_to_string(desk.path().join("skills/mine/notes.txt")).unwrap(), "mine");
}
