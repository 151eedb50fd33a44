//! The credential helper is a program, so it is started only if the operator allows it, and before anything else.

use super::{Scene, names, refresh_error};
use skillcell_tests::write_files;
use std::path::PathBuf;

const TOKEN: &str = "from-the-helper";

/// Configures a helper that knows the token. Returns the file that it writes when it is started.
fn install(scene: &Scene) -> PathBuf {
    let started = scene.home.path().join("started");
    let program = format!("!f() {{ echo $1 >> {}; echo username=me; echo password={TOKEN}; }}; f", started.display());
    write_files(scene.home.path(), &[(".gitconfig", &format!("[credential]\n\thelper = \"{program}\"\n"))]);
    started
}

#[test]
fn the_helper_is_asked_if_the_operator_allows_it() {
    let scene = Scene::new();
    let server = scene.http();
    server.require_token(TOKEN);
    let started = install(&scene);
    scene.configure("git: {credential_helper: true}\n");
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    assert_eq!(std::fs::read_to_string(started).unwrap(), "get\n", "asked once, without `store` or `erase`");
}

#[test]
fn the_helper_is_never_started_unless_allowed() {
    let scene = Scene::new();
    let server = scene.http();
    server.require_token(TOKEN);
    let started = install(&scene);
    for yaml in ["{}", "git: {credential_helper: false}\n"] {
        scene.configure(yaml);
        let mut session = scene.launch(&server.url("skills")).start();
        assert_eq!(names(&mut session), Vec::<String>::new());
        let message = refresh_error(&mut session);
        assert!(message.contains("git.credential_helper: true"), "{message}");
        assert!(!started.exists());
    }
}

#[test]
fn a_token_takes_precedence_over_the_helper() {
    let scene = Scene::new();
    let server = scene.http();
    server.require_token("by-variable");
    let started = install(&scene);
    scene.configure("git: {credential_helper: true}\n");
    let mut session = scene.launch(&server.url("skills")).env("GITHUB_TOKEN", "by-variable").start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    assert!(!started.exists());
}

#[test]
fn other_git_settings_of_the_user_have_no_effect() {
    let scene = Scene::new();
    let server = scene.http();
    let other = scene.repositories.path().join("elsewhere");
    let settings = format!(
        "[url \"file://{}/\"]\n\tinsteadOf = {}/\n[core]\n\tautocrlf = true\n\thooksPath = /nowhere\n[http]\n\tproxy = http://127.0.0.1:1\n[init]\n\ttemplateDir = /nowhere\n[fetch]\n\tfsckObjects = maybe\n",
        other.display(),
        server.base_at("127.0.0.1"),
    );
    write_files(scene.home.path(), &[(".gitconfig", &settings)]);
    let launch = scene.launch(&server.url("skills")).env("http_proxy", "http://127.0.0.1:1");
    let mut session = launch.env("ALL_PROXY", "http://127.0.0.1:1").start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    let served = std::fs::read(scene.clone().join("forms.md")).unwrap();
    assert!(!served.contains(&b'\r'), "line ends are not converted");
}
