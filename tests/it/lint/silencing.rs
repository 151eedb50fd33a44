//! Problems that nobody wants to hear of.

use super::{lint, report, told};
use crate::library;
use serde_json::{Value, json};

const TEXT: &str = "---\nname: other\ndescription: d\n---\n[a](x.md), `mcp__skillcell__qery`\n";

#[test]
fn codes_are_silenced_on_the_command_line() {
    let folder = library(&[("pdf/SKILL.md", TEXT)]);
    let said = told(lint(folder.path()).arg("--allow").arg("dead-link,name-differs").arg("--allow=unknown-tool"));
    assert_eq!(said.code, Some(0), "{}", said.text);
    assert!(said.text.ends_with("\n1 skill: no problems, 3 silenced\n"), "{}", said.text);
    let denied = told(lint(folder.path()).arg("--deny=warnings").arg("--allow=dead-link").arg("--json"));
    let report: Value = serde_json::from_str(&denied.text).unwrap();
    let codes = |list: &str| -> Vec<Value> {
        report[list].as_array().unwrap().iter().map(|problem| problem["code"].clone()).collect()
    };
    assert_eq!(denied.code, Some(1));
    assert_eq!(codes("problems"), [json!("name-differs"), json!("unknown-tool")]);
    assert_eq!(codes("silenced"), [json!("dead-link")]);
}

#[test]
fn codes_are_silenced_in_the_file_itself_and_only_there() {
    let allowed = format!("{TEXT}\n<!-- skillcell-lint allow: dead-link, name-differs, unknown-tool -->\n");
    let folder = library(&[("a/SKILL.md", &allowed), ("b/SKILL.md", TEXT)]);
    let (report, code) = report(folder.path(), "");
    assert_eq!(code, Some(0));
    let files = |list: &str| -> Vec<(bool, String)> {
        let entry = |problem: &Value| {
            let file = problem["file"].as_str().unwrap();
            (file.ends_with("a/SKILL.md"), problem["code"].as_str().unwrap().to_owned())
        };
        report[list].as_array().unwrap().iter().map(entry).collect()
    };
    assert_eq!(files("silenced"), ["name-differs", "dead-link", "unknown-tool"].map(|code| (true, code.to_owned())));
    // Two skills are called `other`, and only one of them wants to hear nothing of something else.
    let told = files("problems");
    assert!(
        told.contains(&(false, "dead-link".to_owned())) && !told.contains(&(true, "dead-link".to_owned())),
        "{told:?}"
    );
}

#[test]
fn an_unknown_code_is_refused_with_close_ones() {
    let folder = library(&[("pdf/SKILL.md", TEXT)]);
    for (code, hint) in [
        ("dead-lnk", "hint: close ones are `dead-link`"),
        ("invisible", "hint: close ones are `invisible-character`"),
        ("\u{1b}[2J", "hint: `skillcell lint --codes` tells all of them"),
    ] {
        let said = told(lint(folder.path()).arg("--allow").arg(code));
        assert_eq!((said.code, said.text.as_str()), (Some(2), ""), "{code}");
        assert!(said.log.contains("there is no code") && said.log.contains(hint), "{}", said.log);
        assert!(!said.log.contains('\u{1b}'), "{:?}", said.log);
    }
    let comment =
        library(&[("pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\n<!-- skillcell-lint allow: dead-lnk -->\n")]);
    let said = told(lint(".").folder(comment.path()));
    assert!(
        said.text.starts_with("pdf/SKILL.md:5:28: warning: there is no code `dead-lnk` [unknown-code]\n"),
        "{}",
        said.text
    );
}
