//! Inherited text is as fresh as that of the skill itself, in every answer.

use super::settle;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Session, write_files};
use std::path::Path;

/// Writes a parent that declares one of two files. Each edition is longer than the one before.
fn edit_parent(folder: &Path, edition: usize) {
    let (rules, file) = ("Rule. ".repeat(edition), ["one.txt", "two.txt"][edition % 2]);
    let text = format!("---\nkeywords: [base]\ndescription: Base\nassets: [{file}]\n---\n{rules}\n");
    // In place, so that the times of the folder do not change.
    write_files(folder, &[("_root.md", &text)]);
}

/// Requests whose answer depends on the parent of `forms`.
fn questions() -> Vec<(&'static str, Value)> {
    let mut questions = vec![
        ("skills/get", json!({"uri": "skill://forms/SKILL.md"})),
        ("resources/directory/read", json!({"uri": "skill://forms"})),
        ("prompts/get", json!({"name": "forms"})),
        ("tools/call", json!({"name": "get_skill", "arguments": {"context": "form validation"}})),
    ];
    for part in ["", "/", "/one.txt", "/two.txt"] {
        questions.push(("resources/read", json!({"uri": format!("skill://forms{part}")})));
    }
    for file in ["one.txt", "two.txt"] {
        let resource = json!({"skill": "forms", "path": file});
        questions.push(("tools/call", json!({"name": "skill-resource", "arguments": resource})));
        let asset = json!({"skill_path": "forms", "file": file});
        questions.push(("tools/call", json!({"name": "get_asset", "arguments": asset})));
    }
    questions
}

fn ask(session: &mut Session, (method, params): &(&str, Value)) -> [Value; 2] {
    let answer = session.fresh(|session| session.request(method, params.clone()));
    ["result", "error"].map(|part| answer[part].clone())
}

#[test]
fn the_next_call_uses_the_edited_parent() {
    let library = library(&[SMALL[0], ("_root/one.txt", "first"), ("_root/two.txt", "second")]);
    let mut editions = 1..;
    let mut edit = || edit_parent(library.path(), editions.next().unwrap());
    edit();
    settle(library.path());
    let mut session = serve(library.path()).start();
    for question in questions() {
        let mut before = ask(&mut session, &question);
        // Twice, because each edition declares the other file.
        for _ in 0..2 {
            edit();
            let now = ask(&mut session, &question);
            assert_ne!(now, before, "{question:?}");
            assert_eq!(now, ask(&mut serve(library.path()).start(), &question), "{question:?}");
            before = now;
        }
    }
}
