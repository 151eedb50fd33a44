//! Scorers as components: how they are chosen and reloaded, and that their failures cost no answer.

mod choosing;
mod reloading;
mod failing;
mod meaning;
mod ranking;

use crate::{library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, component, write_files};
use std::path::Path;
use tempfile::TempDir;

/// By keywords, `form validation` matches `forms`. The hostile scorer matches only favourites.
fn skills() -> TempDir {
    library(&[
        ("forms.md", "---\nkeywords: [form, validation]\ndescription: Forms\n---\nfavourite of grapes\n"),
        ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\nUse the reader.\n"),
    ])
}

fn with_hostile_scorer(folder: &Path) -> Launch {
    serve(folder).arg("--verbose").arg("--scorer").arg(component("hostile-scorer")).with_shared_cache()
}

fn find(session: &mut Session, task: &str) -> Value {
    session.call_json("get_skill", json!({"context": task}))
}

/// Returns the score of the skill that only the scorer matches, or null if the scorer was not used.
fn score_by_scorer(session: &mut Session) -> Value {
    find(session, "grapes")["score"].clone()
}

/// Waits until scorers were prepared or updated this many times.
fn wait_until_prepared(session: &Session, times: usize) {
    session.wait_for_log_that("prepared", |log| log.matches("the scorer of engine").count() >= times);
}

/// Waits for a warning about a scorer, and counts them.
fn warnings(session: &Session) -> usize {
    let count = |log: &str| log.lines().filter(|line| line.contains("WARN") && line.contains("scorer")).count();
    session.wait_for_log_that("a warning", |log| count(log) > 0);
    count(&session.log())
}

#[test]
fn the_scorer_decides_what_is_found_and_its_score() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
    assert_eq!(find(&mut session, "form validation")["no_match"], true, "keywords do not count");
    let found = find(&mut session, "grapes");
    assert_eq!((&found["skill_path"], &found["score"]), (&json!("forms"), &json!(0.9)));
    let chosen = session.call_json("get_skill", json!({"context": "grapes", "skill_path": "pdf"}));
    assert_eq!(chosen["score"], 0.1);
    assert!(session.call_json("skills_list", json!({})).get("problems").is_none());
}

#[test]
fn search_results_are_ordered_by_the_scorer() {
    let skill = |body: &str| format!("---\nkeywords: [fruit]\ndescription: d\n---\nplum {body}\n");
    let folder = library(&[("a.md", &skill("")), ("b.md", &skill("favourite of plum")), ("c.md", &skill(""))]);
    let order = |session: &mut Session| -> Vec<String> {
        let found = session.call_json("skills_search", json!({"query": "plum"}));
        let hits = found["results"].as_array().unwrap();
        hits.iter().map(|hit| hit["skillPath"].as_str().unwrap().to_owned()).collect()
    };
    let by_keywords = serve(folder.path()).arg("--scorer").arg("keyword");
    assert_eq!(order(&mut by_keywords.start()), ["a", "b", "c"]);
    assert_eq!(order(&mut with_hostile_scorer(folder.path()).start()), ["b", "a", "c"]);
}

#[test]
fn the_scorer_knows_exactly_what_is_on_disk() {
    let folder = library(&[]);
    let path = |name: &str| folder.path().join(name);
    let skill = |body: &str| format!("---\nkeywords: [k]\ndescription: d\n---\n{body}\n");
    let mut session = with_hostile_scorer(folder.path()).start();
    let mut check = |known: &str| {
        // A list has everything that changed before it.
        session.call_json("skills_list", json!({}));
        let line = format!("hostile_scorer.wasm: knows {known}");
        let is_logged = |log: &str| log.lines().any(|logged| logged.ends_with(&line));
        assert!(!is_logged(&session.log()), "each state is new");
        let count = known.split_whitespace().count();
        session.wait_for_log_that("both engines", |log| {
            let rest_after =
                |number: usize| log.rsplit(&format!("the scorer of engine {number} knows ")).next().map(str::to_owned);
            [0, 1].into_iter().filter_map(rest_after).all(|rest| rest.starts_with(&format!("{count} skills")))
        });
        find(&mut session, "log everything");
        session.wait_for_log_that(&line, is_logged);
    };
    write_files(folder.path(), &[("a.md", &skill("one")), ("b.md", &skill("two")), ("c/d.md", &skill("three"))]);
    check("a=one b=two c/d=three");
    write_files(folder.path(), &[("b.md", &skill("changed"))]);
    check("a=one b=changed c/d=three");
    std::fs::remove_file(path("a.md")).unwrap();
    check("b=changed c/d=three");
    write_files(folder.path(), &[("e.md", &skill("four")), ("a.md", &skill("back"))]);
    check("a=back b=changed c/d=three e=four");
    std::fs::rename(path("b.md"), path("f.md")).unwrap();
    check("a=back c/d=three e=four f=changed");
    std::fs::rename(path("c"), path("g")).unwrap();
    check("a=back e=four f=changed g/d=three");
    write_files(folder.path(), &[("e.md", "no skill any more\n")]);
    check("a=back f=changed g/d=three");
}

#[test]
fn a_scorer_gets_each_text_once_and_then_only_changes() {
    let skill = |number: usize, body: &str| {
        (format!("s{number}.md"), format!("---\nkeywords: [k{number}]\ndescription: d\n---\n{body}\n"))
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): (String, String)| write_files(folder.path(), &[(&name, &text)]);
    (0..50).for_each(|number| write(skill(number, "as it was")));
    let mut session = with_hostile_scorer(folder.path()).start();
    wait_until_prepared(&session, 2);
    (0..3).for_each(|number| write(skill(number, "another text")));
    session.call_json("skills_list", json!({}));
    // The hostile scorer logs how many changes it gets.
    let updates = |log: &str| -> Vec<usize> {
        let counts = log.lines().filter_map(|line| line.split_once("update with ")?.1.split_once(' '));
        counts.map(|(count, _)| count.parse().unwrap()).collect()
    };
    let later = |log: &str| updates(log).iter().skip(2).sum::<usize>();
    // Three on each of two engines; more if a scan saw a file that was not complete.
    session.wait_for_log_that("all changes on both engines", |log| later(log) >= 6);
    let log = session.log();
    assert_eq!(updates(&log)[..2], [50, 50], "all skills on both engines");
    assert!(later(&log) < 50, "{log}");
}

#[test]
fn an_edit_applies_to_the_next_request_on_every_engine() {
    let folder = skills();
    let mut session = with_hostile_scorer(folder.path()).start();
    for edition in 0..5 {
        let fruit = format!("fruit{edition}");
        let text = format!("---\nkeywords: [form]\ndescription: d\n---\nfavourite of {fruit}\n");
        write_files(folder.path(), &[("forms.md", &text)]);
        let question = json!({"name": "get_skill", "arguments": {"context": fruit}});
        let answers = session.fresh(|session| {
            let ids = [(); 6].map(|()| session.post("tools/call", question.clone()));
            ids.map(|id| session.answer(&id)["result"].clone())
        });
        assert!(answers[0].to_string().contains("0.9"), "{}", answers[0]);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "the same question, the same answer");
    }
}

#[test]
fn two_servers_have_separate_scorers() {
    let (folder, home) = (skills(), tempfile::tempdir().unwrap());
    let start = || with_hostile_scorer(folder.path()).with_home(home.path()).start();
    let (mut left, mut right) = (start(), start());
    for _ in 0..3 {
        find(&mut left, "form validation hostile: trap");
        assert_eq!(score_by_scorer(&mut right), 0.9);
    }
    assert_eq!(warnings(&left), 1);
    let is_warning = |line: &str| line.contains("WARN") && line.contains("scorer");
    assert!(!right.log().lines().any(is_warning), "{}", right.log());
}
