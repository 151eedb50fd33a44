//! `skillcell client`: what clients are told, and that nothing else in their files is lost.

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
struct Desk {
    home: TempDir,
    skills: TempDir,
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder"), skills: library(&crate::SMALL) }
    }

    fn launch(&self, words: &[&str]) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(self.home.path()).folder(self.skills.path()).arg("client");
        words.iter().fold(launch, Launch::arg)
    }

    fn run(&self, words: &[&str]) -> Said {
        said(self.launch(words).output())
    }

    /// Writes an entry for the folder of skills, with these words behind.
    fn write(&self, client: &str, more: &[&str]) -> Said {
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

fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// What a client would start by an entry in JSON.
fn started(entry: &Value) -> (String, Vec<String>) {
    let word = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no word: {value}")).to_owned();
    (word(&entry["command"]), entry["args"].as_array().expect("a list").iter().map(word).collect())
}

#[test]
fn each_client_is_told_in_its_own_words_and_where() {
    let desk = Desk::new();
    let skills = desk.skills.path().canonicalize().unwrap();
    for (client, file, key) in CLIENTS {
        let said = desk.run(&[client, ".", "--user", "--profile", "skilljack"]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{client}: {}", said.out);
        assert!(said.out.contains(&desk.file(file).display().to_string()), "{client}: {}", said.out);
        assert!(said.out.contains(&format!("client {client} ")), "{client}: {}", said.out);
        let told: Value = serde_json::from_str(&desk.run(&[client, ".", "--json"]).out).unwrap();
        assert_eq!(
            (&told["client"], &told["scope"], &told["result"]),
            (&json!(client), &json!("user"), &json!("shown"))
        );
        let snippet = told["snippet"].as_str().unwrap();
        if client == "codex" {
            assert!(snippet.starts_with("[mcp_servers.skillcell]\ncommand = "), "{snippet}");
            assert!(snippet.contains(&format!("args = [\"serve\", \"{}\"]", skills.display())), "{snippet}");
        } else {
            let snippet: Value = serde_json::from_str(snippet).unwrap();
            let (program, arguments) = started(&snippet[key]["skillcell"]);
            assert_eq!(program, SKILLCELL);
            assert_eq!(arguments, ["serve", skills.to_str().unwrap()]);
        }
        assert!(desk.files().is_empty(), "{client} only shows it");
    }
    let said =
        desk.run(&["claude", ".", "--user", "--plugins", "--config", "c.yaml", "--profile", "sk", "--name", "team"]);
    let command = format!(
        "claude mcp add --scope user team -- {SKILLCELL} serve {0} --user --plugins --config {0}/c.yaml --profile sk",
        skills.display()
    );
    assert!(said.out.contains(&command), "{}", said.out);
}

#[test]
fn the_program_is_named_by_the_path_that_it_is_found_by_and_for_a_project_by_its_name() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(SKILLCELL, folder.path().join("skillcell")).unwrap();
    let other = library(&[("skillcell", "#!/bin/sh\n")]);
    let path = |folders: &[&Path]| {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        folders.join(":")
    };
    let program = |path: &str, scope: &str| {
        let output = desk.launch(&["cursor", ".", "--json", "--scope", scope]).env("PATH", path).output();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["command"].as_str().unwrap().to_owned()
    };
    let there = folder.path().join("skillcell").display().to_string();
    let found = path(&[Path::new("/nowhere"), folder.path()]);
    assert_eq!(program(&found, "user"), there, "a desktop may have another PATH");
    assert_eq!(program(&found, "project"), "skillcell", "others have it elsewhere");
    for scope in ["user", "project"] {
        assert_eq!(program("/nowhere", scope), SKILLCELL);
    }
    let twice = path(&[other.path(), folder.path()]);
    assert_eq!(program(&twice, "user"), there, "what cannot be started is not found");
    std::fs::set_permissions(other.path().join("skillcell"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(program(&twice, "user"), SKILLCELL, "the first one is another");
    assert_eq!(program(&twice, "project"), SKILLCELL, "the first one is another");
}

#[test]
fn what_was_written_starts_a_server() {
    let desk = Desk::new();
    for (client, file, key) in CLIENTS {
        assert_eq!(desk.write(client, &[]).code, Some(0));
        if client == "codex" {
            continue;
        }
        let settings: Value = serde_json::from_str(&desk.text(file)).unwrap();
        let (program, arguments) = started(&settings[key]["skillcell"]);
        let elsewhere = tempfile::tempdir().unwrap();
        let launch = Launch::bare(program).folder(elsewhere.path());
        let mut session = arguments.iter().fold(launch, Launch::arg).start();
        crate::still_answers(&mut session);
    }
}

#[test]
fn the_scope_decides_about_the_file() {
    let desk = Desk::new();
    for (client, file) in [
        ("claude", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let said = desk.write(client, &["--scope", "project"]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(desk.skills.path().join(file).is_file(), "{client}");
    }
    assert!(desk.files().is_empty(), "nothing is written at home");
    let output =
        desk.launch(&["codex", "--write"]).env("CODEX_HOME", &desk.file("elsewhere").display().to_string()).output();
    assert_eq!(output.status.code(), Some(0));
    assert!(desk.file("elsewhere/config.toml").is_file());
}

#[test]
fn wrong_usage_is_told_with_what_to_do() {
    let desk = Desk::new();
    for (words, part) in [
        (&["emacs"][..], "possible values: claude, codex, cursor, vscode, gemini"),
        (&["claude", "--name", "a b"], "hint: use up to 64 letters"),
        (&["claude", "--name", "a\u{202e}b"], "a\\u{202e}b"),
        (&["claude", "--force"], "--write"),
        (&["claude", "--write", "--remove"], "cannot be used with"),
        (&["gemini", "/work/$HOME"], "takes for a variable"),
    ] {
        let said = desk.run(words);
        assert_eq!(said.code, Some(2), "{words:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(part), "{words:?}: {}", said.err);
    }
    let mut homeless = desk.launch(&["claude"]);
    homeless.command().env_remove("HOME");
    let homeless = said(homeless.output());
    assert_eq!((homeless.code, homeless.err.contains("hint: set HOME")), (Some(2), true), "{}", homeless.err);
    let relative = said(desk.launch(&["claude"]).env("HOME", "here").output());
    assert_eq!((relative.code, relative.err.contains("HOME is no absolute path")), (Some(2), true), "{}", relative.err);
    let said = desk.run(&["claude", "not/there"]);
    assert_eq!((said.code, said.err.contains("not/there is no folder now")), (Some(0), true), "{}", said.err);
    assert!(desk.files().is_empty());
}

#[test]
fn an_entry_whose_server_would_end_at_once_is_written_with_a_warning() {
    let desk = Desk::new();
    for (words, part) in [
        (
            &["claude", "--write"][..],
            "ends at once: no folder of skills\nhint: name one, as in `skillcell client CLIENT ",
        ),
        (&["codex", ".", "--config", "gone.yaml", "--write"], "ends at once: "),
    ] {
        let said = desk.run(words);
        assert_eq!(said.code, Some(0), "{words:?}: {}", said.err);
        assert!(said.err.contains(part), "{words:?}: {}", said.err);
    }
    skillcell_tests::write_files(desk.home.path(), &[(".claude/skills/pdf/SKILL.md", crate::SMALL[1].1)]);
    let said = desk.run(&["cursor", "--write"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "there is a folder to serve now");
}
