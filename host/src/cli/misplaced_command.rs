//! Detects command names given where folders are expected.

use super::Cli;
use super::did_you_mean::close_names;
use anyhow::bail;
use base::printable::quoted;
use clap::CommandFactory as _;
use std::path::Path;

/// Rejects the name of a command unless a folder of that name exists. A name that only resembles a command gives a warning,
/// because a folder may be served before it exists.
pub fn check(folders: &[String]) -> anyhow::Result<()> {
    let cli = Cli::command();
    let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    for name in folders.iter().filter(|name| !Path::new(name).exists()) {
        if commands.contains(&name.as_str()) {
            bail!(
                "`{name}` is a command, and there is no folder of that name to serve\nhint: the command comes first, as in `skillcell {name} --help`; a folder is given as `./{name}`"
            );
        }
        let is_alphabetic = name.bytes().all(|letter| letter.is_ascii_alphabetic());
        let close: Vec<String> = close_names(name, commands.iter().copied()).into_iter().map(str::to_owned).collect();
        if is_alphabetic && !close.is_empty() {
            tracing::warn!(
                "there is no folder `{name}`; it is served as soon as it exists\nhint: if it was meant as a command, close names are {}",
                quoted(&close)
            );
        }
    }
    Ok(())
}
