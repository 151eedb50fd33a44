//! The command line: one file per command.

mod audit;
mod demo;
mod open;
mod run;
mod serve;

use crate::config::Told;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Serves skills to AI agents over MCP, from inside a WebAssembly sandbox.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
    /// Log more; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Log only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve skills on standard input and output
    ///
    /// Example: skillcell serve ./team-skills
    #[command(alias = "mcp-server")]
    Serve(Serve),
    /// Show a short session on the bundled skills
    ///
    /// Example: skillcell demo
    Demo,
    /// Run a script of a skill in the sandbox
    ///
    /// Example: skillcell run csv-report scripts/summarise.py --arg columns=price --root ./team-skills
    Run(run::Run),
    /// Show what scripts ran and what was refused
    ///
    /// Example: skillcell audit verify
    Audit(audit::AuditArguments),
}

/// Where skills come from.
#[derive(Args)]
struct Roots {
    /// A folder of skills; a comma separates several
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<String>,
    /// The operator's configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Roots {
    fn told(self) -> Told {
        Told { folders: self.roots, engine: None, config: self.config }
    }
}

#[derive(Args)]
struct Serve {
    /// Folders of skills; a comma separates several
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    #[command(flatten)]
    more: Roots,
    /// An engine component in place of the built-in one
    #[arg(long, value_name = "FILE")]
    engine: Option<PathBuf>,
}

impl Cli {
    /// Runs the command and says how it ended: 0 done, 1 the answer is no, 2 wrong usage or configuration; `run` ends as its
    /// script does.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => serve::run(self.serve),
            Some(Command::Serve(serve)) => serve::run(serve),
            Some(Command::Demo) => demo::run(),
            Some(Command::Run(arguments)) => run::run(arguments),
            Some(Command::Audit(arguments)) => audit::run(&arguments),
        }
    }

    /// What is logged unless `SKILLCELL_LOG` says otherwise.
    pub fn log_filter(&self) -> &'static str {
        match (self.quiet, self.verbose) {
            (true, _) => "error",
            // rmcp logs every error answer as a warning, with its payload.
            (false, 0) => "info,rmcp=error",
            (false, 1) => "debug,rmcp=warn",
            (false, _) => "trace",
        }
    }
}
