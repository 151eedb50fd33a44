//! While changes are brought in that take their time, nobody waits for them and nothing old is served.

use super::held::{self, hold, is_still_held, timely};
use crate::library;
use crate::resources::{bytes, read, sha256};
use serde_json::{Value, json};
use skillcell_tests::{Session, write_files};
use std::path::Path;

/// What answers say that are made from a text of this edition.
fn edition(number: usize) -> String {
    format!("edition-{number}")
}

fn forms(number: usize) -> String {
    let scripts = "scripts: [{file: check.sh, description: d, execution: server}]";
    let edition = edition(number);
    let assets = format!("assets: [{{file: a.txt, description: '{edition}'}}, {{file: {edition}}}]");
    format!("---\nkeywords: [form, validation]\ndescription: As of {edition}\n{assets}\n{scripts}\n---\n{edition}\n")
}

fn pdf(number: usize) -> String {
    let edition = edition(number);
    format!("---\nname: pdf\ndescription: As of {edition}\n---\nSee @a.txt. {edition}\n")
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
            (&format!("ui/forms/{}", edition(number)), "asset"),
            ("api/_index.md", "---\nkeywords: [services]\ndescription: d\n---\n"),
            ("api/forms.md", "---\nkeywords: [upload]\ndescription: d\n---\n"),
            ("pdf/SKILL.md", &pdf(number)),
            ("pdf/a.txt", "asset"),
        ],
    );
}

fn slow_to_rebuild(folders: &[&Path]) -> Session {
    held::serve(folders, |launch| launch)
}

/// Every way to ask for one skill. All of them have to say which edition it is.
fn ask(session: &mut Session) -> Vec<(String, Value)> {
    let tools = [
        ("skill", json!({"name": "pdf"})),
        ("read_skill", json!({"name": "pdf"})),
        ("get_skill", json!({"context": "form validation"})),
        ("get_skill", json!({"context": "x", "skill_path": "ui/forms"})),
        ("get_skill", json!({"context": "x", "skill_path": "ui/_index"})),
        ("get_skill", json!({"context": "x", "skill_path": "pdf"})),
        ("skill-resource", json!({"skill": "pdf", "path": "SKILL.md"})),
        ("skill-resource", json!({"skill": "ui/forms", "path": ""})),
        ("get_asset", json!({"skill_path": "pdf", "file": "SKILL.md"})),
    ];
    let call = |(tool, arguments): (&str, Value)| ("tools/call", json!({"name": tool, "arguments": arguments}));
    let mut questions: Vec<(&str, Value)> = tools.map(call).into();
    for uri in ["skill://pdf", "skill://pdf/", "skill://ui/forms", "skill://ui/forms/", "skill://ui/_index"] {
        questions.push(("resources/read", json!({"uri": uri})));
    }
    questions.push(("resources/directory/read", json!({"uri": "skill://ui/forms"})));
    questions.push(("prompts/get", json!({"name": "pdf"})));
    let template = json!({"type": "ref/resource", "uri": "skill://{+skill}/{+file}"});
    let argument = json!({"name": "file", "value": ""});
    let chosen = json!({"arguments": {"skill": "ui/forms"}});
    questions.push(("completion/complete", json!({"ref": template, "argument": argument, "context": chosen})));
    let mut answers = Vec::new();
    for (method, params) in questions {
        let question = format!("{method} {params}");
        let answer = timely(&question, || session.result(method, params));
        answers.push((question, answer));
    }
    answers
}

#[test]
fn every_way_to_ask_for_a_skill_has_its_new_text_before_the_rest_is_brought_in() {
    let library = library(&[]);
    write(library.path(), 1);
    let mut session = slow_to_rebuild(&[library.path()]);
    let before = ask(&mut session);
    hold(library.path());
    write(library.path(), 2);
    let after = ask(&mut session);
    let manifests = ["skill://pdf/SKILL.md", "skill://ui/forms/SKILL.md"].map(|uri| {
        let got = timely("skills/get", || session.result("skills/get", json!({"uri": uri})));
        (got, bytes(&read(&mut session, uri)))
    });
    is_still_held(&mut session, "ui/forms");
    for ((question, before), (_, after)) in before.iter().zip(&after) {
        let expected = before.to_string().replace(&edition(1), &edition(2));
        assert_ne!(before.to_string(), expected, "{question} says nothing of the edition");
        assert_eq!(after.to_string(), expected, "{question}");
    }
    for (got, document) in &manifests {
        assert_eq!(got["skill"]["frontmatter"]["description"], format!("As of {}", edition(2)));
        let resources = got["skill"]["resources"].as_array().unwrap();
        let listed = resources.iter().find(|resource| resource["uri"] == got["skill"]["uri"]).unwrap();
        assert_eq!(listed["digest"], sha256(document), "{got}");
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
    hold(library.path());
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
        assert!(has("New rules for all.") && has(&edition(2)) && has("Rules, edition-1"), "{text}");
    }
    let too_large = session.call("get_asset", asset);
    assert!(too_large["isError"] == true && too_large.to_string().contains("the limit is 3"), "{too_large}");
    let undeclared = session.call("run_script", script);
    assert!(undeclared.to_string().contains("is not declared"), "{undeclared}");
    is_still_held(&mut session, "ui/forms");
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
    hold(&one);
    write(&two, 2);
    let after = ask(&mut session);
    is_still_held(&mut session, "two:ui/forms");
    assert_eq!(after, before.map(|answer| answer.replace(&edition(1), &edition(2))));
    let ambiguous = session.call("skill", json!({"name": "pdf"}));
    assert!(ambiguous.to_string().contains("several skills are called"), "{ambiguous}");
}
