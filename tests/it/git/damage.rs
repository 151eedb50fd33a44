//! Clones that were cut off, locked or damaged. Each ends at the remote's state.

use super::{Scene, eventually, forms, names, noise, refreshed, refused, text};
use crate::SMALL;
use skillcell_tests::git_server::{Fault, On};
use skillcell_tests::{files_below, write_files};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A clone that a server made and left.
fn left_clone(scene: &Scene) -> PathBuf {
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    refreshed(&mut session);
    scene.clone()
}

#[test]
fn a_clone_that_was_cut_off_by_a_kill_is_made_by_the_next_server() {
    let scene = Scene::with(&[SMALL[0], SMALL[1], ("large.txt", &noise(200_000))]);
    let server = scene.http();
    for (number, on) in [On::Refs, On::Pack, On::Pack].into_iter().enumerate() {
        server.misbehave(on, Fault::Stall(if number == 2 { 100_000 } else { 50 }));
        let session = scene.launch(&server.url("skills")).start();
        server.wait_until_held(number + 1);
        // The end of a session is SIGKILL.
        drop(session);
        server.behave();
    }
    let left = std::fs::read_dir(scene.clones()).unwrap().flatten().count();
    assert!(left > 1, "something half-made was left behind");
    let mut session = scene.launch(&server.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    scene.is_intact("main");
}

#[test]
fn a_kill_at_any_moment_of_a_refresh_wedges_nothing() {
    let scene = Scene::new();
    let many: Vec<(String, String)> =
        (0..300).map(|number| (format!("many/{number}.md"), forms(&format!("First {number}.")))).collect();
    let pushed = |edition: usize| {
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
        pushed(edition as usize);
        let mut session = scene.launch(&server.url("skills")).start();
        session.post("tools/call", serde_json::json!({"name": "refresh_skills", "arguments": {}}));
        // A little later each time, so that it meets the fetch, the checkout, and the end.
        let moment = Duration::from_millis(20 * u64::from(edition));
        std::thread::park_timeout(moment);
        drop(session);
    }
    let mut session = scene.launch(&server.url("skills")).start();
    refreshed(&mut session);
    assert_eq!(text(&mut session), "Edition 7.");
    scene.is_intact("main");
    assert!(!session.log().contains("had edits"), "a cut-off checkout is nobody's edit:\n{}", session.log());
}

#[test]
fn a_lock_that_somebody_left_is_removed_and_a_fresh_one_is_respected() {
    let scene = Scene::new();
    let lock = left_clone(&scene).join(".git/index.lock");
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refreshed(&mut session);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    File::create_new(&lock).unwrap();
    let message = refused(&mut session);
    assert!(message.contains("index.lock"), "it is told what to remove: {message}");
    assert_eq!(text(&mut session), "Validate on submit.");
    assert!(lock.exists());
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    File::options().write(true).open(&lock).unwrap().set_modified(long_ago).unwrap();
    refreshed(&mut session);
    assert_eq!(text(&mut session), "Newer.");
    assert!(!lock.exists());
    scene.is_intact("main");
}

/// Does something to a clone, and expects a server to make it good again: one that starts, and one that runs.
fn survives(what: &str, damage: impl Fn(&Path)) {
    let scene = Scene::new();
    let clone = left_clone(&scene);
    damage(&clone);
    let mut starts = scene.launch(&scene.upstream.file_url()).start();
    refreshed(&mut starts);
    assert_eq!(names(&mut starts), ["forms", "pdf"], "{what}: {}", starts.log());
    scene.is_intact("main");
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    damage(&clone);
    let answer = refreshed(&mut starts);
    assert_eq!(answer["commit_hash"], scene.upstream.tip("main"), "{what}");
    assert_eq!(text(&mut starts), "Newer.", "{what}");
    scene.is_intact("main");
}

#[test]
fn damaged_clones_are_made_good() {
    let objects = |clone: &Path| files_below(&clone.join(".git/objects"));
    let emptied = |files: Vec<PathBuf>| {
        assert!(!files.is_empty());
        for file in files {
            std::fs::remove_file(&file).unwrap();
            std::fs::write(file, "").unwrap();
        }
    };
    survives("objects without bytes", |clone| emptied(objects(clone)));
    survives("objects of other bytes", |clone| {
        for file in objects(clone) {
            let length = std::fs::metadata(&file).unwrap().len();
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, noise(usize::try_from(length).unwrap())).unwrap();
        }
    });
    survives("no objects", |clone| std::fs::remove_dir_all(clone.join(".git/objects")).unwrap());
    survives("HEAD without bytes", |clone| std::fs::write(clone.join(".git/HEAD"), "").unwrap());
    survives("HEAD of other bytes", |clone| std::fs::write(clone.join(".git/HEAD"), [0, 255, 10]).unwrap());
    survives("HEAD of a branch that is not there", |clone| {
        std::fs::write(clone.join(".git/HEAD"), "ref: refs/heads/gone\n").unwrap();
    });
    survives("references without bytes", |clone| emptied(files_below(&clone.join(".git/refs"))));
    survives("an index without bytes", |clone| std::fs::write(clone.join(".git/index"), "").unwrap());
    survives("an index of other bytes", |clone| std::fs::write(clone.join(".git/index"), noise(500)).unwrap());
    survives("settings of other bytes", |clone| std::fs::write(clone.join(".git/config"), "[[[\n").unwrap());
    survives("no .git", |clone| std::fs::remove_dir_all(clone.join(".git")).unwrap());
    survives("a file for .git", |clone| {
        std::fs::remove_dir_all(clone.join(".git")).unwrap();
        std::fs::write(clone.join(".git"), "gitdir: /nowhere\n").unwrap();
    });
    survives("no files", |clone| {
        for entry in std::fs::read_dir(clone).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
        }
    });
    survives("no clone", |clone| std::fs::remove_dir_all(clone).unwrap());
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let scene = Scene::new();
    write_files(scene.home.path(), &[(".local/share/skillcell", "a file where a folder should be")]);
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    let message = refused(&mut session);
    assert!(message.contains(".local/share/skillcell"), "{message}");
    std::fs::remove_file(scene.home.path().join(".local/share/skillcell")).unwrap();
    eventually("the first clone", || super::refresh(&mut session)["success"] == true);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}
