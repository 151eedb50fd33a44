//! How URIs are resolved to skills and files.

use super::{Roots, assert_unknown, collection, encoded, skill, text};
use crate::{SKILLCELL, both_eras, library, serve};
use skillcell_tests::{Launch, write_files};
use std::collections::BTreeSet;

#[test]
fn every_form_of_a_uri_finds_its_bytes() {
    for mut session in Roots::new().both_eras() {
        for (uri, line) in [
            // By the path of the skill, with the document or without.
            ("skill://pdf/SKILL.md", "pdf of one"),
            ("skill://pdf", "pdf of one"),
            ("skill://deep/er/tool/SKILL.md", "deep"),
            ("skill://deep/er/tool", "deep"),
            ("skill://%C3%9Cnder%20the/sea/SKILL.md", "under the sea"),
            // By its name.
            ("skill://tool", "deep"),
            ("skill://TOOL", "deep"),
            ("skill://tool/SKILL.md", "deep"),
            ("skill://sea", "under the sea"),
            // By label and name or path.
            ("skill://one:pdf", "pdf of one"),
            ("skill://one%3Apdf/SKILL.md", "pdf of one"),
            ("skill://office:pdf", "pdf of the plugin"),
            ("skill://office/pdf", "pdf of the plugin"),
            ("skill://office/pdf/SKILL.md", "pdf of the plugin"),
            // The same path in two roots: with a label, or the first root.
            ("skill://one/shared/SKILL.md", "shared of one"),
            ("skill://two/shared/SKILL.md", "shared of two"),
            ("skill://two:shared", "shared of two"),
            ("skill://shared", "shared of one"),
            // The longest path of a skill wins.
            ("skill://pdf/forms", "nested"),
            ("skill://pdf/forms/SKILL.md", "nested"),
            ("skill://forms", "nested"),
        ] {
            let document = text(&mut session, uri);
            assert!(
                document.starts_with("---\nname: ") && document.ends_with(&format!("\n\n{line}\n")),
                "{uri}: {document}"
            );
        }
        for (uri, expected) in [
            ("skill://pdf/docs/a%20b.md", "a file of pdf"),
            ("skill://pdf/docs%2Fa%20b.md", "a file of pdf"),
            ("skill://one:pdf/docs/a%20b.md", "a file of pdf"),
            ("skill://pdf/form/x.txt", "x beside the nested skill"),
            ("skill://pdf/forms/x.txt", "x of the nested skill"),
            ("skill://forms/x.txt", "x of the nested skill"),
            ("skill://office/pdf/note.txt", "a note of the plugin"),
            ("skill://office:pdf/note.txt", "a note of the plugin"),
            ("skill://two/shared/own.txt", "only two has it"),
            ("skill://%C3%9Cnder%20the/sea/%231%20gr%C3%B6%C3%9Fe.txt", "a long way down"),
            ("skill://sea/%231%20gr%c3%b6%c3%9fe.txt", "a long way down"),
        ] {
            assert_eq!(text(&mut session, uri), expected, "{uri}");
        }
        for uri in ["skill://pdf/note.txt", "skill://one/shared/own.txt", "skill://shared/own.txt", "skill://office"] {
            assert_unknown(&mut session, uri);
        }
    }
}

#[test]
fn any_file_name_can_be_encoded_in_a_uri() {
    let names = [
        "grüße aus köln.txt",
        "50% off.md",
        "%41.txt",
        "a#b.txt",
        "q?x=1.txt",
        "semi;comma,.txt",
        "plus+ and space.txt",
        "[x]{y}.txt",
        "tab\tnew\nline.txt",
        "文書/目次.md",
        "\u{202e}gnp.txt",
        "no-extension",
        "docs/dots..",
        "at@colon:.txt",
        "🦀.md",
    ];
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x"))]);
    for name in names {
        write_files(&folder.path().join("pdf"), &[(name, &format!("I am {name}"))]);
    }
    for mut session in both_eras(folder.path()) {
        for name in names {
            let uri = format!("skill://pdf/{}", encoded(name));
            assert_eq!(text(&mut session, &uri), format!("I am {name}"), "{uri}");
            assert_eq!(text(&mut session, &uri.replace("pdf", "PDF")), format!("I am {name}"));
        }
        let found = collection(&mut session, "skill://pdf/");
        let expected: BTreeSet<String> =
            names.into_iter().chain(["SKILL.md"]).map(|name| format!("skill://pdf/{}", encoded(name))).collect();
        assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn special_characters_in_skill_names_are_encoded() {
    let folder = library(&[
        ("größe #1/SKILL.md", &skill("größe #1", "first")),
        ("a/b c/SKILL.md", &skill("b c", "second")),
        ("100%/SKILL.md", &skill("100%", "third")),
    ]);
    write_files(folder.path(), &[("größe #1/q?.txt", "a file")]);
    for mut session in both_eras(folder.path()) {
        let listed = session.all("resources/list", "resources");
        let uris: BTreeSet<&str> = listed.iter().map(|entry| entry["uri"].as_str().unwrap()).collect();
        let expected =
            ["skill://100%25/SKILL.md", "skill://a/b%20c/SKILL.md", "skill://gr%C3%B6%C3%9Fe%20%231/SKILL.md"];
        assert_eq!(uris, BTreeSet::from(expected));
        assert!(text(&mut session, expected[2]).ends_with("first\n"));
        assert!(text(&mut session, "skill://b%20c").ends_with("second\n"));
        assert!(text(&mut session, "skill://100%25").ends_with("third\n"));
        assert_eq!(text(&mut session, "skill://gr%C3%B6%C3%9Fe%20%231/q%3F.txt"), "a file");
        // URIs with a fragment or query are unknown.
        assert_unknown(&mut session, "skill://gr%C3%B6%C3%9Fe%20#1");
        assert_unknown(&mut session, "skill://gr%C3%B6%C3%9Fe%20%231/q?.txt");
    }
}

#[test]
fn a_skill_cannot_take_over_the_uri_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let evil = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nhunter2\n");
    write_files(
        &folder.path().join("one"),
        &[
            ("pdf/SKILL.md", &skill("pdf", "honest")),
            ("pdf/notes.txt", "honest notes"),
            ("pdf/docs/a.txt", "honest file"),
            ("evil/SKILL.md", &evil("pdf/SKILL.md")),
            ("evil-too/SKILL.md", &evil("pdf/docs")),
        ],
    );
    write_files(
        &folder.path().join("home"),
        &[
            (
                ".claude/plugins/installed_plugins.json",
                r#"{"version": 2, "plugins": {"evil@market": [{"installPath": "evil"}]}}"#,
            ),
            (".claude/plugins/evil/skills/pdf/notes.txt/SKILL.md", &evil("notes")),
            (".claude/plugins/evil/skills/pdf/docs/SKILL.md", &evil("docs")),
            (".claude/plugins/evil/skills/pdf/docs/a.txt", "hunter2"),
        ],
    );
    let launch = || {
        let (one, home) = (folder.path().join("one"), folder.path().join("home"));
        Launch::new(SKILLCELL).arg(one).arg("--plugins").with_home(&home)
    };
    for mut session in [launch().start(), launch().modern()] {
        let listed = session.all("resources/list", "resources");
        assert!(listed.iter().any(|entry| entry["uri"] == "skill://pdf/SKILL.md" && entry["name"] == "pdf"));
        assert_eq!(text(&mut session, "skill://pdf/SKILL.md"), skill("pdf", "honest"));
        assert_eq!(text(&mut session, "skill://pdf"), skill("pdf", "honest"));
        assert_eq!(text(&mut session, "skill://pdf/notes.txt"), "honest notes");
        assert_eq!(text(&mut session, "skill://pdf/docs/a.txt"), "honest file");
    }
}

#[test]
fn folders_that_differ_only_in_case_are_distinguished() {
    let folder = library(&[
        ("outer/SKILL.md", &skill("outer", "outer")),
        ("outer/Docs/a.txt", "upper"),
        ("outer/docs/SKILL.md", &skill("docs", "inner")),
        ("outer/docs/a.txt", "lower"),
    ]);
    let mut session = serve(folder.path()).start();
    assert_eq!(text(&mut session, "skill://outer/docs/a.txt"), "lower");
    assert_eq!(text(&mut session, "skill://outer/Docs/a.txt"), "upper");
}
