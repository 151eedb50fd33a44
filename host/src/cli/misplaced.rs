//! Words that are taken for folders to serve, and may be meant as commands.

use super::Cli;
use super::close::close;
use crate::printable::quoted;
use anyhow::bail;
use clap::CommandFactory as _;
use std::path::Path;

/// Refuses the name of a command where folders are expected, unless there is such a folder. A folder that is not there yet may
/// be served, so a word that is only close to a command is told.
pub fn check(folders: &[String]) -> anyhow::Result<()> {
    let cli = Cli::command();
    let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    for word in folders.iter().filter(|word| !Path::new(word).exists()) {
        if commands.contains(&word.as_str()) {
            bail!(
                "`{word}` is a command, and there is no folder of that name to serve\nhint: the command comes first, as in `skillcell {word} --help`; a folder is named `./{word}`"
            );
        }
        let is_word = word.bytes().all(|letter| letter.is_ascii_alphabetic());
        let meant: Vec<String> = close(word, commands.iter().copied()).into_iter().map(str::to_owned).collect();
        if is_word && !meant.is_empty() {
            tracing::warn!(
                "there is no folder `{word}`; it is served as soon as there is one\nhint: if that was meant as a command, close ones are {}",
                quoted(&meant)
            );
        }
    }
    Ok(())
}
