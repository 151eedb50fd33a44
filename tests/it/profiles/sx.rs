//! Profile `sx`: `read_skill` and `query`.

use super::{assert_names_only_offered_tools, error, names, only_text, refusal, serve_as, text, tools};
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::Session;
use std::process::Command;
use tempfile::TempDir;

/// Creates the skill of the documented example.
fn reviewer() -> TempDir {
    library(&[
        (
            "code-reviewer/SKILL.md",
            "---\nname: code-reviewer\ndescription: Review code\n---\n\nSee the coding standards at @coding-standards.md\nAnd @missing.md\n",
        ),
        ("code-reviewer/coding-standards.md", "Short lines.\n"),
    ])
}

fn start(folder: &TempDir) -> Session {
    // The tests themselves may run in a repository.
    serve_as("sx", folder.path()).folder(folder.path()).start()
}

fn type_and_description(schema: &Value, argument: &str) -> (String, String) {
    let argument = &schema["properties"][argument];
    (text(&argument["type"]).to_owned(), text(&argument["description"]).to_owned())
}

#[test]
fn the_tools_have_the_documented_parameters() {
    let folder = reviewer();
    let mut session = start(&folder);
    let tools = tools(&mut session);
    assert_eq!(names(&tools), ["read_skill", "query"]);
    let (read, query) = (&tools[0]["inputSchema"], &tools[1]["inputSchema"]);
    assert_eq!(read["required"], json!(["name"]));
    assert_eq!(read["properties"].as_object().unwrap().len(), 1);
    assert_eq!(type_and_description(read, "name"), ("string".to_owned(), "Name of the skill to read".to_owned()));
    assert_eq!(query["required"], json!(["query", "integration"]));
    assert_eq!(query["properties"].as_object().unwrap().len(), 2);
    let question = "Natural language query describing what you want to know";
    assert_eq!(type_and_description(query, "query"), ("string".to_owned(), question.to_owned()));
    let (kind, service) = type_and_description(query, "integration");
    assert!(kind == "string" && service.starts_with("Service to query"), "{service}");
    assert_eq!(query["properties"]["integration"]["enum"], json!(["github", "circleci", "linear", "gateway"]));
    assert!(text(&tools[0]["description"]).starts_with("Read a skill's full instructions and content"));
    assert!(text(&tools[1]["description"]).starts_with("Query integrated services"));
}

#[test]
fn no_skill_is_named_before_it_is_read() {
    let folder = reviewer();
    let mut session = serve_as("sx", folder.path()).silent();
    let answer = session.initialize("2025-11-25");
    let instructions = text(&answer["result"]["instructions"]);
    assert_names_only_offered_tools(&["read_skill", "query"], instructions);
    let texts = format!("{instructions}{:?}", tools(&mut session));
    assert!(!texts.contains("code-reviewer"), "{texts}");
}

#[test]
fn references_of_a_skill_are_absolute_paths_if_the_file_exists() {
    let folder = reviewer();
    let mut session = start(&folder);
    let read = session.call("read_skill", json!({"name": "code-reviewer"}));
    let standards = folder.path().join("code-reviewer/coding-standards.md");
    assert_eq!(
        only_text(&read),
        format!(
            "---\nname: code-reviewer\ndescription: Review code\n---\n\nSee the coding standards at @{}\nAnd @missing.md\n",
            standards.display()
        )
    );
    // The file appears, and the next call resolves it.
    std::fs::write(folder.path().join("code-reviewer/missing.md"), "Now here.\n").unwrap();
    let read = session.call("read_skill", json!({"name": "code-reviewer"}));
    let expected = format!("And @{}/code-reviewer/missing.md\n", folder.path().display());
    assert!(only_text(&read).ends_with(&expected), "{read}");
}

#[test]
fn an_unknown_name_is_refused_without_mentioning_other_tools() {
    let folder = reviewer();
    let mut session = start(&folder);
    let refused = session.call("read_skill", json!({"name": "code-review"}));
    assert_eq!(refusal(&refused), "no skill is called `code-review`\nhint: close names are `code-reviewer`");
    let refused = session.call("read_skill", json!({"name": "zzz"}));
    assert_names_only_offered_tools(&["read_skill", "query"], refusal(&refused));
}

#[test]
fn a_query_with_missing_parameters_is_invalid() {
    let folder = reviewer();
    let mut session = start(&folder);
    for (arguments, message) in [
        (json!({"integration": "github"}), "query is required"),
        (json!({"query": "Get comments on this PR"}), "integration is required"),
        (json!({}), "query is required"),
    ] {
        assert_eq!(error(&session.call("query", arguments)), (-32602, message));
    }
}

#[test]
fn a_query_needs_a_git_repository() {
    let folder = reviewer();
    let question = json!({"query": "Get failed CI checks", "integration": "circleci"});
    let mut session = start(&folder);
    let refused = session.call("query", question.clone());
    assert!(refusal(&refused).starts_with("not in a git repository"), "{refused}");
    assert_names_only_offered_tools(&["read_skill", "query"], refusal(&refused));
    assert!(Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap().success());
    let inner = folder.path().join("src/deep");
    std::fs::create_dir_all(&inner).unwrap();
    for working_folder in [folder.path(), &inner] {
        let mut session = serve_as("sx", folder.path()).folder(working_folder).start();
        let answer = session.call("query", question.clone());
        assert!(!answer.to_string().contains("not in a git repository"), "{answer}");
        assert_names_only_offered_tools(&["read_skill", "query"], only_text(&answer));
    }
}
