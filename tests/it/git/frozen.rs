//! `--static`: what the first clone has is served, and nothing that comes later.

use super::{Scene, forms, names, text};
use crate::SMALL;
use serde_json::json;
use skillcell_tests::Session;
use skillcell_tests::git_server::GitServer;

const FIRST: &str = "Validate on submit.";

/// The server answers from its only generation, says so, and asks its remote nothing.
fn stands_still(session: &mut Session, server: &GitServer) {
    let asked = server.requests().len();
    for _ in 0..3 {
        let answer = session.call_json("refresh_skills", json!({}));
        assert_eq!(answer["success"], false, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("--static"), "{answer}");
        assert_eq!(names(session), ["forms", "pdf"]);
        assert_eq!(text(session), FIRST);
    }
    assert_eq!(server.requests().len(), asked, "nobody is asked for anything newer");
}

#[test]
fn the_first_clone_is_served_and_stays() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    let mut session = scene.launch(&url).arg("--static").start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    assert_eq!(text(&mut session), FIRST);
    scene.upstream.push("main", &[("forms.md", &forms("Newer.")), ("new.md", SMALL[0].1)]);
    stands_still(&mut session, &server);
    // Another server brings the clone up to date. What is on disk then is not what was there at the start.
    let mut follows = scene.launch(&url).start();
    super::refreshed(&mut follows);
    assert_eq!(text(&mut follows), "Newer.");
    stands_still(&mut session, &server);
}

#[test]
fn what_was_cloned_before_is_served_without_a_remote() {
    let scene = Scene::new();
    let server = scene.http();
    let url = server.url("skills");
    assert_eq!(names(&mut scene.launch(&url).start()), ["forms", "pdf"]);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    let asked = server.requests().len();
    let mut session = scene.launch(&url).arg("--static").start();
    stands_still(&mut session, &server);
    assert_eq!(server.requests().len(), asked, "nor at the start");
}
