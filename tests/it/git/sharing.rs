//! Several servers with one clone.

use super::{Scene, changed_files, clones_in, forms, listed, names, refresh, refused, text};
use git2::Repository;
use serde_json::json;
use skillcell_tests::Session;
use skillcell_tests::git_server::{Fault, On};
use std::path::PathBuf;

fn four(scene: &Scene, url: &str) -> Vec<Session> {
    let mut servers: Vec<Session> = (0..4).map(|_| scene.launch(url).silent()).collect();
    for server in &mut servers {
        server.initialize("2025-11-25");
    }
    servers
}

#[test]
fn four_servers_make_one_clone_and_all_serve_it() {
    let scene = Scene::new();
    let server = scene.http();
    let mut servers = four(&scene, &server.url("skills"));
    for session in &mut servers {
        assert_eq!(names(session), ["forms", "pdf"], "{}", session.log());
    }
    scene.is_intact("main");
    let packs = server.requests().iter().filter(|request| request.method == "POST").count();
    assert!(packs <= 2, "one of them clones, the others use it: {packs}");
}

#[test]
fn a_clone_that_one_of_them_makes_slowly_is_waited_for_by_the_others() {
    let scene = Scene::new();
    let server = scene.http();
    server.misbehave(On::Pack, Fault::Stall(60));
    let mut servers = four(&scene, &server.url("skills"));
    server.wait_until_held(1);
    let asked: Vec<_> = servers
        .iter_mut()
        .map(|session| session.post("tools/call", json!({"name": "skills_list", "arguments": {}})))
        .collect();
    // The one that clones is killed or not: the others do not depend on it.
    drop(servers.remove(0));
    server.behave();
    for (session, id) in servers.iter_mut().zip(&asked[1..]) {
        assert_eq!(listed(session, id), 2);
    }
    scene.is_intact("main");
}

#[test]
fn they_refresh_at_once_and_the_clone_stays_intact() {
    let scene = Scene::new();
    let server = scene.http();
    for url in [scene.upstream.file_url(), server.url("skills")] {
        let mut servers = four(&scene, &url);
        for round in 0..5 {
            let line = format!("Round {round}.");
            let many: Vec<(String, String)> =
                (0..50).map(|number| (format!("many/{number}.md"), forms(&line))).collect();
            let mut files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let forms = forms(&line);
            files.push(("forms.md", &forms));
            scene.upstream.push("main", &files);
            let call = json!({"name": "refresh_skills", "arguments": {}});
            let asked: Vec<_> = servers.iter_mut().map(|session| session.post("tools/call", call.clone())).collect();
            for (session, id) in servers.iter_mut().zip(&asked) {
                session.answer(id);
                assert_eq!(refresh(session)["success"], true, "{}", session.log());
                assert_eq!(text(session), line);
                assert_eq!(names(session).len(), 52);
            }
        }
        drop(servers);
        scene.is_intact("main");
        let clone = Repository::open(scene.clone()).unwrap();
        assert_eq!(changed_files(&clone), Vec::<String>::new());
        assert_eq!(clone.references_glob("refs/skillcell/backup/*").unwrap().count(), 0, "nobody edited anything");
        std::fs::remove_dir_all(scene.clones()).unwrap();
    }
}

/// The clone that another server of this kind made, with `main` in it.
fn content(scene: &Scene, url: &str) -> PathBuf {
    let folder = scene.home.path().join(".skills-mcp/content");
    let clone = Repository::clone(&scene.upstream.file_url(), &folder).unwrap();
    clone.remote_set_url("origin", url).unwrap();
    folder
}

#[test]
fn whoever_wants_another_branch_leaves_a_clone_alone() {
    let scene = Scene::new();
    let url = scene.upstream.file_url();
    let content = content(&scene, &url);
    let tip = scene.upstream.push("dev", &[("forms.md", &forms("Draft."))]);
    let mut of_main = scene.launch(&url).start();
    let mut of_dev = scene.launch(&url).env("SKILLS_BRANCH", "dev").start();
    for _ in 0..3 {
        assert_eq!(refresh(&mut of_dev)["commit_hash"], tip);
        assert_eq!(text(&mut of_dev), "Draft.");
        assert_eq!(refresh(&mut of_main)["commit_hash"], scene.upstream.tip("main"));
        assert_eq!(text(&mut of_main), "Validate on submit.");
    }
    assert_eq!(clones_in(&scene.clones()).len(), 1, "only the one of `dev`");
    let kept = Repository::open(&content).unwrap();
    assert_eq!(kept.head().unwrap().name(), Some("refs/heads/main"));
    assert_eq!(kept.references_glob("refs/skillcell/backup/*").unwrap().count(), 0);
}

#[test]
fn one_clone_has_one_lock_whether_or_not_its_branch_is_named() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    content(&scene, &url);
    server.misbehave(On::Refs, Fault::Hang);
    let _first = scene.launch(&url).start();
    server.wait_until_held(1);
    scene.configure("git: {timeout_seconds: 1}\n");
    let mut second = scene.launch(&url).env("SKILLS_BRANCH", "main").start();
    let message = refused(&mut second);
    assert!(message.contains("another server is syncing"), "{message}");
    assert!(message.contains(".skills-mcp/content.lock"), "{message}");
    assert_eq!(server.requests().len(), 1, "the second waits for the first");
}
