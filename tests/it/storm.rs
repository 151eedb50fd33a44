//! Four writers and eight readers at once: every answer is a state that was on disk while it was asked for.

mod history;
mod writer;

use crate::serve;
use history::{Answered, Library};
use serde_json::{Value, json};
use skillcell_tests::files_below;
use skillcell_tests::http::{Client, Connection, call};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use writer::Writer;

/// How long it lasts.
const STORM: Duration = Duration::from_secs(20);

const WRITERS: usize = 4;
const READERS: usize = 8;

/// Each reader asks at least this often; fewer would prove nothing.
const FEWEST_ANSWERS: usize = 100;

#[test]
fn in_a_storm_of_changes_every_answer_is_a_state_that_existed() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::new(WRITERS);
    for number in 0..WRITERS {
        Writer::new(folder.path(), &library, number).create_all();
    }
    let server = serve(folder.path()).http();
    let over = AtomicBool::new(false);
    let (changes, answers) = (AtomicUsize::new(0), [(); READERS].map(|()| AtomicUsize::new(0)));
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let (library, over, changes, folder) = (&library, &over, &changes, folder.path());
            scope.spawn(move || {
                let mut writer = Writer::new(folder, library, number);
                while !over.load(Ordering::Relaxed) {
                    writer.change_something();
                    changes.fetch_add(1, Ordering::Relaxed);
                }
                writer.mend_all();
            });
        }
        for (number, answers) in answers.iter().enumerate() {
            let (library, over, client) = (&library, &over, *server);
            scope.spawn(move || {
                // A reader that finds a mistake ends the storm for all, or nobody would ever hear of it.
                let _ends = EndsStorm(over);
                let mut reader = Reader { client, connection: client.connect(), library, number };
                while !over.load(Ordering::Relaxed) {
                    reader.ask();
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Waiting is what a load test does.
        let end = Instant::now() + STORM;
        while Instant::now() < end && !over.load(Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_millis(100));
        }
        over.store(true, Ordering::Relaxed);
    });
    let answers = answers.map(AtomicUsize::into_inner);
    assert!(answers.iter().all(|answers| *answers >= FEWEST_ANSWERS), "{answers:?} answers");
    assert!(changes.into_inner() >= FEWEST_ANSWERS, "too few changes");
    let log = server.session.log();
    for bad in ["panicked", "crashed", "was stopped in", "ERROR"] {
        assert!(!log.contains(bad), "{bad}:\n{log}");
    }
    let ended = everything(&server);
    let fresh = serve(folder.path()).http();
    assert_eq!(ended, everything(&fresh), "what is served is not what is on disk");
    assert_eq!(ended["list"]["skills"].as_array().unwrap().len(), library.skills().count());
    assert_eq!(on_disk(folder.path()).len(), library.skills().count());
}

/// All that a server says about its skills.
fn everything(client: &Client) -> Value {
    let ask = |tool: &str, arguments: Value| client.call(1, tool, arguments)["result"].clone();
    let list = ask("skills_list", json!({"includeBody": true}))["structuredContent"].clone();
    let names = list["skills"].as_array().unwrap().iter().map(|skill| skill["meta"]["name"].as_str().unwrap());
    let texts: BTreeMap<&str, Value> = names.map(|name| (name, ask("skill", json!({"name": name})))).collect();
    json!({"list": list, "tree": ask("list_skills", json!({})), "texts": texts})
}

/// The files of skills below a folder.
fn on_disk(folder: &Path) -> Vec<String> {
    let names = files_below(folder).into_iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name.ends_with(".md")).collect()
}

struct EndsStorm<'a>(&'a AtomicBool);

impl Drop for EndsStorm<'_> {
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
    /// Asks the next question and checks the answer.
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

    fn call(&mut self, tool: &str, arguments: &Value) -> Asked {
        self.send(&call(u64::try_from(self.number).unwrap(), tool, arguments))
    }

    fn request(&mut self, method: &str, params: &Value) -> Asked {
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Asked {
        let began = Instant::now();
        self.connection.send(&self.client.message("2025-11-25", message));
        let answer = self.connection.reply().json();
        Asked { question: message["params"].clone(), answer, during: (began, Instant::now()) }
    }

    /// The answer of a tool that serves one file, or says that there is no such skill.
    fn check_one(&self, name: &str, asked: &Asked, text: impl Fn(&str) -> String) {
        let result = &asked.answer["result"];
        let said = result["content"][0]["text"].as_str().unwrap_or_else(|| asked.is_wrong("no text"));
        let answered = match result["isError"].as_bool() {
            Some(true) if said.starts_with("no skill is called") => Answered::Nothing,
            Some(true) => asked.is_wrong("another error"),
            _ => Answered::Text(text(said)),
        };
        self.check(name, &answered, asked);
    }

    fn check_body(&self, name: &str, asked: &Asked) {
        let result = &asked.answer["result"];
        let said = result["content"][0]["text"].as_str().unwrap_or_else(|| asked.is_wrong("no text"));
        let answered = match result["isError"].as_bool() {
            Some(true) if said.starts_with("no skill is called") => Answered::Nothing,
            Some(true) => asked.is_wrong("another error"),
            _ => {
                let content: Value = serde_json::from_str(said).unwrap();
                let content = content["content"].as_str().unwrap_or_else(|| asked.is_wrong("no content"));
                let header = content.strip_prefix("=== ").and_then(|rest| rest.split_once("==="));
                Answered::Body(header.map_or(content, |(_, body)| body).trim().to_owned())
            }
        };
        self.check(name, &answered, asked);
    }

    /// The document of a tree skill is made from its file, so only the body is the same.
    fn check_resource(&self, name: &str, asked: &Asked) {
        let answered = match (&asked.answer["result"]["contents"][0]["text"], &asked.answer["error"]["code"]) {
            (Value::String(text), _) if text.starts_with("---\nname: ") && !name.contains('/') => {
                Answered::Text(text.clone())
            }
            (Value::String(text), _) => Answered::Ends(text.clone()),
            (_, code) if *code == json!(-32002) => Answered::Nothing,
            _ => asked.is_wrong("another error"),
        };
        self.check(name, &answered, asked);
    }

    /// Every skill is in a list once or not at all, as it was.
    fn check_list(&self, asked: &Asked, entries: impl Fn(&Value) -> Vec<(String, String)>) {
        let entries = entries(&asked.answer);
        for name in self.library.skills() {
            let mut found = entries.iter().filter(|(listed, _)| listed == name);
            let answered = found.next().map_or(Answered::Nothing, |(_, words)| Answered::Description(words.clone()));
            self.check(name, &answered, asked);
            assert!(found.next().is_none(), "`{name}` is listed twice in {entries:?}");
        }
    }

    fn check(&self, name: &str, answered: &Answered, asked: &Asked) {
        if let Err(states) = self.library.check(name, answered, asked.during) {
            asked.is_wrong(&format!("{answered:?} was never there; these were: {states}"))
        }
    }
}

/// What was asked, when, and the answer.
struct Asked {
    question: Value,
    answer: Value,
    during: (Instant, Instant),
}

impl Asked {
    fn is_wrong(&self, why: &str) -> ! {
        panic!("{why}\nquestion: {}\nanswer: {}", self.question, self.answer)
    }
}

/// Names and descriptions of a flat list.
fn listed(skills: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entry = |skill: &Value| (text(&skill["meta"]["name"]), text(&skill["meta"]["description"]));
    skills.as_array().unwrap().iter().map(entry).collect()
}

/// The same of a tree. Nodes that only hold others have no description.
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
