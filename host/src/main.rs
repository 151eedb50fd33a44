//! Parses the arguments, sets up logging on standard error and sets the exit code.

use skillcell::cli::Cli;
use std::process::ExitCode;
use terminal::{Output, progress};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = match Cli::parse_or_report() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let filter = EnvFilter::try_from_env("SKILLCELL_LOG").unwrap_or_else(|_| EnvFilter::new(cli.log_filter()));
    tracing_subscriber::fmt()
        .with_writer(|| progress::EventLog)
        .with_ansi(Output::error().colors)
        .with_env_filter(filter)
        .with_target(false)
        .init();
    let serves = cli.serves();
    let outcome = cli.run();
    progress::disable();
    outcome.unwrap_or_else(|error| {
        if serves {
            tracing::error!("{error:#}");
        } else {
            terminal::print_error(&format!("{error:#}"));
        }
        ExitCode::from(2)
    })
}
