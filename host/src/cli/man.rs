//! `skillcell man`: manual pages, generated from the help texts.

use super::Cli;
use super::replace::TemporaryFile;
use anyhow::Context as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use std::ffi::OsStr;
use std::io;
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
            // Matches the page in a folder.
            Man::new(Cli::command().disable_help_subcommand(true)).render(&mut page)?;
            terminal::print(&String::from_utf8(page)?)?;
        }
        Some(folder) => {
            let write = || {
                std::fs::create_dir_all(folder)?;
                let mut command = Cli::command().disable_help_subcommand(true);
                command.build();
                write_pages(&command, &Dir::open_ambient_dir(folder, ambient_authority())?)
            };
            write().with_context(|| format!("cannot write pages into {}", folder.display()))?;
            let page = folder.join("skillcell.1");
            let (folder, page) = (folder.display(), page.display());
            terminal::print(&format!("wrote the pages to {folder}; read one with `man {page}`\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a page per command. `generate_to` of `clap_mangen` would write through links in the folder.
fn write_pages(command: &Command, folder: &Dir) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_pages(subcommand, folder)?;
    }
    let (man, mut page) = (Man::new(command.clone()), Vec::new());
    man.render(&mut page)?;
    let mut file = TemporaryFile::create_in(folder, 0o666)?;
    file.write(&page)?;
    file.rename_to(OsStr::new(&man.get_filename()))
}
