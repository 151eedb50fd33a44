//! The adversarial corpus in `fixtures/adversarial`: what `lint`, `doctor` and the server do with each case. `just bless` accepts
//! what they do now.

use crate::SKILLCELL;
use serde_json::{Map, Value, json};
use skillcell_tests::{Launch, Session, repository};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with `case.yaml` and `expected.json`.
struct Case {
    folder: PathBuf,
    description: Value,
    /// The files of the case.
    files: TempDir,
}

impl Case {
    fn new(folder: PathBuf) -> Self {
        let yaml = fs::read_to_string(folder.join("case.yaml")).expect("every case has a case.yaml");
        let description: Value =
            serde_yaml::from_str(&yaml).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        assert!(description["threat"].is_string(), "{} names no threat", folder.display());
        let files = tempfile::tempdir().expect("a temporary folder");
        for (path, content) in description["files"].as_object().expect("every case has files") {
            let file = files.path().join(path);
            fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("a writable folder");
            fs::write(file, bytes(content)).expect("a writable folder");
        }
        Self { folder, description, files }
    }

    fn roots(&self) -> Vec<PathBuf> {
        let named = self.description["roots"].as_array().cloned().unwrap_or_else(|| vec![json!("skills")]);
        named.iter().map(|root| self.files.path().join(root.as_str().expect("a root is a name"))).collect()
    }

    fn place(&self) -> String {
        self.files.path().to_str().expect("UTF-8").to_owned()
    }

    fn launch(&self, launch: Launch) -> Launch {
        let config = self.description["config"].as_str().unwrap_or("{}\n").replace("{case}", &self.place());
        let mut launch = launch.config(&config).folder(self.files.path());
        for (name, value) in self.description["env"].as_object().into_iter().flatten() {
            launch = launch.env(name, value.as_str().expect("a variable is a text"));
        }
        launch
    }

    /// What everything does with the case, with a placeholder for its folder.
    fn behavior(&self) -> Value {
        let behavior = json!({"lint": self.lint(), "doctor": self.doctor(), "server": self.server()});
        let text = serde_json::to_string(&behavior).expect("JSON").replace(&self.place(), "{case}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The problems of each file.
    fn lint(&self) -> Value {
        let mut launch = self.launch(Launch::bare(SKILLCELL)).arg("lint").arg("--json");
        for root in self.roots() {
            launch = launch.arg(root);
        }
        let output = launch.output();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)));
        let line = |problem: &Value| {
            let text = |field: &str| problem[field].as_str().unwrap_or_default();
            let place = format!("{}:{}:{}", text("file"), problem["line"], problem["column"]);
            format!("{place}: {} [{}] {}", text("severity"), text("code"), text("message"))
        };
        let lines = |name: &str| report[name].as_array().into_iter().flatten().map(line).collect::<Vec<_>>();
        json!({"exit_code": output.status.code(), "problems": lines("problems"), "silenced": lines("silenced")})
    }

    /// What is said about the roots, and about the grants if there are some.
    fn doctor(&self) -> Value {
        let mut launch = self.launch(Launch::bare(SKILLCELL)).arg("doctor").arg("--json");
        for root in self.roots() {
            launch = launch.arg("--root").arg(root);
        }
        let report: Value = serde_json::from_slice(&launch.output().stdout).expect("JSON");
        let sections = report["sections"].as_array().expect("sections");
        let has_grants = self.description["config"].is_string();
        let is_about = |section: &&Value| section["name"] == "roots" || has_grants && section["name"] == "grants";
        let checks = sections.iter().filter(is_about);
        let line = |check: &Value| {
            format!("{}: {}", check["state"].as_str().unwrap_or_default(), check["what"].as_str().unwrap_or_default())
        };
        checks.flat_map(|section| section["checks"].as_array().expect("checks")).map(line).collect()
    }

    /// What clients see.
    fn server(&self) -> Value {
        let mut launch = self.launch(Launch::new(SKILLCELL));
        for root in self.roots() {
            launch = launch.arg(root);
        }
        let home = launch.home().to_str().expect("UTF-8").to_owned();
        let mut session = launch.with_shared_cache().modern();
        let list = session.call_json("skills_list", json!({}));
        let skills = list["skills"].as_array().expect("skills").iter();
        let skills: Value = skills
            .map(|skill| json!([skill["skillPath"], skill["meta"]["name"], skill["meta"]["description"]]))
            .collect();
        let problems = list["problems"].as_array().into_iter().flatten().map(|problem| problem["code"].clone());
        let handshake = session.result("server/discover", json!({}));
        let instructions = handshake["instructions"].as_str().unwrap_or_default();
        let catalog =
            instructions.split_once("Available skills:").map(|(_, catalog)| catalog.trim().lines().collect::<Vec<_>>());
        let mut fields = |method: &str, list: &str, names: &[&str]| -> Value {
            let entry = |entry: &Value| names.iter().map(|name| entry[*name].clone()).collect::<Value>();
            session.all(method, list).iter().map(entry).collect()
        };
        let prompts = fields("prompts/list", "prompts", &["name", "description"]);
        let resources = fields("resources/list", "resources", &["name", "title", "description"]);
        let calls: Vec<Value> = self.description["calls"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|call| self.call(&mut session, call))
            .collect();
        let seen = json!({
            "skills": skills,
            "problems": problems.collect::<Value>(),
            "catalog": catalog,
            "prompts": prompts,
            "resources": resources,
            "calls": calls,
        });
        serde_json::from_str(&seen.to_string().replace(&home, "{home}")).expect("JSON")
    }

    fn call(&self, session: &mut Session, call: &Value) -> Value {
        let tool = call["tool"].as_str().expect("a call has a tool");
        let arguments: Value =
            serde_json::from_str(&call["arguments"].to_string().replace("{case}", &self.place())).expect("JSON");
        let answer = session.call(tool, arguments.clone());
        let mut texts = answer["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
        let text = texts.next_back().unwrap_or_default().to_owned();
        let shown = match call["show"].as_str() {
            Some(field) => {
                let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"));
                answer[field].clone()
            }
            None => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        };
        let mut entry = Map::from_iter([(tool.to_owned(), arguments), ("answer".to_owned(), shown)]);
        if answer["isError"] == true {
            entry.insert("refused".to_owned(), true.into());
        }
        Value::Object(entry)
    }
}

/// A text, a text that is repeated, or bytes in hexadecimal.
fn bytes(content: &Value) -> Vec<u8> {
    let text = |field: &str| content[field].as_str().unwrap_or_default();
    if let Some(text) = content.as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(hex) = content["hex"].as_str() {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
        return (0..hex.len()).step_by(2).map(digit).collect();
    }
    let times = usize::try_from(content["times"].as_u64().expect("a number of times")).expect("few");
    format!("{}{}{}", text("start"), text("repeat").repeat(times), text("end")).into_bytes()
}

/// JSON whose every character can be seen in a review.
fn visible_json(value: &Value) -> String {
    let json = serde_json::to_string_pretty(value).expect("JSON");
    let escaped = |letter: char| {
        let units = letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        if letter.is_ascii() { letter.to_string() } else { units }
    };
    json.chars().map(escaped).chain(["\n".to_owned()]).collect()
}

#[expect(clippy::disallowed_methods, reason = "the switch of `just bless`")]
#[test]
fn every_case_of_the_corpus_is_reported_and_served_as_expected() {
    let bless = std::env::var_os("BLESS").is_some();
    let entries = fs::read_dir(repository().join("fixtures/adversarial")).expect("a corpus");
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(folders.len() > 10, "{folders:?}");
    let mut failures = Vec::new();
    for case in folders.into_iter().map(Case::new) {
        let (behavior, file) = (visible_json(&case.behavior()), case.folder.join("expected.json"));
        if bless {
            fs::write(file, behavior).expect("a writable repository");
        } else if fs::read_to_string(&file).ok().as_ref() != Some(&behavior) {
            failures.push(format!("{}:\n{behavior}", name(&case.folder)));
        }
    }
    assert!(failures.is_empty(), "{} cases differ from their expected.json:\n{}", failures.len(), failures.join("\n"));
}

fn name(folder: &Path) -> String {
    folder.file_name().expect("a name").to_string_lossy().into_owned()
}

/// The table of the corpus has a line for every case, with its threat.
#[test]
fn the_table_of_the_corpus_is_complete() {
    let corpus = repository().join("fixtures/adversarial");
    let table = fs::read_to_string(corpus.join("README.md")).expect("a table");
    for folder in
        fs::read_dir(&corpus).expect("a corpus").flatten().map(|entry| entry.path()).filter(|path| path.is_dir())
    {
        assert!(table.contains(&format!("| `{}` |", name(&folder))), "{} is not in the table", folder.display());
    }
}
