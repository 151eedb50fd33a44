//! What a client sees under each profile: verbatim what the documentation of the replaced server says.

mod sk;
mod ccski;
mod skilljack;
mod sx;
mod skills_mcp;
mod choosing;
mod catalog_text;
mod tokens;

use crate::serve;
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, write_files};
use std::path::Path;

/// Every profile, and the tools that it offers, in order.
const PROFILES: [(&str, &[&str]); 6] = [
    ("unified", &ALL_TOOLS),
    ("sk", &["skills.list", "skills.search"]),
    ("ccski", &["skill"]),
    ("skilljack", &["skill", "skill-resource"]),
    ("sx", &["read_skill", "query"]),
    ("skills-mcp", &["get_skill", "list_skills", "get_asset", "run_script", "report_usage", "refresh_skills"]),
];

/// Every tool, in order.
pub const ALL_TOOLS: [&str; 12] = [
    "skill",
    "skill-resource",
    "skills_list",
    "skills_search",
    "read_skill",
    "query",
    "get_skill",
    "list_skills",
    "get_asset",
    "run_script",
    "report_usage",
    "refresh_skills",
];

fn serve_as(profile: &str, folder: &Path) -> Launch {
    serve(folder).arg("--profile").arg(profile)
}

/// Returns the file of a folder skill.
fn skill(name: &str, description: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{text}\n")
}

/// Adds a folder skill whose folder has its name.
fn add_skill(folder: &Path, name: &str, description: &str) {
    write_files(folder, &[(&format!("{name}/SKILL.md"), &skill(name, description, "Text."))]);
}

fn tools(session: &mut Session) -> Vec<Value> {
    let answer = session.request("tools/list", json!({}));
    answer["result"]["tools"].as_array().cloned().unwrap_or_else(|| panic!("no tools: {answer}"))
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| text(&tool["name"])).collect()
}

fn tool(session: &mut Session, name: &str) -> Value {
    let tools = tools(session);
    tools.iter().find(|tool| tool["name"] == name).cloned().unwrap_or_else(|| panic!("no {name} in {tools:?}"))
}

fn description(session: &mut Session, name: &str) -> String {
    text(&tool(session, name)["description"]).to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// Returns the only text of a tool's answer.
fn only_text(result: &Value) -> &str {
    let blocks = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
    assert_eq!(blocks.len(), 1, "{result}");
    assert!(result.get("structuredContent").is_none(), "clients hide the text next to structured content: {result}");
    text(&blocks[0]["text"])
}

/// Returns the text of a refusal.
fn refusal(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    only_text(result)
}

/// Returns the code and the message of a JSON-RPC error.
fn error(answer: &Value) -> (i64, &str) {
    let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"));
    (code, text(&answer["error"]["message"]))
}

/// Whether a text mentions a tool. `skill` and `query` are ordinary words, so only advice to use them counts.
fn is_mentioned(tool: &str, text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let mention = if ["skill", "query"].contains(&tool) { format!("use {tool}") } else { tool.to_owned() };
    text.match_indices(&mention).any(|(start, _)| {
        let (before, after) = (text[..start].chars().next_back(), text[start + mention.len()..].chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Checks that the text mentions no tool that this client cannot call.
fn assert_names_only_offered_tools(offered: &[&str], text: &str) {
    for other in ALL_TOOLS.iter().chain(&["skills.list", "skills.search"]) {
        assert!(
            offered.contains(other) || !is_mentioned(other, text),
            "{offered:?} are offered, but {other} is mentioned: {text}"
        );
    }
}
