//! `refresh_skills` fetches the newest commit.

use super::{Scene, eventually, forms, names, refresh, refresh_error, refresh_ok, text};
use crate::SMALL;
use crate::subscriptions::wait_until_announcing;
use serde_json::{Value, json};
use skillcell_tests::git_server::{Fault, On};
use skillcell_tests::{Session, component};
use std::path::PathBuf;

/// A skill whose edits change no list. When its notification arrives, all earlier ones were sent.
const FENCE: &str = "skill://fence";

fn fence_text(edition: usize) -> String {
    format!("---\nname: fence\ndescription: A fence\n---\n\nEdition {edition}.\n")
}

#[test]
fn the_answer_reports_exactly_what_changed() {
    let scene = Scene::with(&[SMALL[0], SMALL[1], ("gone.md", SMALL[0].1), ("same.md", SMALL[0].1)]);
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "gone", "pdf", "same"]);
    let first = refresh_ok(&mut session);
    assert_eq!(first["files_changed"], 0);
    let changes = [("forms.md", Some(&*forms("Newer."))), ("gone.md", None), ("new.md", Some(SMALL[0].1))];
    let tip = scene.upstream.push_changes("main", &changes);
    let answer = refresh_ok(&mut session);
    let last_sync = answer["last_sync"].as_str().unwrap().to_owned();
    let expected = json!({"success": true, "commit_hash": tip, "files_changed": 3, "skills_reindexed": 4,
        "last_sync": last_sync});
    assert_eq!(answer, expected);
    assert_eq!(text(&mut session), "Newer.");
    assert_eq!(names(&mut session), ["forms", "new", "pdf", "same"]);
    let is_timestamp = last_sync.len() == "2026-02-18T14:30:00.000Z".len() && last_sync.ends_with('Z');
    assert!(is_timestamp && *last_sync > *first["last_sync"].as_str().unwrap(), "{last_sync}");
    let again = refresh_ok(&mut session);
    assert_eq!((&again["files_changed"], &again["commit_hash"]), (&json!(0), &json!(tip)));
    scene.assert_intact("main");
}

#[test]
fn a_commit_that_cannot_be_served_is_a_failure() {
    let scene = Scene::new();
    let engine = component("fragile-engine");
    let mut session = scene.launch(&scene.upstream.file_url()).arg("--engine").arg(engine).start();
    refresh_ok(&mut session);
    let crashing = SMALL[0].1.replace("Validate on submit.", "fragile: crash");
    let tip = scene.upstream.push("main", &[("stubborn.md", &crashing)]);
    let answer = refresh(&mut session);
    assert_eq!((&answer["success"], &answer["commit_hash"]), (&json!(false), &json!(tip)), "{answer}");
    assert_eq!((&answer["files_changed"], &answer["skills_reindexed"]), (&json!(1), &json!(0)), "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("The skills stay as they were"), "{answer}");
    scene.upstream.push_changes("main", &[("stubborn.md", None)]);
    assert_eq!(refresh_ok(&mut session)["skills_reindexed"], 2);
}

#[test]
fn every_commit_is_served_by_the_next_call() {
    let scene = Scene::new();
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refresh_ok(&mut session);
    for number in 0..20 {
        // Always the same length, so that the size does not show the change.
        let line = format!("Edition {number:02}.");
        scene.upstream.push("main", &[("forms.md", &forms(&line))]);
        assert_eq!(refresh_ok(&mut session)["files_changed"], 1);
        assert_eq!(text(&mut session), line);
    }
}

#[test]
fn a_refresh_of_many_files_announces_each_list_once() {
    let skills = |numbers: std::ops::Range<usize>, edition: usize| -> Vec<(String, String)> {
        let skill =
            |number| format!("---\nname: s{number}\ndescription: Edition {edition} of {number}\n---\n\nText.\n");
        numbers.map(|number| (format!("many/s{number}/SKILL.md"), skill(number))).collect()
    };
    let scene = Scene::with(&[("fence/SKILL.md", &fence_text(1))]);
    let push = |files: Vec<(String, String)>| {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        scene.upstream.push("main", &files);
    };
    push(skills(0..100, 1));
    let mut session = scene.launch(&scene.upstream.file_url()).arg("--verbose").start();
    assert_eq!(names(&mut session).len(), 101);
    wait_until_announcing(&session);
    session.result("resources/subscribe", json!({"uri": FENCE}));
    refresh_ok(&mut session);
    announced_lists(&scene, &mut session, 2);
    // Half of them exist already.
    push(skills(0..200, 2));
    assert_eq!(refresh_ok(&mut session)["files_changed"], 200);
    for list in ["tools", "prompts", "resources"] {
        session.notification(&format!("notifications/{list}/list_changed"));
    }
    assert_eq!(announced_lists(&scene, &mut session, 3), Vec::<String>::new(), "each list is announced once");
    assert_eq!(refresh_ok(&mut session)["files_changed"], 0);
    assert_eq!(announced_lists(&scene, &mut session, 4), Vec::<String>::new(), "nothing changed but the fence");
}

/// Returns the lists that were announced since the last call.
fn announced_lists(scene: &Scene, session: &mut Session, edition: usize) -> Vec<String> {
    scene.upstream.push("main", &[("fence/SKILL.md", &fence_text(edition))]);
    assert_eq!(refresh_ok(session)["files_changed"], 1);
    let mut lists = Vec::new();
    loop {
        let notice = session.notice();
        let method = notice["method"].as_str().unwrap();
        if method == "notifications/resources/updated" {
            return lists;
        }
        let list = method.strip_prefix("notifications/").and_then(|method| method.strip_suffix("/list_changed"));
        lists.extend(list.map(str::to_owned));
    }
}

#[test]
fn a_second_refresh_does_not_wait_for_the_first() {
    let scene = Scene::new();
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    refresh_ok(&mut session);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    server.misbehave(On::Refs, Fault::Hang);
    let first = session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
    server.wait_until_held(1);
    for _ in 0..3 {
        assert_eq!(session.call_json("refresh_skills", json!({})), json!({"success": false}));
        assert_eq!(text(&mut session), "Validate on submit.", "other requests are answered in the meantime");
    }
    server.behave();
    let answer = session.answer(&first);
    let result: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&result["success"], &result["files_changed"]), (&json!(true), &json!(1)), "{result}");
    assert_eq!(text(&mut session), "Newer.");
}

#[test]
fn a_starting_server_applies_what_was_pushed_before() {
    let scene = Scene::new();
    let server = scene.http();
    assert_eq!(names(&mut scene.launch(&server.url("skills")).start()), ["forms", "pdf"]);
    let is_lock = |path: &std::path::Path| path.extension().is_some_and(|extension| extension == "lock");
    for entry in std::fs::read_dir(scene.clones()).unwrap().flatten().filter(|entry| is_lock(&entry.path())) {
        // As if the last sync was long ago.
        std::fs::write(entry.path(), "").unwrap();
    }
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    let mut session = scene.launch(&server.url("skills")).start();
    eventually("the new text", || text(&mut session) == "Newer.");
}

#[test]
fn repositories_that_cannot_be_synced_are_reported_and_the_others_are_synced() {
    let scene = Scene::new();
    let server = scene.http();
    scene.configure(&format!("repos:\n- url: {}\n- url: {}\n", server.url("skills"), server.url("missing")));
    let mut session = scene.bare().start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    let message = refresh_error(&mut session);
    assert!(message.contains("/missing.git is private or does not exist (404)"), "{message}");
    assert!(message.contains("git.credential_helper: true"), "{message}");
    assert_eq!(text(&mut session), "Newer.");
    let answer = refresh(&mut session);
    assert_eq!(answer["repositories"][0]["success"], true, "{answer}");
    assert_eq!(answer["repositories"][1]["success"], false, "{answer}");
}

#[test]
fn every_refresh_raises_an_event_with_its_outcome() {
    let scene = Scene::new();
    let server = scene.http();
    // Nothing is sent during this test.
    scene.configure("analytics: {endpoint: 'http://127.0.0.1:1/events', interval_seconds: 3600}\n");
    let mut session = scene.launch(&server.url("skills")).start();
    let first = refresh_ok(&mut session);
    let event = |success: bool, commit: &Value, files_changed: usize| {
        json!({"mode": "git", "success": success, "commit_hash": commit, "files_changed": files_changed,
            "skills_reindexed": 2})
    };
    assert_eq!(last_refresh(&scene), event(true, &first["commit_hash"], 0));
    let tip = json!(scene.upstream.push("main", &[("forms.md", &forms("Newer."))]));
    refresh_ok(&mut session);
    assert_eq!(last_refresh(&scene), event(true, &tip, 1));
    server.misbehave(On::Refs, Fault::Status(500));
    refresh_error(&mut session);
    assert_eq!(last_refresh(&scene), event(false, &tip, 0), "the event has the commit that is still served");
}

/// Returns the data of the newest refresh event, which is on disk before the answer.
fn last_refresh(scene: &Scene) -> Value {
    let waiting = scene.home.path().join(".local/share/skillcell/analytics/waiting");
    let entries = |path: PathBuf| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries(waiting).flat_map(entries).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut event = events.rev().find(|event| event["type"] == "refresh").expect("an event");
    event["data"].take()
}
