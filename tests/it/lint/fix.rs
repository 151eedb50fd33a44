//! `lint --fix` fixes mechanical problems, and changes nothing else.

use super::{lint, run};
use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, files_below};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Everything that can be fixed, with Windows line ends.
const UNFIXED: &str = "\u{feff}---\r\nname: Bad Name\r\ndescription: Use it: it's good\r\nkeywords: api, web\r\n---\r\nzero\u{200b}width  \r\n[a](x.md)\r\n";
const FIXED: &str = "---\r\nname: pdf\r\ndescription: 'Use it: it''s good'\r\nkeywords: [api, web]\r\n---\r\nzerowidth  \r\n[a](x.md)\r\n";

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
fn mechanical_problems_are_fixed_and_the_others_are_reported() {
    let folder =
        library(&[("pdf/SKILL.md", UNFIXED), ("new/SKILL.md", "---\ndescription: d\n---\n"), ("fine.md", "text\n")]);
    std::fs::set_permissions(folder.path().join("pdf/SKILL.md"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let outcome = run(fix(folder.path()));
    assert_eq!(read(folder.path(), "pdf/SKILL.md"), FIXED);
    assert_eq!(read(folder.path(), "new/SKILL.md"), "---\nname: new\ndescription: d\n---\n");
    let expected = "\
new/SKILL.md: fixed [missing-name]
pdf/SKILL.md: fixed [bad-name, bad-yaml, byte-order-mark, invisible-character, wrong-type]

pdf/SKILL.md:7:5: warning: `x.md` does not exist [dead-link]
    correct the path, or add the file

2 skills: 0 errors, 1 warning
";
    assert_eq!((outcome.code, outcome.text.as_str()), (Some(0), expected));
    assert_eq!(mode(&folder.path().join("pdf/SKILL.md")), 0o640);
    assert_eq!(files_below(folder.path()).len(), 3, "no temporary files are left");
    let again = run(fix(folder.path()).arg("--json"));
    let report: Value = serde_json::from_str(&again.text).unwrap();
    assert_eq!(report.get("mended"), None, "{report:#}");
}

#[test]
fn fixes_do_not_change_keywords() {
    let list = |keywords: &str| format!("---\nkeywords: {keywords}\ndescription: Use when: shipping\n---\n");
    let fixed = |keywords: &str| format!("---\nkeywords: {keywords}\ndescription: 'Use when: shipping'\n---\n");
    for (before, after) in [
        (list("[deploy, release"), list("[deploy, release")),
        (list("foo, \"q\""), fixed("[foo, q]")),
        (list("deploy, null, 12, Yes"), fixed("[deploy, \"null\", \"12\", \"Yes\"]")),
    ] {
        let folder = library(&[("a.md", &before)]);
        let outcome = run(fix(folder.path()));
        assert_eq!(read(folder.path(), "a.md"), after, "{}", outcome.text);
        assert!(!outcome.text.contains("wrong-type]\n    "), "{}", outcome.text);
    }
}

#[test]
fn a_fixed_error_no_longer_counts() {
    let folder = library(&[("a.md", "---\nkeywords: api, web\ndescription: d\n---\n")]);
    assert_eq!(run(lint(folder.path())).code, Some(1));
    let outcome = run(fix(folder.path()));
    assert_eq!(
        (outcome.code, outcome.text.lines().last()),
        (Some(0), Some("1 skill: no problems")),
        "{}",
        outcome.text
    );
    assert_eq!(read(folder.path(), "a.md"), "---\nkeywords: [api, web]\ndescription: d\n---\n");
}

#[test]
fn a_dry_run_shows_the_changes_and_makes_none() {
    let folder = library(&[
        ("pdf/SKILL.md", "---\nname: x\ndescription: d\n---\na\u{200b}b\n"),
        ("new/SKILL.md", "---\ndescription: d\n---\n"),
    ]);
    let outcome = run(fix(folder.path()).arg("--dry-run"));
    let expected = "\
new/SKILL.md: would be fixed [missing-name]
    + name: new
pdf/SKILL.md: would be fixed [invisible-character, name-differs]
    - name: x
    + name: pdf
    - a\\u{200b}b
    + ab
";
    assert!(outcome.text.starts_with(expected), "{}", outcome.text);
    assert!(outcome.text.ends_with("\n2 skills: 0 errors, 3 warnings\n"), "{}", outcome.text);
    assert!(read(folder.path(), "pdf/SKILL.md").contains("name: x"));
    let json = run(fix(folder.path()).arg("--dry-run").arg("--json"));
    let report: Value = serde_json::from_str(&json.text).unwrap();
    assert_eq!(report["mended"][0]["changes"], json!(["+ name: new"]));
    assert_eq!(report["mended"][0]["written"], false);
}

#[test]
fn silenced_problems_are_not_fixed() {
    let text = "---\nname: x\ndescription: d\n---\na\u{200b}b <!-- skillcell-lint allow: invisible-character -->\n";
    let folder = library(&[("pdf/SKILL.md", text)]);
    let outcome = run(fix(folder.path()).arg("--allow=name-differs"));
    assert_eq!(outcome.text, "1 skill: no problems, 2 silenced\n");
    assert_eq!(read(folder.path(), "pdf/SKILL.md"), text);
}

#[test]
fn links_and_read_only_files_are_not_changed() {
    let text = "---\nname: x\ndescription: d\n---\n";
    let folder = library(&[("skills/real/SKILL.md", text), ("skills/fixed/SKILL.md", text), ("outside.md", text)]);
    let path_of = |path: &str| folder.path().join("skills").join(path);
    for name in ["inner", "outer"] {
        std::fs::create_dir(path_of(name)).unwrap();
    }
    symlink("../real/SKILL.md", path_of("inner/SKILL.md")).unwrap();
    symlink("../../outside.md", path_of("outer/SKILL.md")).unwrap();
    std::fs::set_permissions(path_of("fixed/SKILL.md"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let outcome = run(lint("skills").arg("--fix").folder(folder.path()));
    let lines: Vec<&str> = outcome.text.lines().take(4).collect();
    assert_eq!(
        lines,
        [
            "skills/fixed/SKILL.md: not fixed: it is read-only; make it writable, as with `chmod u+w`",
            "skills/inner/SKILL.md: not fixed: it is a link; fix the file it points to",
            "skills/real/SKILL.md: fixed [name-differs]",
            "",
        ],
        "{}",
        outcome.text
    );
    assert_eq!(read(folder.path(), "outside.md"), text, "nothing outside the root is touched");
    assert_eq!(read(folder.path(), "skills/fixed/SKILL.md"), text);
    assert!(path_of("inner/SKILL.md").symlink_metadata().unwrap().is_symlink());
    assert_eq!(mode(&path_of("fixed/SKILL.md")), 0o444);
}

#[test]
fn hidden_files_are_not_changed_through_linked_folders() {
    let text = "---\nname: x\ndescription: d\n---\n";
    let folder = library(&[("skills/.private/SKILL.md", text), ("skills/real/SKILL.md", text)]);
    let path_of = |path: &str| folder.path().join("skills").join(path);
    symlink(".private", path_of("notes")).unwrap();
    let outcome = run(lint("skills").arg("--fix").folder(folder.path()));
    assert_eq!(read(folder.path(), "skills/.private/SKILL.md"), text, "{}", outcome.text);
    assert!(read(folder.path(), "skills/real/SKILL.md").contains("name: real"), "{}", outcome.text);
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let folder = library(&[("pdf/SKILL.md", "---\nname: x\ndescription: d\n---\n")]);
    for (path, mode) in [("", 0o755), ("pdf", 0o555), ("pdf/SKILL.md", 0o644)] {
        std::fs::set_permissions(folder.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // As a user who owns neither the folder nor the file.
    let outcome = run(fix(folder.path()).unprivileged());
    std::fs::set_permissions(folder.path().join("pdf"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(outcome.text.starts_with("pdf/SKILL.md: not fixed: it "), "{} {}", outcome.text, outcome.log);
    assert!(read(folder.path(), "pdf/SKILL.md").contains("name: x"));
    assert_eq!(files_below(folder.path()).len(), 1);
}

#[test]
fn ten_thousand_edits_are_made_in_one_pass() {
    let text = |between: &str| format!("---\nname: pdf\ndescription: d\n---\n{}\n", vec!["word"; 10_001].join(between));
    let folder = library(&[("pdf/SKILL.md", &text(" \u{200b}"))]);
    let outcome = run(fix(folder.path()));
    assert!(outcome.text.starts_with("pdf/SKILL.md: fixed [invisible-character]\n"), "{:.500}", outcome.text);
    assert_eq!(read(folder.path(), "pdf/SKILL.md"), text(" "));
}

#[test]
fn fix_cannot_be_combined_with_sarif() {
    let outcome = run(Launch::bare(SKILLCELL).arg("lint").arg("--fix").arg("--sarif"));
    assert_eq!((outcome.code, outcome.text.as_str()), (Some(2), ""), "{}", outcome.log);
}
