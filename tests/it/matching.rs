//! `skillcell match`: the answer of `get_skill`, explained on the command line.

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

fn match_command(folder: &Path, arguments: &[&str]) -> Launch {
    arguments.iter().fold(Launch::bare(SKILLCELL).arg("match").arg("--root").arg(folder), Launch::arg)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn answer(folder: &Path, arguments: &[&str]) -> Value {
    let output = match_command(folder, arguments).arg("--json").output();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

#[test]
fn the_answer_is_that_of_get_skill() {
    let folder = library(&SKILLS);
    let mut session = serve(folder.path()).start();
    for task in ["a login form", "login", "read documents", "nothing of all this"] {
        let served = session.call_json("get_skill", json!({"context": task}));
        let mut printed = answer(folder.path(), &[task]);
        assert_eq!(printed["explain"].take()["scorer"], "hybrid", "{task}");
        printed.as_object_mut().unwrap().remove("explain");
        assert_eq!(printed, served, "{task}");
    }
}

#[test]
fn the_text_shows_the_skill_the_candidates_or_that_nothing_matches() {
    let folder = library(&SKILLS);
    let output = match_command(folder.path(), &["a", "login", "form", "--scorer", "keyword"]).output();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("ui/login (score 1.000, for login, form)\n\n=== GLOBAL RULES"), "{text}");
    assert!(text.contains("House rules.") && text.contains("Ask for a password."), "{text}");

    let output = match_command(folder.path(), &["login", "--scorer", "keyword"]).output();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("asked to choose:\n  api/login (score 0.500"), "{}", stdout(&output));

    let output = match_command(folder.path(), &["nothing of all this"]).output();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), "no skill matches\n"), "{output:?}");
}

#[test]
fn every_scorer_is_explained_and_the_deciding_one_is_marked() {
    let folder = library(&SKILLS);
    let hostile = component("hostile-scorer");
    let config = format!("scorers: {{mine: '{}'}}\nmatching: {{min_score: 0.3}}\n", hostile.display());
    let output = match_command(folder.path(), &["grapes", "--explain", "--scorer", "mine"]).config(&config).output();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let header = text.lines().find(|line| line.contains("skill ")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        header.split_whitespace().collect::<Vec<_>>(),
        ["skill", "keyword", "bm25", "hybrid", "semantic", "mine", "*"]
    );
    let best = text.lines().find(|line| line.starts_with("1  ui/login ")).unwrap_or_else(|| panic!("{text}"));
    assert!(best.ends_with("0.900"), "{text}");
    for part in ["0.9 for\\nui/login", "* `mine` decides", "a score of 0.3 (min_score)", "leads by 0.800"] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
    assert!(!text.contains("Ask for a password"), "`--explain` omits the text:\n{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    let output = match_command(folder.path(), &["grapes", "--json"]).config(&config).output();
    let explain = serde_json::from_slice::<Value>(&output.stdout).unwrap()["explain"].take();
    assert_eq!(explain["thresholds"], json!({"min_score": 0.3, "ambiguity_threshold": 0.1, "max_results": 5}));
    let login = explain["candidates"].as_array().unwrap().iter().find(|it| it["skill_path"] == "ui/login").unwrap();
    let score_by =
        |scorer: &str| login["scores"].as_array().unwrap().iter().find(|it| it["scorer"] == scorer).unwrap().clone();
    assert_eq!((&score_by("mine")["score"], &score_by("keyword")["score"]), (&json!(0.9), &json!(0.0)));
    assert!(score_by("bm25")["score"].as_f64().unwrap() > 0.0, "{explain:#}");
}

#[test]
fn each_skill_gets_its_own_score() {
    let folder = library(&SKILLS);
    let hostile = component("hostile-scorer");
    let printed = answer(folder.path(), &["grapes", "--scorer", hostile.to_str().unwrap()]);
    let candidates = printed["explain"]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), SKILLS.len());
    for candidate in candidates {
        let score =
            candidate["scores"].as_array().unwrap().iter().find(|it| it["scorer"] == "hostile_scorer.wasm").unwrap();
        let path = candidate["skill_path"].as_str().unwrap();
        assert!(score["reason"].as_str().unwrap().ends_with(&format!("\\n{path}")), "{path}: {score}");
        assert_eq!(score["score"], candidate["score"], "{candidate}");
    }
}

#[test]
fn a_failing_scorer_falls_back_to_keywords_with_the_reason() {
    let folder = library(&SKILLS);
    let hostile = component("hostile-scorer");
    let arguments = ["login form hostile: trap", "--explain", "--scorer", hostile.to_str().unwrap()];
    let output = match_command(folder.path(), &arguments).output();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("ui/login (score 1.000"), "{text}");
    assert!(text.contains("* `keyword` decides, because `hostile_scorer.wasm` failed"), "{text}");
    assert!(text.contains("`hostile_scorer.wasm` gave no answer: the scorer crashed in `score`"), "{text}");
}

#[test]
fn invalid_arguments_are_wrong_usage() {
    let folder = library(&SKILLS);
    for (arguments, reason) in [
        (&["login", "--scorer", "/nowhere.wasm"][..], "cannot be read"),
        (&["login", "--scorer", "nobody"], "there is no such scorer"),
        (&[" ", ""], "the task is empty"),
        (&[], "CONTEXT"),
    ] {
        let output = match_command(folder.path(), arguments).output();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(reason) && output.stdout.is_empty(), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_match_on_the_command_line_raises_no_event() {
    let folder = library(&SKILLS);
    let launch = match_command(folder.path(), &["login form"]).config("analytics: {enabled: true}\n");
    let home = tempfile::tempdir().unwrap();
    std::fs::rename(launch.home().join(".config"), home.path().join(".config")).unwrap();
    let output = launch.with_home(home.path()).output();
    assert!(output.status.success(), "{output:?}");
    let records: Vec<_> =
        files_below(home.path()).into_iter().filter(|file| file.to_string_lossy().contains("analytics")).collect();
    assert!(records.is_empty(), "{records:?}");
}

#[test]
fn an_answer_without_a_match_names_the_nearest_skills() {
    let folder = library(&SKILLS);
    let mut session = serve(folder.path()).start();
    let far = session.call_json("get_skill", json!({"context": "zebra crossing"}));
    assert_eq!((&far["no_match"], &far["nearest"]), (&json!(true), &json!([])), "{far}");
    let task = "read zebra crossings of busy streets in large cities at night under lamps";
    let near = session.call_json("get_skill", json!({"context": task}));
    assert_eq!((&near["no_match"], &near["nearest"][0]["skill_path"]), (&json!(true), &json!("pdf")), "{near}");
    assert!(near["message"].as_str().unwrap().contains("call again with its skill_path"), "{near}");
    let chosen = session.call_json("get_skill", json!({"context": task, "skill_path": "pdf"}));
    assert_eq!(chosen["skill_path"], "pdf");
}
