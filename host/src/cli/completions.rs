//! `skillcell completions`: prints a shell completion script.

use super::Cli;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::process::ExitCode;

#[derive(Args)]
pub struct Completions {
    /// The shell to print it for
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(arguments: &Completions) -> anyhow::Result<ExitCode> {
    // Not directly to standard output: `generate` panics if the reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "skillcell", &mut script);
    terminal::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
