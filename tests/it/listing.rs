//! `skillcell list`, `search` and `show`: what models see of skills, for people and programs.

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, repository};
use std::path::Path;
use std::process::Output;

const SKILLS: [(&str, &str); 4] = [
    ("_root.md", "---\nkeywords: [everything]\ndescription: All\n---\nHouse rules.\n"),
    ("ui/login.md", "---\nkeywords: [login, form]\ndescription: Sign-in screens\n---\nAsk for a password.\n"),
    ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\nUse the reader for forms.\n"),
    ("bad/SKILL.md", "no front matter\n"),
];

fn command(folder: &Path, arguments: &[&str]) -> Launch {
    let launch = Launch::bare(SKILLCELL).arg(arguments[0]).arg("--root").arg(folder);
    arguments[1..].iter().fold(launch, Launch::arg)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn answer(folder: &Path, arguments: &[&str]) -> Value {
    let output = command(folder, arguments).arg("--json").output();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

/// Returns the exit code, stdout and stderr.
fn parts(output: &Output) -> (Option<i32>, String, String) {
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn json_output_equals_the_answers_to_models() {
    for folder in [library(&SKILLS).path(), &repository().join("fixtures/skills")] {
        let mut session = serve(folder).start();
        assert_eq!(answer(folder, &["list"]), session.call_json("skills_list", json!({})));
        for query in ["the", "reader FORMS", "nothing-has-this"] {
            let served = session.call_json("skills_search", json!({"query": query, "limit": 2}));
            let words: Vec<&str> = query.split(' ').collect();
            let arguments = [&["search", "--limit", "2"][..], &words].concat();
            assert_eq!(answer(folder, &arguments), served, "{query}");
        }
        let list = session.call_json("skills_list", json!({}));
        for skill in list["skills"].as_array().unwrap() {
            let path = skill["skillPath"].as_str().unwrap();
            let mut shown = answer(folder, &["show", path]);
            let file = folder.join(skill["skillFile"].as_str().unwrap());
            assert_eq!(shown["file"].as_str().map(Path::new), Some(file.as_path()), "{path}");
            assert_eq!(shown["text"].as_str(), Some(std::fs::read_to_string(&file).unwrap().as_str()), "{path}");
            for more in ["file", "text"] {
                shown.as_object_mut().unwrap().remove(more);
            }
            assert_eq!(shown, *skill, "{path}");
            let served = session.call_json("get_skill", json!({"context": "", "skill_path": path}));
            assert_eq!(answer(folder, &["show", path, "--aggregated"]), served, "{path}");
        }
    }
}

#[test]
fn a_list_without_a_terminal_has_one_line_per_skill() {
    let folder = library(&SKILLS);
    let (code, out, log) = parts(&command(folder.path(), &["list"]).output());
    let lines: Vec<&str> = out.lines().collect();
    let expected = ["_root\ttree\tAll", "pdf\tfolder\tRead portable documents", "ui/login\ttree\tSign-in screens"];
    assert_eq!(lines, expected);
    assert_eq!((code, log.lines().next()), (Some(0), Some("1 problem in the files of skills")), "{log}");
    let hint = format!("\nhint: `skillcell lint --root {}` lists", folder.path().display());
    assert!(log.contains(&hint), "{log}");
}

#[test]
fn skills_with_the_same_name_are_distinguished() {
    let [first, second] = ["a/pdf/SKILL.md", "b/pdf/SKILL.md"].map(|path| (path, SKILLS[2].1));
    let folder = library(&[first, second]);
    let (_, out, _) = parts(&command(folder.path(), &["list"]).output());
    let names: Vec<&str> = out.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(names.len(), 2, "{out}");
    for name in &names {
        let (code, out, log) = parts(&command(folder.path(), &["show", name]).output());
        assert_eq!((code, out.as_str(), log.as_str()), (Some(0), SKILLS[2].1, ""), "{name}");
    }
    let (code, out, log) = parts(&command(folder.path(), &["show", "pdf"]).output());
    assert_eq!((code, out.as_str()), (Some(1), ""), "{log}");
    assert!(log.starts_with("error: several skills are called `pdf`: "), "{log}");
    assert!(names.iter().all(|name| log.contains(name)), "{log}");
}

#[test]
fn a_search_prints_each_hit_with_its_excerpt() {
    let folder = library(&SKILLS);
    let (code, out, _) = parts(&command(folder.path(), &["search", "reader", "forms"]).output());
    assert_eq!((code, out.as_str()), (Some(0), "pdf\t2\tUse the reader for forms. \n"));
    let (code, out, log) = parts(&command(folder.path(), &["search", "nothing-has-this"]).output());
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(log.starts_with("no skill has all of these words\nhint: "), "{log}");
    for (arguments, reason) in [
        (&["search"][..], "QUERY"),
        (&["search", " "], "query must contain a word"),
        (&["search", "x", "--limit", "0"], "0 is not in 1..=25"),
        (&["search", "x", "--limit", "26"], "26 is not in 1..=25"),
    ] {
        let (code, out, log) = parts(&command(folder.path(), arguments).output());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(log.contains(reason), "{arguments:?}: {log}");
    }
}

#[test]
fn a_skill_is_shown_verbatim_or_aggregated() {
    let folder = library(&SKILLS);
    let bytes = "\u{feff}---\r\nname: crlf\r\ndescription: d\r\n---\r\n\u{1b}[2J no line end";
    std::fs::create_dir(folder.path().join("crlf")).unwrap();
    std::fs::write(folder.path().join("crlf/SKILL.md"), bytes).unwrap();
    assert_eq!(command(folder.path(), &["show", "crlf"]).output().stdout, bytes.as_bytes());
    for name in ["ui/login", "LOGIN", "login"] {
        let (code, out, log) = parts(&command(folder.path(), &["show", name]).output());
        assert_eq!((code, out.as_str(), log.as_str()), (Some(0), SKILLS[1].1, ""), "{name}");
    }
    let (code, out, _) = parts(&command(folder.path(), &["show", "login", "--aggregated"]).output());
    assert_eq!(code, Some(0));
    assert!(out.starts_with("=== GLOBAL RULES (from _root.md) ===\n\nHouse rules.\n"), "{out}");
    assert!(out.ends_with("\n\nAsk for a password.\n"), "{out}");
}

#[test]
fn an_unknown_name_is_reported_with_a_hint() {
    let folder = library(&SKILLS);
    let hostile = format!("{}\u{1b}[2J\u{202e}\n", "x".repeat(5_000));
    for (name, messages) in [
        ("logn", &["no skill is called `logn`\nhint: close names are `", "login"][..]),
        ("", &["no skill is called ``\nhint: "]),
        ("../../etc/passwd", &["no skill is called `../../etc/passwd`"]),
        ("bad", &["no skill is called `bad`"]),
        (&hostile, &["no skill is called `xxx"]),
    ] {
        for more in [&["--json"][..], &["--aggregated"], &[]] {
            let (code, out, log) = parts(&command(folder.path(), &[&["show", name][..], more].concat()).output());
            assert_eq!((code, out.contains("\"error\": ")), (Some(1), more == ["--json"]), "{name}: {out}");
            assert!(log.starts_with("error: no skill is called `") && !log.contains(['\u{1b}', '\u{202e}']), "{log:?}");
            for part in messages {
                assert!(log.contains(part), "{name}: {log}");
            }
        }
    }
}

#[test]
fn skills_come_from_the_same_folders_as_for_a_server() {
    let folder = library(&[("skills/pdf/SKILL.md", SKILLS[2].1)]);
    let (code, out, _) = parts(&Launch::bare(SKILLCELL).arg("list").folder(folder.path()).output());
    assert_eq!((code, out.as_str()), (Some(0), "pdf\tfolder\tRead portable documents\n"));
    let empty = library(&[]);
    for arguments in [&["list"][..], &["search", "x"], &["show", "x"]] {
        let launch = arguments.iter().fold(Launch::bare(SKILLCELL).folder(empty.path()), Launch::arg);
        let (code, out, log) = parts(&launch.output());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{log}");
        assert!(log.starts_with("error: no folder of skills") && log.contains("\nhint: "), "{log}");
    }
}

#[test]
fn skills_in_hidden_folders_are_counted_and_their_folders_are_named() {
    const HIDDEN: [(&str, &str); 6] = [
        ("a/SKILL.md", "---\nname: a\ndescription: d\n---\n"),
        ("skills/.curated/b/SKILL.md", "---\nname: b\ndescription: d\n---\n"),
        ("skills/.curated/c/d/SKILL.md", "---\nname: d\ndescription: d\n---\n"),
        ("x/.system/e/SKILL.md", "---\nname: e\ndescription: d\n---\n"),
        (".notes/readme.md", "# Not a skill\n"),
        (".git/f/SKILL.md", "---\nname: f\ndescription: d\n---\n"),
    ];
    let folder = library(&HIDDEN);
    let at = |path: &str| folder.path().join(path).display().to_string();
    let expected = format!(
        "3 skills are in hidden folders, which are not served\nhint: to serve them, use these folders as roots: `{}` (2), `{}` (1)\n",
        at("skills/.curated"),
        at("x/.system")
    );
    let (code, printed, note) = parts(&command(folder.path(), &["list"]).output());
    assert_eq!((code, note.as_str()), (Some(0), expected.as_str()), "{printed}");
    assert_eq!(answer(folder.path(), &["list"])["skills"].as_array().unwrap().len(), 1);
    let (code, printed, note) = parts(&command(folder.path(), &["lint"]).output());
    assert_eq!((code, printed.as_str(), note.as_str()), (Some(0), "1 skill: no problems\n", expected.as_str()));
    let (_, printed, _) = parts(&command(folder.path(), &["doctor"]).output());
    assert!(printed.contains("3 skills are in hidden folders"), "{printed}");
    let session = serve(folder.path()).start();
    session.wait_for_log("3 skills are in hidden folders, which are not served");
    let named = Launch::bare(SKILLCELL).arg("list").arg("--json").arg("--root").arg(at("skills/.curated")).output();
    let named: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(named["skills"].as_array().unwrap().len(), 2, "the folders that were named work as roots");
}
