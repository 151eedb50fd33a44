//! Where skills come from: named folders, and those of the project, the user and plugins.

use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, repository, write_files};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A skill whose instructions are one line.
fn skill(name: &str, line: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\n{line}\n")
}

/// Puts a skill `NAME/SKILL.md` into a folder; its instructions are the folder's name behind `from`.
fn put(folder: &Path, place: &str, name: &str) {
    write_files(&folder.join(place), &[(&format!("{name}/SKILL.md"), &skill(name, &format!("from {place}")))]);
}

/// Installs the plugins of `fixtures/plugins/VERSION`.
fn install(home: &Path, version: &str) {
    let (from, to) = (repository().join("fixtures/plugins").join(version), home.join(".claude/plugins"));
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    assert!(Command::new("cp").arg("-R").arg(from).arg(to).status().unwrap().success());
}

fn write_record(home: &Path, record: &str) {
    write_files(home, &[(".claude/plugins/installed_plugins.json", record)]);
}

/// The server of an empty folder, which it is started in.
fn empty() -> (TempDir, Launch) {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::new(SKILLCELL).folder(folder.path());
    (folder, launch)
}

fn paths(session: &mut Session) -> Vec<String> {
    let list = session.call_json("skills_list", json!({}));
    list["skills"].as_array().unwrap().iter().map(|skill| skill["skillPath"].as_str().unwrap().to_owned()).collect()
}

/// The instructions of the skill with a name, or null.
fn text_of(session: &mut Session, name: &str) -> Value {
    let result = session.call("get_skill", json!({"context": "x", "skill_path": name}));
    if result["isError"] == true {
        return Value::Null;
    }
    let answer: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    answer["content"].clone()
}

#[test]
fn without_arguments_every_folder_that_exists_is_served() {
    let (here, launch) = empty();
    let home = launch.home().to_owned();
    for place in ["skills", ".claude/skills", ".agents/skills"] {
        put(here.path(), place, "notes");
    }
    for place in [".claude/skills", ".agents/skills"] {
        put(&home, place, "notes");
    }
    install(&home, "v2");
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
        assert_eq!(text_of(&mut session, name), text, "{name}; log:\n{}", session.log());
    }
    assert_eq!(paths(&mut session), ["bars", "notes", "notes", "notes", "notes", "notes", "notes"]);
    let tree = session.call_json("list_skills", json!({}));
    let roots: Vec<&Value> = tree.as_array().unwrap().iter().map(|node| &node["name"]).collect();
    assert_eq!(roots, ["skills", "project", "project-2", "user", "user-2", "charts", "notes-kit"]);
}

#[test]
fn without_arguments_the_users_folder_alone_is_enough() {
    let (_here, launch) = empty();
    put(launch.home(), ".agents/skills", "notes");
    let mut session = launch.start();
    assert_eq!(text_of(&mut session, "user:notes"), "from .agents/skills");
}

#[test]
fn named_folders_are_served_alone_unless_the_others_are_asked_for() {
    let team = library(&[("notes/SKILL.md", &skill("notes", "from the team"))]);
    let launch = |arguments: &[&str]| {
        let (here, mut launch) = empty();
        put(here.path(), ".claude/skills", "project-skill");
        put(launch.home(), ".claude/skills", "user-skill");
        install(launch.home(), "v1");
        for argument in arguments {
            launch = launch.arg(argument);
        }
        (here, launch)
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
        let (_here, launch) = launch(arguments);
        let mut session = launch.config(config).start();
        assert_eq!(paths(&mut session), expected, "{arguments:?}, {config}; log:\n{}", session.log());
        // The named folder comes first, so that its skill has the plain path.
        assert_eq!(text_of(&mut session, "notes"), "from the team");
    }
    let (_here, by_variable) = launch(&["--user", "--plugins"]);
    let mut session = by_variable.env("SKILLS_DIR", folder).start();
    assert_eq!(paths(&mut session), ["minutes", "notes", "notes", "project-skill", "user-skill"]);
}

#[test]
fn a_word_about_roots_that_is_not_known_ends_the_start_with_its_line() {
    for (config, part) in [("roots:\n  users: true\n", "unknown field `users`"), ("roots: {user: 7}", "invalid type")] {
        let (_here, launch) = empty();
        let output = launch.arg("--user").config(config).output();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{log}");
        assert!(log.contains(part) && log.contains("config.yaml:"), "{log}");
    }
}

#[test]
fn both_versions_of_the_record_of_plugins_are_understood() {
    for (version, line, all) in [
        ("v1", "Notes as the first plugin takes them.", &["minutes", "notes", "notes"]),
        ("v2", "Notes as the second plugin takes them.", &["bars", "notes", "notes"]),
    ] {
        let (_here, launch) = empty();
        put(launch.home(), ".claude/skills", "notes");
        install(launch.home(), version);
        let mut session = launch.arg("--user").arg("--plugins").start();
        assert_eq!(text_of(&mut session, "notes-kit:notes"), line);
        assert_eq!(text_of(&mut session, "user:notes"), "from .claude/skills");
        // Two entries that lead to one folder are one root, and a plugin without skills is nothing to warn of.
        assert_eq!(paths(&mut session), *all);
        assert!(!session.log().contains("WARN"), "{}", session.log());
    }
}

#[test]
fn a_plugins_skill_is_always_shown_with_the_plugins_name() {
    let (_here, launch) = empty();
    put(launch.home(), ".claude/skills", "notes");
    put(launch.home(), ".claude/skills", "mine");
    install(launch.home(), "v1");
    let mut session = launch.start();
    let shown = |session: &mut Session, name: &str| {
        let text = session.call("skill", json!({"name": name}))["content"][0]["text"].as_str().unwrap().to_owned();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(shown(&mut session, "minutes"), "Loading: notes-kit:minutes");
    assert_eq!(shown(&mut session, "notes-kit:notes"), "Loading: notes-kit:notes");
    assert_eq!(shown(&mut session, "user:notes"), "Loading: user:notes");
    assert_eq!(shown(&mut session, "mine"), "Loading: mine");
}

#[test]
fn a_broken_record_of_plugins_is_told_and_the_server_starts() {
    let good = r#"[{"installPath": "~/kit"}]"#;
    let cases = [
        ("{".to_owned(), "is no JSON", false),
        (format!(r#"{{"version": 9, "plugins": {{"kit@m": {good}}}}}"#), "has version 9", false),
        (r#"{"version": 2, "plugins": 7}"#.to_owned(), "has no object `plugins`", false),
        (" ".repeat((4 << 20) + 1), "has 4194305 bytes", false),
        (
            format!(r#"{{"version": 2, "plugins": {{"bad@m": [{{}}], "kit@m": {good}}}}}"#),
            "entry 1 of `bad@m` has no `installPath`",
            true,
        ),
    ];
    for (record, reason, served) in cases {
        let (_here, launch) = empty();
        put(launch.home(), ".claude/skills", "notes");
        put(launch.home(), "kit/skills", "bars");
        write_record(launch.home(), &record);
        let mut session = launch.start();
        let expected: &[&str] = if served { &["bars", "notes"] } else { &["notes"] };
        assert_eq!(paths(&mut session), expected, "{reason}");
        session.wait_for_log(reason);
        session.wait_for_log("installed_plugins.json");
    }
}

#[test]
fn a_record_of_plugins_that_is_no_file_does_not_block_the_start() {
    let (_here, launch) = empty();
    put(launch.home(), ".claude/skills", "notes");
    std::fs::create_dir(launch.home().join(".claude/plugins")).unwrap();
    let pipe = launch.home().join(".claude/plugins/installed_plugins.json");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let mut session = launch.start();
    assert_eq!(paths(&mut session), ["notes"]);
    session.wait_for_log("is no regular file");
}

#[test]
fn a_plugin_may_be_a_link_but_its_skills_stay_inside_it() {
    let (_here, launch) = empty();
    let home = launch.home().to_owned();
    put(&home, "sources/kit/skills", "bars");
    put(&home, "sources/inner/actual", "lines");
    put(&home, "private", "secret");
    std::fs::create_dir(home.join("sources/outer")).unwrap();
    symlink("sources/kit", home.join("kit")).unwrap();
    symlink("actual", home.join("sources/inner/skills")).unwrap();
    symlink("../../private", home.join("sources/outer/skills")).unwrap();
    let entries = ["~/kit", "~/sources/kit", "../../sources/inner", "~/sources/outer"];
    let entries = entries.map(|path| json!({"installPath": path}));
    write_record(&home, &json!({"version": 2, "plugins": {"tools@m": entries}}).to_string());
    let mut session = launch.start();
    assert_eq!(text_of(&mut session, "tools:bars"), "from sources/kit/skills");
    assert_eq!(text_of(&mut session, "tools-2:lines"), "from sources/inner/actual");
    assert_eq!(paths(&mut session), ["bars", "lines"]);
    session.wait_for_log("root `tools-3` at");
    assert_eq!(text_of(&mut session, "tools-3:secret"), Value::Null);
}

#[test]
fn a_plugins_label_is_usable_whatever_its_name() {
    let (_here, launch) = empty();
    put(launch.home(), "kit/skills", "bars");
    put(launch.home(), "box/skills", "lines");
    let plugins = json!({"@team/a:b@m": [{"installPath": "~/kit"}], "@m": [{"installPath": "~/box"}]});
    write_record(launch.home(), &json!({"version": 2, "plugins": plugins}).to_string());
    let mut session = launch.start();
    assert_eq!(text_of(&mut session, "@team-a-b:bars"), "from kit/skills");
    assert_eq!(text_of(&mut session, "plugin:lines"), "from box/skills");
}

#[test]
fn a_comma_separates_folders_wherever_they_are_named() {
    let (here, _) = empty();
    for name in ["a", "b", "c"] {
        put(here.path(), name, &format!("{name}-skill"));
    }
    let launch = || Launch::new(SKILLCELL).folder(here.path());
    for launch in [
        launch().arg("a,b,c"),
        launch().arg("a, b").arg("--root").arg("c,"),
        launch().arg("--root").arg("a,b").arg("--root").arg(",c"),
        launch().env("SKILLS_DIR", " a , b,c"),
    ] {
        let mut session = launch.start();
        assert_eq!(paths(&mut session), ["a-skill", "b-skill", "c-skill"]);
        assert_eq!(text_of(&mut session, "b:b-skill"), "from b");
    }
}

#[test]
fn folders_that_were_asked_for_come_alive_when_skills_appear() {
    let (here, launch) = empty();
    let home = launch.home().to_owned();
    write_record(&home, r#"{"version": 1, "plugins": {"kit@m": {"installPath": "~/kit"}}}"#);
    let mut session = launch.arg("--user").arg("--plugins").start();
    assert_eq!(paths(&mut session), Vec::<String>::new());
    put(&home, ".claude/skills", "mine");
    assert_eq!(paths(&mut session), ["mine"]);
    put(&home, "kit/skills", "bars");
    put(here.path(), ".agents/skills", "ours");
    assert_eq!(paths(&mut session), ["bars", "mine", "ours"]);
    assert_eq!(text_of(&mut session, "user:mine"), "from .claude/skills");
    assert_eq!(text_of(&mut session, "kit:bars"), "from kit/skills");
}

#[test]
fn a_folder_that_is_named_and_the_users_own_is_served_once() {
    let (here, launch) = empty();
    let home = launch.home().to_owned();
    put(&home, ".claude/skills", "notes");
    symlink(home.join(".claude/skills"), here.path().join("mine")).unwrap();
    let mut session = launch.arg("mine").arg("--user").start();
    assert_eq!(paths(&mut session), ["notes"]);
    assert_eq!(text_of(&mut session, "skills:notes"), "from .claude/skills");
}

#[test]
fn a_script_of_a_plugin_is_run_from_the_command_line() {
    let (here, launch) = empty();
    let home = launch.home().to_owned();
    let declares =
        "---\nname: hello\ndescription: d\nscripts:\n  - {file: hello.sh, description: d, execution: server}\n---\n";
    write_files(&home.join("kit/skills/hello"), &[("SKILL.md", declares), ("hello.sh", "echo hello\n")]);
    write_record(&home, r#"{"version": 2, "plugins": {"kit@m": [{"installPath": "~/kit"}]}}"#);
    let run = Launch::bare(SKILLCELL).arg("run").arg("kit:hello").arg("hello.sh").arg("--plugins");
    let output = run.with_home(&home).folder(here.path()).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n", "{}", String::from_utf8_lossy(&output.stderr));
}
