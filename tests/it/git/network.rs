//! Remotes that fail, send nonsense, are slow, hang, or do not exist.

use super::{Scene, eventually, forms, listed, names, refresh, refresh_error, refresh_ok, text};
use crate::library;
use serde_json::json;
use skillcell_tests::git_server::{Fault, GitServer, On};
use skillcell_tests::{SOON, Session};
use std::time::{Duration, Instant};

/// An address where nothing listens.
const NOWHERE: &str = "http://127.0.0.1:1/skills.git";

/// Lets the remote fail in each of these ways. The skills stay as they were, and are updated when the remote works again.
fn survives_faults(scene: &Scene, server: &GitServer, faults: impl IntoIterator<Item = (On, Fault, &'static str)>) {
    let mut session = scene.launch(&server.url("skills")).start();
    refresh_until_ok(&mut session);
    let mut served = "Validate on submit.".to_owned();
    for (number, (on, fault, expected)) in faults.into_iter().enumerate() {
        let newer = format!("Edition {number}.");
        scene.upstream.push("main", &[("forms.md", &forms(&newer))]);
        server.misbehave(on, fault.clone());
        let message = refresh_error(&mut session);
        assert!(message.contains(expected), "{on:?} {fault:?}: {message}");
        assert!(message.contains("127.0.0.1"), "{on:?} {fault:?}: {message}");
        assert_eq!(text(&mut session), served, "{on:?} {fault:?}");
        server.behave();
        refresh_until_ok(&mut session);
        assert_eq!(text(&mut session), newer, "{on:?} {fault:?}");
        served = newer;
    }
    scene.assert_intact("main");
}

/// Refreshes until it succeeds: with a short timeout a busy machine may fail.
fn refresh_until_ok(session: &mut Session) {
    eventually("a refresh that succeeds", || refresh(session)["success"] == true);
}

#[test]
fn a_remote_that_fails_changes_nothing_until_it_works_again() {
    let scene = Scene::new();
    let server = scene.http();
    let faults = [
        (On::Refs, Fault::Status(500), "answers with an error (500)"),
        (On::Pack, Fault::Status(503), "answers with an error (503)"),
        (On::Refs, Fault::Status(403), "is private or does not exist (403)"),
        (On::Refs, Fault::Status(404), "is private or does not exist (404)"),
        (On::Refs, Fault::Page, "is not a repository that git can fetch"),
        (On::Pack, Fault::Page, "is not a repository that git can fetch"),
        (On::Refs, Fault::DisguisedPage, ""),
        (On::Pack, Fault::DisguisedPage, ""),
        (On::Refs, Fault::Cut(0), "the transfer from"),
        (On::Refs, Fault::Cut(100), "the transfer from"),
        (On::Pack, Fault::Cut(0), "the transfer from"),
        (On::Pack, Fault::Cut(3), "the transfer from"),
        (On::Pack, Fault::Cut(120), "the transfer from"),
        (On::Refs, Fault::HangUp, ""),
        (On::Pack, Fault::HangUp, ""),
        (On::Everything, Fault::HangUp, ""),
        (On::Refs, Fault::Redirect(server.base_at("127.0.0.1")), "too many redirects"),
        (On::Pack, Fault::Redirect(server.base_at("127.0.0.1")), "only the first request may be redirected"),
    ];
    survives_faults(&scene, &server, faults);
}

#[test]
fn a_remote_that_hangs_times_out_and_changes_nothing_until_it_works_again() {
    let scene = Scene::new();
    scene.configure("git: {timeout_seconds: 2}\n");
    let server = scene.http();
    let slowly = Fault::Drip(10, Duration::from_millis(500));
    let faults = [(On::Refs, Fault::Hang), (On::Pack, Fault::Hang), (On::Pack, Fault::Stall(120)), (On::Pack, slowly)];
    survives_faults(&scene, &server, faults.map(|(on, fault)| (on, fault, "git.timeout_seconds")));
}

#[test]
fn a_remote_that_fails_before_the_first_clone_is_retried() {
    let scene = Scene::new();
    let server = scene.http();
    for fault in [Fault::Status(500), Fault::DisguisedPage, Fault::Cut(200), Fault::Hang, Fault::HangUp] {
        scene.configure(if matches!(fault, Fault::Hang) { "git: {timeout_seconds: 2}\n" } else { "{}\n" });
        server.misbehave(On::Everything, fault.clone());
        let mut session = scene.launch(&server.url("skills")).start();
        assert_eq!(names(&mut session), Vec::<String>::new(), "{fault:?}");
        assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["no_match"], true);
        refresh_error(&mut session);
        server.behave();
        refresh_until_ok(&mut session);
        assert_eq!(names(&mut session), ["forms", "pdf"], "{fault:?}");
        scene.assert_intact("main");
        std::fs::remove_dir_all(scene.clones()).unwrap();
    }
}

#[test]
fn an_address_that_cannot_be_reached_is_reported_and_the_clone_is_served() {
    let scene = Scene::new();
    let mut session = scene.launch(NOWHERE).start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    assert!(session.log().contains("127.0.0.1:1 cannot be reached"), "{}", session.log());
    assert!(refresh_error(&mut session).contains("127.0.0.1:1 cannot be reached"));
    drop(session);
    let server = scene.http();
    std::fs::remove_dir_all(scene.clones()).unwrap();
    assert_eq!(names(&mut scene.launch(&server.url("skills")).start()), ["forms", "pdf"]);
    server.misbehave(On::Everything, Fault::HangUp);
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    refresh_error(&mut session);
    server.behave();
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Newer.");
}

#[test]
fn a_repository_on_disk_may_appear_later() {
    let scene = Scene::new();
    let (original, away) = (scene.upstream.path(), scene.repositories.path().join("away"));
    std::fs::rename(original, &away).unwrap();
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    assert!(refresh_error(&mut session).contains("there is no repository at"));
    std::fs::rename(&away, original).unwrap();
    refresh_ok(&mut session);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}

#[test]
fn a_hanging_first_clone_delays_only_requests_that_need_it() {
    let scene = Scene::new();
    let server = scene.http();
    for stateless in [false, true] {
        server.misbehave(On::Refs, Fault::Hang);
        let launch = scene.launch(&server.url("skills"));
        let began = Instant::now();
        let mut session = if stateless { launch.modern() } else { launch.start() };
        if stateless {
            session.result("server/discover", json!({}));
        }
        assert!(began.elapsed() < SOON, "the handshake took {:?}", began.elapsed());
        server.wait_until_held(1 + usize::from(stateless));
        let waiting = session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
        session.post("prompts/list", json!({}));
        if !stateless {
            session.result("ping", json!({}));
        }
        server.behave();
        assert_eq!(listed(&mut session, &waiting), 2);
        drop(session);
        std::fs::remove_dir_all(scene.clones()).unwrap();
    }
}

#[test]
fn a_hanging_remote_does_not_delay_a_server_that_has_a_clone() {
    let scene = Scene::new();
    let server = scene.http();
    assert_eq!(names(&mut scene.launch(&server.url("skills")).start()), ["forms", "pdf"]);
    server.misbehave(On::Everything, Fault::Hang);
    let began = Instant::now();
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[test]
fn a_hanging_remote_does_not_delay_the_shutdown() {
    let scene = Scene::new();
    let server = scene.http();
    let mut held = 0;
    for way in ["INT", "TERM", "end of input"] {
        for (on, fault) in [(On::Refs, Fault::Hang), (On::Pack, Fault::Stall(40))] {
            for first_clone in [true, false] {
                let mut session = if first_clone {
                    let _ = std::fs::remove_dir_all(scene.clones());
                    server.misbehave(on, fault.clone());
                    scene.launch(&server.url("skills")).start()
                } else {
                    let mut session = scene.launch(&server.url("skills")).start();
                    refresh_ok(&mut session);
                    scene.upstream.push("main", &[("forms.md", &forms(&format!("Edition {held}.")))]);
                    server.misbehave(on, fault.clone());
                    session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
                    session
                };
                held += 1;
                server.wait_until_held(held);
                match way {
                    "end of input" => session.close_input(),
                    signal => session.signal(signal),
                }
                session.exits_soon();
                server.behave();
            }
        }
    }
    refresh_ok(&mut scene.launch(&server.url("skills")).start());
    scene.assert_intact("main");
}

#[test]
fn a_hanging_first_clone_does_not_delay_other_folders() {
    let scene = Scene::new();
    let server = scene.http();
    server.misbehave(On::Refs, Fault::Hang);
    scene.configure(&format!("repos: [{{url: '{}'}}]\n", server.url("skills")));
    let folder = library(&[("own/SKILL.md", "---\nname: own\ndescription: My own\n---\n\nText.\n")]);
    let mut session = scene.bare().arg(folder.path()).start();
    let began = Instant::now();
    assert_eq!(names(&mut session), ["own"]);
    assert!(began.elapsed() < SOON, "the list took {:?}", began.elapsed());
    server.wait_until_held(1);
    server.behave();
    eventually("the skills of the clone", || names(&mut session) == ["forms", "own", "pdf"]);
}

#[test]
fn a_slow_remote_is_waited_for() {
    let scene = Scene::new();
    let server = scene.http();
    server.misbehave(On::Everything, Fault::Drip(40, Duration::from_millis(20)));
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
}
