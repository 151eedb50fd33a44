//! `skillcell match`: what `get_skill` would answer, and why, at the command line.

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, component, files_below};
use std::path::Path;
use std::process::Output;

const SKILLS: [(&str, &str); 4] = [
    ("_root.md", "---\nkeywords: [everything]\ndescription: All\n---\nHouse rules.\n"),
    (
        "ui/login.md",
        "---\nkeywords: [login, form]\ndescription: Sign-in screens\n---\nAsk for a password. favourite of grapes\n",
    ),
    ("api/login.md", "---\nkeywords: [login, token]\ndescription: Sign-in endpoints\n---\nCheck it.\n"),
    ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\nUse the reader.\n"),
];

fn find(folder: &Path, arguments: &[&str]) -> Launch {
    arguments.iter().fold(Launch::bare(SKILLCELL).arg("match").arg("--root").arg(folder), Launch::arg)
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn answer(folder: &Path, arguments: &[&str]) -> Value {
    let output = find(folder, arguments).arg("--json").output();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

#[test]
fn the_answer_is_the_one_of_get_skill() {
    let folder = library(&SKILLS);
    let mut session = serve(folder.path()).start();
    for task in ["a login form", "login", "read documents", "nothing of all this"] {
        let served = session.call_json("get_skill", json!({"context": task}));
        let mut told = answer(folder.path(), &[task]);
        assert_eq!(told["explain"].take()["scorer"], "keyword", "{task}");
        told.as_object_mut().unwrap().remove("explain");
        assert_eq!(told, served, "{task}");
    }
}

#[test]
fn people_see_the_skill_the_choice_or_that_there_is_none() {
    let folder = library(&SKILLS);
    let output = find(folder.path(), &["a", "login", "form"]).output();
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("ui/login (score 1.000, for login, form)\n\n=== GLOBAL RULES"), "{text}");
    assert!(text.contains("House rules.") && text.contains("Ask for a password."), "{text}");

    let output = find(folder.path(), &["login"]).output();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(shown(&output).contains("asked to choose:\n  api/login (score 0.500"), "{}", shown(&output));

    let output = find(folder.path(), &["nothing of all this"]).output();
    assert_eq!((output.status.code(), shown(&output).as_str()), (Some(1), "no skill matches\n"), "{output:?}");
}

#[test]
fn every_scorer_is_explained_and_the_one_that_decides_is_marked() {
    let folder = library(&SKILLS);
    let hostile = component("hostile-scorer");
    let config = format!("scorers: {{mine: '{}'}}\nmatching: {{min_score: 0.3}}\n", hostile.display());
    let output = find(folder.path(), &["grapes", "--explain", "--scorer", "mine"]).config(&config).output();
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let header = text.lines().find(|line| line.contains("skill ")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(header.split_whitespace().collect::<Vec<_>>(), ["skill", "keyword", "bm25", "hybrid", "mine", "*"]);
    let best = text.lines().find(|line| line.starts_with("1  ui/login ")).unwrap_or_else(|| panic!("{text}"));
    assert!(best.ends_with("0.900"), "{text}");
    for part in ["0.9 for\\nui/login", "* `mine` decides", "a score of 0.3 (min_score)", "leads by 0.800"] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
    assert!(!text.contains("Ask for a password"), "the text is not what was asked for:\n{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    let told = find(folder.path(), &["grapes", "--json"]).config(&config).output();
    let explain = serde_json::from_slice::<Value>(&told.stdout).unwrap()["explain"].take();
    assert_eq!(explain["thresholds"], json!({"min_score": 0.3, "ambiguity_threshold": 0.1, "max_results": 3}));
    let login = explain["candidates"].as_array().unwrap().iter().find(|it| it["skill_path"] == "ui/login").unwrap();
    let by =
        |scorer: &str| login["scores"].as_array().unwrap().iter().find(|it| it["scorer"] == scorer).unwrap().clone();
    assert_eq!((&by("mine")["score"], &by("keyword")["score"]), (&json!(0.9), &json!(0.0)));
    assert!(by("bm25")["score"].as_f64().unwrap() > 0.0, "{explain:#}");
}

#[test]
fn numbers_go_to_the_skills_they_are_for() {
    let folder = library(&SKILLS);
    let hostile = component("hostile-scorer");
    let told = answer(folder.path(), &["grapes", "--scorer", hostile.to_str().unwrap()]);
    let candidates = told["explain"]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), SKILLS.len());
    for candidate in candidates {
        let given =
            candidate["scores"].as_array().unwrap().iter().find(|it| it["scorer"] == "hostile_scorer.wasm").unwrap();
        let path = candidate["skill_path"].as_str().unwrap();
        assert!(given["reason"].as_str().unwrap().ends_with(&format!("\\n{path}")), "{path}: {given}");
        assert_eq!(given["score"], candidate["score"], "{candidate}");
    }
}

#[test]
fn a_scorer_that_fails_leaves_the_decision_to_the_keywords_and_says_why() {
    let folder = library(&SKILLS);
    let hostile = component("hostile-scorer");
    let arguments = ["login form hostile: trap", "--explain", "--scorer", hostile.to_str().unwrap()];
    let output = find(folder.path(), &arguments).output();
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("ui/login (score 1.000"), "{text}");
    assert!(text.contains("* `keyword` decides, because `hostile_scorer.wasm` failed"), "{text}");
    assert!(text.contains("`hostile_scorer.wasm` gave no answer: the scorer crashed in `score`"), "{text}");
}

#[test]
fn what_cannot_be_asked_is_wrong_usage() {
    let folder = library(&SKILLS);
    for (arguments, reason) in [
        (&["login", "--scorer", "/nowhere.wasm"][..], "cannot read the scorer"),
        (&["login", "--scorer", "nobody"], "there is no such scorer"),
        (&[" ", ""], "the task is empty"),
        (&[], "CONTEXT"),
    ] {
        let output = find(folder.path(), arguments).output();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(reason) && output.stdout.is_empty(), "{arguments:?}: {told}");
    }
}

#[test]
fn nothing_is_counted() {
    let folder = library(&SKILLS);
    let launch = find(folder.path(), &["login form"]).config("analytics: {enabled: true}\n");
    let home = tempfile::tempdir().unwrap();
    std::fs::rename(launch.home().join(".config"), home.path().join(".config")).unwrap();
    let output = launch.with_home(home.path()).output();
    assert!(output.status.success(), "{output:?}");
    let records: Vec<_> =
        files_below(home.path()).into_iter().filter(|file| file.to_string_lossy().contains("analytics")).collect();
    assert!(records.is_empty(), "{records:?}");
}
