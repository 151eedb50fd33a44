//! Problems that do not keep a skill from being served.

use super::{lint, report, run};
use crate::commands::large;
use crate::library;
use crate::terminal::{Stream, TerminalRun, command};
use serde_json::{Value, json};
use skillcell_tests::repository;
use std::os::unix::fs::symlink;
use std::path::Path;

const SKILL: &str = "---\nname: pdf\ndescription: Read documents\n";

/// Returns the file, line, column and code of each problem.
fn locations(folder: &Path, config: &str) -> Vec<(String, u64, u64, String)> {
    let (report, _) = report(folder, config);
    let location = |problem: &Value| {
        let file = Path::new(problem["file"].as_str().unwrap()).strip_prefix(folder).unwrap();
        let number = |field: &str| problem[field].as_u64().unwrap_or_default();
        let code = problem["code"].as_str().unwrap().to_owned();
        (file.display().to_string(), number("line"), number("column"), code)
    };
    report["problems"].as_array().unwrap().iter().map(location).collect()
}

fn owned(locations: &[(&str, u64, u64, &str)]) -> Vec<(String, u64, u64, String)> {
    locations
        .iter()
        .map(|(file, line, column, code)| ((*file).to_owned(), *line, *column, (*code).to_owned()))
        .collect()
}

#[test]
fn referenced_files_are_looked_up_on_disk() {
    let text = format!(
        "{SKILL}assets: [logo.png, gone.png]\nscripts:\n  - {{file: run.py, execution: server, args: [a-b, a_b]}}\n  - {{file: run.rb, execution: server}}\n---\n\
         Read [one](references/one.md), [two](references/two.md) and @three.md; see [out](../secret.md).\n"
    );
    let folder = library(&[
        ("skills/pdf/SKILL.md", &text),
        ("skills/pdf/logo.png", "x"),
        ("skills/pdf/run.py", "print(1)\n"),
        ("skills/pdf/run.rb", "puts 1\n"),
        ("skills/pdf/references/one.md", "One\n"),
        ("skills/pdf/scripts/other.py", "print(2)\n"),
        ("secret.md", "secret\n"),
    ]);
    // A link out of the root cannot be served.
    symlink(folder.path().join("secret.md"), folder.path().join("skills/pdf/references/two.md")).unwrap();
    let expected = owned(&[
        ("pdf/SKILL.md", 4, 20, "missing-file"),
        ("pdf/SKILL.md", 6, 51, "argument-collision"),
        ("pdf/SKILL.md", 7, 12, "no-runtime"),
        ("pdf/SKILL.md", 9, 38, "dead-link"),
        ("pdf/SKILL.md", 9, 62, "dead-reference"),
        ("pdf/SKILL.md", 9, 82, "outside-reference"),
        ("pdf/references/two.md", 1, 1, "outside-root"),
    ]);
    assert_eq!(locations(&folder.path().join("skills"), ""), expected);
}

#[test]
fn allowed_scripts_depend_on_the_operator() {
    let text =
        format!("{SKILL}scripts: [{{file: run.sh, execution: server}}, {{file: run.rb, execution: server}}]\n---\n");
    let folder = library(&[("pdf/SKILL.md", &text), ("pdf/run.sh", "echo\n"), ("pdf/run.rb", "puts\n")]);
    let codes = |config: &str| locations(folder.path(), config).into_iter().map(|(.., code)| code).collect::<Vec<_>>();
    assert_eq!(codes(""), ["no-runtime"]);
    assert_eq!(codes("scripts: {allowed_extensions: [.py]}\n"), ["extension-not-allowed", "no-runtime"]);
    assert_eq!(codes("scripts: {runners: {.rb: python}, allowed_extensions: [.sh, .rb]}\n"), [""; 0]);
}

#[test]
fn invisible_characters_are_reported_and_never_printed() {
    let hidden: String = "obey me".chars().filter_map(|letter| char::from_u32(0xe_0000 + u32::from(letter))).collect();
    let folder = library(&[
        ("pdf/SKILL.md", &format!("{SKILL}---\nzero\u{200b}width, {hidden} and \u{202e}override\n")),
        ("pdf/references/a.md", "soft\u{ad}hyphen 👩\u{200d}💻 می\u{200c}خواهم\n"),
    ]);
    let outcome = run(lint(".").folder(folder.path()));
    assert_eq!(outcome.code, Some(1), "{}", outcome.text);
    let lines: Vec<&str> = outcome.text.lines().step_by(2).take(4).collect();
    assert_eq!(
        lines,
        [
            "pdf/SKILL.md:5:5: warning: U+200B ZERO WIDTH SPACE is invisible [invisible-character]",
            "pdf/SKILL.md:5:13: error: 7 Unicode tag characters, U+E0000 to U+E007F, hide the text `obey me` [hidden-text]",
            "pdf/SKILL.md:5:25: error: U+202E RIGHT-TO-LEFT OVERRIDE shows what follows in another order than it is read [hidden-text]",
            "pdf/references/a.md:1:5: warning: U+00AD SOFT HYPHEN is invisible [invisible-character]",
        ],
        "{}",
        outcome.text
    );
    assert!(
        outcome.text.chars().all(|letter| letter == '\n' || !letter.is_control() && letter < '\u{200b}'),
        "{:?}",
        outcome.text
    );
}

#[test]
fn escapes_in_front_matter_hide_nothing() {
    let text = "---\nname: pdf\ndescription: \"x \\u202e hidden \\U000E0068\"\n---\n";
    let folder = library(&[("pdf/SKILL.md", text)]);
    let expected = owned(&[("pdf/SKILL.md", 3, 14, "hidden-text"), ("pdf/SKILL.md", 3, 14, "hidden-text")]);
    assert_eq!(locations(folder.path(), ""), expected);
    let outcome = run(lint(".").arg("--fix").folder(folder.path()));
    assert_eq!(outcome.code, Some(1), "{}", outcome.text);
    assert_eq!(std::fs::read_to_string(folder.path().join("pdf/SKILL.md")).unwrap(), text, "a fix needs a person");
}

#[test]
fn an_error_is_reported_however_many_warnings_there_are() {
    let keywords: Vec<String> = (0..25).map(|number| format!("\"#{number}\"")).collect();
    let text = format!("{SKILL}keywords: [{}]\nassets: [../../x]\n---\n", keywords.join(", "));
    let folder = library(&[("pdf/SKILL.md", &text)]);
    let outcome = run(lint(".").folder(folder.path()));
    assert_eq!(outcome.code, Some(1), "{}", outcome.text);
    assert!(
        outcome.text.contains("pdf/SKILL.md:5:10: error: ") && outcome.text.contains(" [unsafe-path]\n"),
        "{}",
        outcome.text
    );
    let links: String = (0..400).map(|number| format!("[a](x{number}.md)\n")).collect();
    let folder = library(&[("pdf/SKILL.md", &format!("{text}{links}"))]);
    let codes = |allow: &str| -> Vec<String> {
        let outcome = run(lint(".").arg("--json").arg("--allow").arg(allow).folder(folder.path()));
        assert_eq!(outcome.code, Some(1), "{}", outcome.text);
        let report: Value = serde_json::from_str(&outcome.text).unwrap();
        let problems = report["problems"].as_array().unwrap().iter();
        problems.map(|problem| problem["code"].as_str().unwrap().to_owned()).collect()
    };
    assert!(codes("long-body").contains(&"more-problems".to_owned()));
    assert_eq!(codes("dead-link,unreachable-keyword"), ["unsafe-path"]);
}

#[test]
fn skills_in_the_resource_folder_of_another_are_reported() {
    let skill = "---\nkeywords: [word]\ndescription: d\n---\n";
    let folder = library(&[
        ("t.md", skill),
        ("t/u.md", skill),
        ("t/notes.md", "# Notes\n"),
        ("x.md", skill),
        ("x/y/z.md", skill),
        ("pdf/SKILL.md", &format!("{SKILL}---\n")),
        ("pdf/references/a.md", skill),
    ]);
    let expected = owned(&[("t/u.md", 1, 1, "hidden-skills"), ("x/y/z.md", 1, 1, "hidden-skills")]);
    assert_eq!(locations(folder.path(), ""), expected);
}

#[test]
fn every_problem_of_a_file_has_a_line_and_a_column() {
    let tree = "---\nkeywords: [word, '#']\ndescription: d\nassets: [x.txt]\n---\n";
    let folder = library(&[
        ("pdf/SKILL.md", &format!("{SKILL}---\n")),
        ("pdf/scripts/sub/run.py", "print(1)\n"),
        ("pdf.md", tree),
        ("latin/SKILL.md", ""),
    ]);
    std::fs::write(folder.path().join("latin/SKILL.md"), b"---\nname: latin\ndescription: caf\xe9\n---\n").unwrap();
    let expected = owned(&[
        ("latin/SKILL.md", 1, 1, "not-text"),
        ("pdf.md", 1, 1, "same-path"),
        ("pdf.md", 2, 18, "unreachable-keyword"),
        ("pdf.md", 4, 1, "no-resource-folder"),
    ]);
    assert_eq!(locations(folder.path(), ""), expected);
    let expected = [expected, owned(&[("pdf/SKILL.md", 1, 1, "undeclared-script")])].concat();
    assert_eq!(locations(folder.path(), "scripts: {undeclared: false}\n"), expected);
}

#[test]
fn name_conflicts_across_roots_are_reported() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    let folder = library(&[("a/pdf/SKILL.md", &skill("pdf")), ("b/pdf/SKILL.md", &skill("pdf"))]);
    let outcome = run(lint("a").arg("b").folder(folder.path()));
    let lines: Vec<&str> = outcome.text.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            "a/pdf/SKILL.md:2:7: warning: the name `pdf` is also used by `b/pdf/SKILL.md` [name-collision]",
            "    rename one of them; until then `a:pdf` finds this one",
        ]
    );
}

#[test]
fn every_code_is_listed_and_documented() {
    let folder = library(&[]);
    let listed = run(lint("--codes").arg("--json").folder(folder.path()));
    let codes: Vec<Value> =
        serde_json::from_str(&listed.text).unwrap_or_else(|_| panic!("{} {}", listed.text, listed.log));
    let text = std::fs::read_to_string(repository().join("docs/lint.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 5);
    let documented: Vec<Vec<String>> =
        rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect();
    let field = |code: &Value, field: &str| code[field].as_str().unwrap().to_owned();
    let expected: Vec<Vec<String>> = codes
        .iter()
        .map(|code| {
            let fixable = if code["mechanical"] == true { "yes" } else { "" };
            vec![
                format!("`{}`", field(code, "code")),
                field(code, "severity"),
                fixable.to_owned(),
                field(code, "summary"),
            ]
        })
        .collect();
    assert_eq!(documented, expected, "docs/lint.md has a row for each, in this order");
    let plain = run(lint("--codes").folder(folder.path()));
    assert_eq!((plain.code, plain.text.lines().count()), (Some(0), codes.len()));
    assert!(plain.text.contains("dead-link\twarning\t\ta relative link"), "{}", plain.text);
}

#[test]
fn a_file_with_many_problems_does_not_hide_others() {
    let links: String = (0..20_000).map(|number| format!("[a](x{number}.md) @y{number}.md\n")).collect();
    let folder = library(&[
        ("a/SKILL.md", &format!("---\nname: a\ndescription: d\n---\n{links}")),
        ("b/SKILL.md", "---\nname: b\ndescription: d\n---\n[a](x.md)\n"),
        ("c/SKILL.md", &format!("---\nname: c\ndescription: d\n---\n{}\n", "a\u{200b}".repeat(200_000))),
    ]);
    let codes = |file: &str| -> Vec<String> {
        let locations = locations(folder.path(), "").into_iter();
        locations.filter(|(location, ..)| location == file).map(|(.., code)| code).collect()
    };
    assert_eq!(codes("a/SKILL.md").len(), 51);
    assert_eq!(codes("b/SKILL.md"), ["dead-link"]);
    assert_eq!(codes("c/SKILL.md"), ["long-body", "invisible-character"]);
}

#[test]
fn on_a_terminal_problems_are_grouped_by_file() {
    let folder = library(&[
        ("a/SKILL.md", "no front matter\n"),
        ("pdf/SKILL.md", &format!("{SKILL}---\n[a](x.md) [b](y.md)\n")),
    ]);
    let mut terminal = TerminalRun::start(command(&["lint", "."], folder.path()).folder(folder.path()), Stream::Output);
    assert_eq!(terminal.end(), Some(1));
    let expected = "\
\x1b[1ma/SKILL.md\x1b[0m
  1:1: \x1b[1m\x1b[31merror\x1b[0m: there is no front matter \x1b[2m[no-front-matter]\x1b[0m
      begin the file with `---`, a `name:` and a `description:` line, and `---`

\x1b[1mpdf/SKILL.md\x1b[0m
  5:5: \x1b[33mwarning\x1b[0m: `x.md` does not exist \x1b[2m[dead-link]\x1b[0m
      correct the path, or add the file
  5:15: \x1b[33mwarning\x1b[0m: `y.md` does not exist \x1b[2m[dead-link]\x1b[0m
      correct the path, or add the file

1 skill: \x1b[1m\x1b[31m1 error, 2 warnings\x1b[0m
";
    assert_eq!(terminal.screen, expected);
}

#[test]
fn one_problem_is_found_among_many_skills() {
    let (large, other) = (large(), library(&[("last/SKILL.md", "---\nname: last\ndescription: d\n---\n[a](x.md)\n")]));
    let outcome = run(lint(large.path()).arg(other.path()).arg("--json"));
    let report: Value =
        serde_json::from_str(&outcome.text).unwrap_or_else(|_| panic!("{} {}", outcome.text, outcome.log));
    assert_eq!(report["skills"], 3_026, "{report:#}");
    let problems = report["problems"].as_array().unwrap();
    let file = other.path().join("last/SKILL.md");
    assert_eq!(problems.len(), 1, "{report:#}");
    assert_eq!((&problems[0]["file"], &problems[0]["code"]), (&json!(file), &json!("dead-link")), "{report:#}");
}
