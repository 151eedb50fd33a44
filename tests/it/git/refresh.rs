//! `refresh_skills`: the newest commit, now.

use super::{Scene, eventually, forms, names, refresh, refreshed, refused, text};
use crate::SMALL;
use serde_json::{Value, json};
use skillcell_tests::git_server::{Fault, On};
use skillcell_tests::{Session, component};
use std::path::PathBuf;

/// A skill whose edits change no list. When one is told, everything before it was told as well.
const MARK: &str = "skill://mark";

fn mark(edition: usize) -> String {
    format!("---\nname: mark\ndescription: A mark\n---\n\nEdition {edition}.\n")
}

#[test]
fn the_answer_says_exactly_what_came() {
    let scene = Scene::with(&[SMALL[0], SMALL[1], ("gone.md", SMALL[0].1), ("same.md", SMALL[0].1)]);
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "gone", "pdf", "same"]);
    let first = refreshed(&mut session);
    assert_eq!(first["files_changed"], 0);
    let changes = [("forms.md", Some(&*forms("Newer."))), ("gone.md", None), ("new.md", Some(SMALL[0].1))];
    let tip = scene.upstream.push_changes("main", &changes);
    let answer = refreshed(&mut session);
    let last_sync = answer["last_sync"].as_str().unwrap().to_owned();
    let expected = json!({"success": true, "commit_hash": tip, "files_changed": 3, "skills_reindexed": 4,
        "last_sync": last_sync});
    assert_eq!(answer, expected);
    assert_eq!(text(&mut session), "Newer.");
    assert_eq!(names(&mut session), ["forms", "new", "pdf", "same"]);
    let is_moment = last_sync.len() == "2026-02-18T14:30:00.000Z".len() && last_sync.ends_with('Z');
    assert!(is_moment && *last_sync > *first["last_sync"].as_str().unwrap(), "{last_sync}");
    let again = refreshed(&mut session);
    assert_eq!((&again["files_changed"], &again["commit_hash"]), (&json!(0), &json!(tip)));
    scene.is_intact("main");
}

#[test]
fn a_commit_that_cannot_be_served_is_no_success() {
    let scene = Scene::new();
    let engine = component("fragile-engine");
    let mut session = scene.launch(&scene.upstream.file_url()).arg("--engine").arg(engine).start();
    refreshed(&mut session);
    let stubborn = SMALL[0].1.replace("Validate on submit.", "fragile: crash");
    let tip = scene.upstream.push("main", &[("stubborn.md", &stubborn)]);
    let answer = refresh(&mut session);
    assert_eq!((&answer["success"], &answer["commit_hash"]), (&json!(false), &json!(tip)), "{answer}");
    assert_eq!((&answer["files_changed"], &answer["skills_reindexed"]), (&json!(1), &json!(0)), "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("The skills stay as they were"), "{answer}");
    scene.upstream.push_changes("main", &[("stubborn.md", None)]);
    assert_eq!(refreshed(&mut session)["skills_reindexed"], 2);
}

#[test]
fn every_commit_is_served_by_the_very_next_call() {
    let scene = Scene::new();
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refreshed(&mut session);
    for number in 0..20 {
        // The same length each time: size alone would not tell.
        let line = format!("Edition {number:02}.");
        scene.upstream.push("main", &[("forms.md", &forms(&line))]);
        assert_eq!(refreshed(&mut session)["files_changed"], 1);
        assert_eq!(text(&mut session), line);
    }
}

#[test]
fn a_thousand_files_are_told_once_of_each_kind() {
    let skills = |numbers: std::ops::Range<usize>, edition: usize| -> Vec<(String, String)> {
        let skill =
            |number| format!("---\nname: s{number}\ndescription: Edition {edition} of {number}\n---\n\nText.\n");
        numbers.map(|number| (format!("many/s{number}/SKILL.md"), skill(number))).collect()
    };
    let scene = Scene::with(&[("mark/SKILL.md", &mark(1))]);
    let push = |files: Vec<(String, String)>| {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        scene.upstream.push("main", &files);
    };
    push(skills(0..500, 1));
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session).len(), 501);
    session.result("resources/subscribe", json!({"uri": MARK}));
    refreshed(&mut session);
    told(&scene, &mut session, 2);
    // Half of them are there already.
    push(skills(0..1_000, 2));
    assert_eq!(refreshed(&mut session)["files_changed"], 1_000);
    for list in ["tools", "prompts", "resources"] {
        session.notification(&format!("notifications/{list}/list_changed"));
    }
    assert_eq!(told(&scene, &mut session, 3), Vec::<String>::new(), "each list is told once");
    assert_eq!(refreshed(&mut session)["files_changed"], 0);
    assert_eq!(told(&scene, &mut session, 4), Vec::<String>::new(), "nothing changed but the mark");
}

/// Which lists changed, as far as anybody was told and did not hear of it yet.
fn told(scene: &Scene, session: &mut Session, edition: usize) -> Vec<String> {
    scene.upstream.push("main", &[("mark/SKILL.md", &mark(edition))]);
    assert_eq!(refreshed(session)["files_changed"], 1);
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
fn who_comes_second_is_told_at_once() {
    let scene = Scene::new();
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    refreshed(&mut session);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    server.misbehave(On::Refs, Fault::Hang);
    let first = session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
    server.wait_until_held(1);
    for _ in 0..3 {
        assert_eq!(session.call_json("refresh_skills", json!({})), json!({"success": false}));
        assert_eq!(text(&mut session), "Validate on submit.", "others are served meanwhile");
    }
    server.behave();
    let answer = session.answer(&first);
    let said: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&said["success"], &said["files_changed"]), (&json!(true), &json!(1)), "{said}");
    assert_eq!(text(&mut session), "Newer.");
}

#[test]
fn a_server_that_starts_brings_in_what_was_pushed_meanwhile() {
    let scene = Scene::new();
    let server = scene.http();
    assert_eq!(names(&mut scene.launch(&server.url("skills")).start()), ["forms", "pdf"]);
    let lock = |path: &std::path::Path| path.extension().is_some_and(|extension| extension == "lock");
    for entry in std::fs::read_dir(scene.clones()).unwrap().flatten().filter(|entry| lock(&entry.path())) {
        // As if the last sync was long ago.
        std::fs::write(entry.path(), "").unwrap();
    }
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    let mut session = scene.launch(&server.url("skills")).start();
    eventually("the new text", || text(&mut session) == "Newer.");
}

#[test]
fn what_cannot_be_synced_is_told_and_the_rest_is() {
    let scene = Scene::new();
    let server = scene.http();
    scene.configure(&format!("repos:\n- url: {}\n- url: {}\n", server.url("skills"), server.url("missing")));
    let mut session = scene.bare().start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    let message = refused(&mut session);
    assert!(message.contains("/missing.git is private or does not exist (404)"), "{message}");
    assert!(message.contains("git.credential_helper: true"), "{message}");
    assert_eq!(text(&mut session), "Newer.");
    let answer = refresh(&mut session);
    assert_eq!(answer["repositories"][0]["success"], true, "{answer}");
    assert_eq!(answer["repositories"][1]["success"], false, "{answer}");
}

#[test]
fn every_refresh_is_an_event_with_what_came_of_it() {
    let scene = Scene::new();
    let server = scene.http();
    // Nobody gets it, and not in the time of this test.
    scene.configure("analytics: {endpoint: 'http://127.0.0.1:1/events', interval_seconds: 3600}\n");
    let mut session = scene.launch(&server.url("skills")).start();
    let first = refreshed(&mut session);
    let event = |success: bool, commit: &Value, files_changed: usize| {
        json!({"mode": "git", "success": success, "commit_hash": commit, "files_changed": files_changed,
            "skills_reindexed": 2})
    };
    assert_eq!(last_refresh(&scene), event(true, &first["commit_hash"], 0));
    let tip = json!(scene.upstream.push("main", &[("forms.md", &forms("Newer."))]));
    refreshed(&mut session);
    assert_eq!(last_refresh(&scene), event(true, &tip, 1));
    server.misbehave(On::Refs, Fault::Status(500));
    refused(&mut session);
    assert_eq!(last_refresh(&scene), event(false, &tip, 0), "what is served is told all the same");
}

/// What the newest event about a refresh says. It is on disk before the answer.
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
