//! `skillcell doctor`: whether everything works, and what to do where it does not.

mod clients;
mod reasons;

use crate::{SKILLCELL, library};
use serde_json::Value;
use skillcell_tests::{Launch, component, files_below, repository, write_files};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const NOT_A_SECRET: &str = "correct-horse-battery-staple";

fn doctor(folder: &Path) -> Launch {
    Launch::bare(SKILLCELL).arg("doctor").arg("--root").arg(folder)
}

struct Told {
    code: Option<i32>,
    report: Value,
    all: String,
}

impl Told {
    /// What is told in a section, each with its state in front.
    fn section(&self, name: &str) -> Vec<String> {
        let sections = self.report["sections"].as_array().unwrap();
        let section = sections.iter().find(|section| section["name"] == name);
        let checks = section.unwrap_or_else(|| panic!("no {name}: {:#}", self.report))["checks"].as_array().unwrap();
        let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
        let told =
            |check: &Value| format!("{}: {}: {}", text(check, "state"), text(check, "what"), text(check, "advice"));
        checks.iter().map(told).collect()
    }

    fn has(&self, section: &str, parts: &[&str]) {
        let lines = self.section(section);
        let holds = lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(holds, "{section} has no line with {parts:?}: {lines:#?}");
    }
}

fn told(launch: Launch) -> Told {
    let output = launch.arg("--json").output();
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    let all = String::from_utf8(all).expect("text");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {all}"));
    Told { code: output.status.code(), report, all }
}

#[test]
fn the_bundled_library_works_and_every_section_is_told() {
    let elsewhere = library(&[]);
    let said = told(doctor(&repository().join("fixtures/skills")).folder(elsewhere.path()));
    assert_eq!((said.code, &said.report["failures"]), (Some(0), &Value::from(0)), "{:#}", said.report);
    let names: Vec<&str> =
        said.report["sections"].as_array().unwrap().iter().map(|section| section["name"].as_str().unwrap()).collect();
    let expected = [
        "configuration",
        "roots",
        "engine and plugins",
        "grants",
        "cache and records",
        "git",
        "integrations",
        "clients",
        "tools that skills mention",
    ];
    assert_eq!(names, expected);
    said.has("configuration", &["ok: there is no operator's file; 12 tools"]);
    said.has("roots", &["ok: skills: ", "18 skills"]);
    for plugin in ["engine `engine`, in use", "script-runtime `python`, in use", "scorer `bm25`, not in use"] {
        said.has("engine and plugins", &["ok: ", plugin, "sha256:"]);
    }
    said.has("grants", &["ok: none"]);
    said.has("cache and records", &["ok: audit record: ", "0 lines, whole"]);
    said.has("integrations", &["warn: ", "`github` needs a token", "set GITHUB_TOKEN"]);
    said.has("clients", &["warn: no client was found", "skillcell client claude DIR --write"]);
    assert_eq!(said.section("tools that skills mention"), ["ok: none: "]);

    let output = doctor(&repository().join("fixtures/skills")).output();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("configuration\n  ok    there is no operator's file"), "{text}");
    assert!(text.contains("\n        set GITHUB_TOKEN"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("0 failures, "), "{text}");
    assert_eq!(output.stderr, b"", "only the answer is told");
}

#[test]
fn an_empty_library_is_a_warning_and_none_at_all_a_failure() {
    let empty = library(&[]);
    let said = told(doctor(empty.path()));
    assert_eq!(said.code, Some(0), "{:#}", said.report);
    said.has("roots", &["warn: no root has a skill"]);
    let said = told(doctor(&empty.path().join("typo")));
    assert_eq!(said.code, Some(0), "{:#}", said.report);
    said.has("roots", &["warn: typo: ", "typo is not there", "correct its name"]);

    let said = told(Launch::bare(SKILLCELL).arg("doctor").folder(empty.path()));
    assert_eq!(said.code, Some(1), "{:#}", said.report);
    said.has("roots", &["fail: no folder of skills: ", "SKILLS_DIR"]);
    said.has("engine and plugins", &["ok: engine `engine`"]);
}

#[test]
fn a_broken_library_is_told_with_the_command_that_tells_more() {
    let folder =
        library(&[("a/SKILL.md", "no front matter\n"), ("b/SKILL.md", "---\nname: other\ndescription: d\n---\n")]);
    let said = told(doctor(folder.path()));
    assert_eq!(said.code, Some(0), "{:#}", said.report);
    let advice = format!("run `skillcell lint {}`", folder.path().display());
    said.has("roots", &["warn: ", "1 skill, 1 error, 1 warning", &advice]);
}

#[test]
fn a_root_that_cannot_be_read_is_a_failure() {
    let folder = library(&crate::SMALL);
    let allow = |mode: u32| std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
    for mode in [0, 0o311] {
        allow(mode);
        let said = told(doctor(folder.path()).folder(Path::new("/")).unprivileged());
        allow(0o700);
        assert_eq!(said.code, Some(1), "{mode:o}: {:#}", said.report);
        let lines = said.section("roots");
        let failures: Vec<&String> = lines.iter().filter(|line| line.starts_with("fail: ")).collect();
        assert_eq!(failures.len(), 1, "{lines:#?}");
        assert!(failures[0].contains("may not be read by this user: let this user read and enter it"), "{lines:#?}");
    }
}

#[test]
fn a_wrong_configuration_is_told_with_its_line() {
    let folder = library(&crate::SMALL);
    let said = told(doctor(folder.path()).config("scripts:\n  enabled: true\n  nonsense: 1\n"));
    assert_eq!(said.code, Some(1), "{:#}", said.report);
    said.has("configuration", &["fail: ", "config.yaml:3", "nonsense"]);
    said.has("clients", &["warn: no client was found"]);
}

#[test]
fn mentions_are_told_once_for_each_tool() {
    let skill = |name: &str, body: &str| format!("---\nkeywords: [{name}]\ndescription: d\n---\n{body}\n");
    let both = "mcp__skillcell__query mcp__skillcell__qery mcp__sx__query";
    let folder = library(&[("a.md", &skill("a", both)), ("b.md", &skill("b", both))]);
    let said = told(doctor(folder.path()));
    assert_eq!(said.code, Some(0), "{:#}", said.report);
    let lines = said.section("tools that skills mention");
    let expected = [
        "warn: mcp__skillcell__qery: skillcell has no tool `qery`; in a, b: close names are `mcp__skillcell__query`",
        "ok: mcp__skillcell__query: offered; in a, b: ",
        "ok: mcp__sx__query: another server's; this server offers it as `mcp__skillcell__query`; in a, b: ",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn grants_that_nobody_has_are_told() {
    let folder = library(&crate::SMALL);
    let root = folder.path().display();
    let config = format!(
        "grants:\n  '{root}':\n    pdf: {{read: ['{root}'], env: [NOT_SET_ANYWHERE], hosts: [example.com]}}\n    gone: {{write: ['{root}/nothing']}}\n  /no/such/root:\n    pdf: {{}}\n"
    );
    let said = told(doctor(folder.path()).config(&config));
    assert_eq!(said.code, Some(0), "{:#}", said.report);
    said.has("grants", &["ok: `pdf` in ", "read /", "variables NOT_SET_ANYWHERE", "connect to example.com"]);
    said.has("grants", &["warn: ", "the variable NOT_SET_ANYWHERE is granted and not set"]);
    said.has("grants", &["warn: `gone` in ", "there is no such skill"]);
    said.has("grants", &["warn: ", "/nothing is granted and not there"]);
    said.has("grants", &["warn: `pdf` in /no/such/root: that folder is no root now"]);
    let said = told(doctor(folder.path()).config("scripts: {enabled: false}\n"));
    said.has("grants", &["ok: no script runs"]);
}

#[test]
fn clients_are_found_and_no_secret_is_told() {
    let folder = library(&crate::SMALL);
    let launch = doctor(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", NOT_A_SECRET);
    let settings = format!(
        "{{\"mcpServers\": {{\"skillcell\": {{\"command\": \"{SKILLCELL}\", \"env\": {{\"T\": \"{NOT_A_SECRET}\"}}}}}}}}"
    );
    write_files(launch.home(), &[(".claude.json", &settings), (".codex/config.toml", "model = \"x\"\n")]);
    write_files(folder.path(), &[(".mcp.json", "{}")]);
    let launch =
        launch.config(&format!("repos: [{{url: 'https://me:{NOT_A_SECRET}@git.example.com/team/skills.git'}}]\n"));
    let said = told(launch);
    assert_eq!(said.code, Some(0), "{:#}", said.report);
    said.has("clients", &["ok: Claude Code: `skillcell` in ", ".claude.json starts this program"]);
    said.has("clients", &["ok: Codex: ", "does not name"]);
    assert_eq!(said.section("clients").len(), 3, "{:#?}", said.section("clients"));
    said.has("integrations", &["ok: github: https://api.github.com"]);
    said.has("git", &["warn: https://git.example.com/team/skills.git, with a token: there is no clone"]);
    assert!(!said.all.contains(NOT_A_SECRET), "{}", said.all);
}

#[test]
fn what_does_not_load_or_was_changed_is_a_failure() {
    let folder = library(&crate::SMALL);
    let bm25 = component("scorer-bm25");
    let pin = "0".repeat(64);
    let config = format!(
        "scorers: {{broken: '{1}'}}\nscripts: {{runners: {{.py: gone.wasm}}}}\nmatching: {{scorer: {{file: '{0}', sha256: {pin}}}}}\nintegrations: {{mine: {{file: '{0}', sha256: {pin}, address: 'https://example.com'}}}}\n",
        bm25.display(),
        folder.path().join("forms.md").display()
    );
    let launch = doctor(folder.path()).config(&config);
    let home = launch.home().to_owned();
    let record = home.join(".local/share/skillcell/audit");
    write_files(&home, &[(".local/share/skillcell/audit/audit.jsonl", "{\"forged\": true}\n")]);
    for path in [&record, &record.join("audit.jsonl")] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(if path.is_dir() { 0o700 } else { 0o600 })).unwrap();
    }
    let said = told(launch);
    assert_eq!(said.code, Some(1), "{:#}", said.report);
    said.has("engine and plugins", &["fail: scorer `scorer_bm25.wasm`, in use", "is pinned: put the pinned file back"]);
    said.has("engine and plugins", &["fail: script-runtime `gone.wasm`, in use", "cannot be read", "correct its path"]);
    said.has(
        "engine and plugins",
        &["warn: scorer `broken`, not in use", "is no WebAssembly component", "plugin new NAME"],
    );
    said.has("integrations", &["fail: mine: its component has the digest sha256:", "integrations.mine.sha256"]);
    said.has("cache and records", &["fail: audit record: ", "skillcell audit verify"]);
    said.has("roots", &["ok: ", "2 skills"]);
}

#[test]
fn looking_changes_no_skill() {
    let folder = library(&crate::SMALL);
    let before = files_below(folder.path());
    told(doctor(folder.path()));
    assert_eq!(files_below(folder.path()), before);
}
