//! While a slow rebuild runs, requests for one skill neither wait for it nor get stale text.

use super::paused::{self, assert_still_paused, pause};
use crate::library;
use crate::resources::{bytes, read, sha256};
use serde_json::{Value, json};
use skillcell_tests::{Session, write_files};
use std::path::Path;

/// A text that shows which edition an answer was made from.
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

/// Writes two skills with files and a parent, all of this edition, and others with similar URIs.
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
    paused::serve(folders, |launch| launch)
}

/// Requests a skill in every possible way. Each answer shows the edition.
fn request_every_way(session: &mut Session) -> Vec<(String, Value)> {
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
    let mut requests: Vec<(&str, Value)> = tools.map(call).into();
    for uri in ["skill://pdf", "skill://pdf/", "skill://ui/forms", "skill://ui/forms/", "skill://ui/_index"] {
        requests.push(("resources/read", json!({"uri": uri})));
    }
    requests.push(("resources/directory/read", json!({"uri": "skill://ui/forms"})));
    requests.push(("prompts/get", json!({"name": "pdf"})));
    let template = json!({"type": "ref/resource", "uri": "skill://{+skill}/{+file}"});
    let argument = json!({"name": "file", "value": ""});
    let chosen = json!({"arguments": {"skill": "ui/forms"}});
    requests.push(("completion/complete", json!({"ref": template, "argument": argument, "context": chosen})));
    let mut answers = Vec::new();
    for (method, params) in requests {
        let request = format!("{method} {params}");
        answers.push((request, session.result(method, params)));
    }
    answers
}

#[test]
fn every_way_to_request_a_skill_gives_its_new_text_before_the_rebuild_is_done() {
    let library = library(&[]);
    write(library.path(), 1);
    let mut session = slow_to_rebuild(&[library.path()]);
    let before = request_every_way(&mut session);
    pause(library.path());
    write(library.path(), 2);
    let after = request_every_way(&mut session);
    let manifests = ["skill://pdf/SKILL.md", "skill://ui/forms/SKILL.md"].map(|uri| {
        let got = session.result("skills/get", json!({"uri": uri}));
        (got, bytes(&read(&mut session, uri)))
    });
    // A list waits a second for the rebuild, a request for one skill less. On a busy machine it may take longer now and then.
    let is_sooner = (0..10).any(|_| {
        let list = session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
        session.result("resources/read", json!({"uri": "skill://pdf"}));
        !session.is_answered(&list)
    });
    assert!(is_sooner, "a request for one skill waits as long as a list");
    assert_still_paused(&mut session, "ui/forms");
    for ((request, before), (_, after)) in before.iter().zip(&after) {
        let expected = before.to_string().replace(&edition(1), &edition(2));
        assert_ne!(before.to_string(), expected, "{request} does not show the edition");
        assert_eq!(after.to_string(), expected, "{request}");
    }
    for (got, document) in &manifests {
        assert_eq!(got["skill"]["frontmatter"]["description"], format!("As of {}", edition(2)));
        let resources = got["skill"]["resources"].as_array().unwrap();
        let listed = resources.iter().find(|resource| resource["uri"] == got["skill"]["uri"]).unwrap();
        assert_eq!(listed["digest"], sha256(document), "{got}");
    }
}

#[test]
fn new_files_next_to_and_above_a_skill_apply_before_the_rebuild_is_done() {
    let library = library(&[]);
    write(library.path(), 1);
    let mut session = slow_to_rebuild(&[library.path()]);
    let asset = json!({"skill_path": "ui/forms", "file": "a.txt"});
    let script = json!({"skill_path": "ui/forms", "file": "check.sh", "args": {}, "dry_run": true});
    assert_eq!(session.call_json("get_asset", asset.clone())["content"], "asset");
    assert_ne!(session.call("run_script", script.clone())["isError"], true);
    pause(library.path());
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
    assert_still_paused(&mut session, "ui/forms");
}

#[test]
fn skills_keep_their_names_from_name_conflicts_during_a_rebuild() {
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
    pause(&one);
    write(&two, 2);
    let after = ask(&mut session);
    assert_still_paused(&mut session, "two:ui/forms");
    assert_eq!(after, before.map(|answer| answer.replace(&edition(1), &edition(2))));
    let ambiguous = session.call("skill", json!({"name": "pdf"}));
    assert!(ambiguous.to_string().contains("several skills are called"), "{ambiguous}");
}
