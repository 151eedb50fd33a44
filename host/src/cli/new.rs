//! `skillcell new`: creates a skill that works, to be edited.

use super::{client, scaffold};
use anyhow::{Context as _, bail};
use base::environment::variable;
use base::place::{Audience, Place};
use base::printable::printable;
use base::user_folders::UserFolders;
use clap::Args;
use scripts::{Refusal, ScriptId, Wish};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct New {
    /// The name of the skill and of its folder: words of `a-z` and `0-9`, joined by `-`
    name: String,
    /// The folder of skills to create it in; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "skills")]
    dir: PathBuf,
}

/// The name of the template.
const TEMPLATE_NAME: &str = "my-skill";

const SCRIPT: &str = "scripts/count.py";

/// The template, with its own name as a placeholder.
const TEMPLATE: [(&str, &str); 2] =
    [("SKILL.md", include_str!("new/SKILL.md")), (SCRIPT, include_str!("new/scripts/count.py"))];

/// As the Agent Skills format has it.
const MAX_NAME_LENGTH: usize = 64;

pub fn run(arguments: &New) -> anyhow::Result<ExitCode> {
    let New { name, dir } = arguments;
    check_name(name)?;
    let shown = printable(&dir.display().to_string());
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create the folder {shown}"))?;
    let files = TEMPLATE.map(|(path, text)| (path, text.replace(TEMPLATE_NAME, name)));
    scaffold::create(&dir.join(name), &files, "--dir")?;
    terminal::print_lines(&next_steps(name, dir)?)?;
    Ok(ExitCode::SUCCESS)
}

fn check_name(name: &str) -> anyhow::Result<()> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    let reason = if name.chars().count() > MAX_NAME_LENGTH {
        format!("it has more than {MAX_NAME_LENGTH} characters")
    } else if let Some(letter) = name.chars().find(|letter| !is_word(&letter.to_string()) && *letter != '-') {
        format!("it contains `{}`", printable(&letter.to_string()))
    } else if name.is_empty() {
        "it is empty".to_owned()
    } else if !name.split('-').all(is_word) {
        "a `-` is not between two words".to_owned()
    } else {
        return Ok(());
    };
    bail!(
        "`{}` is not a valid name for a skill: {reason}\nhint: use words of `a-z` and `0-9` joined by `-`, as in `expense-report`",
        printable(name)
    )
}

/// What to try next, and what to write to let the script read more.
fn next_steps(name: &str, dir: &Path) -> anyhow::Result<Vec<String>> {
    let folder = client::entry::path_text(dir)?;
    let command = |words: &[&str]| format!("  {}", client::entry::command_line(words.iter().copied()));
    let mut lines = vec![
        format!(
            "created the skill `{name}` in {}. Edit its SKILL.md and its script, and try them:",
            printable(&folder)
        ),
        command(&["skillcell", "lint", &folder]),
        command(&["skillcell", "run", name, SCRIPT, "--root", &folder, "--", "SKILL.md"]),
        command(&["skillcell", "client", "claude", &folder, "--write"]),
    ];
    lines.push(String::new());
    lines.push(
        "The script reads its own folder and what a call gives it, nothing else. To let it read this folder,"
            .to_owned(),
    );
    let (grant, file) = grant(name, dir)?;
    lines.push(format!("add to {file}:"));
    lines.push(grant);
    lines.push("and run it here:".to_owned());
    lines.push(command(&["skillcell", "run", name, SCRIPT, "--root", &folder, "--cwd", ".", "--", "FILE"]));
    Ok(lines)
}

/// The lines that let the script read the working folder, as a refusal would print them, and the file they belong into.
fn grant(name: &str, dir: &Path) -> anyhow::Result<(String, String)> {
    let text = |path: PathBuf| client::entry::path_text(&path);
    let (root, here) = (text(dir.canonicalize()?)?, text(std::env::current_dir()?)?);
    let file = match variable("SKILLCELL_CONFIG").map(PathBuf::from) {
        Some(file) => text(file)?,
        None => UserFolders::find(variable)
            .map_or(Ok("your configuration".to_owned()), |folders| text(folders.config_file()))?,
    };
    let refusal = Refusal::NotGranted {
        script: ScriptId { root: Place::file(root), skill_path: name.to_owned(), script: SCRIPT.to_owned() },
        wish: Wish::Read(Place::file(here)),
        file: Place::file(&file),
    };
    let message = refusal.for_audience(Audience::Local);
    let (_, grant) = message.split_once("grants:").context("a refusal with its grant")?;
    Ok((format!("grants:{grant}"), file))
}
