//! `skillcell man`: manual pages, generated from the help texts.

use super::Cli;
use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_mangen::Man;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct Manual {
    /// Write a page per command into this folder; by default the main page is printed
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub fn run(arguments: &Manual) -> anyhow::Result<ExitCode> {
    match &arguments.folder {
        None => {
            let mut page = Vec::new();
            // Matches the page that `generate_to` writes.
            Man::new(Cli::command().disable_help_subcommand(true)).render(&mut page)?;
            terminal::print(&String::from_utf8(page)?)?;
        }
        Some(folder) => {
            let written =
                std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
            written.with_context(|| format!("cannot write pages into {}", folder.display()))?;
            let page = folder.join("skillcell.1");
            let (folder, page) = (folder.display(), page.display());
            terminal::print(&format!("wrote the pages to {folder}; read one with `man {page}`\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
