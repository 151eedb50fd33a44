//! Interrupted, locked and damaged clones: all of them are repaired from the remote.

use super::{Scene, eventually, forms, incompressible, names, refresh_error, refresh_ok, text};
use crate::SMALL;
use skillcell_tests::git_server::{Fault, On};
use skillcell_tests::{files_below, write_files};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Returns a clone that a server made before it ended.
fn existing_clone(scene: &Scene) -> PathBuf {
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    refresh_ok(&mut session);
    scene.clone()
}

#[test]
fn a_clone_interrupted_by_a_kill_is_completed_by_the_next_server() {
    let scene = Scene::with(&[SMALL[0], SMALL[1], ("large.txt", &incompressible(200_000))]);
    let server = scene.http();
    for (number, on) in [On::Refs, On::Pack, On::Pack].into_iter().enumerate() {
        server.misbehave(on, Fault::Stall(if number == 2 { 100_000 } else { 50 }));
        let session = scene.launch(&server.url("skills")).start();
        server.wait_until_held(number + 1);
        // Dropping a session kills the server.
        drop(session);
        server.behave();
    }
    let entries = std::fs::read_dir(scene.clones()).unwrap().flatten().count();
    assert!(entries > 1, "no incomplete clone was left");
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    scene.assert_intact("main");
}

#[test]
fn a_refresh_that_is_killed_at_any_moment_is_recovered_from() {
    let scene = Scene::new();
    let many: Vec<(String, String)> =
        (0..300).map(|number| (format!("many/{number}.md"), forms(&format!("First {number}.")))).collect();
    let push_edition = |edition: usize| {
        let files: Vec<(String, String)> = many
            .iter()
            .map(|(path, text)| (path.clone(), text.replace("First", &format!("Edition {edition}"))))
            .collect();
        let line = forms(&format!("Edition {edition}."));
        let mut all: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        all.push(("forms.md", &line));
        scene.upstream.push("main", &all);
    };
    let server = scene.http();
    for edition in 0..8_u32 {
        push_edition(edition as usize);
        let mut session = scene.launch(&server.url("skills")).start();
        session.post("tools/call", serde_json::json!({"name": "refresh_skills", "arguments": {}}));
        // A little later each time, so that it hits the fetch, the checkout, and the end.
        let delay = Duration::from_millis(20 * u64::from(edition));
        std::thread::park_timeout(delay);
        drop(session);
    }
    let mut session = scene.launch(&server.url("skills")).start();
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Edition 7.");
    scene.assert_intact("main");
    assert!(!session.log().contains("edits of"), "an interrupted checkout counts as edits:\n{}", session.log());
}

#[test]
fn a_stale_lock_is_removed_and_a_fresh_one_is_respected() {
    let scene = Scene::new();
    let lock = existing_clone(&scene).join(".git/index.lock");
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refresh_ok(&mut session);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    File::create_new(&lock).unwrap();
    let message = refresh_error(&mut session);
    assert!(message.contains("index.lock"), "the message names the file to remove: {message}");
    assert_eq!(text(&mut session), "Validate on submit.");
    assert!(lock.exists());
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    File::options().write(true).open(&lock).unwrap().set_modified(long_ago).unwrap();
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Newer.");
    assert!(!lock.exists());
    scene.assert_intact("main");
}

/// Damages a clone, and checks that it is repaired, both when a server starts and while it runs.
fn recovers_from(what: &str, damage: impl Fn(&Path)) {
    let scene = Scene::new();
    let clone = existing_clone(&scene);
    damage(&clone);
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refresh_ok(&mut session);
    assert_eq!(names(&mut session), ["forms", "pdf"], "{what}: {}", session.log());
    scene.assert_intact("main");
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    damage(&clone);
    let answer = refresh_ok(&mut session);
    assert_eq!(answer["commit_hash"], scene.upstream.tip("main"), "{what}");
    assert_eq!(text(&mut session), "Newer.", "{what}");
    scene.assert_intact("main");
}

#[test]
fn damaged_clones_are_repaired() {
    let objects = |clone: &Path| files_below(&clone.join(".git/objects"));
    let truncate_all = |files: Vec<PathBuf>| {
        assert!(!files.is_empty());
        for file in files {
            std::fs::remove_file(&file).unwrap();
            std::fs::write(file, "").unwrap();
        }
    };
    recovers_from("objects without bytes", |clone| truncate_all(objects(clone)));
    recovers_from("objects of other bytes", |clone| {
        for file in objects(clone) {
            let length = std::fs::metadata(&file).unwrap().len();
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, incompressible(usize::try_from(length).unwrap())).unwrap();
        }
    });
    recovers_from("no objects", |clone| std::fs::remove_dir_all(clone.join(".git/objects")).unwrap());
    recovers_from("HEAD without bytes", |clone| std::fs::write(clone.join(".git/HEAD"), "").unwrap());
    recovers_from("HEAD of other bytes", |clone| std::fs::write(clone.join(".git/HEAD"), [0, 255, 10]).unwrap());
    recovers_from("HEAD of a branch that is not there", |clone| {
        std::fs::write(clone.join(".git/HEAD"), "ref: refs/heads/gone\n").unwrap();
    });
    recovers_from("references without bytes", |clone| truncate_all(files_below(&clone.join(".git/refs"))));
    recovers_from("an index without bytes", |clone| std::fs::write(clone.join(".git/index"), "").unwrap());
    recovers_from("an index of other bytes", |clone| {
        std::fs::write(clone.join(".git/index"), incompressible(500)).unwrap();
    });
    recovers_from("settings of other bytes", |clone| std::fs::write(clone.join(".git/config"), "[[[\n").unwrap());
    recovers_from("no .git", |clone| std::fs::remove_dir_all(clone.join(".git")).unwrap());
    recovers_from("a file for .git", |clone| {
        std::fs::remove_dir_all(clone.join(".git")).unwrap();
        std::fs::write(clone.join(".git"), "gitdir: /nowhere\n").unwrap();
    });
    recovers_from("no files", |clone| {
        for entry in std::fs::read_dir(clone).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
        }
    });
    recovers_from("no clone", |clone| std::fs::remove_dir_all(clone).unwrap());
}

#[test]
fn a_data_folder_that_cannot_be_written_is_reported() {
    let scene = Scene::new();
    write_files(scene.home.path(), &[(".local/share/skillcell", "a file where a folder should be")]);
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    let message = refresh_error(&mut session);
    assert!(message.contains(".local/share/skillcell"), "{message}");
    std::fs::remove_file(scene.home.path().join(".local/share/skillcell")).unwrap();
    eventually("the first clone", || super::refresh(&mut session)["success"] == true);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}
