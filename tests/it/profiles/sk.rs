//! Profile `sk`: the contract of `sk mcp-server`.

use super::{add_skill, error, names, serve_as, skill, text, tools};
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::{Session, write_files};
use tempfile::TempDir;

/// The skills of a checkout, one of them deeper down.
fn checkout() -> TempDir {
    library(&[
        ("beads/SKILL.md", &skill("beads", "Track work", "Run bd ready, then pick one.\nClose it when done.")),
        ("vendor/tools/pdf/SKILL.md", &skill("pdf-reader", "Read portable documents", "Use the reader.")),
        ("forms.md", "---\nkeywords: [form]\ndescription: A tree skill\n---\n\nRun bd ready.\n"),
    ])
}

fn start(folder: &TempDir) -> Session {
    let mut session = serve_as("sk", folder.path()).silent();
    session.initialize("2025-03-26");
    session
}

#[test]
fn the_handshake_is_as_documented() {
    let folder = checkout();
    let answer = serve_as("sk", folder.path()).silent().initialize("2025-03-26");
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], "2025-03-26");
    assert_eq!(result["serverInfo"], json!({"name": "sk-mcp", "version": env!("CARGO_PKG_VERSION")}));
    // The last section of the documentation supersedes the first: notifications are sent.
    assert_eq!(result["capabilities"]["tools"], json!({"listChanged": true}));
    let instructions = text(&result["instructions"]);
    assert!(instructions.contains("skills.list for exhaustive metadata"), "{instructions}");
    assert!(instructions.contains("skills.search for targeted lookups"), "{instructions}");
    assert!(!instructions.contains("beads") && instructions.chars().count() < 200, "short text: {instructions}");
}

#[test]
fn the_tools_have_the_documented_schemas() {
    let folder = checkout();
    let mut session = start(&folder);
    let tools = tools(&mut session);
    assert_eq!(names(&tools), ["skills.list", "skills.search"]);
    let list = json!({
      "type": "object",
      "properties": {
        "query": {
          "type": "string",
          "description": "Optional substring filter applied to install name, meta.name, or description"
        },
        "includeBody": {
          "type": "boolean",
          "description": "Include the SKILL.md body (minus YAML front-matter) in the structured payload"
        }
      },
      "additionalProperties": false
    });
    let search = json!({
      "type": "object",
      "properties": {
        "query": {
          "type": "string",
          "description": "Keywords to match (all whitespace-separated tokens must be present)",
          "minLength": 1
        },
        "limit": {
          "type": "integer",
          "description": "Maximum number of hits",
          "minimum": 1,
          "maximum": 25,
          "default": 10
        }
      },
      "required": ["query"],
      "additionalProperties": false
    });
    assert_eq!(tools[0]["inputSchema"], list);
    assert_eq!(tools[1]["inputSchema"], search);
}

fn beads() -> Value {
    json!({
        "installName": "beads",
        "meta": {"name": "beads", "description": "Track work"},
        "skillPath": "beads",
        "skillFile": "beads/SKILL.md",
    })
}

fn pdf() -> Value {
    json!({
        "installName": "pdf",
        "meta": {"name": "pdf-reader", "description": "Read portable documents"},
        "skillPath": "vendor/tools/pdf",
        "skillFile": "vendor/tools/pdf/SKILL.md",
    })
}

fn with(mut skill: Value, more: &Value) -> Value {
    let fields = more.as_object().unwrap().clone();
    skill.as_object_mut().unwrap().extend(fields);
    skill
}

#[test]
fn a_list_has_every_skill_file_at_any_depth_and_no_tree_skills() {
    let folder = checkout();
    let mut session = start(&folder);
    let mut list = |arguments: Value| session.call_json("skills.list", arguments)["skills"].clone();
    assert_eq!(list(json!({})), json!([beads(), pdf()]));
    for query in ["PDF", "pdf-reader", "portable DOC"] {
        assert_eq!(list(json!({"query": query})), json!([pdf()]), "{query}");
    }
    assert_eq!(list(json!({"query": "tree"})), json!([]));
    let body = json!({"body": "\nRun bd ready, then pick one.\nClose it when done.\n"});
    assert_eq!(list(json!({"includeBody": true, "query": "beads"})), json!([with(beads(), &body)]));
}

#[test]
fn a_list_has_a_text_with_the_number_of_skills() {
    let folder = checkout();
    let mut session = start(&folder);
    for (query, line) in [("", "2 skills"), ("pdf", "1 skill"), ("nothing", "0 skills")] {
        let result = session.call("skills.list", json!({"query": query}));
        assert_eq!(result["content"][0]["text"], line, "{result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 2, "{result}");
    }
}

#[test]
fn a_search_needs_every_word_and_shows_the_first_match() {
    let folder = checkout();
    let mut session = start(&folder);
    let excerpt = " Run bd ready, then pick one. Close it when done. ";
    let hit = with(beads(), &json!({"score": 2, "excerpt": excerpt}));
    assert_eq!(
        session.call_json("skills.search", json!({"query": "BD  ready"})),
        json!({"query": "BD  ready", "limit": 10, "total": 1, "results": [hit]})
    );
    assert_eq!(
        session.call_json("skills.search", json!({"query": "bd reader", "limit": 25})),
        json!({"query": "bd reader", "limit": 25, "total": 0, "results": []})
    );
    let both = session.call_json("skills.search", json!({"query": "the", "limit": 1}));
    assert_eq!(both["results"].as_array().unwrap().len(), 1, "{both}");
    assert_eq!(both["results"][0]["score"], 1, "{both}");
}

#[test]
fn wrong_arguments_are_invalid_parameters() {
    let folder = checkout();
    let mut session = start(&folder);
    for (tool, arguments, message) in [
        ("skills.search", json!({}), "query is required"),
        ("skills.search", json!({"query": ""}), "query must contain a word"),
        ("skills.search", json!({"query": "x", "limit": 0}), "limit is 0, and must be from 1 to 25"),
        ("skills.search", json!({"query": "x", "limit": 26}), "limit is 26, and must be from 1 to 25"),
        ("skills.list", json!({"includeBody": "yes"}), "includeBody must be true or false, not a string"),
        ("skills.list", json!({"limit": 3}), "limit is not an argument of this tool"),
    ] {
        let answer = session.call(tool, arguments.clone());
        assert_eq!(error(&answer), (-32602, message), "{tool} {arguments}");
    }
}

#[test]
fn an_invalid_file_is_logged_and_skipped() {
    let folder = checkout();
    write_files(folder.path(), &[("broken/SKILL.md", "---\nname: broken\n---\n\nNo description.\n")]);
    let mut session = start(&folder);
    let list = session.call_json("skills.list", json!({}));
    assert_eq!(list["skills"], json!([beads(), pdf()]));
    session.wait_for_log("broken/SKILL.md");
}

#[test]
fn every_call_is_fresh() {
    let folder = checkout();
    let mut session = start(&folder);
    add_skill(folder.path(), "fresh", "Just written");
    assert_eq!(
        session.call_json("skills.list", json!({"query": "fresh"}))["skills"][0]["meta"]["description"],
        "Just written"
    );
    std::fs::remove_dir_all(folder.path().join("fresh")).unwrap();
    assert_eq!(session.call_json("skills.search", json!({"query": "written"}))["total"], 0);
}

#[test]
fn every_change_is_announced_with_a_reason() {
    let folder = checkout();
    let mut session = start(&folder);
    tools(&mut session);
    // This changes neither the list of tools nor any description.
    write_files(folder.path(), &[("beads/SKILL.md", &skill("beads", "Track work", "Another text."))]);
    let params = session.notification("notifications/tools/list_changed")["params"].clone();
    assert!(!text(&params["_meta"]["reason"]).is_empty(), "{params}");
    add_skill(folder.path(), "fresh", "Just written");
    session.notification("notifications/tools/list_changed");
}

#[test]
fn many_concurrent_changes_are_announced_a_few_times() {
    let folder = checkout();
    let mut session = start(&folder);
    tools(&mut session);
    for number in 0..200 {
        add_skill(folder.path(), &format!("bulk-{number}"), "One of many");
    }
    session.notification("notifications/tools/list_changed");
    let id = session.post("tools/call", json!({"name": "skills.list", "arguments": {"query": "bulk"}}));
    let mut announced = 1;
    let list = loop {
        let message = session.next_message();
        if message["id"] == id {
            break message;
        }
        announced += usize::from(message["method"] == "notifications/tools/list_changed");
    };
    assert_eq!(list["result"]["content"][0]["text"], "200 skills", "{list}");
    assert!(announced < 20, "{announced} notifications");
}

#[test]
fn nothing_is_announced_before_the_handshake() {
    let folder = checkout();
    let mut session = serve_as("sk", folder.path()).silent();
    session.wait_for_log("generation 1");
    add_skill(folder.path(), "fresh", "Just written");
    session.wait_for_log("generation 2");
    let client = json!({"name": "tests", "version": "1"});
    session.post("initialize", json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}));
    let first = session.next_message();
    assert_eq!(first["result"]["serverInfo"]["name"], "sk-mcp", "{first}");
}
