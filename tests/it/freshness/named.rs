//! A server that looks only where something stirred misses nothing.

use super::{content, names};
use crate::{SKILLCELL, SMALL, library, serve};
use serde_json::json;
use skillcell_tests::{Launch, Session, eventually, write_files};
use std::fs::{Permissions, hard_link, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn described(edition: usize) -> String {
    format!("---\nname: pdf\ndescription: Edition {edition}\n---\n\nText {edition}.\n")
}

/// Starts it, and waits until everything is watched.
fn certain(launch: Launch, folder: &Path) -> Session {
    let mut session = launch.arg("--verbose").start();
    let mut edition = 0;
    eventually("a look by name", || {
        edition += 1;
        write_files(folder, &[("pdf/SKILL.md", &described(edition))]);
        names(&mut session);
        session.log().contains("looked at the disk where something stirred")
    });
    session
}

fn description(session: &mut Session) -> String {
    let list = session.call_json("skills_list", json!({"query": "pdf"}));
    list["skills"][0]["meta"]["description"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn edits_are_looked_for_where_they_were_made() {
    let library = library(&SMALL);
    let mut session = certain(serve(library.path()), library.path());
    let everywhere = |session: &Session| session.log().matches("looked at the disk everywhere").count();
    let before = everywhere(&session);
    for edition in 100..150 {
        write_files(library.path(), &[("pdf/SKILL.md", &described(edition))]);
        assert_eq!(description(&mut session), format!("Edition {edition}"));
        assert_eq!(content(&mut session, "pdf"), format!("Text {edition}."));
    }
    // The clock strikes now and then.
    assert!(everywhere(&session) <= before + 3, "{}", session.log());
}

#[test]
fn a_second_name_inside_the_root_hides_nothing() {
    let library = library(&SMALL);
    let mut session = certain(serve(library.path()), library.path());
    for number in 0..3 {
        let second = library.path().join(format!("pdf/second-{number}.txt"));
        hard_link(library.path().join("pdf/SKILL.md"), &second).unwrap();
        write(&second, described(200 + number)).unwrap();
        assert_eq!(description(&mut session), format!("Edition {}", 200 + number));
    }
}

#[test]
fn a_change_that_nobody_is_told_of_is_served_also_beside_one_that_is_told() {
    let (library, elsewhere) = (library(&SMALL), library(&[]));
    let mut session = certain(serve(library.path()), library.path());
    let second = elsewhere.path().join("second.md");
    hard_link(library.path().join("pdf/SKILL.md"), &second).unwrap();
    write(&second, described(300)).unwrap();
    write_files(library.path(), &[("forms.md", &SMALL[0].1.replace("Validate", "Check"))]);
    assert_eq!(content(&mut session, "pdf"), "Text 300.");
    let forms = content(&mut session, "forms");
    assert!(forms.as_str().unwrap().ends_with("Check on submit."), "{forms}");
}

/// Root enters every folder, so the server has to run as somebody else.
#[test]
fn a_folder_that_may_not_be_entered_for_a_while_is_back_at_once() {
    let library = library(&SMALL);
    let open = |path: &str, mode: u32| {
        set_permissions(library.path().join(path), Permissions::from_mode(mode)).unwrap();
    };
    std::fs::copy(SKILLCELL, library.path().join(".skillcell")).unwrap();
    open(".skillcell", 0o755);
    open("", 0o755);
    let launch =
        Launch::new(library.path().join(".skillcell")).unprivileged().arg(library.path()).folder(library.path());
    let mut session = certain(launch, library.path());
    for _ in 0..3 {
        open("pdf", 0o744);
        assert_eq!(names(&mut session), ["forms"]);
        open("pdf", 0o755);
        assert_eq!(names(&mut session), ["forms", "pdf"]);
    }
}
