//! What each command has to come to on each library.

use serde_json::{Value, json};

/// A command. Every list has a column for each library: the bundled one, an empty one, a broken one, a large one.
pub struct Row {
    /// As people write it behind `skillcell`.
    pub command: &'static str,
    pub arguments: [&'static [&'static str]; 4],
    pub codes: [i32; 4],
    /// Something that it tells.
    pub parts: [&'static str; 4],
    /// What `--json` says, as JSON.
    pub facts: [&'static str; 4],
    pub way: Way,
}

/// How a command goes about it.
pub enum Way {
    /// It answers and ends, with this fact in its JSON if it has any.
    Ends { json: Option<fn(&[Value]) -> Value> },
    /// It speaks MCP until its input ends.
    Server,
    /// It shows a page until it is told to end, with so many skills on it.
    Page,
}

/// Without JSON there are no facts.
const NONE: [&str; 4] = ["null"; 4];

/// No arguments.
const BARE: [&[&str]; 4] = [&[]; 4];

/// The only value, or nothing where nothing was answered.
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
        arguments: BARE,
        codes: [0; 4],
        parts: ["18 skills", "0 skills", "2 skills", "10025 skills"],
        facts: NONE,
        way: Way::Server,
    },
    Row {
        command: "demo",
        arguments: BARE,
        codes: [0; 4],
        parts: ["18 skills"; 4],
        facts: NONE,
        way: Way::Ends { json: None },
    },
    Row {
        command: "list",
        arguments: BARE,
        codes: [0; 4],
        parts: ["csv-report\tfolder\tSummarise", "there are no skills", "fine\tfolder\tWorks", "skill-9998\tfolder\t"],
        facts: ["18", "0", "2", "10025"],
        way: Way::Ends { json: Some(|values| length(&only(values)["skills"])) },
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
        way: Way::Ends { json: Some(|values| only(values)["results"][0]["skillPath"].clone()) },
    },
    Row {
        command: "show",
        arguments: [&["CSV-report"], &["csv-report"], &["fin"], &["topic-9999"]],
        codes: [0, 1, 1, 0],
        parts: ["name: csv-report", "no skill is called `csv-report`", "close names are `fine`", "keywords: ["],
        facts: ["\"csv-report\"", "null", "null", "\"area49/topic-9999\""],
        way: Way::Ends { json: Some(|values| only(values)["skillPath"].clone()) },
    },
    Row {
        command: "match",
        arguments: [&["build a React login form component"], &["anything"], &["it works fine"], &["area7"]],
        codes: [0, 1, 0, 0],
        parts: ["ui/react/auth (score", "no skill matches", "fine (score", "area7/_index (score"],
        facts: ["\"ui/react/auth\"", "null", "\"fine\"", "\"area7/_index\""],
        way: Way::Ends { json: Some(|values| only(values)["skill_path"].clone()) },
    },
    Row {
        command: "run",
        arguments: [
            &["csv-report", "scripts/summarise.py"],
            &["csv-report", "scripts/summarise.py"],
            &["fine", "gone.sh"],
            &["skill-9998", "gone.sh"],
        ],
        codes: [0, 1, 1, 1],
        parts: ["orders.csv: 8 rows", "no skill is called", "gone.sh", "gone.sh"],
        facts: ["0", "null", "null", "null"],
        way: Way::Ends { json: Some(|values| only(values)["exit_code"].clone()) },
    },
    Row {
        command: "lint",
        arguments: BARE,
        codes: [0, 0, 1, 0],
        parts: ["18 skills: no problems", "0 skills: no problems", "error: there is no front matter", "10025 skills: "],
        facts: ["[18,false]", "[0,false]", "[2,true]", "[10025,false]"],
        way: Way::Ends {
            json: Some(|values| {
                let report = only(values);
                json!([report["skills"], report["errors"].as_u64().unwrap() > 0])
            }),
        },
    },
    Row {
        command: "doctor",
        arguments: BARE,
        codes: [0; 4],
        parts: ["18 skills", "no root has a skill", "skillcell lint", "10025 skills"],
        facts: ["0"; 4],
        way: Way::Ends { json: Some(|values| only(values)["failures"].clone()) },
    },
    Row {
        command: "client",
        arguments: [&["claude"], &["codex"], &["vscode"], &["gemini"]],
        codes: [0; 4],
        parts: ["\"mcpServers\"", "[mcp_servers.skillcell]", "\"servers\"", "\"mcpServers\""],
        facts: ["\"shown\""; 4],
        way: Way::Ends { json: Some(|values| only(values)["result"].clone()) },
    },
    Row {
        command: "plugin new",
        arguments: [&["my-scorer"]; 4],
        codes: [0; 4],
        parts: ["has a scorer that builds"; 4],
        facts: NONE,
        way: Way::Ends { json: None },
    },
    Row {
        command: "plugin check",
        arguments: [&["{component}"]; 4],
        codes: [0; 4],
        parts: ["scorer"; 4],
        facts: ["0"; 4],
        way: Way::Ends { json: Some(|values| length(&only(values)["problems"])) },
    },
    Row {
        command: "plugin list",
        arguments: BARE,
        codes: [0; 4],
        parts: ["python"; 4],
        facts: ["\"engine\""; 4],
        way: Way::Ends { json: Some(|values| only(values)[0]["name"].clone()) },
    },
    Row {
        command: "integration list",
        arguments: BARE,
        codes: [0; 4],
        parts: ["GITHUB_TOKEN not set"; 4],
        facts: ["true"; 4],
        way: Way::Ends { json: Some(|values| only(values).to_string().contains("GITHUB_TOKEN").into()) },
    },
    Row {
        command: "integration test",
        arguments: [&["github"]; 4],
        codes: [1; 4],
        parts: ["GITHUB_TOKEN"; 4],
        facts: ["false"; 4],
        way: Way::Ends { json: Some(|values| only(values)["works"].clone()) },
    },
    Row {
        command: "audit",
        arguments: BARE,
        codes: [0; 4],
        parts: ["csv-report scripts/summarise.py  exit 0", "", "", ""],
        facts: ["true"; 4],
        way: Way::Ends { json: Some(|lines| lines.iter().all(|line| line["kind"].is_string()).into()) },
    },
    Row {
        command: "audit verify",
        arguments: BARE,
        codes: [0; 4],
        parts: ["the record is whole"; 4],
        facts: ["0"; 4],
        way: Way::Ends { json: Some(|values| length(&only(values)["faults"])) },
    },
    Row {
        command: "stats",
        arguments: BARE,
        codes: [0; 4],
        parts: ["no history yet"; 4],
        facts: ["0"; 4],
        way: Way::Ends { json: Some(|values| length(&only(values)["skills"])) },
    },
    Row {
        command: "ui",
        arguments: BARE,
        codes: [0; 4],
        parts: [""; 4],
        facts: ["18", "0", "2", "10025"],
        way: Way::Page,
    },
    Row {
        command: "completions",
        arguments: [&["bash"], &["zsh"], &["fish"], &["powershell"]],
        codes: [0; 4],
        parts: ["complete -F _skillcell", "#compdef skillcell", "complete -c skillcell", "Register-ArgumentCompleter"],
        facts: NONE,
        way: Way::Ends { json: None },
    },
    Row {
        command: "man",
        arguments: [&[], &["pages"], &[], &["pages"]],
        codes: [0; 4],
        parts: [".TH skillcell 1", "every page is in pages", ".TH skillcell 1", "every page is in pages"],
        facts: NONE,
        way: Way::Ends { json: None },
    },
];
