//! `--static`: the first clone is served, and nothing that comes later.

use super::{Scene, forms, names, text};
use crate::SMALL;
use serde_json::json;
use skillcell_tests::Session;
use skillcell_tests::git_server::GitServer;

const FIRST: &str = "Validate on submit.";

/// Checks that the server answers from its only generation, says so, and sends nothing to its remote.
fn assert_frozen(session: &mut Session, server: &GitServer) {
    let requests = server.requests().len();
    for _ in 0..3 {
        let answer = session.call_json("refresh_skills", json!({}));
        assert_eq!(answer["success"], false, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("--static"), "{answer}");
        assert_eq!(names(session), ["forms", "pdf"]);
        assert_eq!(text(session), FIRST);
    }
    assert_eq!(server.requests().len(), requests, "nothing newer is requested");
}

#[test]
fn the_first_clone_stays_served() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    let mut session = scene.launch(&url).arg("--static").start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    assert_eq!(text(&mut session), FIRST);
    scene.upstream.push("main", &[("forms.md", &forms("Newer.")), ("new.md", SMALL[0].1)]);
    assert_frozen(&mut session, &server);
    // Another server updates the clone, so the files on disk differ from those at the start.
    let mut live = scene.launch(&url).start();
    super::refresh_ok(&mut live);
    assert_eq!(text(&mut live), "Newer.");
    assert_frozen(&mut session, &server);
}

#[test]
fn an_existing_clone_is_served_without_a_remote() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    assert_eq!(names(&mut scene.launch(&url).start()), ["forms", "pdf"]);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    let requests = server.requests().len();
    let mut session = scene.launch(&url).arg("--static").start();
    assert_frozen(&mut session, &server);
    assert_eq!(server.requests().len(), requests, "also not at the start");
}
