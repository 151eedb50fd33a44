//! Every command on every kind of library: the bundled one, an empty one, a broken one, and a large one.

mod help;
mod misplaced;
mod refusals;
mod table;

use crate::ui::Page;
use crate::{SKILLCELL, library};
use clap::{Command, CommandFactory as _};
use serde_json::{Value, json};
use skillcell::cli::Cli;
use skillcell_tests::{Launch, component, repository, write_library};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex, Weak};
use table::{Mode, ROWS, Row};
use tempfile::TempDir;

/// Files that are wrong in many ways, and two skills that are served nevertheless.
const BROKEN: [(&str, &str); 8] = [
    ("fine/SKILL.md", "---\nname: fine\ndescription: Works all the same\n---\nUse it for grapes.\n"),
    (
        "evil\u{1b}[2J/SKILL.md",
        "---\nname: \"evil\\e[31m\\u202e\"\ndescription: \"a\\nfine\\tfolder\\tforged\\e[2J\\u009b\"\n---\n\u{1b}[2J\u{202e}\n",
    ),
    ("bare/SKILL.md", "no front matter\n"),
    ("yaml/SKILL.md", "---\n[: {\n---\n"),
    ("silent/SKILL.md", "---\nname: silent\n---\n"),
    ("leaf.md", "---\ntitle: no keywords\ndescription: d\n---\n"),
    ("config.yaml", "scripts: {enabled: true}\nnonsense: 1\n"),
    ("empty/SKILL.md", ""),
];

/// A library, and the home folder of the commands.
struct Scene {
    /// Its column in the table.
    column: usize,
    folder: PathBuf,
    home: TempDir,
}

impl Scene {
    fn new(column: usize, folder: &Path) -> Self {
        Self { column, folder: folder.to_owned(), home: library(&[]) }
    }

    /// Prepares the command of a row. Only `SKILLS_DIR` names the library.
    fn launch(&self, row: &Row) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(self.home.path()).folder(self.home.path());
        let launch = launch.env("SKILLS_DIR", self.folder.to_str().expect("a path that is text"));
        let launch = row.command.split(' ').fold(launch, Launch::arg);
        row.arguments[self.column].iter().fold(launch, |launch, argument| match *argument {
            "{component}" => launch.arg(component("scorer-semantic")),
            argument => launch.arg(argument),
        })
    }

    fn check_all(&self) {
        for row in ROWS {
            match row.mode {
                Mode::Server => self.check_server(row),
                Mode::Page => self.check_page(row),
                Mode::Exits { json } => {
                    let output = self.run(row, self.launch(row));
                    let part = row.parts[self.column];
                    assert!(output.contains(part), "`{part}` is missing in {}: {output}", self.describe(row));
                    if let Some(fact) = json {
                        self.check_json(row, fact);
                    }
                }
            }
        }
    }

    /// Runs a command, checks what holds for every command, and returns stdout and stderr.
    fn run(&self, row: &Row, launch: Launch) -> String {
        let output = launch.output();
        self.check(row, &output);
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text")).concat()
    }

    fn check(&self, row: &Row, output: &Output) {
        let command = self.describe(row);
        assert_eq!(output.status.code(), Some(row.codes[self.column]), "{command}: {output:?}");
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{command} controls the terminal: {text:?}");
            assert!(!text.contains("panicked"), "{command}: {text}");
        }
        assert!(row.codes[self.column] != 2 || output.stdout.is_empty(), "{command}: {output:?}");
    }

    fn check_json(&self, row: &Row, fact: fn(&[Value]) -> Value) {
        let command = self.describe(row);
        let output = self.launch(row).arg("--json").output();
        self.check(row, &output);
        let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&output.stdout).into_iter().collect();
        let values = values.unwrap_or_else(|error| panic!("{command}: {error}: {output:?}"));
        let expected: Value = serde_json::from_str(row.facts[self.column]).expect("facts are JSON");
        let found = fact(&values);
        assert_eq!(found, expected, "{command}: {}", String::from_utf8_lossy(&output.stdout));
    }

    fn check_server(&self, row: &Row) {
        let mut session = self.launch(row).start();
        let total = session.call("skills_list", json!({}))["content"][0]["text"].as_str().unwrap().to_owned();
        let part = row.parts[self.column];
        assert!(total.contains(part), "`{part}` is missing in {}: {total}", self.describe(row));
        session.close_input();
        assert!(session.wait().0.success(), "{}", session.log());
    }

    fn check_page(&self, row: &Row) {
        let mut page = Page::open(self.launch(row));
        let shown = page.json("api/catalog")["skills"].to_string();
        assert_eq!(shown, row.facts[self.column], "{}", self.describe(row));
        page.session.signal("TERM");
        assert!(page.session.wait().0.success(), "{}", page.session.log());
    }

    fn describe(&self, row: &Row) -> String {
        format!("skillcell {} on {}", row.command, self.folder.display())
    }
}

#[test]
fn every_command_works_on_the_bundled_library() {
    Scene::new(0, &repository().join("fixtures/skills")).check_all();
}

#[test]
fn every_command_works_on_an_empty_library() {
    Scene::new(1, library(&[]).path()).check_all();
}

#[test]
fn every_command_works_on_a_broken_library() {
    let broken = library(&BROKEN);
    std::fs::write(broken.path().join("latin.md"), b"---\nkeywords: [caf\xe9]\ndescription: d\n---\n").unwrap();
    Scene::new(2, broken.path()).check_all();
}

#[test]
fn every_command_works_on_a_large_library() {
    Scene::new(3, large().path()).check_all();
}

#[test]
fn every_command_has_a_row_in_the_table() {
    let mut tried: Vec<&str> = ROWS.iter().map(|row| row.command).collect();
    let mut existing: Vec<String> = commands().into_iter().map(|(name, _)| name).collect();
    tried.sort_unstable();
    existing.sort_unstable();
    assert_eq!(tried, existing, "each command has a row in tests/it/commands/table.rs");
}

/// A library that is too large for one answer.
pub struct Large {
    folder: TempDir,
    /// A request that matches one of its skills.
    pub task: String,
}

impl Large {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A library of 3,025 skills, written once for all tests that run at the same time.
pub fn large() -> Arc<Large> {
    static SHARED: Mutex<Weak<Large>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap();
    shared.upgrade().unwrap_or_else(|| {
        let folder = library(&[]);
        let task = write_library(folder.path(), 3_000);
        let large = Arc::new(Large { folder, task });
        *shared = Arc::downgrade(&large);
        large
    })
}

/// Returns every command that can be run, without the leading `skillcell`.
fn commands() -> Vec<(String, Command)> {
    let mut all = Vec::new();
    let mut root = Cli::command();
    root.build();
    let mut unvisited = vec![(String::new(), root)];
    while let Some((name, command)) = unvisited.pop() {
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        unvisited.extend(inner.map(|inner| (format!("{name} {}", inner.get_name()), inner.clone())));
        if !name.is_empty() && !command.is_subcommand_required_set() {
            all.push((name.trim_start().to_owned(), command));
        }
    }
    all
}
