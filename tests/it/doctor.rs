//! `skillcell doctor`: what works, and how to fix what does not.

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

struct Diagnosis {
    code: Option<i32>,
    report: Value,
    output_text: String,
}

impl Diagnosis {
    /// Returns the checks of a section as lines that begin with their state.
    fn section(&self, name: &str) -> Vec<String> {
        let sections = self.report["sections"].as_array().unwrap();
        let section = sections.iter().find(|section| section["name"] == name);
        let checks = section.unwrap_or_else(|| panic!("no {name}: {:#}", self.report))["checks"].as_array().unwrap();
        let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
        let line =
            |check: &Value| format!("{}: {}: {}", text(check, "state"), text(check, "what"), text(check, "advice"));
        checks.iter().map(line).collect()
    }

    fn has(&self, section: &str, parts: &[&str]) {
        let lines = self.section(section);
        let holds = lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(holds, "{section} has no line with {parts:?}: {lines:#?}");
    }
}

fn diagnose(launch: Launch) -> Diagnosis {
    let output = launch.arg("--json").output();
    let output_text = [&output.stdout[..], &output.stderr[..]].concat();
    let output_text = String::from_utf8(output_text).expect("text");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output_text}"));
    Diagnosis { code: output.status.code(), report, output_text }
}

#[test]
fn the_bundled_library_works_and_every_section_is_reported() {
    let other_folder = library(&[]);
    let diagnosis = diagnose(doctor(&repository().join("fixtures/skills")).folder(other_folder.path()));
    assert_eq!((diagnosis.code, &diagnosis.report["failures"]), (Some(0), &Value::from(0)), "{:#}", diagnosis.report);
    let names: Vec<&str> = diagnosis.report["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["name"].as_str().unwrap())
        .collect();
    let expected = [
        "configuration",
        "roots",
        "engine and plugins",
        "grants",
        "packages",
        "cache and records",
        "git",
        "integrations",
        "clients",
        "tools that skills mention",
    ];
    assert_eq!(names, expected);
    diagnosis.has("configuration", &["ok: there is no operator's file; 11 tools"]);
    diagnosis.has("roots", &["ok: skills: ", "18 skills"]);
    for plugin in ["engine `engine`, in use", "script-runtime `python`, in use", "scorer `bm25`, not in use"] {
        diagnosis.has("engine and plugins", &["ok: ", plugin, "sha256:"]);
    }
    diagnosis.has("grants", &["ok: none"]);
    diagnosis.has("cache and records", &["ok: audit record: ", "0 lines, intact"]);
    diagnosis.has("integrations", &["warn: ", "`github` needs a token", "set GITHUB_TOKEN"]);
    diagnosis.has("clients", &["warn: no client has an entry for skillcell", "skillcell client claude DIR --write"]);
    assert_eq!(diagnosis.section("tools that skills mention"), ["ok: none: "]);

    let output = doctor(&repository().join("fixtures/skills")).output();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("configuration\n  ok    there is no operator's file"), "{text}");
    assert!(text.contains("\n        set GITHUB_TOKEN"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("0 failures, "), "{text}");
    assert_eq!(output.stderr, b"", "only the report is printed");
}

#[test]
fn an_empty_library_is_a_warning_and_no_library_a_failure() {
    let empty = library(&[]);
    let diagnosis = diagnose(doctor(empty.path()));
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    diagnosis.has("roots", &["warn: no root has a skill"]);
    let diagnosis = diagnose(doctor(&empty.path().join("typo")));
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    diagnosis.has("roots", &["warn: typo: ", "typo does not exist", "correct its name"]);

    let diagnosis = diagnose(Launch::bare(SKILLCELL).arg("doctor").folder(empty.path()));
    assert_eq!(diagnosis.code, Some(1), "{:#}", diagnosis.report);
    diagnosis.has("roots", &["fail: no folder of skills: ", "SKILLS_DIR"]);
    diagnosis.has("engine and plugins", &["ok: engine `engine`"]);
}

#[test]
fn a_broken_library_is_reported_with_the_command_for_details() {
    let folder =
        library(&[("a/SKILL.md", "no front matter\n"), ("b/SKILL.md", "---\nname: other\ndescription: d\n---\n")]);
    let diagnosis = diagnose(doctor(folder.path()));
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    let advice = format!("run `skillcell lint {}`", folder.path().display());
    diagnosis.has("roots", &["warn: ", "1 skill, 1 error, 1 warning", &advice]);
}

#[test]
fn hidden_text_is_not_fine() {
    let folder = library(&[("a/SKILL.md", "---\nname: a\ndescription: d\n---\nRead \u{202e}this.\n")]);
    let diagnosis = diagnose(doctor(folder.path()));
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    let advice = format!("run `skillcell lint {}`", folder.path().display());
    diagnosis.has("roots", &["warn: ", "1 skill, hidden or misleading content in 1 file", &advice]);
}

#[test]
fn a_root_that_cannot_be_read_is_a_failure() {
    let folder = library(&crate::SMALL);
    let allow = |mode: u32| std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
    for mode in [0, 0o311] {
        allow(mode);
        let diagnosis = diagnose(doctor(folder.path()).folder(Path::new("/")).unprivileged());
        allow(0o700);
        assert_eq!(diagnosis.code, Some(1), "{mode:o}: {:#}", diagnosis.report);
        let lines = diagnosis.section("roots");
        let failures: Vec<&String> = lines.iter().filter(|line| line.starts_with("fail: ")).collect();
        assert_eq!(failures.len(), 1, "{lines:#?}");
        assert!(failures[0].contains("may not be read by this user: let this user read and enter it"), "{lines:#?}");
    }
}

#[test]
fn an_invalid_configuration_is_reported_with_its_line() {
    let folder = library(&crate::SMALL);
    let diagnosis = diagnose(doctor(folder.path()).config("scripts:\n  enabled: true\n  nonsense: 1\n"));
    assert_eq!(diagnosis.code, Some(1), "{:#}", diagnosis.report);
    diagnosis.has("configuration", &["fail: ", "config.yaml:3", "nonsense"]);
    diagnosis.has("clients", &["warn: no client has an entry for skillcell"]);
}

#[test]
fn mentions_are_reported_once_per_tool() {
    let skill = |name: &str, body: &str| format!("---\nkeywords: [{name}]\ndescription: d\n---\n{body}\n");
    let both = "mcp__skillcell__query mcp__skillcell__qery mcp__sx__query";
    let folder = library(&[("a.md", &skill("a", both)), ("b.md", &skill("b", both))]);
    let diagnosis = diagnose(doctor(folder.path()));
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    let lines = diagnosis.section("tools that skills mention");
    let expected = [
        "warn: mcp__skillcell__qery: skillcell has no tool `qery`; in a, b: close names are `mcp__skillcell__query`",
        "ok: mcp__skillcell__query: offered; in a, b: ",
        "ok: mcp__sx__query: another server's; this server offers it as `mcp__skillcell__query`; in a, b: ",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn unused_grants_are_reported() {
    let folder = library(&crate::SMALL);
    let root = folder.path().display();
    let config = format!(
        "grants:\n  '{root}':\n    pdf: {{read: ['{root}'], env: [NOT_SET_ANYWHERE], hosts: [example.com]}}\n    gone: {{write: ['{root}/nothing']}}\n  /no/such/root:\n    pdf: {{}}\n"
    );
    let diagnosis = diagnose(doctor(folder.path()).config(&config));
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    diagnosis.has("grants", &["ok: `pdf` in ", "read /", "variables NOT_SET_ANYWHERE", "connect to example.com"]);
    diagnosis.has("grants", &["warn: ", "the variable NOT_SET_ANYWHERE is granted but not set"]);
    diagnosis.has("grants", &["warn: `gone` in ", "there is no such skill"]);
    diagnosis.has("grants", &["warn: ", "/nothing is granted but does not exist"]);
    diagnosis.has("grants", &["warn: `pdf` in /no/such/root: that folder is not a root"]);
    let diagnosis = diagnose(doctor(folder.path()).config("scripts: {enabled: false}\n"));
    diagnosis.has("grants", &["ok: scripts are disabled"]);
}

#[test]
fn clients_are_found_and_secrets_are_not_printed() {
    let folder = library(&crate::SMALL);
    let launch = doctor(folder.path()).folder(folder.path()).env("GITHUB_TOKEN", NOT_A_SECRET);
    let settings = format!(
        "{{\"mcpServers\": {{\"skillcell\": {{\"command\": \"{SKILLCELL}\", \"env\": {{\"T\": \"{NOT_A_SECRET}\"}}}}}}}}"
    );
    write_files(launch.home(), &[(".claude.json", &settings), (".codex/config.toml", "model = \"x\"\n")]);
    write_files(folder.path(), &[(".mcp.json", "{}")]);
    let launch =
        launch.config(&format!("repos: [{{url: 'https://me:{NOT_A_SECRET}@git.example.com/team/skills.git'}}]\n"));
    let diagnosis = diagnose(launch);
    assert_eq!(diagnosis.code, Some(0), "{:#}", diagnosis.report);
    diagnosis.has("clients", &["ok: Claude Code: `skillcell` in ", ".claude.json starts this program"]);
    diagnosis.has("clients", &["ok: Codex: ", "has no entry for"]);
    assert_eq!(diagnosis.section("clients").len(), 3, "{:#?}", diagnosis.section("clients"));
    diagnosis.has("integrations", &["ok: github: https://api.github.com"]);
    diagnosis.has("git", &["warn: https://git.example.com/team/skills.git, with a token: there is no clone"]);
    assert!(!diagnosis.output_text.contains(NOT_A_SECRET), "{}", diagnosis.output_text);
}

#[test]
fn plugins_that_do_not_load_and_changed_files_are_failures() {
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
    let diagnosis = diagnose(launch);
    assert_eq!(diagnosis.code, Some(1), "{:#}", diagnosis.report);
    diagnosis
        .has("engine and plugins", &["fail: scorer `scorer_bm25.wasm`, in use", "is pinned: put the pinned file back"]);
    diagnosis
        .has("engine and plugins", &["fail: script-runtime `gone.wasm`, in use", "cannot be read", "correct its path"]);
    diagnosis.has(
        "engine and plugins",
        &["warn: scorer `broken`, not in use", "is not a WebAssembly component", "plugin new NAME"],
    );
    diagnosis.has("integrations", &["fail: mine: its component has the digest sha256:", "integrations.mine.sha256"]);
    diagnosis.has("cache and records", &["fail: audit record: ", "skillcell audit verify"]);
    diagnosis.has("roots", &["ok: ", "2 skills"]);
}

#[test]
fn doctor_changes_no_files_of_a_library() {
    let folder = library(&crate::SMALL);
    let before = files_below(folder.path());
    diagnose(doctor(folder.path()));
    assert_eq!(files_below(folder.path()), before);
}
