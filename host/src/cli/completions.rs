//! `skillcell completions`: what a shell has to know to complete our command line.

use super::Cli;
use crate::terminal;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::process::ExitCode;

#[derive(Args)]
pub struct Completions {
    /// The shell that is to understand it
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(arguments: &Completions) -> anyhow::Result<ExitCode> {
    // Not straight to standard output: it would panic when the reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "skillcell", &mut script);
    terminal::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
