//! Integration tests of the real binary.

mod adversarial;
mod analytics;
mod audit;
mod cases;
mod client;
mod commands;
mod configuration;
mod demo;
mod doctor;
mod documents;
mod engine;
mod extension;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod faults;
mod freshness;
mod git;
mod grants;
mod hidden_characters;
mod hostile;
mod http;
mod lint;
mod listing;
mod matching;
mod packages;
mod packaging;
mod plugin;
mod profiles;
mod prompts;
mod query;
mod protocol;
mod resources;
mod roots;
mod runtimes;
mod sandbox;
mod scorers;
mod nested;
mod new_skill;
mod script_io;
mod scripts;
mod shutdown;
mod storm;
mod subscriptions;
mod terminal;
mod tidy;
mod several_servers;
mod ui;
mod version;
mod waiting;

use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, write_files};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The server under test.
const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// A library of two skills.
const SMALL: [(&str, &str); 2] = [
    ("forms.md", "---\nkeywords: [form, validation]\ndescription: Forms\n---\n\nValidate on submit.\n"),
    ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n"),
];

/// Creates a folder with these files.
fn library(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path(), files);
    folder
}

fn serve(folder: &Path) -> Launch {
    Launch::new(SKILLCELL).arg(folder)
}

/// Puts the server's binary into a folder, and lets every user enter the folder and run the binary.
fn install_server(folder: &Path) -> PathBuf {
    let binary = folder.join(".skillcell");
    // A hard link avoids the copy of a large file, if both are on one file system.
    if std::fs::hard_link(SKILLCELL, &binary).is_err() {
        // Not by this process: what it has open for writing is open in the processes too that other tests start at the same time,
        // until they run their program, and a file that is open for writing cannot be run.
        let copied = Command::new("cp").args([Path::new(SKILLCELL), &binary]).status().expect("`cp`");
        assert!(copied.success(), "no room for the binary");
    }
    for path in [folder, &binary] {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a folder of our own");
    }
    binary
}

/// Starts a client of each era, each with a server of its own.
fn both_eras(folder: &Path) -> [Session; 2] {
    [serve(folder).start(), serve(folder).modern()]
}

/// Checks that the server of a library with `SMALL` in it still works.
fn still_answers(session: &mut Session) {
    let found = session.call_json("get_skill", json!({"context": "form validation"}));
    assert_eq!(found["skill_path"], "forms", "log:\n{}", session.log());
}

/// Returns the file of each problem, and one of its other fields.
fn problems(session: &mut Session, field: &str) -> Vec<(String, String)> {
    let list = session.fresh(|session| session.call_json("skills_list", json!({})));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let problems = list["problems"].as_array().cloned().unwrap_or_default();
    problems.iter().map(|problem| (text(&problem["file"]), text(&problem[field]))).collect()
}
