//! Invalid addresses and branches cause a clear error, and no program is started.

use super::{Scene, names, refresh_error};
use crate::SKILLCELL;
use skillcell_tests::Launch;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Creates programs that git might start. Each of them writes its name to a file. Returns their folder and that file.
fn traps(scene: &Scene) -> (String, std::path::PathBuf) {
    let (folder, trap_log) = (scene.home.path().join("bin"), scene.home.path().join("trap.log"));
    std::fs::create_dir(&folder).unwrap();
    for name in ["git", "ssh", "sh", "git-upload-pack", "git-remote-https", "x"] {
        let program = folder.join(name);
        std::fs::write(&program, format!("#!/bin/sh\necho {name} >> {}\n", trap_log.display())).unwrap();
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    (folder.display().to_string(), trap_log)
}

/// Returns the message of a server that refuses to start with these variables.
fn refusal(scene: &Scene, path: &str, variables: &[(&str, &str)]) -> String {
    let launch = scene.bare().env("PATH", path).env("GIT_SSH_COMMAND", &format!("{path}/ssh"));
    let output = variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).output();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{variables:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{variables:?}");
    stderr
}

#[test]
fn an_unusable_address_is_refused_with_a_replacement() {
    let scene = Scene::new();
    let (path, trap_log) = traps(&scene);
    for (url, expected) in [
        ("git@github.com:team/skills.git", "write it as `https://github.com/team/skills.git`"),
        ("ssh://git@github.com/team/skills.git", "write it as `https://github.com/team/skills.git`"),
        ("git+ssh://me:s3cret@github.com/team/skills.git", "write it as `https://github.com/team/skills.git`"),
        ("git://github.com/team/skills.git", "is not encrypted"),
        ("ext::sh -c x", "SKILLS_REPO"),
        ("-oProxyCommand=x", "is not the address of a repository"),
        ("--upload-pack=x", "is not the address of a repository"),
        ("ftp://me:s3cret@example.com/skills", "is not the address of a repository"),
        ("https://", "is not the address of a repository"),
        ("https://example.com", "is not the address of a repository"),
        ("https://me:s3cret@/skills", "is not the address of a repository"),
        ("file://relative", "is not the address of a repository"),
        ("https://example.com/skills\nx", "is not the address of a repository"),
    ] {
        let stderr = refusal(&scene, &path, &[("SKILLS_REPO", url)]);
        assert!(stderr.contains(expected), "{url}: {stderr}");
        assert!(stderr.contains("SKILLS_REPO"), "{url}: {stderr}");
        assert!(!stderr.contains("s3cret"), "{url}: {stderr}");
    }
    // An empty variable counts as unset, so there is nothing to serve.
    for url in ["", "  "] {
        let stderr = refusal(&scene, &path, &[("SKILLS_REPO", url)]);
        assert!(stderr.contains("no folder of skills") && stderr.contains("SKILLS_REPO"), "{stderr}");
    }
    assert_nothing_started(&scene, &trap_log);
}

#[test]
fn a_token_in_a_misspelled_address_is_never_printed() {
    let scene = Scene::new();
    let (path, trap_log) = traps(&scene);
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
        let stderr = refusal(&scene, &path, &[("SKILLS_REPO", url)]);
        assert!(!stderr.contains("S3CRET") && stderr.contains("https://"), "{url}: {stderr}");
        let doctor = Launch::bare(SKILLCELL).with_home(scene.home.path()).folder(scene.home.path()).arg("doctor");
        let output = doctor.env("SKILLS_REPO", url).env("PATH", &path).arg("-vv").output();
        let output_text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
        assert_eq!(output.status.code(), Some(1), "{url}: {output_text}");
        assert!(!output_text.contains("S3CRET"), "{url}: {output_text}");

        scene.configure(&format!("repos:\n- url: https://example.com/a\n- url: '{url}'\n"));
        let stderr = refusal(&scene, &path, &[("SKILLS_REPO", &scene.upstream.file_url())]);
        assert!(stderr.contains("config.yaml:3:") && stderr.contains("repos[1].url"), "{url}: {stderr}");
        assert!(!stderr.contains("S3CRET") && stderr.contains("https://"), "{url}: {stderr}");
        scene.configure("{}");
    }
    assert_nothing_started(&scene, &trap_log);
}

#[test]
fn a_folder_next_to_the_operators_file_may_have_any_name() {
    let scene = Scene::new();
    let repositories = scene.home.path().join(".config/skillcell/a:b@c");
    std::fs::create_dir_all(repositories.parent().unwrap()).unwrap();
    std::fs::rename(scene.repositories.path(), &repositories).unwrap();
    scene.configure("repos:\n- url: ./a:b@c/skills.git\n");
    assert_eq!(names(&mut scene.bare().start()), ["forms", "pdf"]);
}

#[test]
fn an_invalid_branch_name_is_refused() {
    let scene = Scene::new();
    let (path, trap_log) = traps(&scene);
    let url = scene.upstream.file_url();
    for branch in
        ["--upload-pack=x", "-x", "../x", "a..b", "/x", "x/", "a//b", "x.lock", "a b", "a~1", "a:b", "@{-1}", "x\u{7}"]
    {
        let stderr = refusal(&scene, &path, &[("SKILLS_REPO", &url), ("SKILLS_BRANCH", branch)]);
        assert!(stderr.contains("SKILLS_BRANCH") && stderr.contains("not a valid branch name"), "{branch}: {stderr}");
        assert!(!stderr.contains('\u{7}'), "control characters are not printed");
    }
    assert_nothing_started(&scene, &trap_log);
}

#[test]
fn an_invalid_operators_file_is_reported_with_its_line() {
    let scene = Scene::new();
    let (path, trap_log) = traps(&scene);
    for (yaml, expected) in [
        ("repos:\n- url: git@github.com:team/skills.git\n", "2:8: repos[0].url: `git@github.com:team/skills.git`"),
        ("repos:\n- {url: ''}\n", "2:9: repos[0].url: `` is not the address of a repository"),
        (
            "repos:\n- url: https://example.com/a\n  branch: --upload-pack=x\n",
            "3:11: repos[0].branch: `--upload-pack=x` is not a valid branch name",
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
        let stderr = refusal(&scene, &path, &[("SKILLS_REPO", &scene.upstream.file_url())]);
        assert!(stderr.contains(&format!("config.yaml:{expected}")), "{yaml}: {stderr}");
    }
    scene.configure("{}");
    let stderr = refusal(&scene, &path, &[("REFRESH_INTERVAL_MINUTES", "0"), ("SKILLS_REPO", "x")]);
    assert!(stderr.contains("REFRESH_INTERVAL_MINUTES"), "{stderr}");
    assert_nothing_started(&scene, &trap_log);
}

#[test]
fn shell_syntax_in_an_address_is_a_folder_name() {
    let scene = Scene::new();
    let (path, trap_log) = traps(&scene);
    for url in ["$(x)", "`x`", "| x", "x; x"] {
        let mut session = scene.launch(url).env("PATH", &path).start();
        assert_eq!(names(&mut session), Vec::<String>::new());
        let message = refresh_error(&mut session);
        assert!(message.contains("there is no repository at") && message.contains(url), "{message}");
    }
    assert_nothing_started(&scene, &trap_log);
}

fn assert_nothing_started(scene: &Scene, trap_log: &Path) {
    let started = std::fs::read_to_string(trap_log).unwrap_or_default();
    assert_eq!(started, "", "no program is started");
    assert!(super::clones_in(&scene.clones()).is_empty());
}
