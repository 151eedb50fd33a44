//! Arguments, logging to standard error, exit code.

use clap::Parser;
use skillcell::cli::Cli;
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = EnvFilter::try_from_env("SKILLCELL_LOG").unwrap_or_else(|_| EnvFilter::new(cli.log_filter()));
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(filter)
        .with_target(false)
        .init();
    cli.run().unwrap_or_else(|error| {
        tracing::error!("{error:#}");
        ExitCode::from(2)
    })
}
