//! The command line: one file per command.

mod audit;
mod client;
mod completions;
mod demo;
mod did_you_mean;
mod doctor;
mod failure;
mod hidden;
mod integration;
mod lint;
mod list;
mod man;
mod matching;
mod mentions;
mod model;
mod new;
mod package;
mod plugin;
mod replace;
mod run;
mod scaffold;
mod search;
mod serve;
mod show;
mod stats;
mod table;
mod ui;
mod untrusted;
mod version;

use crate::config::CliArgs;
use base::printable::printable;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use mcp::surface::Profile;
use std::path::PathBuf;
use std::process::ExitCode;
use terminal::progress;

/// Serves skills to AI agents over MCP, from inside a WebAssembly sandbox.
///
/// Without a command it serves the given folders.
///
/// Example: skillcell ./team-skills
#[derive(Parser)]
#[command(version, disable_version_flag = true, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
    /// Log more; repeat it to log everything, or set a filter in `SKILLCELL_LOG`
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Log only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print the version
    #[arg(short = 'V', action = clap::ArgAction::Version)]
    _version: Option<bool>,
    /// Print the version, the commit it was built from, and the digest of the engine
    #[arg(long = "version")]
    version_details: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve skills on standard input and output, or over HTTP
    ///
    /// Examples:
    ///   skillcell serve ./team-skills --user --plugins
    ///   skillcell serve --profile skilljack ./team-skills
    ///   skillcell serve --http 127.0.0.1:8080 --http-token-file ~/.skillcell-token ./team-skills
    // Client entries written for other servers use this alias.
    #[command(alias = "mcp-server", verbatim_doc_comment)]
    Serve(Serve),
    /// Show a short session on the bundled skills
    ///
    /// Example: skillcell demo
    Demo,
    /// List every skill: as a table on a terminal, otherwise as tab-separated lines
    ///
    /// Example: skillcell list --root ./team-skills
    List(list::List),
    /// List the skills that contain every word, best match first; exit code 1 if there are none
    ///
    /// Example: skillcell search login form --root ./team-skills
    Search(search::Search),
    /// Print the file of a skill; exit code 1 if there is no such skill
    ///
    /// Example: skillcell show csv-report --aggregated --root ./team-skills
    Show(show::Show),
    /// Run a script of a skill in the sandbox
    ///
    /// Example: skillcell run csv-report scripts/summarise.py --arg columns=amount --root ./team-skills
    Run(run::Run),
    /// Show which skill `get_skill` would return, and why; exit code 1 if nothing matches
    ///
    /// Example: skillcell match "build a login form" --explain --root ./team-skills
    Match(matching::Match),
    /// Check the files of skills, and list the tools they mention; exit code 1 if there are errors
    ///
    /// Examples:
    ///   skillcell lint ./team-skills
    ///   skillcell lint ./team-skills --fix
    ///   skillcell lint . --deny warnings --allow long-body --sarif > lint.sarif
    #[command(verbatim_doc_comment)]
    Lint(lint::Lint),
    /// Create a skill with a script, ready to be tried and edited
    ///
    /// Example: skillcell new expense-report --dir ./team-skills
    New(new::New),
    /// Check that everything works, and show how to fix what does not; exit code 1 if a check fails
    ///
    /// Example: skillcell doctor --root ./team-skills
    Doctor(doctor::Doctor),
    /// Show the settings a client needs for this server, or write them; exit code 1 if a different entry exists
    ///
    /// Example: skillcell client claude ./team-skills --write
    Client(client::ClientArguments),
    /// Create, check and list plugins: components that rank skills, run scripts or read skills
    ///
    /// Example: skillcell plugin new my-scorer --kind scorer
    Plugin(plugin::PluginArguments),
    /// Add Python packages for scripts, list, check and remove them
    ///
    /// Example: skillcell package add --preset documents
    Package(package::PackageArguments),
    /// Install word vectors for the scorer `semantic`, show and remove them
    ///
    /// Example: skillcell model add wordllama
    Model(model::ModelArguments),
    /// List the services that can be queried, and test them
    ///
    /// Example: skillcell integration test github
    Integration(integration::IntegrationArguments),
    /// Show which scripts ran, what was queried and what was refused
    ///
    /// Example: skillcell audit verify
    Audit(audit::AuditArguments),
    /// Show which skills were used, and which tools were called after them
    ///
    /// Example: skillcell stats --json
    Stats(stats::Stats),
    /// Serve a read-only page for the browser: skills, rankings, grants, the audit trail, usage
    ///
    /// Example: skillcell ui ./team-skills
    Ui(ui::Ui),
    /// Print a shell completion script
    ///
    /// Example: skillcell completions bash > ~/.local/share/bash-completion/completions/skillcell
    Completions(completions::Completions),
    /// Print the manual page, or write one page per command
    ///
    /// Example: skillcell man ~/.local/share/man/man1
    Man(man::Manual),
}

/// Where skills come from.
#[derive(Args)]
struct Roots {
    /// A folder of skills; separate several by commas
    #[arg(long = "root", value_name = "DIR")]
    folders: Vec<String>,
    /// Add the folders of the user and the project: `.claude/skills` and `.agents/skills`, in the home and the working folder
    #[arg(long)]
    user: bool,
    /// Add the folders of installed plugins
    #[arg(long)]
    plugins: bool,
    /// The operator's configuration; by default `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Roots {
    /// Returns these options for use in another command, quoted for a shell.
    fn to_shell(&self) -> String {
        let folders = self.folders.iter().flat_map(|folder| ["--root", folder]);
        let flags = [self.user.then_some("--user"), self.plugins.then_some("--plugins")].into_iter().flatten();
        let config = self.config.iter().flat_map(|file| ["--config", file.to_str().unwrap_or_default()]);
        let options = client::entry::command_line(folders.chain(flags).chain(config));
        if options.is_empty() { options } else { format!(" {}", printable(&options)) }
    }

    fn cli_args(self) -> CliArgs {
        CliArgs {
            folders: self.folders,
            user: self.user,
            plugins: self.plugins,
            config: self.config,
            ..CliArgs::default()
        }
    }
}

#[derive(Args)]
struct Serve {
    /// Folders of skills; separate several by commas
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    #[command(flatten)]
    more: Roots,
    /// An engine component to use instead of the built-in one
    #[arg(long, value_name = "FILE")]
    engine: Option<PathBuf>,
    /// The scorer that ranks skills: `keyword`, `bm25`, `hybrid`, a configured name, or a component of world `scorer`
    #[arg(long, value_name = "NAME|FILE")]
    scorer: Option<String>,
    /// Offer the tools and names of another server
    #[arg(long, value_enum, value_name = "NAME")]
    profile: Option<Profile>,
    /// The tools to offer, as in `skill,skills_search`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
    /// Serve the skills and all their files as they are at startup, and ignore later changes on disk
    #[arg(long = "static")]
    frozen: bool,
    #[command(flatten)]
    http: Http,
}

/// Options for serving over HTTP.
#[derive(Args)]
struct Http {
    /// Serve Streamable HTTP at `/mcp` of this address instead of stdio, as in 127.0.0.1:8080 or just 8080
    #[arg(long = "http", value_name = "ADDR")]
    address: Option<String>,
    /// A file whose first line is the token clients must send; by default `SKILLCELL_HTTP_TOKEN`, or a new token that is printed
    #[arg(long = "http-token-file", value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
    /// Allow any address, because a proxy in front of the server handles TLS
    #[arg(long, requires = "address")]
    behind_tls_proxy: bool,
    /// A host name of that proxy; repeat it for several
    #[arg(long = "http-host", value_name = "NAME", requires = "behind_tls_proxy")]
    names: Vec<String>,
}

impl Cli {
    /// Parses the arguments of this process. Without a command to run, it prints why and returns the exit code.
    pub fn parse_or_report() -> Result<Self, ExitCode> {
        let parsed = Self::try_parse();
        let checked = match &parsed {
            Ok(Self { command: None, serve, .. }) => did_you_mean::check_folders(&serve.folders),
            // The options of a mistyped command are unknown.
            Err(error) if error.kind() == ErrorKind::UnknownArgument => {
                let mistyped = std::env::args().nth(1).filter(|word| !did_you_mean::is_command(word));
                did_you_mean::check_folders(mistyped.as_slice())
            }
            _ => Ok(()),
        };
        if let Err(error) = checked {
            terminal::print_error(&format!("{error:#}"));
            return Err(ExitCode::from(2));
        }
        parsed.map_err(|error| {
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        })
    }

    /// Runs the command. Its exit code is 0 for success, 1 for a negative answer, 2 for wrong usage or configuration; `run`
    /// exits with the code of the script.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.version_details {
            return version::run();
        }
        match (self.quiet, self.serves()) {
            (true, _) => {}
            (false, true) => progress::enable_for_server(),
            (false, false) => progress::enable(),
        }
        match self.command {
            None => serve::run(self.serve),
            Some(Command::Serve(serve)) => serve::run(serve),
            Some(Command::Demo) => demo::run(),
            Some(Command::List(arguments)) => list::run(arguments),
            Some(Command::Search(arguments)) => search::run(arguments),
            Some(Command::Show(arguments)) => show::run(arguments),
            Some(Command::Run(arguments)) => run::run(arguments),
            Some(Command::Match(arguments)) => matching::run(arguments),
            Some(Command::Lint(arguments)) => lint::run(arguments),
            Some(Command::New(arguments)) => new::run(&arguments),
            Some(Command::Doctor(arguments)) => doctor::run(arguments),
            Some(Command::Client(arguments)) => client::run(arguments),
            Some(Command::Plugin(arguments)) => plugin::run(arguments),
            Some(Command::Package(arguments)) => package::run(arguments),
            Some(Command::Model(arguments)) => model::run(arguments),
            Some(Command::Integration(arguments)) => integration::run(arguments),
            Some(Command::Audit(arguments)) => audit::run(&arguments),
            Some(Command::Stats(arguments)) => stats::run(&arguments),
            Some(Command::Ui(arguments)) => ui::run(arguments),
            Some(Command::Completions(arguments)) => completions::run(&arguments),
            Some(Command::Man(arguments)) => man::run(&arguments),
        }
    }

    /// Whether the command is a server, whose output is read by programs.
    pub fn serves(&self) -> bool {
        !self.version_details && matches!(self.command, None | Some(Command::Serve(_)))
    }

    /// The log filter, unless `SKILLCELL_LOG` sets one.
    pub fn log_filter(&self) -> &'static str {
        use Command::{Doctor, Lint, List, Match, Search, Show, Ui};
        match (self.quiet, self.verbose, &self.command) {
            // The output of these commands already contains what would be logged.
            (true, ..) | (_, 0, Some(List(_) | Search(_) | Show(_) | Lint(_) | Doctor(_) | Ui(_))) => {
                // rmcp logs an error when a client disconnects before its response.
                "error,rmcp::service=off"
            }
            // Progress messages would only distract from the one result.
            (false, 0, Some(Match(_))) => "warn",
            // rmcp logs every error response as a warning, with its payload.
            (false, 0, _) => "info,rmcp=error,rmcp::service=off",
            (false, 1, _) => "debug,rmcp=warn",
            (false, ..) => "trace",
        }
    }
}
