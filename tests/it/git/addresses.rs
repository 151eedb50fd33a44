//! Addresses and branches that cannot be meant: a clear error, and nothing is started.

use super::{Scene, names, refused};
use crate::SKILLCELL;
use skillcell_tests::Launch;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Programs that git might start. Each leaves a file behind.
fn traps(scene: &Scene) -> (String, std::path::PathBuf) {
    let (folder, sprung) = (scene.home.path().join("bin"), scene.home.path().join("sprung"));
    std::fs::create_dir(&folder).unwrap();
    for name in ["git", "ssh", "sh", "git-upload-pack", "git-remote-https", "x"] {
        let program = folder.join(name);
        std::fs::write(&program, format!("#!/bin/sh\necho {name} >> {}\n", sprung.display())).unwrap();
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    (folder.display().to_string(), sprung)
}

/// What a server says that was told this and ends.
fn refusal(scene: &Scene, path: &str, variables: &[(&str, &str)]) -> String {
    let launch = scene.bare().env("PATH", path).env("GIT_SSH_COMMAND", &format!("{path}/ssh"));
    let output = variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).output();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{variables:?}: {said}");
    assert!(output.stdout.is_empty(), "{variables:?}");
    said
}

#[test]
fn an_address_that_cannot_be_used_is_refused_with_what_to_write() {
    let scene = Scene::new();
    let (path, sprung) = traps(&scene);
    for (url, expected) in [
        ("git@github.com:team/skills.git", "write it as `https://github.com/team/skills.git`"),
        ("ssh://git@github.com/team/skills.git", "write it as `https://github.com/team/skills.git`"),
        ("git+ssh://me:s3cret@github.com/team/skills.git", "write it as `https://github.com/team/skills.git`"),
        ("git://github.com/team/skills.git", "is not encrypted"),
        ("ext::sh -c x", "SKILLS_REPO"),
        ("-oProxyCommand=x", "is no address of a repository"),
        ("--upload-pack=x", "is no address of a repository"),
        ("ftp://me:s3cret@example.com/skills", "is no address of a repository"),
        ("https://", "is no address of a repository"),
        ("https://example.com", "is no address of a repository"),
        ("https://me:s3cret@/skills", "is no address of a repository"),
        ("file://relative", "is no address of a repository"),
        ("https://example.com/skills\nx", "is no address of a repository"),
    ] {
        let said = refusal(&scene, &path, &[("SKILLS_REPO", url)]);
        assert!(said.contains(expected), "{url}: {said}");
        assert!(said.contains("SKILLS_REPO"), "{url}: {said}");
        assert!(!said.contains("s3cret"), "{url}: {said}");
    }
    // An empty variable is as good as none, so there is nothing to serve.
    for url in ["", "  "] {
        let said = refusal(&scene, &path, &[("SKILLS_REPO", url)]);
        assert!(said.contains("no folder of skills") && said.contains("SKILLS_REPO"), "{said}");
    }
    nothing_happened(&scene, &sprung);
}

#[test]
fn a_token_in_a_misspelt_address_is_shown_nowhere() {
    let scene = Scene::new();
    let (path, sprung) = traps(&scene);
    for url in [
        "x-access-token:ghp_S3CRET@github.com/org/repo",
        "ghp_S3CRET@github.com/org/repo",
        "https:/x:ghp_S3CRET@github.com/org/repo",
        "https//x:ghp_S3CRET@github.com/org/repo",
        "https:x:ghp_S3CRET@github.com/org/repo",
        "HTTPS:/X:ghp_S3CRET@GITHUB.COM/org/repo",
        "http:ghp_S3CRET@github.com/org/repo",
        "//x:ghp_S3CRET@github.com/org/repo",
        "https:\\\\x:ghp_S3CRET@github.com\\org\\repo",
        "https: //x:ghp_S3CRET@github.com/org/repo",
        "https://x:ghp_S3CRET@github.com/org/a repo",
        "https://x:ghp_S3CRET%40github.com/org/repo",
        "x:ghp_S3CRET%40github.com/org/repo",
        "x:p@ghp_S3CRET@github.com/org/repo",
        "x:ghp/S3CRET@github.com:org/repo",
        "https://x:ghp/S3CRET#@github.com/org/repo",
        "ssh://x:ghp/S3CRET@github.com/org/repo",
        "file:///x:ghp_S3CRET@github.com/org/repo",
    ] {
        let said = refusal(&scene, &path, &[("SKILLS_REPO", url)]);
        assert!(!said.contains("S3CRET") && said.contains("https://"), "{url}: {said}");
        let doctor = Launch::bare(SKILLCELL).with_home(scene.home.path()).folder(scene.home.path()).arg("doctor");
        let output = doctor.env("SKILLS_REPO", url).env("PATH", &path).arg("-vv").output();
        let told = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
        assert_eq!(output.status.code(), Some(1), "{url}: {told}");
        assert!(!told.contains("S3CRET"), "{url}: {told}");

        scene.configure(&format!("repos:\n- url: https://example.com/a\n- url: '{url}'\n"));
        let said = refusal(&scene, &path, &[("SKILLS_REPO", &scene.upstream.file_url())]);
        assert!(said.contains("config.yaml:3:") && said.contains("repos[1].url"), "{url}: {said}");
        assert!(!said.contains("S3CRET") && said.contains("https://"), "{url}: {said}");
        scene.configure("{}");
    }
    nothing_happened(&scene, &sprung);
}

#[test]
fn a_folder_beside_the_operators_file_may_have_an_odd_name() {
    let scene = Scene::new();
    let odd = scene.home.path().join(".config/skillcell/a:b@c");
    std::fs::create_dir_all(odd.parent().unwrap()).unwrap();
    std::fs::rename(scene.repositories.path(), &odd).unwrap();
    scene.configure("repos:\n- url: ./a:b@c/skills.git\n");
    assert_eq!(names(&mut scene.bare().start()), ["forms", "pdf"]);
}

#[test]
fn a_branch_that_cannot_be_one_is_refused() {
    let scene = Scene::new();
    let (path, sprung) = traps(&scene);
    let url = scene.upstream.file_url();
    for branch in
        ["--upload-pack=x", "-x", "../x", "a..b", "/x", "x/", "a//b", "x.lock", "a b", "a~1", "a:b", "@{-1}", "x\u{7}"]
    {
        let said = refusal(&scene, &path, &[("SKILLS_REPO", &url), ("SKILLS_BRANCH", branch)]);
        assert!(said.contains("SKILLS_BRANCH") && said.contains("no name of a branch"), "{branch}: {said}");
        assert!(!said.contains('\u{7}'), "control characters are not printed");
    }
    nothing_happened(&scene, &sprung);
}

#[test]
fn the_operators_file_is_told_with_its_line() {
    let scene = Scene::new();
    let (path, sprung) = traps(&scene);
    for (yaml, expected) in [
        ("repos:\n- url: git@github.com:team/skills.git\n", "2:8: repos[0].url: `git@github.com:team/skills.git`"),
        ("repos:\n- {url: ''}\n", "2:9: repos[0].url: `` is no address of a repository"),
        (
            "repos:\n- url: https://example.com/a\n  branch: --upload-pack=x\n",
            "3:11: repos[0].branch: `--upload-pack=x` is no name of a branch",
        ),
        ("repos:\n- branch: main\n", "2:3: repos[0]: missing field `url`"),
        ("repos:\n- url: https://example.com/a\n  brunch: main\n", "3:3: repos[0]: unknown field `brunch`"),
        ("git:\n  timeout_seconds: 0\n", "2: git.timeout_seconds is 0"),
        ("git:\n  timeout_seconds: soon\n", "2:20: git.timeout_seconds: invalid type"),
        ("git:\n  ca_file: missing.pem\n", "2: git.ca_file"),
        ("git:\n  helper: true\n", "2:3: git: unknown field `helper`"),
        ("refresh:\n  interval_minutes: 0\n", "2: refresh.interval_minutes is 0"),
    ] {
        scene.configure(yaml);
        let said = refusal(&scene, &path, &[("SKILLS_REPO", &scene.upstream.file_url())]);
        assert!(said.contains(&format!("config.yaml:{expected}")), "{yaml}: {said}");
    }
    scene.configure("{}");
    let said = refusal(&scene, &path, &[("REFRESH_INTERVAL_MINUTES", "0"), ("SKILLS_REPO", "x")]);
    assert!(said.contains("REFRESH_INTERVAL_MINUTES"), "{said}");
    nothing_happened(&scene, &sprung);
}

#[test]
fn what_looks_like_a_command_is_a_folder() {
    let scene = Scene::new();
    let (path, sprung) = traps(&scene);
    for url in ["$(x)", "`x`", "| x", "x; x"] {
        let mut session = scene.launch(url).env("PATH", &path).start();
        assert_eq!(names(&mut session), Vec::<String>::new());
        let message = refused(&mut session);
        assert!(message.contains("there is no repository at") && message.contains(url), "{message}");
    }
    nothing_happened(&scene, &sprung);
}

fn nothing_happened(scene: &Scene, sprung: &Path) {
    let started = std::fs::read_to_string(sprung).unwrap_or_default();
    assert_eq!(started, "", "no program is started");
    assert!(super::clones_in(&scene.clones()).is_empty());
}
