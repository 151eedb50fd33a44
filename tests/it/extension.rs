//! The extension `io.modelcontextprotocol/skills`: complete manifests, and folders of resources.

use crate::resources::{bytes, encoded, read, sha256, skill};
use crate::{SKILLCELL, both_eras, library, problems, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, repository, write_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

/// Limits of the extension for one skill.
const MAX_FILES: usize = 512;
const MAX_BYTES: usize = 16 << 20;

fn text_field<'value>(value: &'value Value, field: &str) -> &'value str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}"))
}

fn uris(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| text_field(item, "uri").to_owned()).collect()
}

/// Returns every listed skill, each checked against `resources/read` and `skills/get`.
fn verified_skills(session: &mut Session) -> BTreeMap<String, Value> {
    let skills = session.all("skills/list", "skills");
    for skill in &skills {
        let uri = text_field(skill, "uri");
        let folder = uri.strip_prefix("skill://").and_then(|uri| uri.strip_suffix("/SKILL.md")).expect("a document");
        assert_eq!(skill["frontmatter"]["name"], folder.rsplit('/').next().unwrap(), "{uri}");
        let resources = skill["resources"].as_array().unwrap();
        let listed: BTreeSet<String> = uris(resources).into_iter().collect();
        assert_eq!(listed.len(), resources.len(), "a file comes twice: {skill}");
        assert!(listed.contains(uri), "{skill}");
        for resource in resources {
            let file = text_field(resource, "uri");
            assert!(file.starts_with(&format!("skill://{folder}/")), "{file} is not in {folder}");
            let content = bytes(&read(session, file));
            assert_eq!(resource["digest"], sha256(&content), "{file}");
            assert_eq!(resource["size"], content.len(), "{file}");
        }
        let got = session.result("skills/get", json!({"uri": uri}));
        assert_eq!(got["skill"], *skill);
    }
    let by_uri: BTreeMap<String, Value> = uris(&skills).into_iter().zip(skills.iter().cloned()).collect();
    assert_eq!(by_uri.len(), skills.len(), "a skill comes twice");
    by_uri
}

/// Parses the front matter of a document with another YAML parser than the server's.
fn front_matter(document: &str) -> Value {
    let yaml = document.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).expect("a front matter").0;
    serde_yaml::from_str(yaml).unwrap()
}

#[test]
fn every_digest_matches_the_served_bytes() {
    for mut session in both_eras(&repository().join("fixtures/skills")) {
        let skills = verified_skills(&mut session);
        let listed: BTreeSet<String> = uris(&session.all("resources/list", "resources")).into_iter().collect();
        assert_eq!(skills.keys().cloned().collect::<BTreeSet<_>>(), listed, "every skill of the fixtures is valid");
        let names: BTreeSet<String> = skills.values().map(|skill| skill["frontmatter"]["name"].to_string()).collect();
        assert_eq!(names.len(), skills.len(), "names are unique");
        for (uri, skill) in &skills {
            let document = String::from_utf8(bytes(&read(&mut session, uri))).unwrap();
            assert_eq!(skill["frontmatter"], front_matter(&document), "{uri}");
        }
        let report = &skills["skill://csv-report/SKILL.md"];
        let files =
            ["SKILL.md", "assets/orders.csv", "scripts/summarise.py"].map(|file| format!("skill://csv-report/{file}"));
        assert_eq!(uris(report["resources"].as_array().unwrap()), files);
    }
}

#[test]
fn results_have_a_ttl_and_for_newer_clients_a_type() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x"))]);
    for mut session in both_eras(folder.path()) {
        for (method, params) in [
            ("skills/list", json!({})),
            ("skills/get", json!({"uri": "skill://pdf/SKILL.md"})),
            ("resources/directory/read", json!({"uri": "skill://pdf"})),
        ] {
            let result = session.result(method, params);
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")), "{method}: {result}");
            let kind = if session.is_stateless() { Some(&json!("complete")) } else { None };
            assert_eq!(result.get("resultType"), kind, "{method}");
            assert_eq!(result.get("nextCursor"), None, "{method}");
            if session.is_stateless() {
                assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "skillcell", "{method}");
            }
        }
    }
}

#[test]
fn the_extension_is_announced_in_both_eras() {
    let folder = library(&crate::SMALL);
    let initialized = serve(folder.path()).silent().initialize("2025-11-25");
    let discovered = serve(folder.path()).modern().request("server/discover", json!({}));
    for answer in [&initialized, &discovered] {
        let capabilities = &answer["result"]["capabilities"];
        assert_eq!(
            capabilities["extensions"]["io.modelcontextprotocol/skills"],
            json!({"directoryRead": true}),
            "{answer}"
        );
        assert_eq!(capabilities["resources"], json!({"subscribe": true, "listChanged": true}));
        assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
        assert_eq!(capabilities["tools"], json!({"listChanged": true}));
        assert_eq!(capabilities["completions"], json!({}));
    }
    assert_eq!(initialized["result"]["capabilities"]["logging"], json!({}));
    assert_eq!(discovered["result"]["capabilities"].get("logging"), None);
}

#[test]
fn methods_that_an_era_does_not_have_are_not_found() {
    let folder = library(&crate::SMALL);
    let [mut legacy, mut modern] = both_eras(folder.path());
    // A ping is answered as long as the era of the session is unknown.
    modern.result("prompts/list", json!({}));
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("logging/setLevel", json!({})),
        ("resources/subscribe", json!({"uri": "skill://pdf"})),
        ("resources/unsubscribe", json!({"uri": "skill://pdf"})),
        ("resources/subscribe", json!({})),
        ("skills/no-such", json!({})),
    ] {
        assert_eq!(modern.error(method, params.clone())["code"], -32601, "{method} {params}");
    }
    assert_eq!(legacy.result("ping", json!({})), json!({}));
    assert_eq!(legacy.result("logging/setLevel", json!({"level": "info"})), json!({}));
    for (method, params) in [("subscriptions/listen", json!({"notifications": {}})), ("skills/no-such", json!({}))] {
        assert_eq!(legacy.error(method, params)["code"], -32601, "{method}");
    }
}

#[test]
fn front_matter_has_the_types_of_the_yaml_core_schema() {
    let yaml = "name: types\ndescription: Types of YAML\ndate: 2026-01-02\ntime: 2026-01-02T10:00:00Z\nclock: 12:30:45\nyes: yes\nno: no\non: On\ntrue: true\nfalse: FALSE\nint: 42\nnegative: -7\nplus: +7\noctal: 0o17\nleading: 017\nhex: 0x1F\nunderscore: 1_000\nfloat: 1.5\nexponent: 1e3\ntilde: ~\nnull: null\nempty:\nquoted-int: \"42\"\nquoted-yes: 'yes'\nquoted-null: \"null\"\n42: a number as key\nversion: 1.2.3\nnested: {a: [1, two, {b: null}], \"c d\": \"é\\n\"}\nlist:\n  - 1\n  - \"1\"\n  - [x, true]\nblock: |\n  one\n  two\nfolded: >-\n  three\n  four\nmetadata:\n  author: \"7\"\n";
    let expected = json!({
        "name": "types", "description": "Types of YAML", "date": "2026-01-02", "time": "2026-01-02T10:00:00Z",
        "clock": "12:30:45", "yes": "yes", "no": "no", "on": "On", "true": true, "false": false, "int": 42,
        "negative": -7, "plus": 7, "octal": 15, "leading": 17, "hex": 31, "underscore": "1_000", "float": 1.5,
        "exponent": 1000.0, "tilde": null, "null": null, "empty": null, "quoted-int": "42", "quoted-yes": "yes",
        "quoted-null": "null", "42": "a number as key", "version": "1.2.3",
        "nested": {"a": [1, "two", {"b": null}], "c d": "é\n"}, "list": [1, "1", ["x", true]],
        "block": "one\ntwo\n", "folded": "three four", "metadata": {"author": "7"},
    });
    let folder = library(&[("types/SKILL.md", &format!("---\n{yaml}---\n\nText.\n"))]);
    for mut session in both_eras(folder.path()) {
        let skills = verified_skills(&mut session);
        assert_eq!(skills["skill://types/SKILL.md"]["frontmatter"], expected);
    }
}

/// Creates a skill with this number of files and bytes, its document included. No file is too large to be read.
fn fill(folder: &Path, name: &str, files: usize, total: usize) {
    let document = skill(name, "x");
    write_files(folder, &[(&format!("{name}/SKILL.md"), &document)]);
    let mut left = total - document.len();
    for number in 1..files {
        let share = if number + 1 == files { left } else { left.min(1 << 20) };
        File::create(folder.join(name).join(format!("{number:03}.bin"))).unwrap().set_len(share as u64).unwrap();
        left -= share;
    }
    assert_eq!(left, 0);
}

#[test]
fn skills_that_are_too_large_or_invalid_are_unlisted_and_reported() {
    let folder = library(&[("good/SKILL.md", &skill("good", "x"))]);
    let with = |name: &str, field: &str| format!("---\nname: {name}\ndescription: d\n{field}\n---\n");
    let described =
        |name: &str, length: usize| format!("---\nname: {name}\ndescription: {}\n---\n", "ü".repeat(length));
    fill(folder.path(), "exactly-as-many", MAX_FILES, 60_000);
    fill(folder.path(), "too-many", MAX_FILES + 1, 60_000);
    fill(folder.path(), "exactly-as-large", 18, MAX_BYTES);
    fill(folder.path(), "too-large", 18, MAX_BYTES + 1);
    write_files(
        folder.path(),
        &[
            ("longest/SKILL.md", &described("longest", 1_024)),
            ("too-long/SKILL.md", &described("too-long", 1_025)),
            ("other-name/SKILL.md", &skill("another-name", "x")),
            ("Upper_Case/SKILL.md", &skill("Upper_Case", "x")),
            ("double--dash/SKILL.md", &skill("double--dash", "x")),
            ("404/SKILL.md", &skill("404", "x")),
            ("marked/SKILL.md", &format!("\u{feff}{}", skill("marked", "x"))),
            ("lists/SKILL.md", &with("lists", "metadata: {tags: [a, b]}")),
            ("licenses/SKILL.md", &with("licenses", "license: [MIT, {a: 2}]")),
            ("allowing/SKILL.md", &with("allowing", "allowed-tools: {x: 1}")),
            ("nothing/SKILL.md", &with("nothing", "metadata: null")),
            ("texts/SKILL.md", &with("texts", "metadata: {tags: \"a, b\"}\ncompatibility: any client")),
            ("wide/SKILL.md", &with("wide", &format!("compatibility: {}", "x".repeat(501)))),
        ],
    );
    let good = ["exactly-as-large", "exactly-as-many", "good", "longest", "texts"];
    let bad = [
        "404",
        "Upper_Case",
        "allowing",
        "double--dash",
        "licenses",
        "lists",
        "marked",
        "nothing",
        "other-name",
        "too-large",
        "too-long",
        "too-many",
        "wide",
    ];
    let listed = |session: &mut Session| -> Vec<String> {
        let skills = session.fresh(|session| session.all("skills/list", "skills"));
        uris(&skills).iter().map(|uri| uri["skill://".len()..uri.len() - "/SKILL.md".len()].to_owned()).collect()
    };
    let reported = |session: &mut Session| -> BTreeSet<String> {
        let problems = problems(session, "code").into_iter().filter(|(_, code)| code == "not-in-skills-list");
        problems.map(|(file, _)| file.strip_suffix("/SKILL.md").unwrap().to_owned()).collect()
    };
    for mut session in both_eras(folder.path()) {
        assert_eq!(listed(&mut session), good);
        assert_eq!(reported(&mut session), bad.iter().map(ToString::to_string).collect());
        for name in bad {
            session.wait_for_log(&format!("`{name}/SKILL.md` is not in skills/list: "));
            let uri = format!("skill://{name}/SKILL.md");
            let error = session.error("skills/get", json!({"uri": uri}));
            assert_eq!(error["code"], -32602, "{name}: {error}");
            // Every other way to read it works.
            assert_eq!(
                bytes(&read(&mut session, &uri)),
                std::fs::read(folder.path().join(name).join("SKILL.md")).unwrap()
            );
        }
        // It is logged only once.
        assert_eq!(listed(&mut session), good);
        assert_eq!(session.log().matches("`too-many/SKILL.md` is not in skills/list: ").count(), 1);
    }
    let mut session = serve(folder.path()).start();
    assert_eq!(listed(&mut session), good);
    std::fs::remove_file(folder.path().join("too-many/512.bin")).unwrap();
    std::fs::remove_dir_all(folder.path().join("too-large")).unwrap();
    assert!(listed(&mut session).contains(&"too-many".to_owned()));
    let reported = reported(&mut session);
    assert!(!reported.contains("too-many"), "a fixed skill is no longer a problem");
    assert!(!reported.contains("too-large"), "a deleted skill is no longer a problem");
    assert_eq!(reported.len(), bad.len() - 2);
}

#[test]
fn two_hundred_and_fifty_skills_come_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..250 {
        let name = format!("skill-{number:03}");
        write_files(
            folder.path(),
            &[(&format!("{name}/SKILL.md"), &skill(&name, "x")), (&format!("{name}/a.txt"), &name)],
        );
    }
    for mut session in both_eras(folder.path()) {
        let pages = session.pages("skills/list");
        assert!(pages.len() > 1, "one page");
        let again = session.result("skills/list", json!({"cursor": pages[0]["nextCursor"]}));
        assert_eq!(again, pages[1], "a cursor can be used again");
        let listed: Vec<String> = pages.iter().flat_map(|page| uris(page["skills"].as_array().unwrap())).collect();
        let expected: Vec<String> = (0..250).map(|number| format!("skill://skill-{number:03}/SKILL.md")).collect();
        assert_eq!(listed, expected);
        for wrong in [json!(""), json!("x"), json!("eyJhIjoxfQ"), json!(3), json!({})] {
            assert_eq!(session.error("skills/list", json!({"cursor": wrong}))["code"], -32602, "{wrong}");
        }
    }
}

#[test]
fn a_skill_is_found_only_by_the_uri_of_its_document() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x")), ("pdf/a.txt", "a")]);
    for mut session in both_eras(folder.path()) {
        let got = session.result("skills/get", json!({"uri": "skill://pdf/SKILL.md"}));
        assert_eq!(got["skill"]["uri"], "skill://pdf/SKILL.md");
        for params in [
            json!({"uri": "skill://no-such/SKILL.md"}),
            json!({"uri": "skill://pdf/a.txt"}),
            json!({"uri": "skill://pdf/"}),
            json!({"uri": "skill://pdf/no-such/SKILL.md"}),
            json!({"uri": "https://example.com/SKILL.md"}),
            json!({"uri": ""}),
            json!({"uri": 7}),
            json!({}),
        ] {
            assert_eq!(session.error("skills/get", params.clone())["code"], -32602, "{params}");
        }
    }
}

#[test]
fn manifests_are_fresh() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x")), ("pdf/a.txt", "00")]);
    for mut session in both_eras(folder.path()) {
        for number in 10..30 {
            write_files(
                folder.path(),
                &[("pdf/a.txt", &number.to_string()), ("pdf/SKILL.md", &skill("pdf", &number.to_string()))],
            );
            let got = session.result("skills/get", json!({"uri": "skill://pdf/SKILL.md"}));
            let listed = session.result("skills/list", json!({}));
            assert_eq!(listed["skills"][0], got["skill"]);
            let digests: Vec<&Value> =
                got["skill"]["resources"].as_array().unwrap().iter().map(|file| &file["digest"]).collect();
            let expected =
                [skill("pdf", &number.to_string()), number.to_string()].map(|text| json!(sha256(text.as_bytes())));
            assert_eq!(digests, expected.iter().collect::<Vec<_>>());
        }
    }
}

/// Returns every file below a folder, by reading folder after folder.
fn walk(session: &mut Session, uri: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut unvisited = vec![uri.to_owned()];
    while let Some(next) = unvisited.pop() {
        let result = session.result("resources/directory/read", json!({"uri": next}));
        for child in result["resources"].as_array().unwrap() {
            let uri = text_field(child, "uri");
            assert_eq!(uri.rsplit_once('/').unwrap().0, next.trim_end_matches('/'), "a child is directly inside");
            assert_eq!(uri.rsplit_once('/').unwrap().1, encoded(text_field(child, "name")));
            if child["mimeType"] == "inode/directory" {
                assert_eq!(child.get("size"), None);
                unvisited.push(uri.to_owned());
            } else {
                assert!(found.insert(uri.to_owned(), child.clone()).is_none(), "{uri} comes twice");
            }
        }
    }
    found
}

#[test]
fn folders_of_a_skill_can_be_read_level_by_level() {
    let tree = "---\nkeywords: [t]\ndescription: d\nassets: [assets/a.txt]\n---\nText.\n";
    let folder = library(&[
        ("pdf/SKILL.md", &skill("pdf", "x")),
        ("pdf/a.txt", "1234"),
        ("pdf/.hidden", "no"),
        ("pdf/docs/deep/er/b.md", "b"),
        ("pdf/docs/c.json", "{}"),
        ("pdf/größe #1/d.txt", "d"),
        ("pdf/inner/SKILL.md", &skill("inner", "y")),
        ("pdf/inner/e.txt", "e"),
        ("tree.md", tree),
        ("tree/assets/a.txt", "A"),
    ]);
    for mut session in both_eras(folder.path()) {
        for uri in ["skill://pdf", "skill://pdf/"] {
            let result = session.result("resources/directory/read", json!({"uri": uri}));
            let expected = json!([
                {"uri": "skill://pdf/SKILL.md", "name": "SKILL.md", "mimeType": "text/markdown", "size": skill("pdf", "x").len()},
                {"uri": "skill://pdf/a.txt", "name": "a.txt", "mimeType": "text/plain", "size": 4},
                {"uri": "skill://pdf/docs", "name": "docs", "mimeType": "inode/directory"},
                {"uri": "skill://pdf/gr%C3%B6%C3%9Fe%20%231", "name": "größe #1", "mimeType": "inode/directory"},
                {"uri": "skill://pdf/inner", "name": "inner", "mimeType": "inode/directory"},
            ]);
            assert_eq!(result["resources"], expected, "{uri}");
        }
        for skill in ["pdf", "pdf/inner", "tree"] {
            let walked = walk(&mut session, &format!("skill://{skill}"));
            let got = session.result("skills/get", json!({"uri": format!("skill://{skill}/SKILL.md")}));
            let manifest = got["skill"]["resources"].as_array().unwrap();
            assert_eq!(walked.keys().cloned().collect::<BTreeSet<_>>(), uris(manifest).into_iter().collect());
            for file in manifest {
                assert_eq!(walked[text_field(file, "uri")]["size"], file["size"], "{file}");
            }
        }
        for uri in ["skill://pdf/docs", "skill://pdf/docs/"] {
            let names = session.result("resources/directory/read", json!({"uri": uri}));
            assert_eq!(
                uris(names["resources"].as_array().unwrap()),
                ["skill://pdf/docs/c.json", "skill://pdf/docs/deep"]
            );
        }
    }
}

#[test]
fn reading_a_directory_that_is_not_one_is_refused() {
    let folder = library(&[
        ("pdf/SKILL.md", &skill("pdf", "x")),
        ("pdf/docs/a.txt", "a"),
        ("pdf/.hidden/b.txt", "b"),
        ("tree.md", "---\nkeywords: [t]\ndescription: d\n---\nText.\n"),
    ]);
    for mut session in both_eras(folder.path()) {
        for params in [
            json!({"uri": "skill://pdf/SKILL.md"}),
            json!({"uri": "skill://tree/SKILL.md"}),
            json!({"uri": "skill://pdf/docs/a.txt"}),
            json!({"uri": "skill://pdf/docs/a.txt/"}),
            json!({"uri": "skill://pdf/no-such"}),
            json!({"uri": "skill://pdf/doc"}),
            json!({"uri": "skill://pdf/.hidden"}),
            json!({"uri": "skill://pdf/.."}),
            json!({"uri": "skill://no-such"}),
            json!({"uri": "file:///etc"}),
            json!({"uri": ""}),
            json!({"uri": ["skill://pdf"]}),
            json!({}),
            json!({"uri": "skill://pdf", "cursor": "x"}),
            json!({"uri": "skill://pdf", "cursor": 4}),
        ] {
            assert_eq!(session.error("resources/directory/read", params.clone())["code"], -32602, "{params}");
        }
    }
}

#[test]
fn a_large_folder_comes_in_pages() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x"))]);
    for number in 0..1_050 {
        write_files(folder.path(), &[(&format!("pdf/many/{number:04}.txt"), "x")]);
    }
    for mut session in both_eras(folder.path()) {
        let (mut found, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
        loop {
            let mut params = json!({"uri": "skill://pdf/many"});
            if cursor.is_string() {
                params["cursor"] = cursor;
            }
            let page = session.result("resources/directory/read", params);
            found.extend(uris(page["resources"].as_array().unwrap()));
            pages += 1;
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
            assert!(pages < 50, "the pages do not end");
        }
        let expected: Vec<String> = (0..1_050).map(|number| format!("skill://pdf/many/{number:04}.txt")).collect();
        assert_eq!(found, expected);
        assert!(pages > 1, "one page");
    }
}

#[test]
fn manifests_are_correct_where_paths_of_several_roots_overlap() {
    let folder = tempfile::tempdir().unwrap();
    write_files(
        &folder.path().join("one"),
        &[
            ("a/SKILL.md", &skill("a", "x")),
            ("a/b/c.txt", "of one"),
            ("a/b/same.txt", "of one"),
            ("shared/SKILL.md", &skill("shared", "one")),
            ("case/SKILL.md", &skill("case", "x")),
            ("case/Docs/a.txt", "upper"),
            ("case/docs/SKILL.md", &skill("docs", "x")),
            ("case/docs/a.txt", "lower"),
        ],
    );
    write_files(
        &folder.path().join("two"),
        &[
            ("a/b/SKILL.md", &skill("b", "y")),
            ("a/b/same.txt", "of two"),
            ("shared/SKILL.md", &skill("shared", "two")),
            ("evil/SKILL.md", &skill("a/SKILL.md", "evil")),
        ],
    );
    let launch = || Launch::new(SKILLCELL).arg(folder.path().join("one")).arg(folder.path().join("two"));
    for mut session in [launch().start(), launch().modern()] {
        let skills = verified_skills(&mut session);
        assert_eq!(skills.len(), 6, "{:?}", skills.keys());
    }
}

#[test]
fn every_file_of_a_manifest_can_be_read() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x"))]);
    for name in [
        "a:b.txt",
        "ü ß#?%.txt",
        "back\\slash.txt",
        "\\start.txt",
        "no\nline.txt",
        "~",
        "docs/ x",
        "SKILL.md.bak",
        "skill.md",
    ] {
        write_files(&folder.path().join("pdf"), &[(name, name)]);
    }
    for mut session in both_eras(folder.path()) {
        assert_eq!(verified_skills(&mut session).len(), 1);
        for (uri, _) in walk(&mut session, "skill://pdf") {
            read(&mut session, &uri);
        }
    }
}
