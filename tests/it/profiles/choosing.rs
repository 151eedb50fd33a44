//! Choosing a profile and tools, on the command line and in the operator's file.

use super::{
    ALL_TOOLS, PROFILES, add_skill, assert_names_only_offered_tools, description, error, names, serve_as, text, tools,
};
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session};

/// Returns the log of a server that does not start.
fn startup_failure(launch: Launch) -> String {
    let output = launch.output();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(output.stdout.is_empty(), "standard output carries messages only");
    log
}

#[test]
fn every_profile_offers_its_tools_in_order() {
    let library = library(&SMALL);
    for (profile, expected) in PROFILES {
        let mut session = serve_as(profile, library.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").silent();
        let answer = session.initialize("2025-11-25");
        let server = if profile == "sk" { "sk-mcp" } else { "skillcell" };
        assert_eq!(answer["result"]["serverInfo"]["name"], server, "{profile}");
        assert_eq!(names(&tools(&mut session)), expected, "{profile}");
    }
    let mut session = serve(library.path()).start();
    let all_but_query: Vec<&str> = ALL_TOOLS.into_iter().filter(|tool| *tool != "query").collect();
    assert_eq!(names(&tools(&mut session)), all_but_query, "the default is `unified`, and no service can be asked");
    let mut session = serve(library.path()).arg("--tools").arg("query").start();
    assert_eq!(names(&tools(&mut session)), ["query"]);
    let mut session = serve(library.path()).arg("--tools").arg("core").start();
    assert_eq!(names(&tools(&mut session)), ["skill", "skill-resource", "skills_search", "get_skill", "run_script"]);
}

#[test]
fn every_tool_of_every_profile_is_fully_described() {
    let library = library(&SMALL);
    for (profile, _) in PROFILES {
        let mut session = serve_as(profile, library.path()).start();
        for tool in tools(&mut session) {
            let name = text(&tool["name"]);
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
            assert!((1..=64).contains(&name.len()), "{name}");
            // The documentation of `sk` has dots; clients that do not support them use another profile.
            assert!(name.chars().all(|letter| is_plain(letter) || profile == "sk" && letter == '.'), "{name}");
            assert!(!text(&tool["title"]).is_empty() && !text(&tool["description"]).is_empty(), "{tool}");
            let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
            assert!(hints.iter().all(|hint| tool["annotations"][hint].is_boolean()), "{tool}");
            let schema = &tool["inputSchema"];
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{tool}");
            let is_known = |name: &Value| schema["properties"].get(text(name)).is_some();
            assert!(schema["required"].as_array().is_none_or(|required| required.iter().all(is_known)), "{tool}");
        }
    }
}

#[test]
fn annotations_match_what_tools_can_do() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    for tool in tools(&mut session) {
        let hint = |name: &str| tool["annotations"][name].as_bool().unwrap();
        let name = text(&tool["name"]);
        let changes_something = ["run_script", "report_usage", "refresh_skills"].contains(&name);
        assert_eq!(hint("readOnlyHint"), !changes_something, "{name}");
        assert_eq!(hint("destructiveHint"), name == "run_script", "{name}");
        let reaches_out = ["run_script", "query", "refresh_skills"].contains(&name);
        assert_eq!(hint("openWorldHint"), reaches_out, "{name}");
        let repeatable = !["run_script", "report_usage"].contains(&name);
        assert_eq!(hint("idempotentHint"), repeatable, "{name}");
    }
}

#[test]
fn an_unknown_profile_is_refused_with_the_existing_ones() {
    let library = library(&SMALL);
    let log = startup_failure(serve_as("skilljak", library.path()));
    assert!(log.contains("skilljak"), "{log}");
    for (profile, _) in PROFILES {
        assert!(log.contains(profile), "{profile} in {log}");
    }
}

#[test]
fn an_unknown_tool_is_refused_with_the_existing_ones() {
    let library = library(&SMALL);
    for names in ["skil", "skill,skil", "", "skill,,query"] {
        let log = startup_failure(serve(library.path()).arg("--tools").arg(names));
        for tool in ALL_TOOLS {
            assert!(log.contains(tool), "{tool} in {log}");
        }
        assert!(!log.contains("config.yaml"), "the command line is to blame: {log}");
    }
}

#[test]
fn chosen_tools_keep_the_default_order() {
    let library = library(&SMALL);
    for (arguments, expected) in [
        (&["--tools", "refresh_skills,skill,skill-resource"][..], &["skill", "skill-resource", "refresh_skills"][..]),
        (&["--tools", "query, skill ,query"], &["skill", "query"]),
        (&["--tools", "query", "--tools", "get_asset"], &["query", "get_asset"]),
        (&["--tools", "skills.search,skills.list"], &["skills_list", "skills_search"]),
        (&["--profile", "sk", "--tools", "skills_search"], &["skills.search"]),
        (&["--profile", "skilljack", "--tools", "query,skill"], &["skill", "query"]),
    ] {
        let launch = arguments.iter().fold(serve(library.path()), Launch::arg);
        assert_eq!(names(&tools(&mut launch.start())), expected, "{arguments:?}");
    }
}

#[test]
fn a_tool_that_is_not_offered_cannot_be_called() {
    let library = library(&SMALL);
    let arguments = json!({"name": "pdf", "context": "x", "query": "x", "integration": "github"});
    for (profile, offered) in PROFILES {
        let mut session = serve_as(profile, library.path()).start();
        for tool in ALL_TOOLS {
            let dotted = tool.replace("skills_", "skills.");
            if offered.contains(&tool) || offered.contains(&dotted.as_str()) {
                continue;
            }
            let answer = session.call(tool, arguments.clone());
            assert_eq!(
                error(&answer),
                (-32602, format!("there is no tool `{tool}`: see tools/list").as_str()),
                "{profile}"
            );
        }
    }
}

/// Returns all texts that a client gets before its first call.
fn all_descriptions(session: &mut Session, initialized: &Value) -> String {
    let mut texts = text(&initialized["result"]["instructions"]).to_owned();
    for tool in tools(session) {
        texts.push('\n');
        texts.push_str(text(&tool["description"]));
        for argument in tool["inputSchema"]["properties"].as_object().unwrap().values() {
            texts.push('\n');
            texts.push_str(argument["description"].as_str().unwrap_or_default());
        }
    }
    texts
}

#[test]
fn descriptions_mention_only_offered_tools() {
    let library = library(&[]);
    // The list of skills would end with advice to search.
    for number in 0..300 {
        add_skill(library.path(), &format!("example-{number}"), "An example");
    }
    let pairs = ALL_TOOLS.map(|tool| (vec!["--tools", tool], vec![tool]));
    let profiles = PROFILES.map(|(profile, tools)| (vec!["--profile", profile], tools.to_vec()));
    for (arguments, offered) in pairs.into_iter().chain(profiles) {
        let launch = arguments.iter().fold(serve(library.path()), Launch::arg);
        let mut session = launch.silent();
        session.wait_for_log("generation 1");
        let initialized = session.initialize("2025-11-25");
        assert_names_only_offered_tools(&offered, &all_descriptions(&mut session, &initialized));
    }
}

#[test]
fn every_tool_mentions_which_other_one_to_use_instead() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    for tool in tools(&mut session) {
        let name = text(&tool["name"]);
        let others =
            ALL_TOOLS.iter().filter(|other| **other != name && super::is_mentioned(other, text(&tool["description"])));
        // There is no alternative to these.
        let has_no_alternative = ["report_usage", "refresh_skills"].contains(&name);
        assert_eq!(others.count() == 0, has_no_alternative, "{tool}");
    }
}

#[test]
fn answers_mention_only_offered_tools() {
    let library = library(&SMALL);
    let unknown = json!({"name": "zzzzzz"});
    for (tool, arguments) in [
        ("skill", unknown.clone()),
        ("read_skill", unknown),
        ("skill-resource", json!({"skill": "zzzzzz", "path": ""})),
        ("skill-resource", json!({"skill": "forms", "path": "x"})),
        ("get_asset", json!({"skill_path": "zzzzzz", "file": "x"})),
        ("report_usage", json!({"skill_path": "zzzzzz", "useful": true})),
        ("run_script", json!({"skill_path": "pdf", "file": "x.sh", "args": {}})),
        ("list_skills", json!({"path": "zzzzzz"})),
        ("get_skill", json!({"context": "x", "skill_path": "zzzzzz"})),
        ("query", json!({"query": "x", "integration": "github"})),
    ] {
        let mut session = serve(library.path()).arg("--tools").arg(tool).start();
        let answer = session.call(tool, arguments);
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
        assert_names_only_offered_tools(&[tool], text(&answer["content"][0]["text"]));
    }
}

#[test]
fn the_operators_file_chooses_profile_and_tools() {
    let library = library(&SMALL);
    let listed = |config: &str, arguments: &[&str]| {
        let launch = arguments.iter().fold(serve(library.path()).config(config), Launch::arg);
        names(&tools(&mut launch.start())).join(" ")
    };
    assert_eq!(listed("profile: skilljack\n", &[]), "skill skill-resource");
    assert_eq!(listed("profile: skills-mcp\ntools: [refresh_skills, get_skill]\n", &[]), "get_skill refresh_skills");
    assert_eq!(listed("tools: [query]\n", &[]), "query");
    // The command line takes precedence.
    assert_eq!(listed("profile: skilljack\n", &["--profile", "sx"]), "read_skill query");
    assert_eq!(listed("tools: [query]\n", &["--tools", "skill"]), "skill");
    assert_eq!(listed("profile: sk\n", &["--tools", "skills_list"]), "skills.list");
}

#[test]
fn the_operators_file_decides_about_duplicates() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    add_skill(first.path(), "pdf", "The first");
    add_skill(&second.path().join("deep"), "pdf", "The second");
    let listed = |profile: &str, config: &str| {
        let mut session = serve_as(profile, first.path()).arg(second.path()).config(config).start();
        description(&mut session, "skill")
    };
    for (profile, config, both) in [
        ("unified", "", true),
        ("unified", "duplicates: error\n", true),
        ("unified", "duplicates: first\n", false),
        ("skilljack", "", false),
        ("skilljack", "duplicates: error\n", true),
    ] {
        let listed = listed(profile, config);
        assert!(listed.contains("The first"), "{profile} {config}: {listed}");
        assert_eq!(listed.contains("The second"), both, "{profile} {config}: {listed}");
    }
    let launch = serve(first.path()).arg(second.path()).config("duplicates: first\n");
    let problems = crate::problems(&mut launch.start(), "severity");
    assert_eq!(problems, [("deep/pdf/SKILL.md".to_owned(), "error".to_owned())]);
}

#[test]
fn invalid_values_in_the_operators_file_are_reported_with_file_and_line() {
    let library = library(&SMALL);
    for (line, parts) in [
        ("profile: unifed", &["unifed", "skilljack"][..]),
        ("profile: [sk]", &["profile"]),
        ("tools: skill", &["tools"]),
        ("tools: [skill, skil]", &["skil", "refresh_skills"]),
        ("catalog: everywhere", &["everywhere", "instructions"]),
        ("catalog_format: html", &["html", "xml"]),
        ("catalog_max_chars: many", &["catalog_max_chars"]),
        ("catalog_max_chars: -1", &["catalog_max_chars"]),
        ("catalog_max_chars: 10", &["catalog_max_chars", "1000"]),
        ("duplicates: last", &["last", "first"]),
        ("catalogue: both", &["catalogue"]),
    ] {
        let log = startup_failure(serve(library.path()).config(&format!("# what clients see\n{line}\n")));
        assert!(log.contains("config.yaml:2"), "{line}: {log}");
        for part in parts {
            assert!(log.contains(part), "{part} of {line}: {log}");
        }
    }
}
