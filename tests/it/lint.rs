//! `skillcell lint`: problems in the files of skills, for their authors.

mod checks;
mod fix;
mod sarif;
mod allow;

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, repository};
use std::ffi::OsStr;
use std::path::Path;

/// Every kind of mention: a tool of ours, one under another server's name, an unknown one, and another server's.
const MENTIONS: [(&str, &str); 3] = [
    (
        "deploy/SKILL.md",
        "---\nname: deploy\ndescription: Deploy\nallowed-tools: Read, mcp__skillcell__query\n---\n\
         Ask `mcp__skillcell__query`, then `mcp__skillcell__qery` and mcp__sx__query.\n",
    ),
    (
        "review.md",
        "---\nkeywords: [review]\ndescription: Review\n---\n```\nmcp__github__get_issue\n```\n/mcp__github__a_prompt\n",
    ),
    ("notes.md", "No skill, so `mcp__skillcell__nothing` is nobody's.\n"),
];

const BROKEN: [(&str, &str); 4] = [
    ("b/SKILL.md", "no front matter\n"),
    ("a/SKILL.md", "---\nname: other\ndescription: d\n---\n"),
    ("c.md", "---\nkeywords: x\ndescription: d\n---\n"),
    ("fine/SKILL.md", "---\nname: fine\ndescription: Works all the same\n---\n"),
];

struct Outcome {
    code: Option<i32>,
    text: String,
    log: String,
}

fn run(launch: Launch) -> Outcome {
    let output = launch.output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    Outcome { code: output.status.code(), text: text(&output.stdout), log: text(&output.stderr) }
}

fn lint(folder: impl AsRef<OsStr>) -> Launch {
    Launch::bare(SKILLCELL).arg("lint").arg(folder)
}

fn report(folder: &Path, config: &str) -> (Value, Option<i32>) {
    let outcome = run(lint(folder).arg("--json").config(config));
    let report =
        serde_json::from_str(&outcome.text).unwrap_or_else(|_| panic!("no JSON: {} {}", outcome.text, outcome.log));
    (report, outcome.code)
}

#[test]
fn fields_below_metadata_are_clean_and_work_as_text_and_as_maps() {
    let head =
        |name: &str| format!("---\nname: {name}\ndescription: Counts the words of a text. Use for statistics.\n");
    let as_text = "metadata:\n  keywords: 'words, count'\n  priority: '5'\n  inherit: 'false'\n  assets: data.csv\n  scripts: |\n    - file: run.sh\n      execution: server\n      description: Counts\n      args: [{name: text}]\n";
    let as_map = "metadata:\n  keywords: [words, count]\n  priority: 5\n  inherit: false\n  assets: [data.csv]\n  scripts:\n    - file: run.sh\n      execution: server\n      description: Counts\n      args: [{name: text}]\n";
    let body = "---\n\nRun `run.sh`, see `data.csv`.\n";
    let folder = library(&[
        ("one/SKILL.md", &format!("{}{as_text}{body}", head("one"))),
        ("two/SKILL.md", &format!("{}{as_map}{body}", head("two"))),
        ("one/run.sh", "wc -w <<< \"$SKILL_ARG_TEXT\"\n"),
        ("two/run.sh", "wc -w <<< \"$SKILL_ARG_TEXT\"\n"),
        ("one/data.csv", "a\n"),
        ("two/data.csv", "a\n"),
    ]);
    let outcome = run(lint(folder.path()));
    assert_eq!((outcome.code, outcome.text.trim()), (Some(0), "2 skills: no problems"), "{}", outcome.log);
    let mut session = serve(folder.path()).start();
    for skill in ["one", "two"] {
        let call = json!({"skill_path": skill, "file": "run.sh", "args": {"text": "a b c"}});
        assert_eq!(session.call_json("run_script", call)["stdout"], "3\n", "{skill}");
        let missing = session.call("run_script", json!({"skill_path": skill, "file": "run.sh", "args": {}}));
        assert_eq!(missing["isError"], true, "the declaration counts: {missing}");
        let served = session.call_json("get_skill", json!({"context": "count words", "skill_path": skill}));
        assert_eq!(served["assets"][0]["file"], "data.csv", "{served}");
    }
}

#[test]
fn the_bundled_library_and_an_empty_one_have_no_problems() {
    let empty = library(&[]);
    for (folder, skills) in [(repository().join("fixtures/skills"), 18), (empty.path().to_owned(), 0)] {
        let outcome = run(lint(&folder));
        assert_eq!(
            (outcome.code, outcome.text.as_str()),
            (Some(0), format!("{skills} skills: no problems\n").as_str())
        );
        assert_eq!(outcome.log, "", "only the report is printed");
        let expected =
            json!({"skills": skills, "errors": 0, "warnings": 0, "problems": [], "silenced": [], "mentions": []});
        assert_eq!(report(&folder, ""), (expected, Some(0)));
    }
}

#[test]
fn problems_are_reported_by_file_and_line_with_advice() {
    let folder = library(&BROKEN);
    let outcome = run(lint(".").folder(folder.path()));
    let lines: Vec<&str> = outcome.text.lines().collect();
    assert_eq!(outcome.code, Some(1), "{}", outcome.text);
    assert!(lines[0].starts_with("a/SKILL.md:2:1: warning: ") && lines[0].ends_with(" [name-differs]"), "{lines:#?}");
    assert_eq!(lines[2], "b/SKILL.md:1:1: error: there is no front matter [no-front-matter]");
    assert_eq!(lines[3], "    begin the file with `---`, a `name:` and a `description:` line, and `---`");
    assert!(lines[4].starts_with("c.md:2:1: error: ") && lines[4].ends_with(" [missing-keywords]"), "{lines:#?}");
    let end = ["2 skills: 2 errors, 1 warning", "`--fix` fixes 2 of them; `--fix --dry-run` shows how"];
    assert_eq!(lines[lines.len() - 2..], end, "{lines:#?}");

    let (report, code) = report(folder.path(), "");
    assert_eq!((code, &report["errors"], &report["warnings"]), (Some(1), &json!(2), &json!(1)), "{report:#}");
    let file = folder.path().join("b/SKILL.md");
    let problem = json!({
        "file": file, "line": 1, "column": 1, "severity": "error", "code": "no-front-matter", "message": "there is no front matter",
        "advice": "begin the file with `---`, a `name:` and a `description:` line, and `---`",
        "root": folder.path().file_name().unwrap().to_str(),
    });
    assert_eq!(report["problems"][1], problem, "{report:#}");
}

#[test]
fn warnings_alone_are_not_a_failure() {
    let folder = library(&BROKEN[1..2]);
    let outcome = run(lint(folder.path()));
    assert_eq!(outcome.code, Some(0), "{}", outcome.text);
    assert!(outcome.text.contains("\n1 skill: 0 errors, 1 warning\n"), "{}", outcome.text);
    let denied = run(lint(folder.path()).arg("--deny").arg("warnings"));
    assert_eq!((denied.code, denied.text), (Some(1), outcome.text));
}

#[test]
fn mentioned_tools_are_reported_with_whether_they_are_offered() {
    let folder = library(&MENTIONS);
    let outcome = run(lint(".").folder(folder.path()));
    let expected = "\
deploy/SKILL.md:6:36: warning: skillcell has no tool `qery` [unknown-tool]
    close names are `mcp__skillcell__query`

tools that skills mention:
  deploy  mcp__skillcell__query   offered
  deploy  mcp__skillcell__qery    unknown; close names are `mcp__skillcell__query`
  deploy  mcp__sx__query          another server's; this server offers it as `mcp__skillcell__query`
  review  mcp__github__get_issue  another server's; not checked

2 skills: 0 errors, 1 warning
";
    assert_eq!((outcome.code, outcome.text.as_str()), (Some(0), expected));

    let (report, code) = report(folder.path(), "");
    assert_eq!(code, Some(0));
    let deploy = folder.path().join("deploy/SKILL.md");
    let at = |tool: &str, line: u32, column: u32| json!({"skill": "deploy", "tool": tool, "file": deploy, "line": line, "column": column});
    let with = |mut view: Value, more: Value| {
        view.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        view
    };
    let ours = "mcp__skillcell__query";
    let expected = [
        with(at(ours, 4, 22), json!({"offer": "offered"})),
        with(at("mcp__skillcell__qery", 6, 36), json!({"offer": "unknown", "close": [ours]})),
        with(at("mcp__sx__query", 6, 62), json!({"offer": "offered-as", "name": ours})),
    ];
    assert_eq!(report["mentions"].as_array().unwrap()[..3], expected, "{report:#}");
    let last = &report["mentions"][3];
    assert_eq!((&last["tool"], &last["offer"]), (&json!("mcp__github__get_issue"), &json!("elsewhere")));
    let problem = &report["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["line"], &problem["column"]),
        (&json!("unknown-tool"), &json!(6), &json!(36))
    );
}

#[test]
fn a_tool_that_the_operator_disables_is_not_offered() {
    let folder = library(&MENTIONS);
    let (report, code) = report(folder.path(), "tools: [skill]\n");
    assert_eq!(code, Some(0));
    assert_eq!(
        (&report["problems"][0]["code"], &report["mentions"][0]["offer"]),
        (&json!("tool-left-out"), &json!("left-out"))
    );
    assert_eq!(report["mentions"][2]["offer"], "elsewhere", "{report:#}");
}

#[test]
fn the_documentation_lists_every_tool_by_its_full_name() {
    let text = std::fs::read_to_string(repository().join("docs/tools.md")).unwrap();
    let empty = library(&[]);
    let mut session = serve(empty.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").start();
    let listed = session.request("tools/list", json!({}));
    let mut offered: Vec<String> = (listed["result"]["tools"].as_array().unwrap().iter())
        .map(|tool| format!("mcp__skillcell__{}", tool["name"].as_str().unwrap()))
        .collect();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let mut named: Vec<String> = rows.map(|(name, _)| name.to_owned()).collect();
    offered.sort();
    named.sort();
    assert_eq!(named, offered);
}

#[test]
fn wrong_usage_is_reported_and_nothing_is_checked() {
    let folder = library(&MENTIONS);
    for (argument, part) in [
        ("./typo", "there is no folder `./typo`"),
        ("--nonsense", "unexpected argument"),
        ("--dry-run", "--fix"),
        ("--deny=everything", "invalid value"),
    ] {
        let outcome = run(lint(argument).folder(folder.path()));
        assert_eq!((outcome.code, outcome.text.as_str()), (Some(2), ""), "{argument}");
        assert!(outcome.log.contains(part), "{}", outcome.log);
    }
    for (file, hint) in
        [("deploy/SKILL.md", "hint: `skillcell lint deploy`"), ("review.md", "hint: `skillcell lint .`")]
    {
        let outcome = run(lint(file).folder(folder.path()));
        assert_eq!((outcome.code, outcome.text.as_str()), (Some(2), ""), "{file}");
        assert!(outcome.log.contains(&format!("`{file}` is a file")) && outcome.log.contains(hint), "{}", outcome.log);
    }
    let empty = library(&[]);
    let outcome = run(Launch::bare(SKILLCELL).arg("lint").folder(empty.path()));
    assert_eq!(outcome.code, Some(2), "{}", outcome.text);
    assert!(outcome.log.contains("no folder of skills"), "{}", outcome.log);
}

#[test]
fn file_names_cannot_break_lines_or_hide_output() {
    let folder = library(&[("x\n0 skills: no problems\u{1b}[2J/SKILL.md", "no front matter\n")]);
    let outcome = run(lint(folder.path()));
    assert_eq!((outcome.code, outcome.text.lines().count()), (Some(1), 4), "{}", outcome.text);
    assert!(!outcome.text.contains('\u{1b}'), "{:?}", outcome.text);
}
