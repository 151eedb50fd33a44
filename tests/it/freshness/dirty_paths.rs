//! A server that scans only dirty paths misses nothing.

use super::{content, names};
use crate::{SMALL, install_server, library, serve};
use serde_json::json;
use skillcell_tests::{Launch, Session, eventually, write_files};
use std::fs::{Permissions, hard_link, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn skill_text(edition: usize) -> String {
    format!("---\nname: pdf\ndescription: Edition {edition}\n---\n\nText {edition}.\n")
}

/// Counts the scans of dirty paths.
fn scans(session: &Session) -> usize {
    session.log().matches("scanned dirty paths").count()
}

/// Starts a server, and waits until everything is watched.
fn start_watching(launch: Launch, folder: &Path) -> Session {
    let mut session = launch.arg("--verbose").start();
    let mut edition = 0;
    eventually("a scan of dirty paths", || {
        edition += 1;
        write_files(folder, &[("pdf/SKILL.md", &skill_text(edition))]);
        names(&mut session);
        scans(&session) > 0
    });
    session
}

fn description(session: &mut Session) -> String {
    let list = session.fresh(|session| session.call_json("skills_list", json!({"query": "pdf"})));
    list["skills"][0]["meta"]["description"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn edits_are_found_by_scans_of_dirty_paths() {
    let library = library(&SMALL);
    let mut session = start_watching(serve(library.path()), library.path());
    let before = scans(&session);
    let mut edition = 100;
    // On a busy machine a scan may be one of everything, because the watcher did not answer in time.
    eventually("scans of dirty paths", || {
        edition += 1;
        write_files(library.path(), &[("pdf/SKILL.md", &skill_text(edition))]);
        assert_eq!(description(&mut session), format!("Edition {edition}"));
        assert_eq!(content(&mut session, "pdf"), format!("Text {edition}."));
        scans(&session) >= before + 20
    });
    assert!(edition < 1_000, "{edition} edits for 20 scans of dirty paths");
}

#[test]
fn a_hard_link_inside_the_root_hides_no_change() {
    let library = library(&SMALL);
    let mut session = start_watching(serve(library.path()), library.path());
    for number in 0..3 {
        let second = library.path().join(format!("pdf/second-{number}.txt"));
        hard_link(library.path().join("pdf/SKILL.md"), &second).unwrap();
        write(&second, skill_text(200 + number)).unwrap();
        assert_eq!(description(&mut session), format!("Edition {}", 200 + number));
    }
}

#[test]
fn a_change_without_an_event_is_served_next_to_one_with_an_event() {
    let (library, outside) = (library(&SMALL), library(&[]));
    let mut session = start_watching(serve(library.path()), library.path());
    let second = outside.path().join("second.md");
    hard_link(library.path().join("pdf/SKILL.md"), &second).unwrap();
    write(&second, skill_text(300)).unwrap();
    write_files(library.path(), &[("forms.md", &SMALL[0].1.replace("Validate", "Check"))]);
    assert_eq!(content(&mut session, "pdf"), "Text 300.");
    let forms = content(&mut session, "forms");
    assert!(forms.as_str().unwrap().ends_with("Check on submit."), "{forms}");
}

/// Root enters every folder, so the server runs as another user.
#[test]
fn a_folder_that_becomes_accessible_again_is_served_at_once() {
    let library = library(&SMALL);
    let set_mode = |path: &str, mode: u32| {
        set_permissions(library.path().join(path), Permissions::from_mode(mode)).unwrap();
    };
    let binary = install_server(library.path());
    let launch = Launch::new(binary).unprivileged().arg(library.path()).folder(library.path());
    let mut session = start_watching(launch, library.path());
    for _ in 0..3 {
        set_mode("pdf", 0o744);
        assert_eq!(names(&mut session), ["forms"]);
        set_mode("pdf", 0o755);
        assert_eq!(names(&mut session), ["forms", "pdf"]);
    }
}
