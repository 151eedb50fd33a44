//! Which resources are listed.

use super::{Roots, collection, encoded, skill, text};
use crate::{both_eras, library, serve};
use serde_json::{Value, json};
use skillcell_tests::write_files;
use std::collections::BTreeSet;

#[test]
fn every_skill_is_listed_once_with_the_texts_of_its_front_matter() {
    for mut session in Roots::new().both_eras() {
        let list = session.result("resources/list", json!({}));
        let entries: Vec<Value> = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| json!([entry["uri"], entry["name"], entry["title"], entry["description"], entry["mimeType"]]))
            .collect();
        let expected = [
            ("deep/er/tool", "tool", "tool"),
            ("office/pdf", "pdf", "office:pdf"),
            ("one/shared", "shared", "one:shared"),
            ("pdf", "pdf", "one:pdf"),
            ("pdf/forms", "forms", "forms"),
            ("two/shared", "shared", "two:shared"),
            ("%C3%9Cnder%20the/sea", "sea", "sea"),
        ];
        let expected: BTreeSet<String> = expected
            .iter()
            .map(|(path, name, title)| {
                json!([format!("skill://{path}/SKILL.md"), name, title, format!("About {name}"), "text/markdown"])
                    .to_string()
            })
            .collect();
        assert_eq!(entries.iter().map(Value::to_string).collect::<BTreeSet<_>>(), expected);
        assert_eq!(entries.len(), expected.len());
        assert_eq!(session.result("resources/list", json!({})), list, "the order is always the same");
        let stateless = session.is_stateless();
        assert_eq!((list["ttlMs"].is_u64(), list["cacheScope"].is_string()), (stateless, stateless), "{list}");
        assert_eq!(list.get("resultType").is_some(), stateless);
    }
}

#[test]
fn answers_to_newer_clients_have_a_ttl() {
    let folder = library(&crate::SMALL);
    for mut session in both_eras(folder.path()) {
        for (method, params) in [
            ("tools/list", json!({})),
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "skill://pdf/SKILL.md"})),
        ] {
            let result = session.result(method, params);
            // Files may change at any time.
            let expected =
                if session.is_stateless() { [json!(0), json!("complete")] } else { [json!(null), json!(null)] };
            assert_eq!([&result["ttlMs"], &result["resultType"]], expected.each_ref(), "{method}: {result}");
            assert_eq!(result["cacheScope"].is_string(), session.is_stateless(), "{method}: {result}");
        }
    }
}

#[test]
fn three_templates_describe_the_uris() {
    let folder = library(&crate::SMALL);
    for mut session in both_eras(folder.path()) {
        let list = session.result("resources/templates/list", json!({}));
        let templates: Vec<&str> = list["resourceTemplates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|template| template["uriTemplate"].as_str().unwrap())
            .collect();
        assert_eq!(templates, ["skill://{+skill}", "skill://{+skill}/", "skill://{+skill}/{+file}"]);
        assert_eq!(session.error("resources/templates/list", json!({"cursor": "x"}))["code"], -32602);
    }
}

#[test]
fn exactly_the_listed_files_can_be_read() {
    let names = [
        "back\\slash.txt",
        "\\start.txt",
        "a:b.txt",
        "docs/a:b.txt",
        "1:2.txt",
        "C:",
        "ü:x",
        "docs/x\\..\\y",
        "~",
        " ",
        "fine.txt",
    ];
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x"))]);
    for name in names {
        write_files(&folder.path().join("pdf"), &[(name, name)]);
    }
    for mut session in both_eras(folder.path()) {
        let listed = collection(&mut session, "skill://pdf/");
        assert_eq!(listed["skill://pdf/fine.txt"], b"fine.txt");
        for name in names {
            let uri = format!("skill://pdf/{}", encoded(name));
            let answer = session.request("resources/read", json!({"uri": uri}));
            assert_eq!(answer.get("result").is_some(), listed.contains_key(&uri), "{name}: {answer}");
        }
    }
}

#[test]
fn short_uris_are_listed_under_the_skilljack_profile() {
    let folder = library(&[
        ("a/pdf/SKILL.md", &skill("pdf", "x")),
        ("a/pdf/n.txt", "n"),
        ("a/größe/SKILL.md", &skill("größe", "y")),
    ]);
    for mut session in [
        serve(folder.path()).arg("--profile").arg("skilljack").start(),
        serve(folder.path()).arg("--profile").arg("skilljack").modern(),
    ] {
        let listed = session.all("resources/list", "resources");
        let uris: Vec<&str> = listed.iter().map(|entry| entry["uri"].as_str().unwrap()).collect();
        let expected = ["skill://gr%C3%B6%C3%9Fe", "skill://gr%C3%B6%C3%9Fe/", "skill://pdf", "skill://pdf/"];
        assert_eq!(uris.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
        assert_eq!(text(&mut session, "skill://pdf"), skill("pdf", "x"));
        assert_eq!(collection(&mut session, "skill://pdf/").len(), 2);
        assert_eq!(text(&mut session, "skill://gr%C3%B6%C3%9Fe"), skill("größe", "y"));
        let prompt = session.result("prompts/get", json!({"name": "pdf"}));
        assert_eq!(prompt["messages"][0]["content"]["resource"]["uri"], "skill://pdf");
    }
}
