//! The documents, as far as they can be run.

use crate::scripts::skill;
use crate::{SKILLCELL, serve};
use serde_json::{Value, json};
use skillcell_tests::{repository, write_files};
use std::path::Path;
use std::process::Command;

/// A fenced block: the words after the fence, and its text.
type Block = (Vec<String>, String);

fn document(name: &str) -> String {
    std::fs::read_to_string(repository().join("docs").join(name)).unwrap()
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some("") => is_open = false,
            Some(words) => {
                blocks.push((words.split(' ').map(str::to_owned).collect(), String::new()));
                is_open = true;
            }
            None if is_open => {
                let (_, text) = blocks.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// Runs the commands of a `console` block, and compares what they print with what follows them.
fn check_console(text: &str, folder: &Path) {
    for step in text.split("$ ").skip(1) {
        let (command, expected) = step.split_once('\n').unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.join(".bin").display());
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{command} 2>&1")]).current_dir(folder);
        let output = shell.env_clear().env("PATH", path).env("HOME", folder).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let printed: Vec<&str> = printed.lines().filter(|line| !is_log(line)).collect();
        assert!(output.status.success(), "{command}: {printed:?}");
        assert!(expected.is_empty() || printed == expected.lines().collect::<Vec<_>>(), "{command}: {printed:?}");
    }
}

fn is_log(line: &str) -> bool {
    line.contains(" INFO ") || line.contains(" WARN ")
}

/// Whether an answer has everything that a document shows of it.
fn shows(answer: &Value, shown: &Value) -> bool {
    match (answer, shown) {
        (Value::Object(answer), Value::Object(shown)) => {
            shown.iter().all(|(key, value)| answer.get(key).is_some_and(|answer| shows(answer, value)))
        }
        (Value::Array(answer), Value::Array(shown)) => {
            answer.len() == shown.len() && answer.iter().zip(shown).all(|(answer, shown)| shows(answer, shown))
        }
        _ => answer == shown,
    }
}

#[test]
fn the_tutorial_works() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join(".bin")).unwrap();
    std::os::unix::fs::symlink(SKILLCELL, folder.join(".bin/skillcell")).unwrap();
    let mut calls = Vec::new();
    let mut commands = 0;
    for (words, text) in blocks(&document("tutorial.md")) {
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["console"] => {
                check_console(&text, &folder);
                commands += 1;
            }
            ["json", kind] => calls.push((kind.to_owned(), serde_json::from_str::<Value>(&text).unwrap())),
            [_, file] => write_files(&folder, &[(file, &text)]),
            _ => panic!("a block that no test runs: {words:?}"),
        }
    }
    let mut session = serve(&folder.join("skills")).start();
    for pair in calls.chunks(2) {
        let [(call, arguments), (answer, shown)] = pair else { panic!("a call without its answer") };
        assert_eq!((call.as_str(), answer.as_str()), ("call", "answer"));
        let answer = session.call_json("run_script", arguments.clone());
        assert!(shows(&answer, shown), "{answer:#}");
    }
    assert!(commands > 2 && calls.len() > 2);
}

#[test]
fn the_table_of_what_works_is_true() {
    let document = document("public-skills.md");
    let mut rows: Vec<(&str, String, bool)> = Vec::new();
    for line in document.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        // A `|` of the shell is escaped in a table.
        let line = line.replace("\\|", "\u{0}");
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect();
        let extension = match cells[1].as_str() {
            "Python" => "py",
            "JavaScript" => "js",
            "TypeScript" => "ts",
            "shell" => "sh",
            other => panic!("{other} is not a language"),
        };
        rows.push((extension, cells[2].trim_matches('`').to_owned(), cells[3] == "yes"));
    }
    assert!(rows.len() > 25);
    let named: Vec<(String, String)> = rows
        .iter()
        .enumerate()
        .map(|(number, (extension, text, _))| (format!("s{number}.{extension}"), format!("{text}\n")))
        .collect();
    let files: Vec<(&str, &str)> = named.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = skill(&files);
    let mut session = serve(folder.path()).start();
    for ((name, text), (_, _, works)) in named.iter().zip(&rows) {
        let result = session.call_json("run_script", json!({"skill_path": "tool", "file": name, "args": {}}));
        assert_eq!(result["success"], *works, "{text}{result:#}");
    }
}
