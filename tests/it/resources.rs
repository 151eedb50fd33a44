//! Resources: every form of a `skill://` URI, byte for byte.

mod contents;
mod listing;
mod uris;

use crate::SKILLCELL;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use skillcell_tests::{Launch, Session, write_files};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// Returns the bytes of a content, which is text or base64.
pub fn bytes(content: &Value) -> Vec<u8> {
    match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(blob)) => STANDARD.decode(blob).unwrap_or_else(|error| panic!("{error}: {content}")),
        _ => panic!("neither text nor blob: {content}"),
    }
}

/// Returns the only content of a resource, which has the requested URI.
pub fn read(session: &mut Session, uri: &str) -> Value {
    let mut result = session.result("resources/read", json!({"uri": uri}));
    let contents = result["contents"].as_array().unwrap();
    assert_eq!((contents.len(), &contents[0]["uri"]), (1, &json!(uri)), "{result}");
    result["contents"][0].take()
}

fn text(session: &mut Session, uri: &str) -> String {
    String::from_utf8(bytes(&read(session, uri))).unwrap()
}

/// Returns the contents of a collection by URI.
fn collection(session: &mut Session, uri: &str) -> BTreeMap<String, Vec<u8>> {
    let result = session.result("resources/read", json!({"uri": uri}));
    let contents = result["contents"].as_array().unwrap();
    let read: BTreeMap<String, Vec<u8>> =
        contents.iter().map(|content| (content["uri"].as_str().unwrap().to_owned(), bytes(content))).collect();
    assert_eq!(read.len(), contents.len(), "a file comes twice: {result}");
    read
}

/// Returns the digest of bytes in the format of manifests.
pub fn sha256(content: &[u8]) -> String {
    format!("sha256:{}", Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Percent-encodes a path for a URI.
pub fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Checks that a URI is unknown, with the error code of the session's era.
fn assert_unknown(session: &mut Session, uri: &str) {
    let error = session.error("resources/read", json!({"uri": uri}));
    let code = if session.is_stateless() { -32602 } else { -32002 };
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)), "{error}");
}

/// Returns a folder skill with one line of text.
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
