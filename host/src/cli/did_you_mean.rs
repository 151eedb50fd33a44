//! Suggestions for mistyped names.

use super::Cli;
use anyhow::bail;
use clap::CommandFactory as _;
use std::path::Path;
use strsim::{levenshtein, osa_distance};

const MAX_SUGGESTIONS: usize = 5;

/// Returns the names that resemble `mistyped`, closest first.
pub fn close_names<'known>(mistyped: &str, known: impl IntoIterator<Item = &'known str>) -> Vec<String> {
    let normalized = |name: &str| name.to_ascii_lowercase().replace(['-', '.'], "_");
    let mistyped = normalized(mistyped);
    let mut close: Vec<(usize, &str)> = Vec::new();
    for name in known {
        let normal = normalized(name);
        let distance = levenshtein(&mistyped, &normal);
        let is_part = mistyped.len() > 3 && (normal.contains(&mistyped) || mistyped.contains(&normal));
        if is_part || distance <= 1 + normal.len() / 4 {
            close.push((distance, name));
        }
    }
    close.sort_unstable();
    close.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

/// What people call some commands.
const SYNONYMS: [(&str, &str); 10] = [
    ("check", "lint"),
    ("create", "new"),
    ("find", "search"),
    ("init", "new"),
    ("install", "client"),
    ("ls", "list"),
    ("setup", "client"),
    ("start", "serve"),
    ("validate", "lint"),
    ("version", "--version"),
];

/// Rejects words that were meant as a command where folders are expected, unless a folder of that name exists: the name of a
/// command anywhere, and what looks like a mistyped one in the first place. Other folders may be served before they exist.
pub fn check_folders(folders: &[String]) -> anyhow::Result<()> {
    let cli = Cli::command();
    let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    let is_missing = |name: &&String| !Path::new(name).exists();
    for name in folders.iter().filter(is_missing) {
        if commands.contains(&name.as_str()) {
            bail!(
                "`{name}` is a command, and there is no folder of that name to serve\nhint: the command comes first, as in `skillcell {name} --help`; a folder is given as `./{name}`"
            );
        }
    }
    let Some(first) = folders.first().filter(is_missing) else { return Ok(()) };
    let meant = meant_commands(first, &commands);
    if !meant.is_empty() {
        let meant = meant.iter().map(|name| format!("`skillcell {name}`")).collect::<Vec<_>>().join(" or ");
        bail!(
            "there is no command `{first}`, and no folder of that name to serve\nhint: did you mean {meant}? A folder that does not exist yet is given as `./{first}`"
        );
    }
    Ok(())
}

pub fn is_command(word: &str) -> bool {
    Cli::command().get_subcommands().any(|command| command.get_name() == word)
}

/// The commands that a word is most likely a misspelling of. A longer one may have more mistakes.
fn meant_commands<'a>(word: &str, commands: &[&'a str]) -> Vec<&'a str> {
    if !word.bytes().all(|letter| letter.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let word = word.to_ascii_lowercase();
    if let Some((_, meant)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == word) {
        return vec![meant];
    }
    let distance = |command: &str| osa_distance(&word, command);
    let close = || commands.iter().copied().filter(|name| distance(name) <= name.len() / 3);
    let closest = close().map(distance).min();
    close().filter(|name| Some(distance(name)) == closest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_resemble_a_command_are_taken_for_one() {
        let commands =
            ["client", "completions", "doctor", "lint", "list", "man", "new", "run", "search", "serve", "ui"];
        for (word, meant) in [
            ("lnit", &["lint"][..]),
            ("lis", &["list"]),
            ("LIST", &["list"]),
            ("lits", &["list"]),
            ("lin", &["lint"]),
            ("lixt", &["lint", "list"]),
            ("docter", &["doctor"]),
            ("completion", &["completions"]),
            ("server", &["serve"]),
            ("nwe", &["new"]),
            ("create", &["new"]),
            ("version", &["--version"]),
        ] {
            assert_eq!(meant_commands(word, &commands), meant, "{word}");
        }
        for word in
            ["", "skills", "docs", "guidelines", "runbooks", "team-skills", "ai", "./lnit", "lnit/", "lint.d", "líst"]
        {
            assert_eq!(meant_commands(word, &commands), Vec::<&str>::new(), "{word}");
        }
    }
}
