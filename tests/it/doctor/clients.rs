//! Entries in the settings of clients, and why they do not work.

use super::{Diagnosis, NOT_A_SECRET, diagnose, doctor};
use crate::{SKILLCELL, SMALL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, write_files};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Runs `doctor` with an entry for this server in Claude Code, next to a private one that must not be printed.
fn diagnose_entry(entry: &Value) -> Diagnosis {
    diagnose_entry_with(entry, |launch| launch)
}

fn diagnose_entry_with(entry: &Value, with: impl Fn(Launch) -> Launch) -> Diagnosis {
    let folder = library(&SMALL);
    let launch = with(doctor(folder.path()).folder(folder.path()));
    let servers = json!({"skillcell": entry, "private": {"command": "/bin/zork", "env": {"KEY": NOT_A_SECRET}}});
    write_files(launch.home(), &[(".claude.json", &json!({"mcpServers": servers}).to_string())]);
    let diagnosis = diagnose(launch);
    assert!(
        !diagnosis.output_text.contains("zork") && !diagnosis.output_text.contains(NOT_A_SECRET),
        "{}",
        diagnosis.output_text
    );
    diagnosis
}

#[test]
fn an_entry_that_works_is_fine() {
    let skills = library(&SMALL);
    let diagnosis =
        diagnose_entry(&json!({"type": "stdio", "command": SKILLCELL, "args": ["serve", skills.path(), "--user"]}));
    assert_eq!(diagnosis.section("clients").len(), 1, "{:#?}", diagnosis.section("clients"));
    diagnosis.has("clients", &["ok: Claude Code: `skillcell` in ", "starts this program"]);
    diagnosis.has("clients", &["ok: "]);
    assert_eq!(diagnosis.code, Some(0));
    let reached = diagnose_entry(&json!({"type": "http", "url": format!("https://example.com/{NOT_A_SECRET}")}));
    reached.has("clients", &["ok: ", "is reached over HTTP"]);
}

#[test]
fn a_missing_or_non_executable_program_is_a_failure() {
    let folder = library(&[("skillcell", "not a program")]);
    for command in ["/no/such/skillcell".to_owned(), folder.path().join("skillcell").display().to_string()] {
        let diagnosis = diagnose_entry(&json!({"command": command, "args": ["serve"]}));
        diagnosis
            .has("clients", &["fail: ", &command, "is missing or not executable", "client claude DIR --write --force"]);
        assert_eq!(diagnosis.code, Some(1));
    }
    diagnose_entry(&json!({"args": ["serve"]})).has("clients", &["fail: ", "has no command"]);
    diagnose_entry(&json!(5)).has("clients", &["fail: ", "has no command"]);
    let lost = diagnose_entry_with(&json!({"command": "skillcell"}), |launch| launch.env("PATH", "/nowhere"));
    lost.has("clients", &["fail: ", "`skillcell`, which is missing"]);
}

#[test]
fn another_skillcell_is_distinguished_from_this_one() {
    let other_folder = library(&[("skillcell", "#!/bin/sh\n")]);
    let other = other_folder.path().join("skillcell");
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o755)).unwrap();
    let diagnosis = diagnose_entry(&json!({"command": other}));
    diagnosis.has("clients", &["warn: ", "starts a different program, ", &other.display().to_string(), SKILLCELL]);
    std::fs::remove_file(&other).unwrap();
    symlink(SKILLCELL, &other).unwrap();
    let path = other_folder.path().display().to_string();
    let entry_with = |command: &str| json!({"command": command, "args": ["serve", path]});
    diagnose_entry(&entry_with(other.to_str().unwrap())).has("clients", &["ok: ", "starts this program"]);
    let found = diagnose_entry_with(&entry_with("skillcell"), |launch| launch.env("PATH", &path));
    found.has("clients", &["ok: ", "starts this program"]);
}

#[test]
fn arguments_and_folders_are_checked() {
    for arguments in [json!(["serve", "--no-such-flag"]), json!(["demo"]), json!("serve"), json!(["serve", 5])] {
        let diagnosis = diagnose_entry(&json!({"command": SKILLCELL, "args": arguments}));
        diagnosis.has("clients", &["fail: ", "arguments that do not start a server"]);
    }
    let skills = library(&SMALL);
    let folders = format!("{},/no/such/folder", skills.path().display());
    let diagnosis = diagnose_entry(&json!({"command": SKILLCELL, "args": ["serve", folders, "--root", "./here"]}));
    diagnosis.has("clients", &["warn: ", "serves /no/such/folder, which is not a folder", "create it"]);
    diagnosis.has("clients", &["warn: ", "serves `./here`, which depends on the working folder of Claude Code"]);
    assert_eq!((diagnosis.section("clients").len(), diagnosis.code), (2, Some(0)));
    let variable = diagnose_entry(&json!({"command": SKILLCELL, "env": {"SKILLS_DIR": "/no/such/folder"}}));
    variable.has("clients", &["warn: ", "serves /no/such/folder"]);
    diagnose_entry(&json!({"command": SKILLCELL, "disabled": true})).has("clients", &["warn: ", "is disabled"]);
}

#[test]
fn an_entry_whose_server_would_exit_immediately_is_a_failure() {
    let skills = library(&SMALL);
    let entry_with = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["serve", skills.path().to_str().unwrap()].into_iter().chain(more.iter().copied()).collect();
        json!({"command": SKILLCELL, "args": arguments})
    };
    for (entry, part) in [
        (entry_with(&["--config", "/nope.yaml"]), "/nope.yaml"),
        (entry_with(&["--scorer", "nope"]), "there is no such scorer"),
        (entry_with(&["--scorer", "/nope.wasm"]), "cannot be read"),
        (entry_with(&["--engine", "/nope.wasm"]), "cannot read the engine /nope.wasm"),
        (entry_with(&["--tools", "bogus"]), "bogus"),
        (
            json!({"command": SKILLCELL, "args": ["serve", skills.path()], "env": {"SKILLCELL_CONFIG": "/nope"}}),
            "/nope",
        ),
        (json!({"command": SKILLCELL, "args": ["serve"]}), "no folder of skills: name one"),
        (json!({"command": SKILLCELL}), "no folder of skills"),
    ] {
        let diagnosis = diagnose_entry(&entry);
        diagnosis.has("clients", &["fail: Claude Code: `skillcell` in ", "would exit immediately: ", part]);
        assert_eq!(
            (diagnosis.section("clients").len(), diagnosis.code),
            (1, Some(1)),
            "{entry}: {:#}",
            diagnosis.report
        );
    }
    let at_home = diagnose_entry_with(&json!({"command": SKILLCELL, "args": ["serve"]}), |launch| {
        write_files(launch.home(), &[(".claude/skills/pdf/SKILL.md", SMALL[1].1)]);
        launch
    });
    at_home.has("clients", &["ok: ", "starts this program"]);
    let unknown = diagnose_entry(&entry_with(&["--config", "${HOME}/nope.yaml"]));
    unknown.has("clients", &["ok: ", "starts this program"]);
}

#[test]
fn a_file_without_read_permission_is_reported_as_such() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(Path::new("/"));
    let home = launch.home().to_owned();
    write_files(&home, &[(".claude.json", "{}")]);
    std::fs::set_permissions(home.join(".claude.json"), PermissionsExt::from_mode(0o000)).unwrap();
    std::fs::set_permissions(&home, PermissionsExt::from_mode(0o755)).unwrap();
    let diagnosis = diagnose(launch.unprivileged().env("HOME", home.to_str().unwrap()));
    diagnosis.has(
        "clients",
        &["warn: Claude Code: cannot read ", ".claude.json: Permission denied", "let this user read it"],
    );
}

#[test]
fn settings_with_a_lone_surrogate_are_read() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(folder.path());
    let history = "\"projects\":{\"/x\":{\"history\":[{\"display\":\"hi \\ud83d\"}]}}";
    let entry = json!({"command": SKILLCELL, "args": ["serve", folder.path()]});
    let settings = format!("{{{history},\"mcpServers\":{{\"skillcell\":{entry}}}}}");
    write_files(launch.home(), &[(".claude.json", &settings), (".cursor/mcp.json", "[]")]);
    let diagnosis = diagnose(launch);
    diagnosis.has("clients", &["ok: Claude Code: `skillcell` in ", "starts this program"]);
    diagnosis.has("clients", &["warn: Cursor: ", "the top level is not an object"]);
}

#[test]
fn a_file_that_cannot_be_parsed_is_reported_with_its_line() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(folder.path());
    let broken = format!("model = \"x\"\n[mcp_servers.skillcell]\ncommand {NOT_A_SECRET}\n");
    write_files(launch.home(), &[(".codex/config.toml", &broken), (".cursor/mcp.json", "{\"mcpServers\": []}")]);
    write_files(
        folder.path(),
        &[(".mcp.json", "{\n// not for me\n}"), (".vscode/mcp.json", "{\"servers\": {}} // fine")],
    );
    let diagnosis = diagnose(launch);
    diagnosis.has("clients", &["fail: Codex: ", "config.toml cannot be parsed: line 3: ", "fix it"]);
    diagnosis.has("clients", &["warn: Cursor: ", "`mcpServers` exists but is not an object of servers"]);
    diagnosis.has("clients", &["warn: Claude Code: ", ".mcp.json cannot be parsed: line 2: "]);
    diagnosis.has("clients", &["ok: VS Code: ", "has no entry for skillcell"]);
    assert_eq!(diagnosis.code, Some(1));
    assert!(!diagnosis.output_text.contains(NOT_A_SECRET), "{}", diagnosis.output_text);
}

#[test]
fn entries_for_a_project_and_under_other_names_are_found() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(folder.path());
    let project = folder.path().canonicalize().unwrap();
    let servers =
        |name: &str, command: &str| json!({"mcpServers": {name: {"command": command, "args": ["serve", project]}}});
    let mut settings = servers("team", "/gone/skillcell");
    settings["projects"] = json!({
        project.to_str().unwrap(): servers("skillcell", SKILLCELL),
        "/elsewhere": servers("skillcell", "/not/looked/at"),
    });
    write_files(launch.home(), &[(".claude.json", &settings.to_string())]);
    let diagnosis = diagnose(launch);
    let hint = "skillcell client claude DIR --name team --write --force";
    diagnosis.has("clients", &["fail: Claude Code: `team` in ", "/gone/skillcell", hint]);
    diagnosis.has("clients", &["ok: Claude Code: `skillcell` in ", "starts this program"]);
    assert!(!diagnosis.output_text.contains("/not/looked/at"), "{}", diagnosis.output_text);
}

#[test]
fn doctor_accepts_what_client_writes() {
    let skills = library(&SMALL);
    let home = tempfile::tempdir().unwrap();
    let launch = |arguments: &[&str]| {
        let launch = Launch::bare(SKILLCELL).with_home(home.path()).folder(skills.path());
        arguments.iter().fold(launch, Launch::arg)
    };
    for client in ["claude", "codex", "cursor", "vscode", "gemini"] {
        assert!(launch(&["client", client, ".", "--write"]).output().status.success(), "{client}");
    }
    let diagnosis = diagnose(launch(&["doctor", "--root", "."]));
    let lines = diagnosis.section("clients");
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines.iter().all(|line| line.starts_with("ok: ") && line.contains("starts this program")), "{lines:#?}");
    assert!(Path::new(SKILLCELL).is_absolute());
}
