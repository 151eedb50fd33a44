//! The contents of resources.

use super::{Roots, assert_unknown, bytes, collection, encoded, read, sha256, skill, text};
use crate::{both_eras, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Session, repository, write_files};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The default limit for a file.
const LIMIT: usize = 1 << 20;

#[test]
fn a_collection_has_every_file_of_the_skill_with_a_working_uri() {
    let roots = Roots::new();
    for mut session in roots.both_eras() {
        for (uri, skill, files) in [
            ("skill://pdf/", "pdf", &["SKILL.md", "docs/a b.md", "form/x.txt", "forms/SKILL.md", "forms/x.txt"][..]),
            ("skill://pdf/forms/", "pdf/forms", &["SKILL.md", "x.txt"]),
            ("skill://forms/", "pdf/forms", &["SKILL.md", "x.txt"]),
            ("skill://office/pdf/", "office/pdf", &["SKILL.md", "note.txt"]),
            ("skill://office:pdf/", "office/pdf", &["SKILL.md", "note.txt"]),
            ("skill://two:shared/", "two/shared", &["SKILL.md", "own.txt"]),
            ("skill://sea/", "Ünder the/sea", &["SKILL.md", "#1 größe.txt"]),
        ] {
            let found = collection(&mut session, uri);
            let expected: BTreeSet<String> = files.iter().map(|file| encoded(&format!("{skill}/{file}"))).collect();
            let expected: BTreeSet<String> = expected.iter().map(|path| format!("skill://{path}")).collect();
            assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), expected, "{uri}");
            for (uri, content) in found {
                assert_eq!(bytes(&read(&mut session, &uri)), content, "{uri}");
            }
        }
    }
}

/// Returns the content of every listed resource by URI.
fn all_resources(session: &mut Session) -> BTreeMap<String, Vec<u8>> {
    let listed = session.all("resources/list", "resources");
    let uris: Vec<&str> = listed.iter().map(|entry| entry["uri"].as_str().unwrap()).collect();
    uris.into_iter().map(|uri| (uri.to_owned(), bytes(&read(session, uri)))).collect()
}

#[test]
fn tree_skills_are_documents_with_stable_bytes() {
    let folder = repository().join("fixtures/skills");
    let [mut legacy, mut modern] = both_eras(&folder);
    let first = all_resources(&mut legacy);
    assert_eq!(first, all_resources(&mut modern));
    assert_eq!(first, all_resources(&mut serve(&folder).start()), "after a restart");
    let mut names = BTreeSet::new();
    for (uri, document) in &first {
        let document = String::from_utf8(document.clone()).unwrap();
        let name = uri.strip_suffix("/SKILL.md").unwrap().rsplit('/').next().unwrap();
        assert!(document.starts_with(&format!("---\nname: {name}\n")), "{uri}: {document}");
        assert!(names.insert(name.to_owned()), "two skills are called {name}");
    }
    let forms = first.iter().find(|(uri, _)| uri.starts_with("skill://ui/react/") && uri.contains("forms")).unwrap();
    let forms = String::from_utf8(forms.1.clone()).unwrap();
    let sections = [
        "GLOBAL RULES (from _root.md)",
        "UI (from ui/_index.md)",
        "UI > REACT (from ui/react/_index.md)",
        "FORMS (from ui/react/forms.md)",
    ];
    let positions: Vec<Option<usize>> = sections.iter().map(|section| forms.find(section)).collect();
    assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "{positions:?}: {forms}");
}

#[test]
fn a_tree_skill_has_the_files_that_it_declares() {
    let tree = "---\nkeywords: [t]\ndescription: d\nassets: [a.txt, deep/b.bin]\nscripts: [run.sh]\n---\nText.\n";
    let files =
        [("t.md", tree), ("t/a.txt", "A"), ("t/run.sh", "echo"), ("t/undeclared.txt", "no"), ("t/.hidden", "no")];
    let folder = library(&files);
    std::fs::create_dir(folder.path().join("t/deep")).unwrap();
    std::fs::write(folder.path().join("t/deep/b.bin"), [0xff, 0]).unwrap();
    for mut session in both_eras(folder.path()) {
        assert_eq!(text(&mut session, "skill://t/a.txt"), "A");
        assert_eq!(bytes(&read(&mut session, "skill://t/deep/b.bin")), [0xff, 0]);
        assert_unknown(&mut session, "skill://t/undeclared.txt");
        assert_unknown(&mut session, "skill://t/.hidden");
        let found = collection(&mut session, "skill://t/");
        let expected = ["SKILL.md", "a.txt", "deep/b.bin", "run.sh"].map(|file| format!("skill://t/{file}"));
        assert_eq!(found.keys().cloned().collect::<Vec<_>>(), expected);
        assert_eq!(found["skill://t/SKILL.md"], bytes(&read(&mut session, "skill://t/SKILL.md")));
    }
}

#[test]
fn every_kind_of_bytes_is_served_exactly() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let cases: [(&str, &[u8], &str, bool); 12] = [
        ("every.bin", &every_byte, "application/octet-stream", false),
        ("image.png", b"\x89PNG\r\n\x1a\n\0\0", "image/png", false),
        ("latin1.txt", b"gr\xfc\xdfe", "application/octet-stream", false),
        ("cut.txt", b"ends inside \xe2\x82", "application/octet-stream", false),
        ("surrogate.txt", b"\xed\xa0\x80", "application/octet-stream", false),
        ("windows.txt", b"a\r\nb\r\n", "text/plain", true),
        ("mark.txt", b"\xef\xbb\xbfmarked", "text/plain", true),
        ("controls.txt", b"\0\x01\x1b[31m\x7f", "text/plain", true),
        ("empty.txt", b"", "text/plain", true),
        ("no-end-of-line.md", "no end of line: \u{1f980}\u{2028}".as_bytes(), "text/markdown", true),
        ("data.json", b"{\"a\": 1}\n", "application/json", true),
        ("script.py", b"print('x')\n", "text/x-python", true),
    ];
    let odd = "\u{feff}---\r\nname: odd\r\ndescription: d\r\n---\r\n\r\nT\u{e4}xt\u{0}\r\n\t end";
    let folder = library(&[("odd/SKILL.md", odd)]);
    for (name, content, ..) in cases {
        std::fs::write(folder.path().join("odd").join(name), content).unwrap();
    }
    for mut session in both_eras(folder.path()) {
        assert_eq!(text(&mut session, "skill://odd/SKILL.md"), odd);
        assert_eq!(text(&mut session, "skill://odd"), odd);
        let all = collection(&mut session, "skill://odd/");
        assert_eq!(all["skill://odd/SKILL.md"], odd.as_bytes());
        for (name, content, media, is_text) in cases {
            let uri = format!("skill://odd/{name}");
            let read = read(&mut session, &uri);
            assert_eq!(bytes(&read), content, "{name}");
            assert_eq!((read.get("text").is_some(), &read["mimeType"]), (is_text, &json!(media)), "{name}");
            assert_eq!(all[&uri], content, "{name}");
        }
    }
}

#[test]
fn hidden_and_outside_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_files(
        folder.path(),
        &[
            ("secret.txt", "hunter2"),
            ("outside/secret.txt", "hunter2"),
            ("root/pdf/SKILL.md", &skill("pdf", "x")),
            ("root/pdf/docs/a.txt", "a"),
            ("root/pdf/.env", "hunter2"),
            ("root/pdf/.git/config", "hunter2"),
            ("root/pdf/docs/.hidden/x", "hunter2"),
            ("root/other/SKILL.md", &skill("other", "hunter2")),
            ("root/other/own.txt", "hunter2"),
        ],
    );
    let pdf = folder.path().join("root/pdf");
    symlink("../../secret.txt", pdf.join("link.txt")).unwrap();
    symlink(folder.path().join("secret.txt"), pdf.join("absolute.txt")).unwrap();
    symlink("../../outside", pdf.join("folder-link")).unwrap();
    symlink("../other/own.txt", pdf.join("neighbour.txt")).unwrap();
    symlink("../other", pdf.join("neighbour")).unwrap();
    symlink("docs/a.txt", pdf.join("inside.txt")).unwrap();
    symlink(".env", pdf.join("environment.txt")).unwrap();
    symlink("docs/.hidden", pdf.join("shown")).unwrap();
    assert!(Command::new("mkfifo").arg(pdf.join("pipe.txt")).status().unwrap().success());
    for mut session in both_eras(&folder.path().join("root")) {
        for uri in [
            "skill://pdf/.env",
            "skill://pdf/%2Eenv",
            "skill://pdf/.git/config",
            "skill://pdf/docs/.hidden/x",
            "skill://pdf/link.txt",
            "skill://pdf/absolute.txt",
            "skill://pdf/folder-link/secret.txt",
            "skill://pdf/../secret.txt",
            "skill://pdf/%2e%2e/%2e%2e/secret.txt",
            "skill://pdf/..%2F..%2Fsecret.txt",
            "skill://pdf/..%5C..%5Csecret.txt",
            "skill://pdf//etc/passwd",
            "skill://pdf/%2Fetc%2Fpasswd",
            "skill://../secret.txt",
            "skill://pdf/docs",
            "skill://pdf/docs/",
            "skill://pdf/no-such",
            "skill://no-such",
            "skill://no-such/SKILL.md",
            "skill://pdf/c:/x",
            "skill://pdf/a%00b",
            "skill://pdf/%ff",
            "skill://pdf/%zz",
            "skill://",
            "skill:///",
            "skill://pdf//",
            "file:///etc/passwd",
            "https://example.com/",
            "pdf",
            "",
            "skill://pdf/pipe.txt",
        ] {
            assert_unknown(&mut session, uri);
        }
        // A link to another skill of the same root, or to a hidden file, is found but not followed.
        for uri in [
            "skill://pdf/neighbour.txt",
            "skill://pdf/neighbour/own.txt",
            "skill://pdf/environment.txt",
            "skill://pdf/shown/x",
        ] {
            let error = session.error("resources/read", json!({"uri": uri}));
            assert!(error["data"]["uri"] == uri && !error.to_string().contains("hunter2"), "{error}");
        }
        assert_eq!(text(&mut session, "skill://pdf/inside.txt"), "a");
        let found = collection(&mut session, "skill://pdf/");
        let expected = ["SKILL.md", "docs/a.txt", "inside.txt"].map(|file| format!("skill://pdf/{file}"));
        assert_eq!(found.keys().cloned().collect::<Vec<_>>(), expected);
        for params in [json!({}), json!({"uri": 5}), json!({"uri": null})] {
            assert_eq!(session.error("resources/read", params.clone())["code"], -32602, "{params}");
        }
    }
}

fn write_sized(file: &Path, size: usize) {
    std::fs::write(file, vec![b'x'; size]).unwrap();
}

#[test]
fn a_file_is_served_whole_or_refused_with_both_sizes() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "x"))]);
    write_sized(&folder.path().join("pdf/fits.txt"), LIMIT);
    write_sized(&folder.path().join("pdf/too-large.txt"), LIMIT + 1);
    for mut session in both_eras(folder.path()) {
        assert_eq!(text(&mut session, "skill://pdf/fits.txt").len(), LIMIT);
        let error = session.error("resources/read", json!({"uri": "skill://pdf/too-large.txt"}));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("1048577") && message.contains("1048576"), "{error}");
        assert_eq!(error["data"]["uri"], "skill://pdf/too-large.txt");
        // A collection reports how many files are missing.
        let all = session.result("resources/read", json!({"uri": "skill://pdf/"}));
        let contents = all["contents"].as_array().unwrap();
        assert_eq!(contents.len(), 2, "SKILL.md and fits.txt");
        assert_eq!(contents[1]["_meta"]["skillcell/filesLeftOut"], 1, "{}", contents[1]["_meta"]);
    }
    let mut session = serve(folder.path()).env("MAX_FILE_SIZE_MB", "2").start();
    assert_eq!(text(&mut session, "skill://pdf/too-large.txt").len(), LIMIT + 1);
}

#[test]
fn changes_on_disk_are_served_immediately() {
    let folder = library(&[
        ("pdf/SKILL.md", &skill("pdf", "x")),
        ("_root.md", "---\nkeywords: [r]\ndescription: d\n---\nrule 00\n"),
    ]);
    write_files(folder.path(), &[("leaf.md", "---\nkeywords: [l]\ndescription: d\n---\nleaf\n")]);
    for mut session in both_eras(folder.path()) {
        for number in 10..25 {
            // The size is always the same.
            let document = skill("pdf", &format!("edition {number}"));
            let parent = format!("---\nkeywords: [r]\ndescription: d\n---\nrule {number}\n");
            let asset = format!("asset {number}");
            write_files(folder.path(), &[("pdf/SKILL.md", &document), ("pdf/a.txt", &asset), ("_root.md", &parent)]);
            let mut fresh = |uri: &str| session.fresh(|session| text(session, uri));
            assert_eq!(fresh("skill://pdf/a.txt"), asset);
            assert_eq!(fresh("skill://pdf/SKILL.md"), document);
            assert_eq!(fresh("skill://pdf"), document);
            assert!(fresh("skill://leaf/SKILL.md").contains(&format!("rule {number}")));
            let all = session.fresh(|session| collection(session, "skill://pdf/"));
            assert_eq!(all["skill://pdf/a.txt"], asset.as_bytes());
        }
        std::fs::remove_file(folder.path().join("pdf/a.txt")).unwrap();
        assert_unknown(&mut session, "skill://pdf/a.txt");
        write_files(folder.path(), &[("new/SKILL.md", &skill("new", "born late")), ("new/a.txt", "a")]);
        assert_eq!(text(&mut session, "skill://new/a.txt"), "a");
        assert!(text(&mut session, "skill://new").ends_with("born late\n"));
        std::fs::remove_dir_all(folder.path().join("new")).unwrap();
        assert_unknown(&mut session, "skill://new");
        assert_unknown(&mut session, "skill://new/a.txt");
    }
}

#[test]
fn a_read_concurrent_with_a_list_is_fresh() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "edition 0"))]);
    let mut session = serve(folder.path()).start();
    for number in 1..=120_u32 {
        let edition = format!("edition {number}.");
        std::fs::write(folder.path().join("pdf/.next"), skill("pdf", &edition)).unwrap();
        std::fs::rename(folder.path().join("pdf/.next"), folder.path().join("pdf/SKILL.md")).unwrap();
        let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
        let answers = session.fresh(|session| {
            // The list applies the change, and the others arrive at random times during that.
            let list = session.post("prompts/list", json!({}));
            for _ in 0..number % 40 * 1_000 {
                std::hint::spin_loop();
            }
            let requests = [
                ("resources/read", json!({"uri": "skill://pdf"})),
                ("prompts/get", json!({"name": "pdf"})),
                ("skills/get", json!({"uri": "skill://pdf/SKILL.md"})),
                tool("skill", json!({"name": "pdf"})),
                tool("get_skill", json!({"context": "x", "skill_path": "pdf"})),
            ]
            .map(|(method, params)| session.post(method, params));
            session.answer(&list);
            requests.map(|id| session.answer(&id).to_string())
        });
        for (index, answer) in answers.iter().enumerate() {
            let expected = if index == 2 { sha256(skill("pdf", &edition).as_bytes()) } else { edition.clone() };
            assert!(answer.contains(&expected), "{edition} was on disk before the request: {answer}");
        }
    }
}
