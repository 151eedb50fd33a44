//! Which repositories are served, and which part of them.

use super::{Scene, clones_in, eventually, forms, names, refresh_ok, text};
use crate::SMALL;
use git2::Repository;
use skillcell_tests::{Upstream, write_files};

#[test]
fn a_repository_is_served_over_every_transport() {
    let scene = Scene::new();
    let (http, https) = (scene.http(), scene.https());
    let path = scene.upstream.path().display().to_string();
    for url in [scene.upstream.file_url(), path, http.url("skills"), https.url_at("localhost", "skills")] {
        let mut session = scene.launch(&url).start();
        assert_eq!(names(&mut session), ["forms", "pdf"], "{url}: {}", session.log());
        assert_eq!(text(&mut session), "Validate on submit.", "{url}");
        assert_eq!(refresh_ok(&mut session)["commit_hash"], scene.upstream.tip("main"), "{url}");
    }
    // Both addresses on disk are one repository.
    assert_eq!(clones_in(&scene.clones()).len(), 3);
}

#[test]
fn only_the_last_commit_is_fetched() {
    let scene = Scene::new();
    for number in 0..5 {
        scene.upstream.push("main", &[("forms.md", &forms(&format!("Edition {number}.")))]);
    }
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(text(&mut session), "Edition 4.");
    let tip = scene.upstream.push("main", &[("forms.md", &forms("Edition 5."))]);
    assert_eq!(refresh_ok(&mut session)["commit_hash"], tip);
    let clone = Repository::open(scene.clone()).unwrap();
    assert!(clone.is_shallow());
    let mut history = clone.revwalk().unwrap();
    history.push_head().unwrap();
    assert!(history.count() <= 2, "older commits are not fetched");
    scene.assert_intact("main");
}

#[test]
fn an_untrusted_certificate_is_refused_with_a_hint() {
    let scene = Scene::new();
    let server = scene.https();
    scene.configure("{}");
    let mut session = scene.launch(&server.url_at("localhost", "skills")).start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    session.wait_for_log("git.ca_file");
    assert_eq!(server.requests().len(), 0, "nothing is sent to an untrusted server");
}

#[test]
fn the_operators_file_can_be_chosen_with_config() {
    let scene = Scene::new();
    let server = scene.https();
    let config = scene.home.path().join("other.yaml");
    std::fs::rename(scene.home.path().join(".config/skillcell/config.yaml"), &config).unwrap();
    let mut session = scene.launch(&server.url_at("localhost", "skills")).arg("--config").arg(&config).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}

#[test]
fn a_skills_folder_is_the_root_while_it_exists() {
    let inner = [("skills/forms.md", SMALL[0].1), ("other.md", SMALL[0].1), (".git-not/x.md", SMALL[0].1)];
    let scene = Scene::with(&inner);
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session), ["forms"]);
    scene.upstream.push_changes("main", &[("skills/forms.md", None)]);
    refresh_ok(&mut session);
    assert_eq!(names(&mut session), ["other"]);
    scene.upstream.push("main", &[("skills/pdf/SKILL.md", SMALL[1].1)]);
    refresh_ok(&mut session);
    assert_eq!(names(&mut session), ["pdf"]);
}

#[test]
fn several_repositories_are_served_next_to_a_folder() {
    let scene = Scene::new();
    let server = scene.http();
    let second = Upstream::with(scene.repositories.path(), "second", &[("skills/second.md", SMALL[0].1)]);
    second.push("draft", &[("skills/draft.md", SMALL[0].1)]);
    let urls = [server.url("skills"), second.file_url()];
    scene.configure(&format!("repos:\n- url: {}\n- url: {}\n  branch: draft\n", urls[0], urls[1]));
    write_files(scene.home.path(), &[("folder/own.md", SMALL[0].1)]);
    let mut session = scene.bare().arg(scene.home.path().join("folder")).start();
    eventually("the skills of all", || names(&mut session) == ["draft", "forms", "own", "pdf"]);
    refresh_ok(&mut session);
    scene.upstream.push("main", &[("new.md", SMALL[0].1)]);
    let tip = second.push("draft", &[("skills/newer.md", SMALL[0].1), ("skills/newest.md", SMALL[0].1)]);
    second.push("main", &[("skills/unseen.md", SMALL[0].1)]);
    let answer = refresh_ok(&mut session);
    assert_eq!(answer["files_changed"], 3, "{answer}");
    assert_eq!(answer["skills_reindexed"], 7, "{answer}");
    assert_eq!(answer["commit_hash"], scene.upstream.tip("main"));
    assert_eq!(answer["repositories"][1]["commit_hash"], tip);
    assert_eq!(names(&mut session), ["draft", "forms", "new", "newer", "newest", "own", "pdf"]);
}

#[test]
fn a_configured_folder_replaces_the_repository() {
    let scene = Scene::new();
    let server = scene.http();
    write_files(scene.home.path(), &[("folder/own.md", SMALL[0].1)]);
    let folder = scene.home.path().join("folder");
    let mut by_argument = scene.launch(&server.url("skills")).arg(&folder).start();
    assert_eq!(names(&mut by_argument), ["own"]);
    let mut by_variable = scene.launch(&server.url("skills")).env("SKILLS_DIR", folder.to_str().unwrap()).start();
    assert_eq!(names(&mut by_variable), ["own"]);
    assert_eq!(refresh_ok(&mut by_variable)["mode"], "local");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_clone_of_another_server_is_used_if_it_has_the_same_origin() {
    for (has_same_origin, expected) in [(true, 0), (false, 1)] {
        let scene = Scene::new();
        let other = Upstream::with(scene.repositories.path(), "other", &SMALL);
        let content = scene.home.path().join(".skills-mcp/content");
        let url = if has_same_origin { scene.upstream.file_url() } else { other.file_url() };
        Repository::clone(&url, &content).unwrap();
        scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
        let mut session = scene.launch(&scene.upstream.file_url()).start();
        refresh_ok(&mut session);
        assert_eq!(text(&mut session), "Newer.");
        assert_eq!(clones_in(&scene.clones()).len(), expected);
        let kept = std::fs::read_to_string(content.join("forms.md")).unwrap();
        assert_eq!(kept.contains("Newer."), has_same_origin);
    }
}

#[test]
fn clones_are_in_the_data_folder_of_the_user() {
    let scene = Scene::new();
    let data = scene.home.path().join("data");
    let launch = scene.launch(&scene.upstream.file_url()).env("XDG_DATA_HOME", data.to_str().unwrap());
    assert_eq!(names(&mut launch.start()), ["forms", "pdf"]);
    assert_eq!(clones_in(&data.join("skillcell/repos")).len(), 1);
    assert_eq!(clones_in(&scene.clones()).len(), 0);
}
