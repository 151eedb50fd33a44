//! `skillcell plugin`: creates, checks and lists plugins.

mod check;
mod contents;
pub mod list;
mod new;
mod self_test;

use crate::lockdown;
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Args)]
pub struct PluginArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create a project that builds a plugin and passes its own test
    ///
    /// Example: skillcell plugin new my-scorer --kind scorer
    New(new::New),
    /// Show what a component is, and test it in the sandbox
    ///
    /// Example: skillcell plugin check target/wasm32-wasip2/release/my_scorer.wasm
    Check(check::Check),
    /// List the engine, the runtimes and the scorers, and which are in use
    ///
    /// Example: skillcell plugin list --json
    List(list::List),
}

pub fn run(arguments: PluginArguments) -> anyhow::Result<ExitCode> {
    lockdown::forbid_exec()?;
    match arguments.command {
        Command::New(arguments) => new::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::List(arguments) => list::run(arguments),
    }
}
