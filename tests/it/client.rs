//! `skillcell client`: the entries it writes, and that everything else in the files of clients survives.

mod writing;

use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::Launch;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Every client, its file for the user below the home folder, and the key of its servers.
const CLIENTS: [(&str, &str, &str); 5] = [
    ("claude", ".claude.json", "mcpServers"),
    ("codex", ".codex/config.toml", "mcp_servers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", VSCODE, "servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
];

const VSCODE: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/mcp.json"
} else {
    ".config/Code/User/mcp.json"
};

/// A home with the settings of clients, and a folder of skills.
struct Scene {
    home: TempDir,
    skills: TempDir,
}

struct TextOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Scene {
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder"), skills: library(&crate::SMALL) }
    }

    fn launch(&self, arguments: &[&str]) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(self.home.path()).folder(self.skills.path()).arg("client");
        arguments.iter().fold(launch, Launch::arg)
    }

    fn run(&self, arguments: &[&str]) -> TextOutput {
        text_output(self.launch(arguments).output())
    }

    /// Writes an entry for the folder of skills, with more arguments.
    fn write(&self, client: &str, more: &[&str]) -> TextOutput {
        self.run(&[&[client, ".", "--write"], more].concat())
    }

    fn file(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn put(&self, path: &str, text: &str) {
        skillcell_tests::write_files(self.home.path(), &[(path, text)]);
    }

    fn files(&self) -> Vec<PathBuf> {
        skillcell_tests::files_below(self.home.path())
    }
}

fn text_output(output: Output) -> TextOutput {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    TextOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Returns the program and the arguments that a client would start from an entry in JSON.
fn command_of(entry: &Value) -> (String, Vec<String>) {
    let string = |value: &Value| value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned();
    (string(&entry["command"]), entry["args"].as_array().expect("a list").iter().map(string).collect())
}

#[test]
fn each_client_gets_a_snippet_in_its_own_format_and_the_file_for_it() {
    let scene = Scene::new();
    let skills = scene.skills.path().canonicalize().unwrap();
    for (client, file, key) in CLIENTS {
        let output = scene.run(&[client, ".", "--user", "--profile", "skilljack"]);
        assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "{client}: {}", output.out);
        assert!(output.out.contains(&scene.file(file).display().to_string()), "{client}: {}", output.out);
        assert!(output.out.contains(&format!("client {client} ")), "{client}: {}", output.out);
        let report: Value = serde_json::from_str(&scene.run(&[client, ".", "--json"]).out).unwrap();
        assert_eq!(
            (&report["client"], &report["scope"], &report["result"]),
            (&json!(client), &json!("user"), &json!("shown"))
        );
        let snippet = report["snippet"].as_str().unwrap();
        if client == "codex" {
            assert!(snippet.starts_with("[mcp_servers.skillcell]\ncommand = "), "{snippet}");
            assert!(snippet.contains(&format!("args = [\"serve\", \"{}\"]", skills.display())), "{snippet}");
        } else {
            let snippet: Value = serde_json::from_str(snippet).unwrap();
            let (program, arguments) = command_of(&snippet[key]["skillcell"]);
            assert_eq!(program, SKILLCELL);
            assert_eq!(arguments, ["serve", skills.to_str().unwrap()]);
        }
        assert!(scene.files().is_empty(), "{client}: without `--write` nothing is written");
    }
    let output =
        scene.run(&["claude", ".", "--user", "--plugins", "--config", "c.yaml", "--profile", "sk", "--name", "team"]);
    let command = format!(
        "claude mcp add --scope user team -- {SKILLCELL} serve {0} --user --plugins --config {0}/c.yaml --profile sk",
        skills.display()
    );
    assert!(output.out.contains(&command), "{}", output.out);
}

#[test]
fn the_program_is_written_as_found_in_the_path_and_for_a_project_by_name() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(SKILLCELL, folder.path().join("skillcell")).unwrap();
    let other = library(&[("skillcell", "#!/bin/sh\n")]);
    let path = |folders: &[&Path]| {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        folders.join(":")
    };
    let program = |path: &str, scope: &str| {
        let output = scene.launch(&["cursor", ".", "--json", "--scope", scope]).env("PATH", path).output();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["command"].as_str().unwrap().to_owned()
    };
    let linked = folder.path().join("skillcell").display().to_string();
    let found = path(&[Path::new("/nowhere"), folder.path()]);
    assert_eq!(program(&found, "user"), linked, "a desktop may have a different PATH");
    assert_eq!(program(&found, "project"), "skillcell", "on other machines it is in other folders");
    for scope in ["user", "project"] {
        assert_eq!(program("/nowhere", scope), SKILLCELL);
    }
    let both = path(&[other.path(), folder.path()]);
    assert_eq!(program(&both, "user"), linked, "a file that is not executable is skipped");
    std::fs::set_permissions(other.path().join("skillcell"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(program(&both, "user"), SKILLCELL, "the first one is a different program");
    assert_eq!(program(&both, "project"), SKILLCELL, "the first one is a different program");
}

#[test]
fn a_written_entry_starts_a_server() {
    let scene = Scene::new();
    for (client, file, key) in CLIENTS {
        assert_eq!(scene.write(client, &[]).code, Some(0));
        if client == "codex" {
            continue;
        }
        let settings: Value = serde_json::from_str(&scene.text(file)).unwrap();
        let (program, arguments) = command_of(&settings[key]["skillcell"]);
        let working_folder = tempfile::tempdir().unwrap();
        let launch = Launch::bare(program).folder(working_folder.path());
        let mut session = arguments.iter().fold(launch, Launch::arg).start();
        crate::still_answers(&mut session);
    }
}

#[test]
fn the_scope_selects_the_file() {
    let scene = Scene::new();
    for (client, file) in [
        ("claude", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let output = scene.write(client, &["--scope", "project"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        assert!(scene.skills.path().join(file).is_file(), "{client}");
    }
    assert_eq!(scene.files(), [scene.file(".local/share/skillcell/client.lock")], "no settings are written at home");
    let output =
        scene.launch(&["codex", "--write"]).env("CODEX_HOME", &scene.file("elsewhere").display().to_string()).output();
    assert_eq!(output.status.code(), Some(0));
    assert!(scene.file("elsewhere/config.toml").is_file());
}

#[test]
fn wrong_usage_is_reported_with_a_hint() {
    let scene = Scene::new();
    for (arguments, part) in [
        (&["emacs"][..], "possible values: claude, codex, cursor, vscode, gemini"),
        (&["claude", "--name", "a b"], "hint: use up to 64 letters"),
        (&["claude", "--name", "a\u{202e}b"], "a\\u{202e}b"),
        (&["claude", "--force"], "--write"),
        (&["claude", "--write", "--remove"], "cannot be used with"),
        (&["gemini", "/work/$HOME"], "takes for a variable"),
    ] {
        let output = scene.run(arguments);
        assert_eq!(output.code, Some(2), "{arguments:?}: {}{}", output.out, output.err);
        assert!(output.err.contains(part), "{arguments:?}: {}", output.err);
    }
    let mut homeless = scene.launch(&["claude"]);
    homeless.command().env_remove("HOME");
    let homeless = text_output(homeless.output());
    assert_eq!((homeless.code, homeless.err.contains("hint: set HOME")), (Some(2), true), "{}", homeless.err);
    let relative = text_output(scene.launch(&["claude"]).env("HOME", "here").output());
    assert_eq!(
        (relative.code, relative.err.contains("HOME is not an absolute path")),
        (Some(2), true),
        "{}",
        relative.err
    );
    let output = scene.run(&["claude", "not/there"]);
    assert_eq!((output.code, output.err.contains("not/there is not a folder yet")), (Some(0), true), "{}", output.err);
    assert!(scene.files().is_empty());
}

#[test]
fn an_entry_whose_server_would_exit_immediately_is_written_with_a_warning() {
    let scene = Scene::new();
    for (arguments, part) in [
        (
            &["claude", "--write"][..],
            "exits immediately: no folder of skills\nhint: name one, as in `skillcell client CLIENT ",
        ),
        (&["codex", ".", "--config", "gone.yaml", "--write"], "exits immediately: "),
    ] {
        let output = scene.run(arguments);
        assert_eq!(output.code, Some(0), "{arguments:?}: {}", output.err);
        assert!(output.err.contains(part), "{arguments:?}: {}", output.err);
    }
    skillcell_tests::write_files(scene.home.path(), &[(".claude/skills/pdf/SKILL.md", crate::SMALL[1].1)]);
    let output = scene.run(&["cursor", "--write"]);
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "there is a folder to serve now");
}

#[test]
fn an_entry_that_starts_a_program_from_a_cache_is_shown_with_a_warning() {
    for (folder, command) in [
        (".npm/_npx/1a2b/node_modules/@skillcell/linux-x64-gnu/bin", "npm install --global skillcell"),
        (".cache/uv/archive-v0/x/bin", "uv tool install skillcell"),
        (".cache/pipx/x/bin", "pipx install skillcell"),
        (".local/bin", ""),
    ] {
        let scene = Scene::new();
        let program = scene.file(folder);
        std::fs::create_dir_all(&program).unwrap();
        let program = crate::install_server(&program);
        let launch = Launch::bare(&program).with_home(scene.home.path()).folder(scene.skills.path());
        let output = text_output(launch.arg("client").arg("claude").arg(".").output());
        assert!(
            output.code == Some(0) && output.out.contains(program.to_str().unwrap()),
            "{}{}",
            output.out,
            output.err
        );
        if command.is_empty() {
            assert_eq!(output.err, "");
        } else {
            assert!(output.err.contains(&format!("hint: install it with `{command}`")), "{}", output.err);
        }
    }
}
