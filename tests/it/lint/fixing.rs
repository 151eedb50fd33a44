//! `lint --fix`: what is mechanical is mended, and nothing else is touched.

use super::{lint, told};
use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, files_below};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Everything that can be mended, with the line ends of Windows.
const UNTIDY: &str = "\u{feff}---\r\nname: Bad Name\r\ndescription: Use it: it's good\r\nkeywords: api, web\r\n---\r\nzero\u{200b}width  \r\n[a](x.md)\r\n";
const TIDY: &str = "---\r\nname: pdf\r\ndescription: 'Use it: it''s good'\r\nkeywords: [api, web]\r\n---\r\nzerowidth  \r\n[a](x.md)\r\n";

fn fix(folder: &Path) -> Launch {
    lint(".").arg("--fix").folder(folder)
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_is_mechanical_is_mended_and_the_rest_is_told() {
    let folder =
        library(&[("pdf/SKILL.md", UNTIDY), ("new/SKILL.md", "---\ndescription: d\n---\n"), ("fine.md", "text\n")]);
    std::fs::set_permissions(folder.path().join("pdf/SKILL.md"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let said = told(fix(folder.path()));
    assert_eq!(read(folder.path(), "pdf/SKILL.md"), TIDY);
    assert_eq!(read(folder.path(), "new/SKILL.md"), "---\nname: new\ndescription: d\n---\n");
    let expected = "\
new/SKILL.md: mended [missing-name]
pdf/SKILL.md: mended [bad-name, bad-yaml, byte-order-mark, invisible-character, wrong-type]

pdf/SKILL.md:7:5: warning: `x.md` is not there [dead-link]
    correct the path, or add the file

2 skills: 0 errors, 1 warning
";
    assert_eq!((said.code, said.text.as_str()), (Some(0), expected));
    assert_eq!(mode(&folder.path().join("pdf/SKILL.md")), 0o640);
    assert_eq!(files_below(folder.path()).len(), 3, "nothing is left beside them");
    let again = told(fix(folder.path()).arg("--json"));
    let report: Value = serde_json::from_str(&again.text).unwrap();
    assert_eq!(report.get("mended"), None, "{report:#}");
}

#[test]
fn words_stay_what_they_were() {
    let list = |keywords: &str| format!("---\nkeywords: {keywords}\ndescription: Use when: shipping\n---\n");
    let mended = |keywords: &str| format!("---\nkeywords: {keywords}\ndescription: 'Use when: shipping'\n---\n");
    for (before, after) in [
        (list("[deploy, release"), list("[deploy, release")),
        (list("foo, \"q\""), mended("[foo, q]")),
        (list("deploy, null, 12, Yes"), mended("[deploy, \"null\", \"12\", \"Yes\"]")),
    ] {
        let folder = library(&[("a.md", &before)]);
        let said = told(fix(folder.path()));
        assert_eq!(read(folder.path(), "a.md"), after, "{}", said.text);
        assert!(!said.text.contains("wrong-type]\n    "), "{}", said.text);
    }
}

#[test]
fn an_error_that_was_mended_counts_no_longer() {
    let folder = library(&[("a.md", "---\nkeywords: api, web\ndescription: d\n---\n")]);
    assert_eq!(told(lint(folder.path())).code, Some(1));
    let said = told(fix(folder.path()));
    assert_eq!((said.code, said.text.lines().last()), (Some(0), Some("1 skill: no problems")), "{}", said.text);
    assert_eq!(read(folder.path(), "a.md"), "---\nkeywords: [api, web]\ndescription: d\n---\n");
}

#[test]
fn a_rehearsal_shows_what_would_change_and_changes_nothing() {
    let folder = library(&[
        ("pdf/SKILL.md", "---\nname: x\ndescription: d\n---\na\u{200b}b\n"),
        ("new/SKILL.md", "---\ndescription: d\n---\n"),
    ]);
    let said = told(fix(folder.path()).arg("--dry-run"));
    let expected = "\
new/SKILL.md: would be mended [missing-name]
    + name: new
pdf/SKILL.md: would be mended [invisible-character, name-differs]
    - name: x
    + name: pdf
    - a\\u{200b}b
    + ab
";
    assert!(said.text.starts_with(expected), "{}", said.text);
    assert!(said.text.ends_with("\n2 skills: 0 errors, 3 warnings\n"), "{}", said.text);
    assert!(read(folder.path(), "pdf/SKILL.md").contains("name: x"));
    let json = told(fix(folder.path()).arg("--dry-run").arg("--json"));
    let report: Value = serde_json::from_str(&json.text).unwrap();
    assert_eq!(report["mended"][0]["changes"], json!(["+ name: new"]));
    assert_eq!(report["mended"][0]["written"], false);
}

#[test]
fn what_is_silenced_is_not_mended() {
    let text = "---\nname: x\ndescription: d\n---\na\u{200b}b <!-- skillcell-lint allow: invisible-character -->\n";
    let folder = library(&[("pdf/SKILL.md", text)]);
    let said = told(fix(folder.path()).arg("--allow=name-differs"));
    assert_eq!(said.text, "1 skill: no problems, 2 silenced\n");
    assert_eq!(read(folder.path(), "pdf/SKILL.md"), text);
}

#[test]
fn links_and_read_only_files_stay_as_they_are() {
    let text = "---\nname: x\ndescription: d\n---\n";
    let folder = library(&[("skills/real/SKILL.md", text), ("skills/fixed/SKILL.md", text), ("outside.md", text)]);
    let place = |path: &str| folder.path().join("skills").join(path);
    for name in ["inner", "outer"] {
        std::fs::create_dir(place(name)).unwrap();
    }
    symlink("../real/SKILL.md", place("inner/SKILL.md")).unwrap();
    symlink("../../outside.md", place("outer/SKILL.md")).unwrap();
    std::fs::set_permissions(place("fixed/SKILL.md"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let said = told(lint("skills").arg("--fix").folder(folder.path()));
    let lines: Vec<&str> = said.text.lines().take(4).collect();
    assert_eq!(
        lines,
        [
            "skills/fixed/SKILL.md: not mended: it is read-only; let yourself write it, as with `chmod u+w`",
            "skills/inner/SKILL.md: not mended: it is a link; mend the file that it leads to",
            "skills/real/SKILL.md: mended [name-differs]",
            "",
        ],
        "{}",
        said.text
    );
    assert_eq!(read(folder.path(), "outside.md"), text, "nothing outside the root is touched");
    assert_eq!(read(folder.path(), "skills/fixed/SKILL.md"), text);
    assert!(place("inner/SKILL.md").symlink_metadata().unwrap().is_symlink());
    assert_eq!(mode(&place("fixed/SKILL.md")), 0o444);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = library(&[("pdf/SKILL.md", "---\nname: x\ndescription: d\n---\n")]);
    for (path, mode) in [("", 0o755), ("pdf", 0o555), ("pdf/SKILL.md", 0o644)] {
        std::fs::set_permissions(folder.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // Somebody who owns neither the folder nor the file.
    let said = told(fix(folder.path()).unprivileged());
    std::fs::set_permissions(folder.path().join("pdf"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(said.text.starts_with("pdf/SKILL.md: not mended: it "), "{} {}", said.text, said.log);
    assert!(read(folder.path(), "pdf/SKILL.md").contains("name: x"));
    assert_eq!(files_below(folder.path()).len(), 1);
}

#[test]
fn ten_thousand_edits_are_made_at_once() {
    let text = |between: &str| format!("---\nname: pdf\ndescription: d\n---\n{}\n", vec!["word"; 10_001].join(between));
    let folder = library(&[("pdf/SKILL.md", &text(" \u{200b}"))]);
    let said = told(fix(folder.path()));
    assert!(said.text.starts_with("pdf/SKILL.md: mended [invisible-character]\n"), "{:.500}", said.text);
    assert_eq!(read(folder.path(), "pdf/SKILL.md"), text(" "));
}

#[test]
fn code_scanning_gets_no_mended_files() {
    let said = told(Launch::bare(SKILLCELL).arg("lint").arg("--fix").arg("--sarif"));
    assert_eq!((said.code, said.text.as_str()), (Some(2), ""), "{}", said.log);
}
