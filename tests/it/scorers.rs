//! Scorers in components of their own: chosen, exchanged, and never a reason for a missing answer.

mod choosing;
mod exchanging;
mod failing;
mod ranking;

use crate::{library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, component, write_files};
use std::path::Path;
use tempfile::TempDir;

/// By keywords, `form validation` is for `forms`. The hostile scorer finds only favourites.
fn skills() -> TempDir {
    library(&[
        ("forms.md", "---\nkeywords: [form, validation]\ndescription: Forms\n---\nfavourite of grapes\n"),
        ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\nUse the reader.\n"),
    ])
}

fn hostile(folder: &Path) -> Launch {
    serve(folder).arg("--verbose").arg("--scorer").arg(component("hostile-scorer"))
}

fn find(session: &mut Session, task: &str) -> Value {
    session.call_json("get_skill", json!({"context": task}))
}

/// The score of the skill that only the scorer finds; null when it was not asked.
fn scored(session: &mut Session) -> Value {
    find(session, "grapes")["score"].clone()
}

/// Waits until scorers were prepared, or told of changes, this often.
fn prepared(session: &Session, times: usize) {
    session.wait_for_log_that("prepared", |log| log.matches("the scorer of engine").count() >= times);
}

fn warnings(session: &Session) -> usize {
    session.log().lines().filter(|line| line.contains("WARN") && line.contains("scorer")).count()
}

#[test]
fn the_scorer_decides_what_is_found_and_its_score() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    assert_eq!(find(&mut session, "form validation")["no_match"], true, "keywords do not count");
    let found = find(&mut session, "grapes");
    assert_eq!((&found["skill_path"], &found["score"]), (&json!("forms"), &json!(0.9)));
    let chosen = session.call_json("get_skill", json!({"context": "grapes", "skill_path": "pdf"}));
    assert_eq!(chosen["score"], 0.1);
    assert!(session.call_json("skills_list", json!({})).get("problems").is_none());
}

#[test]
fn a_search_is_in_the_order_of_the_scorer() {
    let skill = |body: &str| format!("---\nkeywords: [fruit]\ndescription: d\n---\nplum {body}\n");
    let folder = library(&[("a.md", &skill("")), ("b.md", &skill("favourite of plum")), ("c.md", &skill(""))]);
    let order = |session: &mut Session| -> Vec<String> {
        let found = session.call_json("skills_search", json!({"query": "plum"}));
        let hits = found["results"].as_array().unwrap();
        hits.iter().map(|hit| hit["skillPath"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(order(&mut serve(folder.path()).start()), ["a", "b", "c"]);
    assert_eq!(order(&mut hostile(folder.path()).start()), ["b", "a", "c"]);
}

#[test]
fn the_scorer_knows_exactly_what_is_on_disk() {
    let folder = library(&[]);
    let path = |name: &str| folder.path().join(name);
    let skill = |body: &str| format!("---\nkeywords: [k]\ndescription: d\n---\n{body}\n");
    let mut session = hostile(folder.path()).start();
    let mut check = |known: &str| {
        // A list has everything that changed before it.
        session.call_json("skills_list", json!({}));
        let line = format!("hostile_scorer.wasm: knows {known}");
        let seen = |log: &str| log.lines().any(|logged| logged.ends_with(&line));
        assert!(!seen(&session.log()), "each state is another");
        let count = known.split_whitespace().count();
        session.wait_for_log_that("both engines", |log| {
            let told =
                |number: usize| log.rsplit(&format!("the scorer of engine {number} knows ")).next().map(str::to_owned);
            [0, 1].into_iter().filter_map(told).all(|rest| rest.starts_with(&format!("{count} skills")))
        });
        find(&mut session, "tell everything");
        session.wait_for_log_that(&line, seen);
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
fn each_text_is_told_once_and_later_only_what_changed() {
    let skill = |number: usize, body: &str| {
        (format!("s{number}.md"), format!("---\nkeywords: [k{number}]\ndescription: d\n---\n{body}\n"))
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): (String, String)| write_files(folder.path(), &[(&name, &text)]);
    (0..50).for_each(|number| write(skill(number, "as it was")));
    let mut session = hostile(folder.path()).start();
    prepared(&session, 2);
    (0..3).for_each(|number| write(skill(number, "another text")));
    session.call_json("skills_list", json!({}));
    prepared(&session, 4);
    let log = session.log();
    let told = log.lines().filter_map(|line| line.split_once("is told of ")?.1.split_once(' '));
    let told: Vec<usize> = told.map(|(count, _)| count.parse().unwrap()).collect();
    assert_eq!(told[..2], [50, 50], "on two engines");
    // A look may have come between two of the edits.
    let later: usize = told[2..].iter().sum();
    assert!((6..50).contains(&later), "{log}");
}

#[test]
fn an_edit_counts_with_the_next_question_on_every_engine() {
    let folder = skills();
    let mut session = hostile(folder.path()).start();
    for edition in 0..5 {
        let fruit = format!("fruit{edition}");
        let text = format!("---\nkeywords: [form]\ndescription: d\n---\nfavourite of {fruit}\n");
        write_files(folder.path(), &[("forms.md", &text)]);
        let question = json!({"name": "get_skill", "arguments": {"context": fruit}});
        let ids: Vec<Value> = (0..6).map(|_| session.post("tools/call", question.clone())).collect();
        let answers: Vec<Value> = ids.iter().map(|id| session.answer(id)["result"].clone()).collect();
        assert!(answers[0].to_string().contains("0.9"), "{}", answers[0]);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "the same question, the same answer");
    }
}

#[test]
fn two_servers_at_once_have_a_scorer_each() {
    let (folder, home) = (skills(), tempfile::tempdir().unwrap());
    let start = || hostile(folder.path()).with_home(home.path()).start();
    let (mut left, mut right) = (start(), start());
    for _ in 0..3 {
        find(&mut left, "form validation hostile: trap");
        assert_eq!(scored(&mut right), 0.9);
    }
    assert_eq!((warnings(&left), warnings(&right)), (1, 0));
}
