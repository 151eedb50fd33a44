//! A test that is a folder: a library, a request, and what must come back.

use crate::{Launch, repository};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// One folder of `fixtures/cases/TOOL/`.
pub struct Case {
    folder: PathBuf,
    tool: String,
}

/// What came of a case.
pub enum Outcome {
    Holds,
    Blessed,
    Fails(String),
}

/// Every case in the repository, sorted.
pub fn all_cases() -> Vec<Case> {
    let cases = repository().join("fixtures/cases");
    let mut found: Vec<Case> = Vec::new();
    for tool in subfolders(&cases) {
        let name = tool.file_name().expect("a name").to_string_lossy().into_owned();
        found.extend(subfolders(&tool).into_iter().map(|folder| Case { folder, tool: name.clone() }));
    }
    found.sort_by(|left, right| left.folder.cmp(&right.folder));
    found
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("readable").path()).filter(|path| path.is_dir()).collect()
}

impl Case {
    pub fn name(&self) -> String {
        let cases = repository().join("fixtures/cases");
        self.folder.strip_prefix(cases).expect("below cases").display().to_string()
    }

    /// Asks the real server and compares, or writes what came back when `bless` is set.
    pub fn check(&self, binary: &Path, bless: bool) -> Outcome {
        let request = self.request();
        let (file, actual) = self.render(&self.ask(binary, &request));
        let path = self.folder.join(file);
        match std::fs::read_to_string(&path) {
            Ok(expected) if same(file, &expected, &actual) => Outcome::Holds,
            _ if bless => {
                for other in ["expected.json", "expected.md", "expected.err"] {
                    let _ = std::fs::remove_file(self.folder.join(other));
                }
                std::fs::write(&path, actual).expect("a writable repository");
                Outcome::Blessed
            }
            Ok(expected) => Outcome::Fails(difference(&expected, &actual)),
            Err(_) => Outcome::Fails(format!("there is no {file}, and this came back:\n{actual}")),
        }
    }

    fn request(&self) -> Value {
        let path = self.folder.join("request.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn ask(&self, binary: &Path, request: &Value) -> Value {
        let mut launch = Launch::new(binary).folder(&self.folder);
        let roots = request["roots"].as_array().cloned().unwrap_or_else(|| vec![json!("library")]);
        for root in &roots {
            launch = launch.arg(root.as_str().expect("a root is a path"));
        }
        for (name, value) in request["env"].as_object().into_iter().flatten() {
            launch = launch.env(name, value.as_str().expect("a variable is a string"));
        }
        let mut session = launch.start();
        session.request("tools/call", json!({"name": self.tool, "arguments": request["arguments"]}))
    }

    /// The answer as a person would write it down, and the file it belongs into.
    fn render(&self, answer: &Value) -> (&'static str, String) {
        if let Some(error) = answer.get("error") {
            return ("expected.err", format!("{} {}\n", error["code"], error["message"].as_str().unwrap_or("")));
        }
        let result = &answer["result"];
        let texts: Vec<&str> =
            result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect();
        if result["isError"] == json!(true) {
            return ("expected.err", format!("refused: {}\n", texts.join("\n")));
        }
        let data = result.get("structuredContent").is_some();
        let text = if data { texts.get(1) } else { texts.first() };
        let json: Value =
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| panic!("no JSON in {answer}"));
        if data {
            assert_eq!(json, result["structuredContent"], "text and structured content differ in {}", self.name());
        }
        match json["content"].as_str() {
            Some(content) if self.folder.join("expected.md").exists() => ("expected.md", format!("{content}\n")),
            _ => ("expected.json", format!("{}\n", serde_json::to_string_pretty(&json).expect("JSON"))),
        }
    }
}

/// The order of keys in an object means nothing.
fn same(file: &str, expected: &str, actual: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok().filter(|_| file.ends_with(".json"));
    expected == actual || json(expected).is_some_and(|expected| Some(expected) == json(actual))
}

fn difference(expected: &str, actual: &str) -> String {
    let same = expected.lines().zip(actual.lines()).take_while(|(left, right)| left == right).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    format!("line {}\n  expected: {}\n  actual:   {}", same + 1, line(expected), line(actual))
}
