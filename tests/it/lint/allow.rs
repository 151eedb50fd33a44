//! Silenced problems.

use super::{lint, report, run};
use crate::library;
use serde_json::{Value, json};

const TEXT: &str = "---\nname: other\ndescription: d\n---\n[a](x.md), `mcp__skillcell__qery`\n";

#[test]
fn codes_are_silenced_on_the_command_line() {
    let folder = library(&[("pdf/SKILL.md", TEXT)]);
    let outcome = run(lint(folder.path()).arg("--allow").arg("dead-link,name-differs").arg("--allow=unknown-tool"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.text);
    assert!(outcome.text.ends_with("\n1 skill: no problems, 3 silenced\n"), "{}", outcome.text);
    let denied = run(lint(folder.path()).arg("--deny=warnings").arg("--allow=dead-link").arg("--json"));
    let report: Value = serde_json::from_str(&denied.text).unwrap();
    let codes = |list: &str| -> Vec<Value> {
        report[list].as_array().unwrap().iter().map(|problem| problem["code"].clone()).collect()
    };
    assert_eq!(denied.code, Some(1));
    assert_eq!(codes("problems"), [json!("name-differs"), json!("unknown-tool")]);
    assert_eq!(codes("silenced"), [json!("dead-link")]);
}

#[test]
fn codes_are_silenced_only_in_the_file_that_allows_them() {
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
    // Both skills have the same problems, and only one of them silences them.
    let reported = files("problems");
    assert!(
        reported.contains(&(false, "dead-link".to_owned())) && !reported.contains(&(true, "dead-link".to_owned())),
        "{reported:?}"
    );
}

#[test]
fn an_unknown_code_is_refused_with_close_names() {
    let folder = library(&[("pdf/SKILL.md", TEXT)]);
    for (code, hint) in [
        ("dead-lnk", "hint: close names are `dead-link`"),
        ("invisible", "hint: close names are `invisible-character`"),
        ("\u{1b}[2J", "hint: `skillcell lint --codes` lists all of them"),
    ] {
        let outcome = run(lint(folder.path()).arg("--allow").arg(code));
        assert_eq!((outcome.code, outcome.text.as_str()), (Some(2), ""), "{code}");
        assert!(outcome.log.contains("there is no code") && outcome.log.contains(hint), "{}", outcome.log);
        assert!(!outcome.log.contains('\u{1b}'), "{:?}", outcome.log);
    }
    let comment =
        library(&[("pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\n<!-- skillcell-lint allow: dead-lnk -->\n")]);
    let outcome = run(lint(".").folder(comment.path()));
    assert!(
        outcome.text.starts_with("pdf/SKILL.md:5:28: warning: unknown code `dead-lnk` [unknown-code]\n"),
        "{}",
        outcome.text
    );
}
