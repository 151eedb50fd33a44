//! Entries in the settings of clients that are there and do not work.

use super::{NOT_A_SECRET, Told, doctor, told};
use crate::{SKILLCELL, SMALL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, write_files};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// What is told of an entry of this server in Claude Code, beside another server that is nobody's business.
fn told_of(entry: &Value) -> Told {
    told_with(entry, |launch| launch)
}

fn told_with(entry: &Value, with: impl Fn(Launch) -> Launch) -> Told {
    let folder = library(&SMALL);
    let launch = with(doctor(folder.path()).folder(folder.path()));
    let servers = json!({"skillcell": entry, "private": {"command": "/bin/zork", "env": {"KEY": NOT_A_SECRET}}});
    write_files(launch.home(), &[(".claude.json", &json!({"mcpServers": servers}).to_string())]);
    let said = told(launch);
    assert!(!said.all.contains("zork") && !said.all.contains(NOT_A_SECRET), "{}", said.all);
    said
}

#[test]
fn an_entry_that_works_is_fine() {
    let skills = library(&SMALL);
    let said = told_of(&json!({"type": "stdio", "command": SKILLCELL, "args": ["serve", skills.path(), "--user"]}));
    assert_eq!(said.section("clients").len(), 1, "{:#?}", said.section("clients"));
    said.has("clients", &["ok: Claude Code: `skillcell` in ", "starts this program"]);
    said.has("clients", &["ok: "]);
    assert_eq!(said.code, Some(0));
    let reached = told_of(&json!({"type": "http", "url": format!("https://example.com/{NOT_A_SECRET}")}));
    reached.has("clients", &["ok: ", "is reached over HTTP"]);
}

#[test]
fn a_program_that_is_not_there_or_cannot_be_started_is_a_failure() {
    let folder = library(&[("skillcell", "not a program")]);
    for command in ["/no/such/skillcell".to_owned(), folder.path().join("skillcell").display().to_string()] {
        let said = told_of(&json!({"command": command, "args": ["serve"]}));
        said.has("clients", &["fail: ", &command, "is not there or no program", "client claude DIR --write --force"]);
        assert_eq!(said.code, Some(1));
    }
    told_of(&json!({"args": ["serve"]})).has("clients", &["fail: ", "names no command"]);
    told_of(&json!(5)).has("clients", &["fail: ", "names no command"]);
    let lost = told_with(&json!({"command": "skillcell"}), |launch| launch.env("PATH", "/nowhere"));
    lost.has("clients", &["fail: ", "`skillcell`, which is not there"]);
}

#[test]
fn another_skillcell_is_told_from_this_one() {
    let elsewhere = library(&[("skillcell", "#!/bin/sh\n")]);
    let other = elsewhere.path().join("skillcell");
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o755)).unwrap();
    let said = told_of(&json!({"command": other}));
    said.has("clients", &["warn: ", "starts another one, ", &other.display().to_string(), SKILLCELL]);
    std::fs::remove_file(&other).unwrap();
    symlink(SKILLCELL, &other).unwrap();
    let path = elsewhere.path().display().to_string();
    let serving = |command: &str| json!({"command": command, "args": ["serve", path]});
    told_of(&serving(other.to_str().unwrap())).has("clients", &["ok: ", "starts this program"]);
    let found = told_with(&serving("skillcell"), |launch| launch.env("PATH", &path));
    found.has("clients", &["ok: ", "starts this program"]);
}

#[test]
fn arguments_and_folders_are_looked_at() {
    for arguments in [json!(["serve", "--no-such-flag"]), json!(["demo"]), json!("serve"), json!(["serve", 5])] {
        let said = told_of(&json!({"command": SKILLCELL, "args": arguments}));
        said.has("clients", &["fail: ", "arguments that do not make it a server"]);
    }
    let skills = library(&SMALL);
    let folders = format!("{},/no/such/folder", skills.path().display());
    let said = told_of(&json!({"command": SKILLCELL, "args": ["serve", folders, "--root", "./here"]}));
    said.has("clients", &["warn: ", "serves /no/such/folder, which is no folder", "make it"]);
    said.has("clients", &["warn: ", "serves `./here`, which depends on where Claude Code starts it"]);
    assert_eq!((said.section("clients").len(), said.code), (2, Some(0)));
    let variable = told_of(&json!({"command": SKILLCELL, "env": {"SKILLS_DIR": "/no/such/folder"}}));
    variable.has("clients", &["warn: ", "serves /no/such/folder"]);
    told_of(&json!({"command": SKILLCELL, "disabled": true})).has("clients", &["warn: ", "is switched off"]);
}

#[test]
fn an_entry_whose_server_would_end_at_once_is_a_failure() {
    let skills = library(&SMALL);
    let serving = |more: &[&str]| {
        let words: Vec<&str> =
            ["serve", skills.path().to_str().unwrap()].into_iter().chain(more.iter().copied()).collect();
        json!({"command": SKILLCELL, "args": words})
    };
    for (entry, part) in [
        (serving(&["--config", "/nope.yaml"]), "/nope.yaml"),
        (serving(&["--scorer", "nope"]), "there is no such scorer"),
        (serving(&["--scorer", "/nope.wasm"]), "cannot read the scorer"),
        (serving(&["--engine", "/nope.wasm"]), "cannot read the engine /nope.wasm"),
        (serving(&["--tools", "bogus"]), "bogus"),
        (
            json!({"command": SKILLCELL, "args": ["serve", skills.path()], "env": {"SKILLCELL_CONFIG": "/nope"}}),
            "/nope",
        ),
        (json!({"command": SKILLCELL, "args": ["serve"]}), "no folder of skills: name one"),
        (json!({"command": SKILLCELL}), "no folder of skills"),
    ] {
        let said = told_of(&entry);
        said.has("clients", &["fail: Claude Code: `skillcell` in ", "would end at once: ", part]);
        assert_eq!((said.section("clients").len(), said.code), (1, Some(1)), "{entry}: {:#}", said.report);
    }
    let at_home = told_with(&json!({"command": SKILLCELL, "args": ["serve"]}), |launch| {
        write_files(launch.home(), &[(".claude/skills/pdf/SKILL.md", SMALL[1].1)]);
        launch
    });
    at_home.has("clients", &["ok: ", "starts this program"]);
    let unknown = told_of(&serving(&["--config", "${HOME}/nope.yaml"]));
    unknown.has("clients", &["ok: ", "starts this program"]);
}

#[test]
fn a_file_that_may_not_be_read_is_told_as_such() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(Path::new("/"));
    let home = launch.home().to_owned();
    write_files(&home, &[(".claude.json", "{}")]);
    std::fs::set_permissions(home.join(".claude.json"), PermissionsExt::from_mode(0o000)).unwrap();
    std::fs::set_permissions(&home, PermissionsExt::from_mode(0o755)).unwrap();
    let said = told(launch.unprivileged().env("HOME", home.to_str().unwrap()));
    said.has(
        "clients",
        &["warn: Claude Code: cannot read ", ".claude.json: Permission denied", "let this user read it"],
    );
}

#[test]
fn half_a_letter_as_javascript_writes_it_is_read() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(folder.path());
    let history = "\"projects\":{\"/x\":{\"history\":[{\"display\":\"hi \\ud83d\"}]}}";
    let entry = json!({"command": SKILLCELL, "args": ["serve", folder.path()]});
    let settings = format!("{{{history},\"mcpServers\":{{\"skillcell\":{entry}}}}}");
    write_files(launch.home(), &[(".claude.json", &settings), (".cursor/mcp.json", "[]")]);
    let said = told(launch);
    said.has("clients", &["ok: Claude Code: `skillcell` in ", "starts this program"]);
    said.has("clients", &["warn: Cursor: ", "it holds no group in braces"]);
}

#[test]
fn a_file_that_cannot_be_understood_is_told_with_its_line() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(folder.path());
    let broken = format!("model = \"x\"\n[mcp_servers.skillcell]\ncommand {NOT_A_SECRET}\n");
    write_files(launch.home(), &[(".codex/config.toml", &broken), (".cursor/mcp.json", "{\"mcpServers\": []}")]);
    write_files(
        folder.path(),
        &[(".mcp.json", "{\n// not for me\n}"), (".vscode/mcp.json", "{\"servers\": {}} // fine")],
    );
    let said = told(launch);
    said.has("clients", &["fail: Codex: ", "config.toml cannot be understood: line 3: ", "mend it"]);
    said.has("clients", &["warn: Cursor: ", "`mcpServers` is there and is no group of servers"]);
    said.has("clients", &["warn: Claude Code: ", ".mcp.json cannot be understood: line 2: "]);
    said.has("clients", &["ok: VS Code: ", "does not name skillcell"]);
    assert_eq!(said.code, Some(1));
    assert!(!said.all.contains(NOT_A_SECRET), "{}", said.all);
}

#[test]
fn entries_for_one_project_and_by_other_names_are_found() {
    let folder = library(&SMALL);
    let launch = doctor(folder.path()).folder(folder.path());
    let here = folder.path().canonicalize().unwrap();
    let servers =
        |name: &str, command: &str| json!({"mcpServers": {name: {"command": command, "args": ["serve", here]}}});
    let mut settings = servers("team", "/gone/skillcell");
    settings["projects"] = json!({
        here.to_str().unwrap(): servers("skillcell", SKILLCELL),
        "/elsewhere": servers("skillcell", "/not/looked/at"),
    });
    write_files(launch.home(), &[(".claude.json", &settings.to_string())]);
    let said = told(launch);
    let again = "skillcell client claude DIR --name team --write --force";
    said.has("clients", &["fail: Claude Code: `team` in ", "/gone/skillcell", again]);
    said.has("clients", &["ok: Claude Code: `skillcell` in ", "starts this program"]);
    assert!(!said.all.contains("/not/looked/at"), "{}", said.all);
}

#[test]
fn what_client_writes_is_fine_to_doctor() {
    let skills = library(&SMALL);
    let home = tempfile::tempdir().unwrap();
    let launch = |words: &[&str]| {
        let launch = Launch::bare(SKILLCELL).with_home(home.path()).folder(skills.path());
        words.iter().fold(launch, Launch::arg)
    };
    for client in ["claude", "codex", "cursor", "vscode", "gemini"] {
        assert!(launch(&["client", client, ".", "--write"]).output().status.success(), "{client}");
    }
    let said = told(launch(&["doctor", "--root", "."]));
    let lines = said.section("clients");
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines.iter().all(|line| line.starts_with("ok: ") && line.contains("starts this program")), "{lines:#?}");
    assert!(Path::new(SKILLCELL).is_absolute());
}
