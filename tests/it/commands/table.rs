//! The expected result of each command on each library.

use serde_json::{Value, json};

/// A command. Every list has a column for each library: the bundled one, an empty one, a broken one, a large one.
pub struct Row {
    /// Without the leading `skillcell`.
    pub command: &'static str,
    pub arguments: [&'static [&'static str]; 4],
    pub codes: [i32; 4],
    /// A part of its output.
    pub parts: [&'static str; 4],
    /// A fact from the output of `--json`, as JSON.
    pub facts: [&'static str; 4],
    pub mode: Mode,
}

/// How a command runs.
pub enum Mode {
    /// It answers and exits. The function extracts the fact from its JSON, if it has any.
    Exits { json: Option<fn(&[Value]) -> Value> },
    /// It serves MCP until its input ends.
    Server,
    /// It serves a page with that many skills until a signal ends it.
    Page,
}

const NO_FACTS: [&str; 4] = ["null"; 4];

const NO_ARGUMENTS: [&[&str]; 4] = [&[]; 4];

/// Returns the only value, or null without output.
fn only(values: &[Value]) -> Value {
    assert!(values.len() <= 1, "one answer is one value: {values:?}");
    values.first().cloned().unwrap_or_default()
}

fn length(value: &Value) -> Value {
    json!(value.as_array().map(Vec::len))
}

pub const ROWS: &[Row] = &[
    Row {
        command: "serve",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["18 skills", "0 skills", "2 skills", "3025 skills"],
        facts: NO_FACTS,
        mode: Mode::Server,
    },
    Row {
        command: "demo",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["18 skills"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "list",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["csv-report\tfolder\tSummarise", "there are no skills", "fine\tfolder\tWorks", "skill-2998\tfolder\t"],
        facts: ["18", "0", "2", "3025"],
        mode: Mode::Exits { json: Some(|values| length(&only(values)["skills"])) },
    },
    Row {
        command: "search",
        arguments: [&["duplicate", "rows"], &["rows"], &["grapes"], &["area7"]],
        codes: [0, 1, 0, 0],
        parts: [
            "csv-report\t2\t",
            "no skill has all of these words",
            "fine\t1\tUse it for grapes.",
            "area7/_index\t1\t",
        ],
        facts: ["\"csv-report\"", "null", "\"fine\"", "\"area7/_index\""],
        mode: Mode::Exits { json: Some(|values| only(values)["results"][0]["skillPath"].clone()) },
    },
    Row {
        command: "show",
        arguments: [&["CSV-report"], &["csv-report"], &["fin"], &["topic-2999"]],
        codes: [0, 1, 1, 0],
        parts: ["name: csv-report", "no skill is called `csv-report`", "close names are `fine`", "keywords: ["],
        facts: ["\"csv-report\"", "null", "null", "\"area49/topic-2999\""],
        mode: Mode::Exits { json: Some(|values| only(values)["skillPath"].clone()) },
    },
    Row {
        command: "match",
        arguments: [&["build a React login form component"], &["anything"], &["it works fine"], &["area7"]],
        codes: [0, 1, 0, 0],
        parts: ["ui/react/auth (score", "no skill matches", "fine (score", "area7/_index (score"],
        facts: ["\"ui/react/auth\"", "null", "\"fine\"", "\"area7/_index\""],
        mode: Mode::Exits { json: Some(|values| only(values)["skill_path"].clone()) },
    },
    Row {
        command: "run",
        arguments: [
            &["csv-report", "scripts/summarise.py"],
            &["csv-report", "scripts/summarise.py"],
            &["fine", "gone.sh"],
            &["skill-2998", "gone.sh"],
        ],
        codes: [0, 1, 1, 1],
        parts: ["orders.csv: 8 rows", "no skill is called", "gone.sh", "gone.sh"],
        facts: ["0", "null", "null", "null"],
        mode: Mode::Exits { json: Some(|values| only(values)["exit_code"].clone()) },
    },
    Row {
        command: "lint",
        arguments: NO_ARGUMENTS,
        codes: [0, 0, 1, 0],
        parts: ["18 skills: no problems", "0 skills: no problems", "error: there is no front matter", "3025 skills: "],
        facts: ["[18,false]", "[0,false]", "[2,true]", "[3025,false]"],
        mode: Mode::Exits {
            json: Some(|values| {
                let report = only(values);
                json!([report["skills"], report["errors"].as_u64().unwrap() > 0])
            }),
        },
    },
    Row {
        command: "new",
        arguments: [&["hello"]; 4],
        codes: [0; 4],
        parts: ["created the skill `hello` in skills"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "doctor",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["18 skills", "no root has a skill", "skillcell lint", "3025 skills"],
        facts: ["0"; 4],
        mode: Mode::Exits { json: Some(|values| only(values)["failures"].clone()) },
    },
    Row {
        command: "client",
        arguments: [&["claude"], &["codex"], &["vscode"], &["gemini"]],
        codes: [0; 4],
        parts: ["\"mcpServers\"", "[mcp_servers.skillcell]", "\"servers\"", "\"mcpServers\""],
        facts: ["\"shown\""; 4],
        mode: Mode::Exits { json: Some(|values| only(values)["result"].clone()) },
    },
    Row {
        command: "plugin new",
        arguments: [&["my-scorer"]; 4],
        codes: [0; 4],
        parts: ["created a scorer in"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "plugin check",
        arguments: [&["{component}"]; 4],
        codes: [0; 4],
        parts: ["scorer"; 4],
        facts: ["0"; 4],
        mode: Mode::Exits { json: Some(|values| length(&only(values)["problems"])) },
    },
    Row {
        command: "plugin list",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["python"; 4],
        facts: ["\"engine\""; 4],
        mode: Mode::Exits { json: Some(|values| only(values)[0]["name"].clone()) },
    },
    Row {
        command: "package add",
        arguments: [&["numpy"]; 4],
        codes: [1; 4],
        parts: ["`numpy` needs native code"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "package list",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["0 packages"; 4],
        facts: ["0"; 4],
        mode: Mode::Exits { json: Some(|values| length(&only(values)["packages"])) },
    },
    Row {
        command: "package remove",
        arguments: [&["PyYAML"]; 4],
        codes: [1; 4],
        parts: ["`pyyaml` is not installed"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "package update",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["no version has changed"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "package verify",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["0 packages: intact"; 4],
        facts: ["0"; 4],
        mode: Mode::Exits { json: Some(|values| length(&only(values)["problems"])) },
    },
    Row {
        command: "model add",
        arguments: [&["gpt"]; 4],
        codes: [1; 4],
        parts: ["`gpt` is neither a known model nor the files of one"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "model list",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["no model is installed"; 4],
        facts: ["null"; 4],
        mode: Mode::Exits { json: Some(|values| only(values)["model"].clone()) },
    },
    Row {
        command: "model remove",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["no model is installed"; 4],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "integration list",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["GITHUB_TOKEN not set"; 4],
        facts: ["true"; 4],
        mode: Mode::Exits { json: Some(|values| only(values).to_string().contains("GITHUB_TOKEN").into()) },
    },
    Row {
        command: "integration test",
        arguments: [&["github"]; 4],
        codes: [1; 4],
        parts: ["GITHUB_TOKEN"; 4],
        facts: ["false"; 4],
        mode: Mode::Exits { json: Some(|values| only(values)["works"].clone()) },
    },
    Row {
        command: "audit",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["csv-report scripts/summarise.py  exit 0", "", "", ""],
        facts: ["true"; 4],
        mode: Mode::Exits { json: Some(|lines| lines.iter().all(|line| line["kind"].is_string()).into()) },
    },
    Row {
        command: "audit verify",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["the record is intact"; 4],
        facts: ["0"; 4],
        mode: Mode::Exits { json: Some(|values| length(&only(values)["faults"])) },
    },
    Row {
        command: "stats",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: ["no history yet"; 4],
        facts: ["0"; 4],
        mode: Mode::Exits { json: Some(|values| length(&only(values)["skills"])) },
    },
    Row {
        command: "ui",
        arguments: NO_ARGUMENTS,
        codes: [0; 4],
        parts: [""; 4],
        facts: ["18", "0", "2", "3025"],
        mode: Mode::Page,
    },
    Row {
        command: "completions",
        arguments: [&["bash"], &["zsh"], &["fish"], &["powershell"]],
        codes: [0; 4],
        parts: ["complete -F _skillcell", "#compdef skillcell", "complete -c skillcell", "Register-ArgumentCompleter"],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
    Row {
        command: "man",
        arguments: [&[], &["pages"], &[], &["pages"]],
        codes: [0; 4],
        parts: [".TH skillcell 1", "wrote the pages to pages", ".TH skillcell 1", "wrote the pages to pages"],
        facts: NO_FACTS,
        mode: Mode::Exits { json: None },
    },
];
