//! A test that is a folder: a library, a request, and the expected answer.

use crate::{Launch, repository};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tools that answer with text, even if it looks like JSON. The others answer with JSON.
const ANSWERS_WITH_TEXT: [&str; 4] = ["skill", "skill-resource", "read_skill", "query"];

/// One folder of `fixtures/cases/TOOL/`.
pub struct Case {
    folder: PathBuf,
    tool: String,
}

/// The result of a case.
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

    /// Sends the request to the real server and compares the answer, or records it if `bless` is set.
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

    /// Returns the answer to the request, with placeholders for the folders of this machine.
    fn ask(&self, binary: &Path, request: &Value) -> Value {
        let mut launch = Launch::new(binary);
        let case = self.folder.canonicalize().expect("a case is a folder");
        let places = Places { case: shown(&case), home: shown(launch.home()) };
        self.fill_home(launch.home());
        launch = launch.folder(Path::new(&places.insert(request["folder"].as_str().unwrap_or("{case}"))));
        let roots = request["roots"].as_array().cloned().unwrap_or_else(|| vec![json!("library")]);
        let flags = request["flags"].as_array().cloned().unwrap_or_default();
        // These cases are about the formula of keywords, as the profile `skills-mcp` has it.
        let is_ranked = flags.iter().any(|flag| flag == "--scorer" || flag == "--profile");
        if self.tool == "get_skill" && !is_ranked {
            launch = launch.arg("--scorer").arg("keyword");
        }
        for argument in roots.iter().chain(&flags) {
            launch = launch.arg(places.insert(argument.as_str().expect("roots and flags are strings")));
        }
        for (name, value) in request["env"].as_object().into_iter().flatten() {
            launch = launch.env(name, value.as_str().expect("a variable is a string"));
        }
        let mut session = launch.start();
        let answer = session.request("tools/call", json!({"name": self.tool, "arguments": request["arguments"]}));
        places.take_out(answer)
    }

    /// Copies the home folder of the case into that of the server.
    fn fill_home(&self, home: &Path) {
        let given = self.folder.join("home");
        if given.exists() {
            let copied = Command::new("cp").arg("-R").arg(given.join(".")).arg(home).status();
            assert!(copied.expect("every Unix has `cp`").success(), "{} cannot be copied", given.display());
        }
    }

    /// Renders the answer for people, and returns the file that it belongs into.
    fn render(&self, answer: &Value) -> (&'static str, String) {
        if let Some(error) = answer.get("error") {
            return ("expected.err", format!("{} {}\n", error["code"], error["message"].as_str().unwrap_or("")));
        }
        let result = &answer["result"];
        let blocks: Vec<&Value> = result["content"].as_array().into_iter().flatten().collect();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        if result["isError"] == json!(true) {
            return ("expected.err", format!("refused: {}\n", texts.join("\n")));
        }
        let data = result.get("structuredContent").is_some();
        if ANSWERS_WITH_TEXT.contains(&self.tool.as_str()) {
            assert!(!data, "clients hide the text beside structured content: {answer}");
            return ("expected.md", plain(&blocks));
        }
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

/// The folders of a case that differ from machine to machine.
struct Places {
    case: String,
    home: String,
}

impl Places {
    fn insert(&self, text: &str) -> String {
        text.replace("{case}", &self.case).replace("{home}", &self.home)
    }

    /// Replaces these folders in an answer with `{case}` and `{home}`.
    fn take_out(&self, answer: Value) -> Value {
        match answer {
            Value::String(text) => Value::String(text.replace(&self.case, "{case}").replace(&self.home, "{home}")),
            Value::Array(items) => items.into_iter().map(|item| self.take_out(item)).collect(),
            Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, self.take_out(value))).collect(),
            other => other,
        }
    }
}

fn shown(folder: &Path) -> String {
    folder.to_str().expect("folders of tests have names in UTF-8").to_owned()
}

/// A single text as it is; otherwise each block after a line that names it, and with a line break at the end.
fn plain(blocks: &[&Value]) -> String {
    if let [only] = blocks
        && let Some(text) = only["text"].as_str()
    {
        return text.to_owned();
    }
    let piece = |block: &&Value| {
        let resource = &block["resource"];
        let field = |name: &str| resource[name].as_str();
        match (block["text"].as_str(), field("text"), field("blob")) {
            (Some(text), _, _) => format!("--- text\n{text}\n"),
            (_, Some(body), _) | (_, _, Some(body)) => {
                let (uri, media_type) =
                    (field("uri").unwrap_or("no URI"), field("mimeType").unwrap_or("no media type"));
                let encoding = if field("blob").is_some() { ", base64" } else { "" };
                format!("--- {uri} ({media_type}{encoding})\n{body}\n")
            }
            _ => panic!("neither text nor a resource: {block}"),
        }
    };
    blocks.iter().map(piece).collect()
}

/// Compares JSON without regard to the order of keys, and everything else byte by byte.
fn same(file: &str, expected: &str, actual: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok().filter(|_| file.ends_with(".json"));
    expected == actual || json(expected).is_some_and(|expected| Some(expected) == json(actual))
}

/// Shows the first line that differs, with invisible characters escaped.
fn difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<&str>, Vec<&str>) = (expected.split('\n').collect(), actual.split('\n').collect());
    let same = expected.iter().zip(&actual).take_while(|(left, right)| left == right).count();
    let line = |lines: &[&str]| lines.get(same).map_or("(the end)".to_owned(), |line| format!("{line:?}"));
    format!("line {}\n  expected: {}\n  actual:   {}", same + 1, line(&expected), line(&actual))
}
