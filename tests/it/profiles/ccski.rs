//! Profile `ccski`: one tool `skill` that lists every skill of the user, the project and plugins.

use super::{add_skill, assert_names_only_offered_tools, description, error, names, only_text, refusal, skill, tools};
use crate::SKILLCELL;
use serde_json::json;
use skillcell_tests::{Launch, write_files};
use std::path::PathBuf;
use tempfile::TempDir;

/// The beginning of every description.
const FIRST: &str = "Load a skill by name to get specialized instructions.\n\nAvailable skills:\n";

/// A user in a project, with the skills of the documented example.
struct Scene {
    project: TempDir,
    home: PathBuf,
    launch: Launch,
}

impl Scene {
    fn new() -> Self {
        let project = tempfile::tempdir().unwrap();
        let launch = Launch::new(SKILLCELL).arg("--profile").arg("ccski").folder(project.path());
        let home = launch.home().to_owned();
        add_skill(&home.join(".claude/skills"), "user", "用户的全局技能,必读!");
        add_skill(&project.path().join(".claude/skills"), "bun", "Enhanced documentation skill for 'bun'");
        add_skill(&home.join("plugin/skills"), "pdf", "Comprehensive PDF manipulation toolkit");
        let record = json!({"version": 2, "plugins": {"example-skills@market": [{"installPath": "~/plugin"}]}});
        write_files(&home, &[(".claude/plugins/installed_plugins.json", &record.to_string())]);
        Self { project, home, launch }
    }
}

#[test]
fn the_tool_lists_the_skills_of_user_project_and_plugins() {
    let scene = Scene::new();
    let mut session = scene.launch.start();
    let tools = tools(&mut session);
    assert_eq!(names(&tools), ["skill"]);
    let listed = "- bun: Enhanced documentation skill for 'bun'\n- example-skills:pdf: Comprehensive PDF manipulation toolkit\n- user: 用户的全局技能,必读!";
    assert_eq!(tools[0]["description"], format!("{FIRST}{listed}"));
    let schema = &tools[0]["inputSchema"];
    assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["name"])));
    assert_eq!(schema["properties"]["name"]["type"], "string");
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1, "{schema}");
    session.wait_for_log("root `user` is");
    session.wait_for_log("generation 1: 3 skills");
}

#[test]
fn configured_folders_are_added_to_those_of_the_user() {
    let scene = Scene::new();
    let team = tempfile::tempdir().unwrap();
    add_skill(team.path(), "alpha", "First of all");
    let mut session = scene.launch.arg(team.path()).start();
    let listed = description(&mut session, "skill");
    assert!(listed.starts_with(&format!("{FIRST}- alpha: First of all\n- bun: ")), "{listed}");
    assert!(listed.contains("\n- example-skills:pdf: ") && listed.contains("\n- user: "), "{listed}");
}

#[test]
fn every_skill_is_listed_however_many_there_are() {
    let scene = Scene::new();
    let long = "a description of some length ".repeat(30);
    for number in 0..300 {
        add_skill(&scene.home.join(".claude/skills"), &format!("skill-{number:03}"), &long);
    }
    let mut session = scene.launch.start();
    let listed = description(&mut session, "skill");
    for number in 0..300 {
        assert!(listed.contains(&format!("\n- skill-{number:03}: {}", long.trim())), "{number}");
    }
}

#[test]
fn the_list_is_fresh_and_changes_are_announced() {
    let scene = Scene::new();
    let mut session = scene.launch.start();
    let before = description(&mut session, "skill");
    let skills = scene.project.path().join(".claude/skills");
    add_skill(&skills, "zig", "Write Zig");
    session.notification("notifications/tools/list_changed");
    assert_eq!(description(&mut session, "skill"), format!("{before}\n- zig: Write Zig"));
    add_skill(&skills, "zig", "Write newer Zig");
    session.notification("notifications/tools/list_changed");
    assert_eq!(description(&mut session, "skill"), format!("{before}\n- zig: Write newer Zig"));
    std::fs::remove_dir_all(skills.join("zig")).unwrap();
    session.notification("notifications/tools/list_changed");
    assert_eq!(description(&mut session, "skill"), before);
    let gone = session.call("skill", json!({"name": "zig"}));
    assert!(refusal(&gone).starts_with("no skill is called `zig`"), "{gone}");
}

#[test]
fn a_skill_is_loaded_with_a_header() {
    let scene = Scene::new();
    let file = "---\nname: user\ndescription: \"用户的全局技能,必读!\"\n---\n\n\tTabs,  spaces \r\n```js\nlet x = '<&>';\n```\n\n— é 必读 🦀";
    write_files(&scene.home, &[(".claude/skills/user/SKILL.md", file)]);
    let folder = scene.home.join(".claude/skills/user");
    let mut session = scene.launch.start();
    for name in ["user", "User", "USER", "user:user"] {
        let loaded = session.call("skill", json!({"name": name}));
        assert_eq!(
            only_text(&loaded),
            format!("Loading: user\nBase directory: {}\n\n{file}", folder.display()),
            "{name}"
        );
        assert_ne!(loaded["isError"], true);
    }
}

#[test]
fn a_plugins_skill_is_loaded_by_its_full_or_short_name() {
    let scene = Scene::new();
    let folder = scene.home.join("plugin/skills/pdf");
    let file = skill("pdf", "Comprehensive PDF manipulation toolkit", "Text.");
    let mut session = scene.launch.start();
    for name in ["example-skills:pdf", "Example-Skills:PDF", "pdf"] {
        let loaded = session.call("skill", json!({"name": name}));
        let expected = format!("Loading: example-skills:pdf\nBase directory: {}\n\n{file}", folder.display());
        assert_eq!(only_text(&loaded), expected, "{name}");
    }
}

#[test]
fn a_short_name_of_several_skills_is_an_error_with_their_full_names() {
    let scene = Scene::new();
    add_skill(&scene.home.join(".claude/skills"), "pdf", "My own");
    add_skill(&scene.project.path().join(".claude/skills"), "pdf", "The project's");
    let mut session = scene.launch.start();
    let listed = description(&mut session, "skill");
    for line in [
        "- project:pdf: The project's",
        "- user:pdf: My own",
        "- example-skills:pdf: Comprehensive PDF manipulation toolkit",
    ] {
        assert!(listed.lines().any(|listed| listed == line), "{line} in {listed}");
    }
    let answer = session.call("skill", json!({"name": "pdf"}));
    let refused = refusal(&answer);
    assert_eq!(
        refused,
        "several skills are called `pdf`: `project:pdf`, `user:pdf`, `example-skills:pdf`\nhint: use one of these full names"
    );
    for (name, part) in [("project:pdf", "The project's"), ("user:pdf", "My own"), ("example-skills:pdf", "toolkit")] {
        let loaded = session.call("skill", json!({"name": name}));
        let loaded = only_text(&loaded);
        assert!(loaded.starts_with(&format!("Loading: {name}\n")) && loaded.contains(part), "{loaded}");
    }
}

#[test]
fn an_unknown_name_is_an_error_with_close_names() {
    let scene = Scene::new();
    let mut session = scene.launch.start();
    for (name, similar) in [("bum", "`bun`"), ("usr", "`user`"), ("pdf-tools", "`example-skills:pdf`")] {
        let answer = session.call("skill", json!({"name": name}));
        let refused = refusal(&answer);
        assert_eq!(refused, format!("no skill is called `{name}`\nhint: close names are {similar}"));
    }
    let answer = session.call("skill", json!({"name": "nothing like it"}));
    assert_names_only_offered_tools(&["skill"], refusal(&answer));
}

#[test]
fn a_missing_name_is_an_invalid_parameter() {
    let scene = Scene::new();
    let mut session = scene.launch.start();
    assert_eq!(error(&session.call("skill", json!({}))), (-32602, "name is required"));
    assert_eq!(error(&session.call("skill", json!({"name": 7}))), (-32602, "name must be a string, not a number"));
}

#[test]
fn without_skills_the_server_starts_and_reports_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Launch::new(SKILLCELL).arg("--profile").arg("ccski").folder(folder.path()).silent();
    // The handshake does not wait long for the first index.
    session.wait_for_log("generation 1");
    let answer = session.initialize("2025-11-25");
    assert!(super::text(&answer["result"]["instructions"]).contains("no skills yet"), "{answer}");
    assert!(description(&mut session, "skill").contains("no skills yet"));
}

#[test]
fn instructions_leave_the_catalog_to_the_description() {
    let scene = Scene::new();
    let answer = scene.launch.silent().initialize("2025-11-25");
    let instructions = super::text(&answer["result"]["instructions"]);
    assert!(!instructions.contains("Available skills") && !instructions.contains("bun"), "{instructions}");
    assert_eq!(answer["result"]["serverInfo"]["name"], "skillcell");
    assert_names_only_offered_tools(&["skill"], instructions);
}
