//! Resources: every form of a `skill://` URI, byte for byte.

use crate::{SKILLCELL, both_eras, library, serve};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use skillcell_tests::{Launch, Session, repository, write_files};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Largest file that is served unless the operator says otherwise.
const LIMIT: usize = 1 << 20;

/// Bytes of one content, whichever way they came.
pub fn bytes(content: &Value) -> Vec<u8> {
    match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(blob)) => STANDARD.decode(blob).unwrap_or_else(|error| panic!("{error}: {content}")),
        _ => panic!("neither text nor blob: {content}"),
    }
}

/// The one content of a resource, which carries the URI that was asked for.
pub fn read(session: &mut Session, uri: &str) -> Value {
    let mut result = session.result("resources/read", json!({"uri": uri}));
    let contents = result["contents"].as_array().unwrap();
    assert_eq!((contents.len(), &contents[0]["uri"]), (1, &json!(uri)), "{result}");
    result["contents"][0].take()
}

fn text(session: &mut Session, uri: &str) -> String {
    String::from_utf8(bytes(&read(session, uri))).unwrap()
}

/// What a collection holds, by URI.
fn collection(session: &mut Session, uri: &str) -> BTreeMap<String, Vec<u8>> {
    let result = session.result("resources/read", json!({"uri": uri}));
    let contents = result["contents"].as_array().unwrap();
    let read: BTreeMap<String, Vec<u8>> =
        contents.iter().map(|content| (content["uri"].as_str().unwrap().to_owned(), bytes(content))).collect();
    assert_eq!(read.len(), contents.len(), "a file comes twice: {result}");
    read
}

/// The digest of bytes, as manifests have it.
pub fn sha256(content: &[u8]) -> String {
    format!("sha256:{}", Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// A path as it stands in a URI.
pub fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// That a URI means nothing, in the words of this era.
fn assert_unknown(session: &mut Session, uri: &str) {
    let error = session.error("resources/read", json!({"uri": uri}));
    let code = if session.is_stateless() { -32602 } else { -32002 };
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)), "{error}");
}

/// A folder skill whose instructions are one line.
pub fn skill(name: &str, line: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\n{line}\n")
}

/// Two roots that share a path, and a plugin that has a path of the first.
struct Roots {
    folder: TempDir,
}

impl Roots {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_files(
            &folder.path().join("one"),
            &[
                ("pdf/SKILL.md", &skill("pdf", "pdf of one")),
                ("pdf/docs/a b.md", "a file of pdf"),
                ("pdf/form/x.txt", "x beside the nested skill"),
                ("pdf/forms/SKILL.md", &skill("forms", "nested")),
                ("pdf/forms/x.txt", "x of the nested skill"),
                ("deep/er/tool/SKILL.md", &skill("tool", "deep")),
                ("shared/SKILL.md", &skill("shared", "shared of one")),
                ("Ünder the/sea/SKILL.md", &skill("sea", "under the sea")),
                ("Ünder the/sea/#1 größe.txt", "a long way down"),
            ],
        );
        write_files(
            &folder.path().join("two"),
            &[("shared/SKILL.md", &skill("shared", "shared of two")), ("shared/own.txt", "only two has it")],
        );
        write_files(
            &folder.path().join("home"),
            &[
                (
                    ".claude/plugins/installed_plugins.json",
                    r#"{"version": 2, "plugins": {"office@market": [{"installPath": "office"}]}}"#,
                ),
                (".claude/plugins/office/skills/pdf/SKILL.md", &skill("pdf", "pdf of the plugin")),
                (".claude/plugins/office/skills/pdf/note.txt", "a note of the plugin"),
            ],
        );
        Self { folder }
    }

    fn launch(&self) -> Launch {
        let at = |name: &str| self.folder.path().join(name);
        Launch::new(SKILLCELL).arg(at("one")).arg(at("two")).arg("--plugins").with_home(&at("home"))
    }

    fn both_eras(&self) -> [Session; 2] {
        [self.launch().start(), self.launch().modern()]
    }
}

#[test]
fn every_skill_is_listed_once_with_the_words_of_its_front_matter() {
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
            .map(|(path, name, shown)| {
                json!([format!("skill://{path}/SKILL.md"), name, shown, format!("About {name}"), "text/markdown"])
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
fn newer_clients_are_told_how_long_an_answer_holds() {
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
            // What is on disk may change at any moment.
            let expected =
                if session.is_stateless() { [json!(0), json!("complete")] } else { [json!(null), json!(null)] };
            assert_eq!([&result["ttlMs"], &result["resultType"]], expected.each_ref(), "{method}: {result}");
            assert_eq!(result["cacheScope"].is_string(), session.is_stateless(), "{method}: {result}");
        }
    }
}

#[test]
fn three_templates_say_what_can_be_read() {
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
            // The same path in two roots: the label, and the first root without one.
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
fn a_collection_is_every_file_of_the_skill_each_by_a_uri_that_finds_it() {
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

#[test]
fn any_name_of_a_file_can_be_written_in_a_uri() {
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
fn what_is_listed_is_what_can_be_read() {
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
fn names_of_skills_with_other_letters_are_encoded() {
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
        // A fragment or query names nothing.
        assert_unknown(&mut session, "skill://gr%C3%B6%C3%9Fe%20#1");
        assert_unknown(&mut session, "skill://gr%C3%B6%C3%9Fe%20%231/q?.txt");
    }
}

/// Every resource that is listed, by URI.
fn everything(session: &mut Session) -> BTreeMap<String, Vec<u8>> {
    let listed = session.all("resources/list", "resources");
    let uris: Vec<&str> = listed.iter().map(|entry| entry["uri"].as_str().unwrap()).collect();
    uris.into_iter().map(|uri| (uri.to_owned(), bytes(&read(session, uri)))).collect()
}

#[test]
fn tree_skills_are_documents_whose_bytes_are_always_the_same() {
    let folder = repository().join("fixtures/skills");
    let [mut legacy, mut modern] = both_eras(&folder);
    let first = everything(&mut legacy);
    assert_eq!(first, everything(&mut modern));
    assert_eq!(first, everything(&mut serve(&folder).start()), "after a restart");
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
    let places: Vec<Option<usize>> = sections.iter().map(|section| forms.find(section)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {forms}");
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
fn bytes_are_exact_whatever_they_are() {
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
fn what_is_hidden_or_elsewhere_is_refused() {
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
        // A link to another skill of the same root, or to something hidden, is found, and then not followed.
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
        // A collection says how much of it is missing.
        let all = session.result("resources/read", json!({"uri": "skill://pdf/"}));
        let contents = all["contents"].as_array().unwrap();
        assert_eq!(contents.len(), 2, "SKILL.md and fits.txt");
        assert_eq!(contents[1]["_meta"]["skillcell/filesLeftOut"], 1, "{}", contents[1]["_meta"]);
    }
    let mut session = serve(folder.path()).env("MAX_FILE_SIZE_MB", "2").start();
    assert_eq!(text(&mut session, "skill://pdf/too-large.txt").len(), LIMIT + 1);
}

#[test]
fn what_changed_on_disk_is_served_at_once() {
    let folder = library(&[
        ("pdf/SKILL.md", &skill("pdf", "x")),
        ("_root.md", "---\nkeywords: [r]\ndescription: d\n---\nrule 00\n"),
    ]);
    write_files(folder.path(), &[("leaf.md", "---\nkeywords: [l]\ndescription: d\n---\nleaf\n")]);
    for mut session in both_eras(folder.path()) {
        for number in 10..40 {
            // The same length each time: size alone would not tell.
            let document = skill("pdf", &format!("edition {number}"));
            let parent = format!("---\nkeywords: [r]\ndescription: d\n---\nrule {number}\n");
            let asset = format!("asset {number}");
            write_files(folder.path(), &[("pdf/SKILL.md", &document), ("pdf/a.txt", &asset), ("_root.md", &parent)]);
            assert_eq!(text(&mut session, "skill://pdf/a.txt"), asset);
            assert_eq!(text(&mut session, "skill://pdf/SKILL.md"), document);
            assert_eq!(text(&mut session, "skill://pdf"), document);
            assert_eq!(collection(&mut session, "skill://pdf/")["skill://pdf/a.txt"], asset.as_bytes());
            assert!(text(&mut session, "skill://leaf/SKILL.md").contains(&format!("rule {number}")));
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
fn a_read_beside_a_list_is_as_new_as_the_disk() {
    let folder = library(&[("pdf/SKILL.md", &skill("pdf", "edition 0"))]);
    let mut session = serve(folder.path()).start();
    for number in 1..=400_u32 {
        let edition = format!("edition {number}.");
        std::fs::write(folder.path().join("pdf/.next"), skill("pdf", &edition)).unwrap();
        std::fs::rename(folder.path().join("pdf/.next"), folder.path().join("pdf/SKILL.md")).unwrap();
        // The list brings the change in, and the others come at any moment of that.
        let list = session.post("prompts/list", json!({}));
        for _ in 0..number % 40 * 1_000 {
            std::hint::spin_loop();
        }
        let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
        let asked = [
            ("resources/read", json!({"uri": "skill://pdf"})),
            ("prompts/get", json!({"name": "pdf"})),
            ("skills/get", json!({"uri": "skill://pdf/SKILL.md"})),
            tool("skill", json!({"name": "pdf"})),
            tool("get_skill", json!({"context": "x", "skill_path": "pdf"})),
        ]
        .map(|(method, params)| session.post(method, params));
        session.answer(&list);
        for (place, id) in asked.iter().enumerate() {
            let answer = session.answer(id).to_string();
            let expected = if place == 2 { sha256(skill("pdf", &edition).as_bytes()) } else { edition.clone() };
            assert!(answer.contains(&expected), "{edition} was on disk before this was asked for: {answer}");
        }
    }
}

#[test]
fn no_skill_takes_the_uri_of_another() {
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
fn folders_that_differ_only_in_case_are_kept_apart() {
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

#[test]
fn the_short_forms_are_listed_where_a_client_expects_them() {
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
