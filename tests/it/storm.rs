//! Four writers and eight readers run concurrently: every answer is a state that was on disk during the request.

mod history;
mod writer;

use crate::serve;
use history::{Library, SkillAnswer};
use serde_json::{Value, json};
use skillcell_tests::http::{Client, Connection, call};
use skillcell_tests::{MAX_WAIT, PATIENCE, files_below};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use writer::Writer;

const WRITERS: usize = 4;
const READERS: usize = 8;

/// The storm ends when each reader has this many fresh answers, and the writers made this many changes.
const MIN_ANSWERS: usize = 200;
const MIN_CHANGES: usize = 1_000;

#[test]
fn every_answer_during_constant_changes_is_a_state_that_existed() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::new(WRITERS);
    for number in 0..WRITERS {
        Writer::new(folder.path(), &library, number).create_all();
    }
    let server = serve(folder.path()).http();
    let is_over = AtomicBool::new(false);
    let (changes, answers) = (AtomicUsize::new(0), [(); READERS].map(|()| AtomicUsize::new(0)));
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let (library, is_over, changes, folder) = (&library, &is_over, &changes, folder.path());
            scope.spawn(move || {
                let mut writer = Writer::new(folder, library, number);
                while !is_over.load(Ordering::Relaxed) {
                    writer.change_something();
                    changes.fetch_add(1, Ordering::Relaxed);
                }
                writer.restore_all();
            });
        }
        for (number, answers) in answers.iter().enumerate() {
            let (library, is_over, client) = (&library, &is_over, *server);
            scope.spawn(move || {
                // A failing reader ends the storm for all.
                let _end_on_drop = EndStormOnDrop(is_over);
                let mut reader = Reader { client, connection: client.connect(), library, number };
                while !is_over.load(Ordering::Relaxed) {
                    let sent = Instant::now();
                    reader.ask();
                    answers.fetch_add(usize::from(sent.elapsed() < MAX_WAIT), Ordering::Relaxed);
                }
            });
        }
        let is_complete = || {
            let enough = |answers: &AtomicUsize| answers.load(Ordering::Relaxed) >= MIN_ANSWERS;
            answers.iter().all(enough) && changes.load(Ordering::Relaxed) >= MIN_CHANGES
        };
        let began = Instant::now();
        while !is_complete() && began.elapsed() < PATIENCE && !is_over.load(Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let (answers, changes) = (answers.map(AtomicUsize::into_inner), changes.into_inner());
    assert!(answers.iter().all(|answers| *answers >= MIN_ANSWERS), "{answers:?} answers");
    assert!(changes >= MIN_CHANGES, "{changes} changes");
    let log = server.session.log();
    for bad in ["panicked", "crashed", "was stopped in", "ERROR"] {
        assert!(!log.contains(bad), "{bad}:\n{log}");
    }
    let served = all_answers(&server);
    let fresh = serve(folder.path()).http();
    assert_eq!(served, all_answers(&fresh), "the answers differ from those of a new server");
    assert_eq!(served["list"]["skills"].as_array().unwrap().len(), library.skills().count());
    assert_eq!(skill_files(folder.path()).len(), library.skills().count());
}

/// Returns fresh answers to every kind of request.
fn all_answers(client: &Client) -> Value {
    let ask = |tool: &str, arguments: Value| {
        loop {
            let sent = Instant::now();
            let answer = client.call(1, tool, arguments.clone());
            if sent.elapsed() < MAX_WAIT {
                break answer["result"].clone();
            }
        }
    };
    let list = ask("skills_list", json!({"includeBody": true}))["structuredContent"].clone();
    let names = list["skills"].as_array().unwrap().iter().map(|skill| skill["meta"]["name"].as_str().unwrap());
    let texts: BTreeMap<&str, Value> = names.map(|name| (name, ask("skill", json!({"name": name})))).collect();
    json!({"list": list, "tree": ask("list_skills", json!({})), "texts": texts})
}

/// Returns the skill files below a folder.
fn skill_files(folder: &Path) -> Vec<String> {
    let names = files_below(folder).into_iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name.ends_with(".md")).collect()
}

struct EndStormOnDrop<'a>(&'a AtomicBool);

impl Drop for EndStormOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Reader<'a> {
    client: Client,
    connection: Connection,
    library: &'a Library,
    number: usize,
}

impl Reader<'_> {
    /// Sends the next request and checks the answer.
    fn ask(&mut self) {
        self.number += 1;
        let skills: Vec<&str> = self.library.skills().collect();
        let name = skills[self.number * 7 % skills.len()];
        match self.number % 7 {
            0 => {
                let answer = self.call("skill", &json!({"name": name}));
                self.check_one(name, &answer, |text| text.split_once("\n\n").unwrap().1.to_owned());
            }
            1 => {
                let answer = self.call("get_skill", &json!({"context": "x", "skill_path": name}));
                self.check_body(name, &answer);
            }
            2 => {
                let answer = self.request("resources/read", &json!({"uri": format!("skill://{name}")}));
                self.check_resource(name, &answer);
            }
            3 => {
                let answer = self.call("read_skill", &json!({"name": name}));
                self.check_one(name, &answer, str::to_owned);
            }
            4 => {
                let answer = self.call("skills_list", &json!({}));
                self.check_list(&answer, |answer| listed(&answer["result"]["structuredContent"]["skills"]));
            }
            5 => {
                let answer = self.call("skills_search", &json!({"query": "stormy", "limit": 25}));
                self.check_list(&answer, |answer| listed(&answer["result"]["structuredContent"]["results"]));
            }
            _ => {
                let answer = self.call("list_skills", &json!({}));
                self.check_list(&answer, |answer| {
                    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
                    let mut found = Vec::new();
                    nodes(&serde_json::from_str(text).unwrap(), &mut found);
                    found
                });
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Exchange {
        self.send(&call(u64::try_from(self.number).unwrap(), tool, arguments))
    }

    fn request(&mut self, method: &str, params: &Value) -> Exchange {
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Exchange {
        let began = Instant::now();
        self.connection.send(&self.client.message("2025-11-25", message));
        let answer = self.connection.reply().json();
        Exchange { request: message["params"].clone(), answer, during: (began, Instant::now()) }
    }

    /// Checks the answer of a tool that serves one file, or refuses because there is no such skill.
    fn check_one(&self, name: &str, exchange: &Exchange, extract: impl Fn(&str) -> String) {
        let result = &exchange.answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| exchange.fail("no text"));
        let answer = match result["isError"].as_bool() {
            Some(true) if text.starts_with("no skill is called") => SkillAnswer::Nothing,
            Some(true) => exchange.fail("another error"),
            _ => SkillAnswer::Text(extract(text)),
        };
        self.check(name, &answer, exchange);
    }

    fn check_body(&self, name: &str, exchange: &Exchange) {
        let result = &exchange.answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| exchange.fail("no text"));
        let answer = match result["isError"].as_bool() {
            Some(true) if text.starts_with("no skill is called") => SkillAnswer::Nothing,
            Some(true) => exchange.fail("another error"),
            _ => {
                let content: Value = serde_json::from_str(text).unwrap();
                let content = content["content"].as_str().unwrap_or_else(|| exchange.fail("no content"));
                let header = content.strip_prefix("=== ").and_then(|rest| rest.split_once("==="));
                SkillAnswer::Body(header.map_or(content, |(_, body)| body).trim().to_owned())
            }
        };
        self.check(name, &answer, exchange);
    }

    /// The document of a tree skill is generated from its file, so only the body is the same.
    fn check_resource(&self, name: &str, exchange: &Exchange) {
        let answer = match (&exchange.answer["result"]["contents"][0]["text"], &exchange.answer["error"]["code"]) {
            (Value::String(text), _) if text.starts_with("---\nname: ") && !name.contains('/') => {
                SkillAnswer::Text(text.clone())
            }
            (Value::String(text), _) => SkillAnswer::Ends(text.clone()),
            (_, code) if *code == json!(-32002) => SkillAnswer::Nothing,
            _ => exchange.fail("another error"),
        };
        self.check(name, &answer, exchange);
    }

    /// Checks that every skill is in a list at most once, in a state that existed.
    fn check_list(&self, exchange: &Exchange, entries: impl Fn(&Value) -> Vec<(String, String)>) {
        let entries = entries(&exchange.answer);
        for name in self.library.skills() {
            let mut found = entries.iter().filter(|(listed, _)| listed == name);
            let answer = found
                .next()
                .map_or(SkillAnswer::Nothing, |(_, description)| SkillAnswer::Description(description.clone()));
            self.check(name, &answer, exchange);
            assert!(found.next().is_none(), "`{name}` is listed twice in {entries:?}");
        }
    }

    fn check(&self, name: &str, answer: &SkillAnswer, exchange: &Exchange) {
        if let Err(states) = self.library.check(name, answer, exchange.during) {
            exchange.fail(&format!("{answer:?} never existed; these states did: {states}"))
        }
    }
}

/// A request, its answer, and when it ran.
struct Exchange {
    request: Value,
    answer: Value,
    during: (Instant, Instant),
}

impl Exchange {
    fn fail(&self, why: &str) -> ! {
        panic!("{why}\nquestion: {}\nanswer: {}", self.request, self.answer)
    }
}

/// Returns the names and descriptions in a flat list.
fn listed(skills: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entry = |skill: &Value| (text(&skill["meta"]["name"]), text(&skill["meta"]["description"]));
    skills.as_array().unwrap().iter().map(entry).collect()
}

/// Collects the names and descriptions in a tree. Nodes that only contain others have no description.
fn nodes(tree: &Value, found: &mut Vec<(String, String)>) {
    for node in tree.as_array().unwrap() {
        let description = node["description"].as_str().unwrap_or_default();
        if !description.is_empty() {
            let name = history::name_in(description);
            found.push((name.to_owned(), description.to_owned()));
        }
        nodes(&node["children"], found);
    }
}
