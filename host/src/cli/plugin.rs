//! `skillcell plugin`: components that rank skills, run scripts or understand skills, for those who write and install them.

mod check;
mod contents;
pub mod list;
mod new;
mod report;
mod self_test;

use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Args)]
pub struct PluginArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a project that builds a plugin and passes its own test
    ///
    /// Example: skillcell plugin new my-scorer --kind scorer
    New(new::New),
    /// Tell what a component is, and try it in the sandbox
    ///
    /// Example: skillcell plugin check target/wasm32-wasip2/release/my_scorer.wasm
    Check(check::Check),
    /// Show the engine, the runtimes and the scorers there are, and which are in use
    ///
    /// Example: skillcell plugin list --json
    List(list::List),
}

pub fn run(arguments: PluginArguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::New(arguments) => new::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::List(arguments) => list::run(arguments),
    }
}
