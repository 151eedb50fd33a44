//! Arguments, logging to standard error, exit code.

use clap::Parser;
use skillcell::cli::Cli;
use skillcell::terminal::{self, Output, progress};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = EnvFilter::try_from_env("SKILLCELL_LOG").unwrap_or_else(|_| EnvFilter::new(cli.log_filter()));
    tracing_subscriber::fmt()
        .with_writer(|| progress::Log)
        .with_ansi(Output::error().has_colours())
        .with_env_filter(filter)
        .with_target(false)
        .init();
    let serves = cli.serves();
    let outcome = cli.run();
    progress::end();
    outcome.unwrap_or_else(|error| {
        if serves {
            tracing::error!("{error:#}");
        } else {
            terminal::complain(&format!("{error:#}"));
        }
        ExitCode::from(2)
    })
}
