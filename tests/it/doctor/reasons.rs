//! Roots, grants and repositories that do not work, each with its reason.

use super::{NOT_A_SECRET, Told, doctor, told};
use crate::{SKILLCELL, SMALL, library};
use serde_json::Value;
use skillcell_tests::git_server::GitServer;
use skillcell_tests::{Launch, Upstream, write_files};
use std::path::PathBuf;
use tempfile::TempDir;

#[test]
fn a_root_without_skills_tells_why() {
    let empty = told(doctor(library(&[]).path()));
    empty.has("roots", &["warn: ", "0 skills: there is no Markdown file in it", "the right folder"]);
    let plain = library(&[("README.md", "# Hello\n"), ("notes/a.md", "Nothing.\n")]);
    told(doctor(plain.path())).has("roots", &["warn: ", "2 Markdown files in it, none with front matter", "`---`"]);
    let hidden = library(&[(".skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n")]);
    told(doctor(hidden.path())).has("roots", &["warn: ", "no Markdown file", "hidden folders"]);
}

#[test]
fn a_root_inside_another_is_told() {
    let folder = library(&[("skills/pdf/SKILL.md", SMALL[1].1), ("forms.md", SMALL[0].1), ("more/x.md", SMALL[0].1)]);
    let said = told(doctor(folder.path()).arg("--root").arg(folder.path().join("more")));
    said.has("roots", &["ok: ", "1 skill; `skills`, `more` in it are roots of their own"]);
    said.has("roots", &["ok: skills: ", "1 skill"]);
    let only = library(&[("skills/pdf/SKILL.md", SMALL[1].1)]);
    told(doctor(only.path())).has("roots", &["ok: ", "0 skills; `skills` in it is a root of its own"]);
}

#[test]
fn a_file_in_place_of_a_root_is_a_failure() {
    let folder = library(&SMALL);
    let said = told(doctor(&folder.path().join("pdf/SKILL.md")));
    assert_eq!(said.code, Some(1), "{:#}", said.report);
    said.has("roots", &["fail: ", "SKILL.md is no folder", "name the folder that it is in"]);
    assert_eq!(said.report["failures"], 1, "{:#}", said.report);
}

#[test]
fn a_pin_that_no_longer_holds_is_a_failure_with_the_digest_to_write() {
    let skill =
        "---\nname: tag\ndescription: d\nscripts:\n  - {file: tag.sh, description: d, execution: server}\n---\n";
    let folder = library(&[("tag/SKILL.md", skill), ("tag/tag.sh", "echo 1\n"), ("bare.md", SMALL[0].1)]);
    let grants = |tag: &str| {
        format!(
            "grants:\n  '{}':\n    tag: {{env: [PATH], digest: '{tag}'}}\n    bare: {{digest: '{tag}'}}\n",
            folder.path().display()
        )
    };
    let zero = format!("sha256:{}", "0".repeat(64));
    let said = told(doctor(folder.path()).config(&grants(&zero)));
    assert_eq!(said.code, Some(1), "{:#}", said.report);
    said.has(
        "grants",
        &["fail: `tag` in ", "void, because the skill changed", "review it, then write `digest: sha256:"],
    );
    said.has("grants", &["fail: `bare` in ", "no files for scripts"]);

    let lines = said.section("grants");
    let advice = lines.iter().find(|line| line.contains("`tag`")).unwrap();
    let digest = advice.split("`digest: ").nth(1).unwrap().split('`').next().unwrap();
    let run = Launch::bare(SKILLCELL).arg("run").arg("tag").arg("tag.sh").arg("--dry-run").arg("--json").arg("--root");
    let policy = run.arg(folder.path()).config(&grants(digest)).output();
    let policy: Value = serde_json::from_slice(&policy.stdout).unwrap();
    assert!(policy.to_string().contains(digest), "it is the digest that a run compares: {policy:#}");
    let said = told(doctor(folder.path()).config(&grants(digest)));
    said.has("grants", &["ok: `tag` in ", "variables PATH; pinned to sha256:"]);
    write_files(folder.path(), &[("tag/more.txt", "new")]);
    told(doctor(folder.path()).config(&grants(digest))).has("grants", &["fail: `tag` in ", "void"]);
}

/// A repository, and the home of those who serve it.
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

    fn doctor(&self, url: &str, more: &[&str]) -> Told {
        let launch = self.launch("doctor", url);
        told(more.iter().fold(launch, Launch::arg))
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

    fn the_clone(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.home.path().join(".local/share/skillcell/repos")).unwrap();
        entries.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).expect("a clone")
    }
}

#[test]
fn a_repository_without_a_place_for_agents_is_fine() {
    let repositories = tempfile::tempdir().unwrap();
    let upstream = Upstream::with(repositories.path(), "team", &[("skills/forms.md", SMALL[0].1)]);
    let url = upstream.file_url();
    let scene = Scene { upstream, repositories, home: tempfile::tempdir().unwrap() };
    let before = scene.doctor(&url, &[]);
    before.has("git", &["warn: ", "there is no clone"]);
    assert!(before.section("roots").iter().all(|line| !line.contains("is not there")), "{:#}", before.report);
    scene.clone(&url);
    let said = scene.doctor(&url, &[]);
    let lines = said.section("roots");
    assert!(lines.len() == 1 && lines[0].starts_with("ok: ") && lines[0].contains("1 skill"), "{lines:#?}");
}

#[test]
fn paths_are_told_without_the_dot_that_people_write() {
    let folder = library(&[("team/forms.md", SMALL[0].1)]);
    let launch = Launch::bare(SKILLCELL).arg("doctor").arg("--root").arg("./team").folder(folder.path());
    let said = told(launch);
    said.has("roots", &["ok: team: ", "/team, 1 skill"]);
    assert!(!said.all.contains("/./"), "{}", said.all);
}

#[test]
fn a_remote_is_asked_only_on_demand_and_its_answer_told() {
    let scene = Scene::new();
    let server = GitServer::http(scene.repositories.path());
    let url = server.url("skills");
    let said = scene.doctor(&url, &[]);
    said.has("git", &["warn: ", "there is no clone", "doctor --online"]);
    assert!(server.requests().is_empty(), "nobody is asked");
    scene.doctor(&url, &["--online"]).has("git", &["ok: ", "answers: `main` is at "]);

    scene.clone(&url);
    scene.doctor(&url, &["--online"]).has("git", &["ok: ", "last synced "]);
    server.require_token(NOT_A_SECRET);
    let said = scene.doctor(&url, &["--online"]);
    assert_eq!(said.code, Some(1), "{:#}", said.report);
    said.has("git", &["fail: ", "is private or does not exist (401)", "GITHUB_TOKEN"]);
    drop(server);
    let said = scene.doctor(&url, &["--online"]);
    said.has("git", &["fail: ", "cannot be reached", "look at the network"]);
    said.has("git", &["ok: ", "last synced "]);
}

#[test]
fn a_damaged_clone_and_one_that_was_synced_long_ago_are_told() {
    let scene = Scene::new();
    let url = scene.upstream.file_url();
    scene.clone(&url);
    let clone = scene.the_clone();
    scene.doctor(&url, &[]).has("git", &["ok: ", "last synced "]);
    let lock = format!("{}.lock", clone.display());
    std::fs::write(&lock, format!("{:020}\n", 1_000_000_000_000_u64)).unwrap();
    scene.doctor(&url, &[]).has("git", &["warn: ", "last synced 2001-09-09", "doctor --online"]);
    std::fs::write(clone.join(".git/HEAD"), "nonsense").unwrap();
    scene.doctor(&url, &[]).has("git", &["warn: ", "is damaged", "the next sync makes it anew"]);
}

#[test]
fn a_token_that_is_named_and_not_set_is_told() {
    let folder = library(&SMALL);
    let config = "repos: [{url: 'https://git.example.com/team/skills.git', token_env: NOT_SET_ANYWHERE}]\n";
    let said = told(doctor(folder.path()).config(config));
    said.has("git", &["warn: https://git.example.com/team/skills.git: ", "`token_env` names is not set", "set it"]);
}
