//! The command line: one file per command.

mod audit;
mod client;
mod close;
mod completions;
mod demo;
mod doctor;
mod integration;
mod lint;
mod list;
mod man;
mod matching;
mod mentions;
mod misplaced;
mod open;
mod plugin;
mod refused;
mod run;
mod search;
mod serve;
mod show;
mod stats;
mod table;
mod ui;

use crate::config::Told;
use crate::mcp::surface::Profile;
use crate::printable::printable;
use crate::terminal::progress;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Serves skills to AI agents over MCP, from inside a WebAssembly sandbox.
///
/// Without a command it serves the folders that are named.
///
/// Example: skillcell ./team-skills
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
    /// Log more; twice for everything, and `SKILLCELL_LOG` says it in detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Log only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve skills on standard input and output, or over HTTP
    ///
    /// Examples:
    ///   skillcell serve ./team-skills --user --plugins
    ///   skillcell serve --profile skilljack ./team-skills
    ///   skillcell serve --http 127.0.0.1:8080 --http-token-file ~/.skillcell-token ./team-skills
    // Entries made for another server call it by the alias.
    #[command(alias = "mcp-server", verbatim_doc_comment)]
    Serve(Serve),
    /// Show a short session on the bundled skills
    ///
    /// Example: skillcell demo
    Demo,
    /// Show every skill: a table on a terminal, else a line with tabs for each
    ///
    /// Example: skillcell list --root ./team-skills
    List(list::List),
    /// Show skills that contain every word, the best first; exit code 1 when there is none
    ///
    /// Example: skillcell search login form --root ./team-skills
    Search(search::Search),
    /// Show a skill as its file is; exit code 1 when there is none of that name
    ///
    /// Example: skillcell show csv-report --aggregated --root ./team-skills
    Show(show::Show),
    /// Run a script of a skill in the sandbox
    ///
    /// Example: skillcell run csv-report scripts/summarise.py --arg columns=amount --root ./team-skills
    Run(run::Run),
    /// Tell which skill `get_skill` would answer with, and why; exit code 1 when nothing matches
    ///
    /// Example: skillcell match "build a login form" --explain --root ./team-skills
    Match(matching::Match),
    /// Tell what is wrong in the files of skills, and which tools they mention; exit code 1 when anything is an error
    ///
    /// Examples:
    ///   skillcell lint ./team-skills
    ///   skillcell lint ./team-skills --fix
    ///   skillcell lint . --deny warnings --allow long-body --sarif > lint.sarif
    #[command(verbatim_doc_comment)]
    Lint(lint::Lint),
    /// Tell whether everything works here, and what to do where it does not; exit code 1 when something fails
    ///
    /// Example: skillcell doctor --root ./team-skills
    Doctor(doctor::Doctor),
    /// Show what a client has to be told about this server, or tell it; exit code 1 when another entry is in the way
    ///
    /// Example: skillcell client claude ./team-skills --write
    Client(client::ClientArguments),
    /// Write, check and list plugins: components that rank skills, run scripts or understand skills
    ///
    /// Example: skillcell plugin new my-scorer --kind scorer
    Plugin(plugin::PluginArguments),
    /// Show which services can be asked, and try whether they answer
    ///
    /// Example: skillcell integration test github
    Integration(integration::IntegrationArguments),
    /// Show what scripts ran, what was asked and what was refused
    ///
    /// Example: skillcell audit verify
    Audit(audit::AuditArguments),
    /// Show which skills were used, and which tools were called after them
    ///
    /// Example: skillcell stats --json
    Stats(stats::Stats),
    /// Show it all on a page in the browser: skills, rankings, grants, the audit trail, usage; changes nothing
    ///
    /// Example: skillcell ui ./team-skills
    Ui(ui::Ui),
    /// Print a script with which a shell completes this command line
    ///
    /// Example: skillcell completions bash > ~/.local/share/bash-completion/completions/skillcell
    Completions(completions::Completions),
    /// Print the manual, or write a page for each command
    ///
    /// Example: skillcell man ~/.local/share/man/man1
    Man(man::Manual),
}

/// Where skills come from.
#[derive(Args)]
struct Roots {
    /// A folder of skills; a comma separates several
    #[arg(long = "root", value_name = "DIR")]
    folders: Vec<String>,
    /// Add the folders of the user and the project: `.claude/skills` and `.agents/skills`, in the home folder and here
    #[arg(long)]
    user: bool,
    /// Add the folders of installed plugins
    #[arg(long)]
    plugins: bool,
    /// The operator's configuration; else `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Roots {
    /// The same for another command, as a shell reads it.
    fn again(&self) -> String {
        let folders = self.folders.iter().flat_map(|folder| ["--root", folder]);
        let flags = [self.user.then_some("--user"), self.plugins.then_some("--plugins")].into_iter().flatten();
        let config = self.config.iter().flat_map(|file| ["--config", file.to_str().unwrap_or_default()]);
        let words = client::entry::command_line(folders.chain(flags).chain(config));
        if words.is_empty() { words } else { format!(" {}", printable(&words)) }
    }

    fn told(self) -> Told {
        Told { folders: self.folders, user: self.user, plugins: self.plugins, config: self.config, ..Told::default() }
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
    /// What ranks skills: `keyword`, `bm25`, `hybrid`, a name of the configuration, or a component of world `scorer`
    #[arg(long, value_name = "NAME|FILE")]
    scorer: Option<String>,
    /// Which other server to stand in for
    #[arg(long, value_enum, value_name = "NAME")]
    profile: Option<Profile>,
    /// The tools to offer, as in `skill,skills_search`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
    /// Serve the skills and all their files as they are at the start, whatever happens on disk afterwards
    #[arg(long = "static")]
    frozen: bool,
    #[command(flatten)]
    http: Http,
}

/// How the server is reached over HTTP.
#[derive(Args)]
struct Http {
    /// Serve Streamable HTTP at `/mcp` of this address instead, as in 127.0.0.1:8080 or only 8080
    #[arg(long = "http", value_name = "ADDR")]
    address: Option<String>,
    /// A file whose first line is the token that clients must send; else the variable `SKILLCELL_HTTP_TOKEN`, or a new one is shown
    #[arg(long = "http-token-file", value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
    /// Listen on any address; a proxy before the server speaks TLS
    #[arg(long, requires = "address")]
    behind_tls_proxy: bool,
    /// A name by which that proxy is reached; repeat it for several
    #[arg(long = "http-host", value_name = "NAME", requires = "behind_tls_proxy")]
    names: Vec<String>,
}

impl Cli {
    /// Runs the command and says how it ended: 0 done, 1 the answer is no, 2 wrong usage or configuration; `run` ends as its
    /// script does.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match (self.quiet, self.serves()) {
            (true, _) => {}
            (false, true) => progress::watch_server(),
            (false, false) => progress::watch(),
        }
        match self.command {
            None => {
                misplaced::check(&self.serve.folders)?;
                serve::run(self.serve)
            }
            Some(Command::Serve(serve)) => serve::run(serve),
            Some(Command::Demo) => demo::run(),
            Some(Command::List(arguments)) => list::run(arguments),
            Some(Command::Search(arguments)) => search::run(arguments),
            Some(Command::Show(arguments)) => show::run(arguments),
            Some(Command::Run(arguments)) => run::run(arguments),
            Some(Command::Match(arguments)) => matching::run(arguments),
            Some(Command::Lint(arguments)) => lint::run(arguments),
            Some(Command::Doctor(arguments)) => doctor::run(arguments),
            Some(Command::Client(arguments)) => client::run(arguments),
            Some(Command::Plugin(arguments)) => plugin::run(arguments),
            Some(Command::Integration(arguments)) => integration::run(arguments),
            Some(Command::Audit(arguments)) => audit::run(&arguments),
            Some(Command::Stats(arguments)) => stats::run(&arguments),
            Some(Command::Ui(arguments)) => ui::run(arguments),
            Some(Command::Completions(arguments)) => completions::run(&arguments),
            Some(Command::Man(arguments)) => man::run(&arguments),
        }
    }

    /// Whether it is a server, which talks to programs.
    pub fn serves(&self) -> bool {
        matches!(self.command, None | Some(Command::Serve(_)))
    }

    /// What is logged unless `SKILLCELL_LOG` says otherwise.
    pub fn log_filter(&self) -> &'static str {
        // These commands tell all that a log would, and better.
        let tells_itself = matches!(
            self.command,
            Some(
                Command::List(_)
                    | Command::Search(_)
                    | Command::Show(_)
                    | Command::Lint(_)
                    | Command::Doctor(_)
                    | Command::Ui(_)
            )
        );
        match (self.quiet || tells_itself && self.verbose == 0, self.verbose) {
            // To rmcp it is an error when a client goes away before its answer.
            (true, _) => "error,rmcp::service=off",
            // Whoever asks about one task wants to see what is wrong, and not what is going on.
            (false, 0) if matches!(self.command, Some(Command::Match(_))) => "warn",
            // It logs every error answer as a warning, with its payload.
            (false, 0) => "info,rmcp=error,rmcp::service=off",
            (false, 1) => "debug,rmcp=warn",
            (false, _) => "trace",
        }
    }
}
