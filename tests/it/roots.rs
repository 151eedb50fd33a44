//! Where skills come from: configured folders, and those of the project, the user and plugins.

use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, repository, write_files};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Returns a skill with one line of instructions.
fn skill(name: &str, line: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\n{line}\n")
}

/// Adds a skill `NAME/SKILL.md` to a folder. Its instructions are `from` and the location.
fn add_skill(folder: &Path, location: &str, name: &str) {
    write_files(&folder.join(location), &[(&format!("{name}/SKILL.md"), &skill(name, &format!("from {location}")))]);
}

/// Installs the plugins of `fixtures/plugins/VERSION`.
fn install_plugins(home: &Path, version: &str) {
    let (from, to) = (repository().join("fixtures/plugins").join(version), home.join(".claude/plugins"));
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    assert!(Command::new("cp").arg("-R").arg(from).arg(to).status().unwrap().success());
}

fn write_record(home: &Path, record: &str) {
    write_files(home, &[(".claude/plugins/installed_plugins.json", record)]);
}

/// Prepares a server in an empty folder.
fn in_empty_folder() -> (TempDir, Launch) {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::new(SKILLCELL).folder(folder.path());
    (folder, launch)
}

fn paths(session: &mut Session) -> Vec<String> {
    let list = session.fresh(|session| session.call_json("skills_list", json!({})));
    list["skills"].as_array().unwrap().iter().map(|skill| skill["skillPath"].as_str().unwrap().to_owned()).collect()
}

/// Returns the instructions of a skill, or null if it is unknown.
fn instructions_of(session: &mut Session, name: &str) -> Value {
    let result = session.call("get_skill", json!({"context": "x", "skill_path": name}));
    if result["isError"] == true {
        return Value::Null;
    }
    let answer: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    answer["content"].clone()
}

#[test]
fn without_arguments_every_existing_default_folder_is_served() {
    let (folder, launch) = in_empty_folder();
    let home = launch.home().to_owned();
    for location in ["skills", ".claude/skills", ".agents/skills"] {
        add_skill(folder.path(), location, "notes");
    }
    for location in [".claude/skills", ".agents/skills"] {
        add_skill(&home, location, "notes");
    }
    install_plugins(&home, "v2");
    let mut session = launch.start();
    for (name, text) in [
        ("skills:notes", "from skills"),
        ("project:notes", "from .claude/skills"),
        ("project-2:notes", "from .agents/skills"),
        ("user:notes", "from .claude/skills"),
        ("user-2:notes", "from .agents/skills"),
        ("notes-kit:notes", "Notes as the second plugin takes them."),
        ("charts:bars", "Start the axis at zero."),
    ] {
        assert_eq!(instructions_of(&mut session, name), text, "{name}; log:\n{}", session.log());
    }
    assert_eq!(paths(&mut session), ["bars", "notes", "notes", "notes", "notes", "notes", "notes"]);
    let tree = session.call_json("list_skills", json!({}));
    let roots: Vec<&Value> = tree.as_array().unwrap().iter().map(|node| &node["name"]).collect();
    assert_eq!(roots, ["skills", "project", "project-2", "user", "user-2", "charts", "notes-kit"]);
}

#[test]
fn without_arguments_the_folder_of_the_user_is_enough() {
    let (_folder, launch) = in_empty_folder();
    add_skill(launch.home(), ".agents/skills", "notes");
    let mut session = launch.start();
    assert_eq!(instructions_of(&mut session, "user:notes"), "from .agents/skills");
}

#[test]
fn configured_folders_replace_the_default_ones_unless_those_are_requested() {
    let team = library(&[("notes/SKILL.md", &skill("notes", "from the team"))]);
    let launch = |arguments: &[&str]| {
        let (folder, mut launch) = in_empty_folder();
        add_skill(folder.path(), ".claude/skills", "project-skill");
        add_skill(launch.home(), ".claude/skills", "user-skill");
        install_plugins(launch.home(), "v1");
        for argument in arguments {
            launch = launch.arg(argument);
        }
        (folder, launch)
    };
    let folder = team.path().to_str().unwrap();
    for (arguments, config, expected) in [
        (&[folder][..], "", &["notes"][..]),
        (&[folder], "roots: {user: false, plugins: false}", &["notes"]),
        (&[folder, "--user"], "", &["notes", "project-skill", "user-skill"]),
        (&["--user", "--root", folder], "roots: {}", &["notes", "project-skill", "user-skill"]),
        (&[folder], "roots: {user: true}", &["notes", "project-skill", "user-skill"]),
        (&["--plugins", folder], "", &["minutes", "notes", "notes"]),
        (&[folder], "roots: {plugins: true}", &["minutes", "notes", "notes"]),
        (&[folder, "--user"], "roots: {plugins: true}", &["minutes", "notes", "notes", "project-skill", "user-skill"]),
    ] {
        let (_folder, launch) = launch(arguments);
        let mut session = launch.config(config).start();
        assert_eq!(paths(&mut session), expected, "{arguments:?}, {config}; log:\n{}", session.log());
        // The configured folder comes first, so its skill has the plain path.
        assert_eq!(instructions_of(&mut session, "notes"), "from the team");
    }
    let (_folder, by_variable) = launch(&["--user", "--plugins"]);
    let mut session = by_variable.env("SKILLS_DIR", folder).start();
    assert_eq!(paths(&mut session), ["minutes", "notes", "notes", "project-skill", "user-skill"]);
}

#[test]
fn an_invalid_setting_of_roots_is_refused_with_its_line() {
    for (config, part) in [("roots:\n  users: true\n", "unknown field `users`"), ("roots: {user: 7}", "invalid type")] {
        let (_folder, launch) = in_empty_folder();
        let output = launch.arg("--user").config(config).output();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{log}");
        assert!(log.contains(part) && log.contains("config.yaml:"), "{log}");
    }
}

#[test]
fn both_versions_of_the_plugin_list_are_supported() {
    for (version, line, all) in [
        ("v1", "Notes as the first plugin takes them.", &["minutes", "notes", "notes"]),
        ("v2", "Notes as the second plugin takes them.", &["bars", "notes", "notes"]),
    ] {
        let (_folder, launch) = in_empty_folder();
        add_skill(launch.home(), ".claude/skills", "notes");
        install_plugins(launch.home(), version);
        let mut session = launch.arg("--user").arg("--plugins").start();
        assert_eq!(instructions_of(&mut session, "notes-kit:notes"), line);
        assert_eq!(instructions_of(&mut session, "user:notes"), "from .claude/skills");
        // Two entries for one folder are one root, and a plugin without skills causes no warning.
        assert_eq!(paths(&mut session), *all);
        assert!(!session.log().contains("WARN"), "{}", session.log());
    }
}

#[test]
fn a_plugins_skill_is_always_prefixed_with_the_plugins_name() {
    let (_folder, launch) = in_empty_folder();
    add_skill(launch.home(), ".claude/skills", "notes");
    add_skill(launch.home(), ".claude/skills", "mine");
    install_plugins(launch.home(), "v1");
    let mut session = launch.start();
    let heading = |session: &mut Session, name: &str| {
        let text = session.call("skill", json!({"name": name}))["content"][0]["text"].as_str().unwrap().to_owned();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(heading(&mut session, "minutes"), "Loading: notes-kit:minutes");
    assert_eq!(heading(&mut session, "notes-kit:notes"), "Loading: notes-kit:notes");
    assert_eq!(heading(&mut session, "user:notes"), "Loading: user:notes");
    assert_eq!(heading(&mut session, "mine"), "Loading: mine");
}

#[test]
fn an_invalid_plugin_list_is_reported_and_the_server_starts() {
    let good = r#"[{"installPath": "~/kit"}]"#;
    let cases = [
        ("{".to_owned(), "is not valid JSON", false),
        (format!(r#"{{"version": 9, "plugins": {{"kit@m": {good}}}}}"#), "has version 9", false),
        (r#"{"version": 2, "plugins": 7}"#.to_owned(), "has no object `plugins`", false),
        (" ".repeat((4 << 20) + 1), "has 4194305 bytes", false),
        (
            format!(r#"{{"version": 2, "plugins": {{"bad@m": [{{}}], "kit@m": {good}}}}}"#),
            "entry 1 of `bad@m` has no path in `installPath`",
            true,
        ),
    ];
    for (record, reason, served) in cases {
        let (_folder, launch) = in_empty_folder();
        add_skill(launch.home(), ".claude/skills", "notes");
        add_skill(launch.home(), "kit/skills", "bars");
        write_record(launch.home(), &record);
        let mut session = launch.start();
        let expected: &[&str] = if served { &["bars", "notes"] } else { &["notes"] };
        assert_eq!(paths(&mut session), expected, "{reason}");
        session.wait_for_log(reason);
        session.wait_for_log("installed_plugins.json");
    }
}

#[test]
fn a_plugin_list_that_is_a_pipe_does_not_block_the_start() {
    let (_folder, launch) = in_empty_folder();
    add_skill(launch.home(), ".claude/skills", "notes");
    std::fs::create_dir(launch.home().join(".claude/plugins")).unwrap();
    let pipe = launch.home().join(".claude/plugins/installed_plugins.json");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let mut session = launch.start();
    assert_eq!(paths(&mut session), ["notes"]);
    session.wait_for_log("is not a regular file");
}

#[test]
fn a_plugin_may_be_a_link_but_its_skills_must_be_inside_it() {
    let (_folder, launch) = in_empty_folder();
    let home = launch.home().to_owned();
    add_skill(&home, "sources/kit/skills", "bars");
    add_skill(&home, "sources/inner/actual", "lines");
    add_skill(&home, "private", "secret");
    std::fs::create_dir(home.join("sources/outer")).unwrap();
    symlink("sources/kit", home.join("kit")).unwrap();
    symlink("actual", home.join("sources/inner/skills")).unwrap();
    symlink("../../private", home.join("sources/outer/skills")).unwrap();
    let entries = ["~/kit", "~/sources/kit", "../../sources/inner", "~/sources/outer"];
    let entries = entries.map(|path| json!({"installPath": path}));
    write_record(&home, &json!({"version": 2, "plugins": {"tools@m": entries}}).to_string());
    let mut session = launch.start();
    assert_eq!(instructions_of(&mut session, "tools:bars"), "from sources/kit/skills");
    assert_eq!(instructions_of(&mut session, "tools-2:lines"), "from sources/inner/actual");
    assert_eq!(paths(&mut session), ["bars", "lines"]);
    session.wait_for_log("root `tools-3` at");
    assert_eq!(instructions_of(&mut session, "tools-3:secret"), Value::Null);
}

#[test]
fn a_plugins_label_is_valid_whatever_its_name() {
    let (_folder, launch) = in_empty_folder();
    add_skill(launch.home(), "kit/skills", "bars");
    add_skill(launch.home(), "box/skills", "lines");
    let plugins = json!({"@team/a:b@m": [{"installPath": "~/kit"}], "@m": [{"installPath": "~/box"}]});
    write_record(launch.home(), &json!({"version": 2, "plugins": plugins}).to_string());
    let mut session = launch.start();
    assert_eq!(instructions_of(&mut session, "@team-a-b:bars"), "from kit/skills");
    assert_eq!(instructions_of(&mut session, "plugin:lines"), "from box/skills");
}

#[test]
fn folders_can_be_separated_by_commas_everywhere() {
    let (folder, _) = in_empty_folder();
    for name in ["a", "b", "c"] {
        add_skill(folder.path(), name, &format!("{name}-skill"));
    }
    let launch = || Launch::new(SKILLCELL).folder(folder.path());
    for launch in [
        launch().arg("a,b,c"),
        launch().arg("a, b").arg("--root").arg("c,"),
        launch().arg("--root").arg("a,b").arg("--root").arg(",c"),
        launch().env("SKILLS_DIR", " a , b,c"),
    ] {
        let mut session = launch.start();
        assert_eq!(paths(&mut session), ["a-skill", "b-skill", "c-skill"]);
        assert_eq!(instructions_of(&mut session, "b:b-skill"), "from b");
    }
}

#[test]
fn requested_folders_are_served_once_they_exist() {
    let (folder, launch) = in_empty_folder();
    let home = launch.home().to_owned();
    write_record(&home, r#"{"version": 1, "plugins": {"kit@m": {"installPath": "~/kit"}}}"#);
    let mut session = launch.arg("--user").arg("--plugins").start();
    assert_eq!(paths(&mut session), Vec::<String>::new());
    add_skill(&home, ".claude/skills", "mine");
    assert_eq!(paths(&mut session), ["mine"]);
    add_skill(&home, "kit/skills", "bars");
    add_skill(folder.path(), ".agents/skills", "ours");
    assert_eq!(paths(&mut session), ["bars", "mine", "ours"]);
    assert_eq!(instructions_of(&mut session, "user:mine"), "from .claude/skills");
    assert_eq!(instructions_of(&mut session, "kit:bars"), "from kit/skills");
}

#[test]
fn a_configured_folder_that_is_also_the_users_is_served_once() {
    let (folder, launch) = in_empty_folder();
    let home = launch.home().to_owned();
    add_skill(&home, ".claude/skills", "notes");
    symlink(home.join(".claude/skills"), folder.path().join("mine")).unwrap();
    let mut session = launch.arg("mine").arg("--user").start();
    assert_eq!(paths(&mut session), ["notes"]);
    assert_eq!(instructions_of(&mut session, "skills:notes"), "from .claude/skills");
}

#[test]
fn a_script_of_a_plugin_is_run_from_the_command_line() {
    let (folder, launch) = in_empty_folder();
    let home = launch.home().to_owned();
    let declares =
        "---\nname: hello\ndescription: d\nscripts:\n  - {file: hello.sh, description: d, execution: server}\n---\n";
    write_files(&home.join("kit/skills/hello"), &[("SKILL.md", declares), ("hello.sh", "echo hello\n")]);
    write_record(&home, r#"{"version": 2, "plugins": {"kit@m": [{"installPath": "~/kit"}]}}"#);
    let run = Launch::bare(SKILLCELL).arg("run").arg("kit:hello").arg("hello.sh").arg("--plugins");
    let output = run.with_home(&home).folder(folder.path()).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n", "{}", String::from_utf8_lossy(&output.stderr));
}
