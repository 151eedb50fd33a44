//! While changes are brought in that take their time, nobody waits for them and nothing old is served.

use crate::library;
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, component, write_files};
use std::path::Path;

/// What answers say that are made from a text of this edition.
fn edition(number: usize) -> String {
    format!("Edition {number}.")
}

fn forms(number: usize) -> String {
    let scripts = "scripts: [{file: check.sh, description: d, execution: server}]";
    let assets = format!("assets: [{{file: a.txt, description: '{}'}}]", edition(number));
    format!("---\nkeywords: [form, validation]\ndescription: d\n{assets}\n{scripts}\n---\n{}\n", edition(number))
}

fn pdf(number: usize) -> String {
    format!("---\nname: pdf\ndescription: d\n---\nSee @a.txt. {}\n", edition(number))
}

fn parent(number: usize) -> String {
    format!("---\nkeywords: [above]\ndescription: d\n---\nRules, {}\n", edition(number))
}

/// Two skills with files of their own and one above them, all of this edition, and others whose URIs would end alike.
fn write(folder: &Path, number: usize) {
    write_files(
        folder,
        &[
            ("ui/_index.md", &parent(number)),
            ("ui/forms.md", &forms(number)),
            ("ui/forms/a.txt", "asset"),
            ("ui/forms/check.sh", "echo ran\n"),
            ("api/_index.md", "---\nkeywords: [services]\ndescription: d\n---\n"),
            ("api/forms.md", "---\nkeywords: [upload]\ndescription: d\n---\n"),
            ("pdf/SKILL.md", &pdf(number)),
            ("pdf/a.txt", "asset"),
        ],
    );
}

/// A server whose engine needs seconds for some files.
fn slow_to_rebuild(folders: &[&Path]) -> Session {
    let launch = Launch::new(crate::SKILLCELL).arg("--verbose").arg("--engine").arg(component("fragile-engine"));
    let mut session = folders.iter().fold(launch, skillcell_tests::Launch::arg).start();
    session.call_json("skills_list", json!({}));
    // The names of all skills are known from then on.
    session.wait_for_log_that("both engines", |log| log.matches("brought generation 1 into engine").count() == 2);
    session
}

/// Files that keep an engine busy for two seconds each.
fn keep_busy(folder: &Path) {
    for number in 0..3 {
        let text = format!("---\nkeywords: [slow]\ndescription: d\n---\nfragile: spin {number}\n");
        write_files(folder, &[(&format!("slow/file{number}.md"), &text)]);
    }
}

/// Nothing that changed has been brought in by now.
fn is_still_busy(session: &Session) -> bool {
    !session.log().contains("generation 2 is served")
}

/// Every way to ask for one skill. All of them have to say which edition it is.
fn ask(session: &mut Session) -> Vec<(&'static str, Value)> {
    let tools = [
        ("skill", json!({"name": "pdf"})),
        ("read_skill", json!({"name": "pdf"})),
        ("get_skill", json!({"context": "form validation"})),
        ("get_skill", json!({"context": "x", "skill_path": "ui/forms"})),
        ("get_skill", json!({"context": "x", "skill_path": "ui/_index"})),
        ("get_skill", json!({"context": "x", "skill_path": "pdf"})),
        ("skill-resource", json!({"skill": "pdf", "path": "SKILL.md"})),
        ("get_asset", json!({"skill_path": "pdf", "file": "SKILL.md"})),
    ];
    let mut answers: Vec<(&str, Value)> =
        tools.into_iter().map(|(tool, arguments)| (tool, session.call(tool, arguments))).collect();
    for uri in ["skill://pdf", "skill://pdf/", "skill://ui/forms", "skill://ui/forms/", "skill://ui/_index"] {
        answers.push((uri, session.result("resources/read", json!({"uri": uri}))));
    }
    answers.push(("prompt", session.result("prompts/get", json!({"name": "pdf"}))));
    answers
}

#[test]
fn every_way_to_ask_for_a_skill_has_its_new_text_before_the_rest_is_brought_in() {
    let library = library(&[]);
    write(library.path(), 1);
    let mut session = slow_to_rebuild(&[library.path()]);
    let before = ask(&mut session);
    keep_busy(library.path());
    write(library.path(), 2);
    let after = ask(&mut session);
    assert!(is_still_busy(&session), "the engine was not busy for long enough: {}", session.log());
    for ((how, before), (_, after)) in before.iter().zip(&after) {
        let expected = before.to_string().replace(&edition(1), &edition(2));
        assert_ne!(before.to_string(), expected, "{how} says nothing of the edition");
        assert_eq!(after.to_string(), expected, "{how}");
    }
}

#[test]
fn what_appears_beside_and_above_a_skill_counts_before_the_rest_is_brought_in() {
    let library = library(&[]);
    write(library.path(), 1);
    let mut session = slow_to_rebuild(&[library.path()]);
    let asset = json!({"skill_path": "ui/forms", "file": "a.txt"});
    let script = json!({"skill_path": "ui/forms", "file": "check.sh", "args": {}, "dry_run": true});
    assert_eq!(session.call_json("get_asset", asset.clone())["content"], "asset");
    assert_ne!(session.call("run_script", script.clone())["isError"], true);
    keep_busy(library.path());
    write_files(
        library.path(),
        &[
            ("_root.md", "---\nkeywords: [top]\ndescription: d\n---\nNew rules for all.\n"),
            ("config.yaml", "assets: {max_size_bytes: 3}\n"),
            ("ui/forms.md", &forms(2).replace("scripts:", "other:")),
        ],
    );
    let content = session.call_json("get_skill", json!({"context": "form validation"}))["content"].clone();
    let document = session.result("resources/read", json!({"uri": "skill://ui/forms"}))["contents"][0]["text"].clone();
    for text in [&content, &document] {
        let has = |part: &str| text.as_str().unwrap().contains(part);
        assert!(has("New rules for all.") && has(&edition(2)) && has("Rules, Edition 1."), "{text}");
    }
    let too_large = session.call("get_asset", asset);
    assert!(too_large["isError"] == true && too_large.to_string().contains("the limit is 3"), "{too_large}");
    let undeclared = session.call("run_script", script);
    assert!(undeclared.to_string().contains("is not declared"), "{undeclared}");
    assert!(is_still_busy(&session), "the engine was not busy for long enough: {}", session.log());
}

#[test]
fn skills_keep_the_names_that_they_have_because_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let both = || [&one, &two].map(std::path::PathBuf::as_path);
    for folder in both() {
        write(folder, 1);
    }
    let mut session = slow_to_rebuild(&both());
    let ask = |session: &mut Session| {
        let skill = session.call("skill", json!({"name": "two:pdf"}));
        let found = session.call("get_skill", json!({"context": "x", "skill_path": "two:ui/forms"}));
        let uri = session.result("resources/read", json!({"uri": "skill://two/pdf"}));
        let asset = session.call("get_asset", json!({"skill_path": "two:pdf", "file": "SKILL.md"}));
        [skill, found, uri, asset].map(|answer| answer.to_string())
    };
    let before = ask(&mut session);
    assert!(before[0].contains("Loading: two:pdf") && before[1].contains("two:ui/forms"), "{before:?}");
    keep_busy(&one);
    write(&two, 2);
    let after = ask(&mut session);
    assert!(is_still_busy(&session), "the engine was not busy for long enough: {}", session.log());
    assert_eq!(after, before.map(|answer| answer.replace(&edition(1), &edition(2))));
    let ambiguous = session.call("skill", json!({"name": "pdf"}));
    assert!(ambiguous.to_string().contains("several skills are called"), "{ambiguous}");
}
