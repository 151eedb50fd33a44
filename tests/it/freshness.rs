//! What is served is what is on disk.

use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Session, write_files};
use std::os::unix::fs::symlink;

fn names(session: &mut Session) -> Vec<String> {
    let list = session.call_json("skills_list", json!({}));
    list["skills"].as_array().unwrap().iter().map(|skill| skill["skillPath"].as_str().unwrap().to_owned()).collect()
}

fn content(session: &mut Session, name: &str) -> Value {
    session.call_json("get_skill", json!({"context": "x", "skill_path": name}))["content"].clone()
}

#[test]
fn an_edited_file_is_served_with_its_new_text_by_the_next_call() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    assert_eq!(content(&mut session, "pdf"), "Use the reader.");
    for number in 0..50 {
        // The same length each time: size alone would not tell.
        let text = format!("---\nname: pdf\ndescription: Read portable documents\n---\n\nEdition {number:02}.\n");
        write_files(library.path(), &[("pdf/SKILL.md", &text)]);
        assert_eq!(content(&mut session, "pdf"), format!("Edition {number:02}."));
    }
}

#[test]
fn a_parent_that_changes_changes_the_skill_below_it() {
    let root = |text: &str| format!("---\nkeywords: [base]\ndescription: Base\n---\n{text}\n");
    let library = library(&[("_root.md", &root("First rule.")), SMALL[0]]);
    let mut session = serve(library.path()).start();
    assert!(content(&mut session, "forms").as_str().unwrap().contains("First rule."));
    write_files(library.path(), &[("_root.md", &root("Other rule."))]);
    assert!(content(&mut session, "forms").as_str().unwrap().contains("Other rule."));
    std::fs::remove_file(library.path().join("_root.md")).unwrap();
    assert!(!content(&mut session, "forms").as_str().unwrap().contains("rule"));
}

#[test]
fn lists_show_what_appeared_vanished_and_moved() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    write_files(library.path(), &[("deep/er/new.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["deep/er/new", "forms", "pdf"]);
    std::fs::rename(library.path().join("deep"), library.path().join("shallow")).unwrap();
    assert_eq!(names(&mut session), ["forms", "pdf", "shallow/er/new"]);
    std::fs::remove_dir_all(library.path().join("shallow")).unwrap();
    std::fs::remove_file(library.path().join("forms.md")).unwrap();
    assert_eq!(names(&mut session), ["pdf"]);
    let refused = session.call("get_skill", json!({"context": "x", "skill_path": "forms"}));
    assert_eq!(refused["isError"], true);
}

#[test]
fn a_file_that_becomes_valid_takes_its_resource_folder_and_gives_it_back() {
    let library = library(&[("guide.md", "# Just text\n"), ("guide/inner.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["guide/inner"]);
    write_files(library.path(), &[("guide.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["guide"]);
    write_files(library.path(), &[("guide.md", "# Just text again\n")]);
    assert_eq!(names(&mut session), ["guide/inner"]);
}

#[test]
fn a_missing_or_empty_root_comes_alive_when_skills_appear() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("later");
    let mut session = serve(&root).start();
    assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["no_match"], true);
    assert_eq!(session.call_json("list_skills", json!({})), json!([]));
    write_files(&root, &SMALL);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(names(&mut session), Vec::<String>::new());
    write_files(&root, &SMALL);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}

#[test]
fn an_inner_root_that_appears_later_is_served() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    write_files(library.path(), &[("skills/extra.md", SMALL[0].1), (".claude/skills/more/SKILL.md", SMALL[1].1)]);
    assert_eq!(names(&mut session), ["extra", "forms", "more", "pdf"]);
}

#[test]
fn a_new_parent_is_inherited_from_at_once() {
    let library = library(&[("ui/react/forms.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert!(!content(&mut session, "forms").as_str().unwrap().contains("House rules"));
    write_files(library.path(), &[("ui/_index.md", "---\nkeywords: [rules]\ndescription: d\n---\nHouse rules\n")]);
    assert!(content(&mut session, "forms").as_str().unwrap().contains("House rules"));
}

#[test]
fn a_root_that_is_exchanged_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let other = SMALL[0].1.replace("Validate on submit.", "Another edition.");
    write_files(&at("v1"), &SMALL);
    write_files(&at("v2"), &[("forms.md", &other)]);
    symlink("v1", at("current")).unwrap();
    let mut session = serve(&at("current")).start();
    assert!(content(&mut session, "forms").as_str().unwrap().contains("Validate on submit."));
    std::fs::remove_file(at("current")).unwrap();
    symlink("v2", at("current")).unwrap();
    assert!(content(&mut session, "forms").as_str().unwrap().contains("Another edition."));
    assert_eq!(names(&mut session), ["forms"]);
}

#[test]
fn a_folder_that_becomes_a_link_is_served_once() {
    let library = library(&[("x/forms.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["x/forms"]);
    std::fs::rename(library.path().join("x"), library.path().join("y")).unwrap();
    symlink("y", library.path().join("x")).unwrap();
    assert_eq!(names(&mut session), ["y/forms"]);
}

#[test]
fn a_link_whose_target_appears_later_is_followed_then() {
    let library = library(&SMALL);
    symlink(".store/late.md", library.path().join("late.md")).unwrap();
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    write_files(library.path(), &[(".store/late.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["forms", "late", "pdf"]);
}

#[test]
fn lists_asked_for_together_are_all_fresh() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    names(&mut session);
    for number in 0..30 {
        write_files(library.path(), &[(&format!("new{number}.md"), SMALL[0].1)]);
        let list = json!({"name": "skills_list", "arguments": {}});
        let ids: Vec<Value> = (0..4).map(|_| session.post("tools/call", list.clone())).collect();
        for id in ids {
            let answer = session.answer(&id);
            assert_eq!(answer["result"]["structuredContent"]["skills"].as_array().unwrap().len(), 3 + number);
        }
    }
}

#[test]
fn a_file_with_a_second_name_elsewhere_is_as_new_as_any() {
    let elsewhere = library(&[("x.md", "---\nname: pdf\ndescription: First\n---\n")]);
    let library = library(&SMALL[..1]);
    std::fs::create_dir(library.path().join("pdf")).unwrap();
    std::fs::hard_link(elsewhere.path().join("x.md"), library.path().join("pdf/SKILL.md")).unwrap();
    let mut session = serve(library.path()).start();
    let described =
        |session: &mut Session| session.call_json("skills_list", json!({"query": "pdf"}))["skills"][0]["meta"].clone();
    assert_eq!(described(&mut session)["description"], "First");
    // Long enough for the disk to count as still: nobody below the root is told of the change.
    let quiet = std::time::Instant::now() + std::time::Duration::from_millis(1_500);
    while std::time::Instant::now() < quiet {
        described(&mut session);
    }
    write_files(elsewhere.path(), &[("x.md", "---\nname: pdf\ndescription: Other\n---\n")]);
    assert_eq!(described(&mut session)["description"], "Other");
}
