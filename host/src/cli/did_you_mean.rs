//! Suggestions for mistyped names.

use super::Cli;
use anyhow::bail;
use base::printable::quoted;
use clap::CommandFactory as _;
use std::path::Path;
use strsim::levenshtein;

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

/// Rejects the name of a command where folders are expected, unless a folder of that name exists. A name that only resembles a command gives a warning,
/// because a folder may be served before it exists.
pub fn check_folders(folders: &[String]) -> anyhow::Result<()> {
    let cli = Cli::command();
    let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    for name in folders.iter().filter(|name| !Path::new(name).exists()) {
        if commands.contains(&name.as_str()) {
            bail!(
                "`{name}` is a command, and there is no folder of that name to serve\nhint: the command comes first, as in `skillcell {name} --help`; a folder is given as `./{name}`"
            );
        }
        let is_alphabetic = name.bytes().all(|letter| letter.is_ascii_alphabetic());
        let close = close_names(name, commands.iter().copied());
        if is_alphabetic && !close.is_empty() {
            tracing::warn!(
                "there is no folder `{name}`; it is served as soon as it exists\nhint: if it was meant as a command, close names are {}",
                quoted(&close)
            );
        }
    }
    Ok(())
}
