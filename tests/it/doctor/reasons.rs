//! Roots, grants and repositories that do not work, each with its reason.

use super::{Diagnosis, NOT_A_SECRET, diagnose, doctor};
use crate::{SKILLCELL, SMALL, library};
use serde_json::Value;
use skillcell_tests::git_server::GitServer;
use skillcell_tests::{Launch, Upstream, write_files};
use std::path::PathBuf;
use tempfile::TempDir;

#[test]
fn a_root_without_skills_is_reported_with_the_reason() {
    let empty = diagnose(doctor(library(&[]).path()));
    empty.has("roots", &["warn: ", "0 skills: there is no Markdown file in it", "the right folder"]);
    let plain = library(&[("README.md", "# Hello\n"), ("notes/a.md", "Nothing.\n")]);
    diagnose(doctor(plain.path())).has("roots", &["warn: ", "2 Markdown files in it, none with front matter", "`---`"]);
    let hidden = library(&[(".skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n")]);
    diagnose(doctor(hidden.path())).has("roots", &["warn: ", "no Markdown file", "hidden folders"]);
}

#[test]
fn a_root_inside_another_is_reported() {
    let folder = library(&[("skills/pdf/SKILL.md", SMALL[1].1), ("forms.md", SMALL[0].1), ("more/x.md", SMALL[0].1)]);
    let diagnosis = diagnose(doctor(folder.path()).arg("--root").arg(folder.path().join("more")));
    diagnosis.has("roots", &["ok: ", "1 skill; `skills`, `more` inside it are separate roots"]);
    diagnosis.has("roots", &["ok: skills: ", "1 skill"]);
    let only = library(&[("skills/pdf/SKILL.md", SMALL[1].1)]);
    diagnose(doctor(only.path())).has("roots", &["ok: ", "0 skills; `skills` inside it is a separate root"]);
}

#[test]
fn a_file_instead_of_a_root_folder_is_a_failure() {
    let folder = library(&SMALL);
    let diagnosis = diagnose(doctor(&folder.path().join("pdf/SKILL.md")));
    assert_eq!(diagnosis.code, Some(1), "{:#}", diagnosis.report);
    diagnosis.has("roots", &["fail: ", "SKILL.md is not a folder", "use the folder that contains it"]);
    assert_eq!(diagnosis.report["failures"], 1, "{:#}", diagnosis.report);
}

#[test]
fn an_outdated_pin_is_a_failure_with_the_current_digest() {
    let skill =
        "---\nname: tag\ndescription: d\nscripts:\n  - {file: tag.sh, description: d, execution: server}\n---\n";
    let folder = library(&[("tag/SKILL.md", skill), ("tag/tag.sh", "echo 1\n"), ("bare.md", SMALL[0].1)]);
    let grants = |tag: &str| {
        format!(
            "grants:\n  '{}':\n    tag: {{env: [PATH], digest: '{tag}'}}\n    bare: {{digest: '{tag}'}}\n",
            folder.path().display()
        )
    };
    let wrong_digest = format!("sha256:{}", "0".repeat(64));
    let diagnosis = diagnose(doctor(folder.path()).config(&grants(&wrong_digest)));
    assert_eq!(diagnosis.code, Some(1), "{:#}", diagnosis.report);
    diagnosis.has(
        "grants",
        &["fail: `tag` in ", "void, because the skill changed", "review it, then write `digest: sha256:"],
    );
    diagnosis.has("grants", &["fail: `bare` in ", "no files for scripts"]);

    let lines = diagnosis.section("grants");
    let advice = lines.iter().find(|line| line.contains("`tag`")).unwrap();
    let digest = advice.split("`digest: ").nth(1).unwrap().split('`').next().unwrap();
    let run = Launch::bare(SKILLCELL).arg("run").arg("tag").arg("tag.sh").arg("--dry-run").arg("--json").arg("--root");
    let policy = run.arg(folder.path()).config(&grants(digest)).output();
    let policy: Value = serde_json::from_slice(&policy.stdout).unwrap();
    assert!(policy.to_string().contains(digest), "a run compares the same digest: {policy:#}");
    let diagnosis = diagnose(doctor(folder.path()).config(&grants(digest)));
    diagnosis.has("grants", &["ok: `tag` in ", "variables PATH; pinned to sha256:"]);
    write_files(folder.path(), &[("tag/more.txt", "new")]);
    diagnose(doctor(folder.path()).config(&grants(digest))).has("grants", &["fail: `tag` in ", "void"]);
}

/// A repository, and the home folder of the server.
struct Scene {
    upstream: Upstream,
    repositories: TempDir,
    home: TempDir,
}

impl Scene {
    fn new() -> Self {
        let repositories = tempfile::tempdir().unwrap();
        let upstream = Upstream::with(repositories.path(), "skills", &SMALL);
        Self { upstream, repositories, home: tempfile::tempdir().unwrap() }
    }

    fn doctor(&self, url: &str, more: &[&str]) -> Diagnosis {
        let launch = self.launch("doctor", url);
        diagnose(more.iter().fold(launch, Launch::arg))
    }

    fn launch(&self, command: &str, url: &str) -> Launch {
        let launch = Launch::bare(SKILLCELL).arg(command).with_home(self.home.path()).folder(self.home.path());
        launch.env("SKILLS_REPO", url)
    }

    /// Makes the clone, as a server does.
    fn clone(&self, url: &str) {
        let mut session = self.launch("serve", url).start();
        crate::still_answers(&mut session);
    }

    fn clone_folder(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.home.path().join(".local/share/skillcell/repos")).unwrap();
        entries.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).expect("a clone")
    }
}

#[test]
fn a_repository_without_a_folder_for_agents_is_fine() {
    let repositories = tempfile::tempdir().unwrap();
    let upstream = Upstream::with(repositories.path(), "team", &[("skills/forms.md", SMALL[0].1)]);
    let url = upstream.file_url();
    let scene = Scene { upstream, repositories, home: tempfile::tempdir().unwrap() };
    let before = scene.doctor(&url, &[]);
    before.has("git", &["warn: ", "there is no clone"]);
    assert!(before.section("roots").iter().all(|line| !line.contains("does not exist")), "{:#}", before.report);
    scene.clone(&url);
    let diagnosis = scene.doctor(&url, &[]);
    let lines = diagnosis.section("roots");
    assert!(lines.len() == 1 && lines[0].starts_with("ok: ") && lines[0].contains("1 skill"), "{lines:#?}");
}

#[test]
fn paths_are_normalized() {
    let folder = library(&[("team/forms.md", SMALL[0].1)]);
    let launch = Launch::bare(SKILLCELL).arg("doctor").arg("--root").arg("./team").folder(folder.path());
    let diagnosis = diagnose(launch);
    diagnosis.has("roots", &["ok: team: ", "/team, 1 skill"]);
    assert!(!diagnosis.output_text.contains("/./"), "{}", diagnosis.output_text);
}

#[test]
fn a_remote_is_contacted_only_with_online_and_its_answer_is_reported() {
    let scene = Scene::new();
    let server = GitServer::http(scene.repositories.path());
    let url = server.url("skills");
    let diagnosis = scene.doctor(&url, &[]);
    diagnosis.has("git", &["warn: ", "there is no clone", "doctor --online"]);
    assert!(server.requests().is_empty(), "no request is sent");
    scene.doctor(&url, &["--online"]).has("git", &["ok: ", "answers: `main` is at "]);

    scene.clone(&url);
    scene.doctor(&url, &["--online"]).has("git", &["ok: ", "last synced "]);
    server.require_token(NOT_A_SECRET);
    let diagnosis = scene.doctor(&url, &["--online"]);
    assert_eq!(diagnosis.code, Some(1), "{:#}", diagnosis.report);
    diagnosis.has("git", &["fail: ", "is private or does not exist (401)", "GITHUB_TOKEN"]);
    drop(server);
    let diagnosis = scene.doctor(&url, &["--online"]);
    diagnosis.has("git", &["fail: ", "cannot be reached", "check the network"]);
    diagnosis.has("git", &["ok: ", "last synced "]);
}

#[test]
fn damaged_and_outdated_clones_are_reported() {
    let scene = Scene::new();
    let url = scene.upstream.file_url();
    scene.clone(&url);
    let clone = scene.clone_folder();
    scene.doctor(&url, &[]).has("git", &["ok: ", "last synced "]);
    let lock = format!("{}.lock", clone.display());
    std::fs::write(&lock, format!("{:020}\n", 1_000_000_000_000_u64)).unwrap();
    scene.doctor(&url, &[]).has("git", &["warn: ", "last synced 2001-09-09", "doctor --online"]);
    std::fs::write(clone.join(".git/HEAD"), "nonsense").unwrap();
    scene.doctor(&url, &[]).has("git", &["warn: ", "is damaged", "the next sync recreates it"]);
}

#[test]
fn a_configured_token_variable_that_is_not_set_is_reported() {
    let folder = library(&SMALL);
    let config = "repos: [{url: 'https://git.example.com/team/skills.git', token_env: NOT_SET_ANYWHERE}]\n";
    let diagnosis = diagnose(doctor(folder.path()).config(config));
    diagnosis.has("git", &["warn: https://git.example.com/team/skills.git: ", "`token_env` is not set", "set it"]);
}
