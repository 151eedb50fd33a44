//! Several servers with one clone.

use super::{Scene, changed_files, clones_in, forms, listed, names, refresh, refresh_error, text};
use git2::Repository;
use serde_json::json;
use skillcell_tests::Session;
use skillcell_tests::git_server::{Fault, On};
use std::path::PathBuf;

fn start_four(scene: &Scene, url: &str) -> Vec<Session> {
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
    let mut servers = start_four(&scene, &server.url("skills"));
    for session in &mut servers {
        assert_eq!(names(session), ["forms", "pdf"], "{}", session.log());
    }
    scene.assert_intact("main");
    let packs = server.requests().iter().filter(|request| request.method == "POST").count();
    assert!(packs <= 2, "one server clones, the others use the clone: {packs}");
}

#[test]
fn servers_wait_for_a_slow_clone_of_another_server() {
    let scene = Scene::new();
    let server = scene.http();
    server.misbehave(On::Pack, Fault::Stall(60));
    let mut servers = start_four(&scene, &server.url("skills"));
    server.wait_until_held(1);
    let ids: Vec<_> = servers
        .iter_mut()
        .map(|session| session.post("tools/call", json!({"name": "skills_list", "arguments": {}})))
        .collect();
    // Whether or not this is the server that clones, the others do not depend on it.
    drop(servers.remove(0));
    server.behave();
    for (session, id) in servers.iter_mut().zip(&ids[1..]) {
        assert_eq!(listed(session, id), 2);
    }
    scene.assert_intact("main");
}

#[test]
fn concurrent_refreshes_keep_the_clone_intact() {
    let scene = Scene::new();
    let server = scene.http();
    for url in [scene.upstream.file_url(), server.url("skills")] {
        let mut servers = start_four(&scene, &url);
        for round in 0..5 {
            let line = format!("Round {round}.");
            let many: Vec<(String, String)> =
                (0..50).map(|number| (format!("many/{number}.md"), forms(&line))).collect();
            let mut files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let forms = forms(&line);
            files.push(("forms.md", &forms));
            scene.upstream.push("main", &files);
            let call = json!({"name": "refresh_skills", "arguments": {}});
            let ids: Vec<_> = servers.iter_mut().map(|session| session.post("tools/call", call.clone())).collect();
            for (session, id) in servers.iter_mut().zip(&ids) {
                session.answer(id);
                assert_eq!(refresh(session)["success"], true, "{}", session.log());
                assert_eq!(text(session), line);
                assert_eq!(names(session).len(), 52);
            }
        }
        drop(servers);
        scene.assert_intact("main");
        let clone = Repository::open(scene.clone()).unwrap();
        assert_eq!(changed_files(&clone), Vec::<String>::new());
        assert_eq!(
            clone.references_glob("refs/skillcell/backup/*").unwrap().count(),
            0,
            "there were no edits to back up"
        );
        std::fs::remove_dir_all(scene.clones()).unwrap();
    }
}

/// Creates a clone of `main` as another server leaves it.
fn clone_of_other_server(scene: &Scene, url: &str) -> PathBuf {
    let folder = scene.home.path().join(".skills-mcp/content");
    let clone = Repository::clone(&scene.upstream.file_url(), &folder).unwrap();
    clone.remote_set_url("origin", url).unwrap();
    folder
}

#[test]
fn a_clone_with_another_branch_is_left_alone() {
    let scene = Scene::new();
    let url = scene.upstream.file_url();
    let content = clone_of_other_server(&scene, &url);
    let tip = scene.upstream.push("dev", &[("forms.md", &forms("Draft."))]);
    let mut on_main = scene.launch(&url).start();
    let mut on_dev = scene.launch(&url).env("SKILLS_BRANCH", "dev").start();
    for _ in 0..3 {
        assert_eq!(refresh(&mut on_dev)["commit_hash"], tip);
        assert_eq!(text(&mut on_dev), "Draft.");
        assert_eq!(refresh(&mut on_main)["commit_hash"], scene.upstream.tip("main"));
        assert_eq!(text(&mut on_main), "Validate on submit.");
    }
    assert_eq!(clones_in(&scene.clones()).len(), 1, "only the one of `dev`");
    let kept = Repository::open(&content).unwrap();
    assert_eq!(kept.head().unwrap().name(), Some("refs/heads/main"));
    assert_eq!(kept.references_glob("refs/skillcell/backup/*").unwrap().count(), 0);
}

#[test]
fn a_clone_has_one_lock_whether_or_not_its_branch_is_configured() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    clone_of_other_server(&scene, &url);
    server.misbehave(On::Refs, Fault::Hang);
    let _first = scene.launch(&url).start();
    server.wait_until_held(1);
    scene.configure("git: {timeout_seconds: 1}\n");
    let mut second = scene.launch(&url).env("SKILLS_BRANCH", "main").start();
    let message = refresh_error(&mut second);
    assert!(message.contains("another server is syncing"), "{message}");
    assert!(message.contains(".skills-mcp/content.lock"), "{message}");
    assert_eq!(server.requests().len(), 1, "the second waits for the first");
}
