//! `skillcell run`: runs one script of a skill in the sandbox.

use super::{Roots, failure};
use crate::compose::{self, App};
use crate::config;
use analytics::Usage;
use anyhow::Context as _;
use base::place::Audience;
use base::printable::{printable, quoted};
use call::{Call, Caller, Principal, Progress};
use clap::Args;
use scripts::{CompletedRun, Denied, Request, ScriptError};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;
use views::run::{RunView, policy_view};

#[derive(Args)]
pub struct Run {
    /// The skill, by name or path
    skill: String,
    /// The path of the script below the skill's folder
    script: String,
    /// An argument of the script; repeat it for several
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = parse_argument)]
    arguments: Vec<(String, String)>,
    /// The project folder, which the script sees as /work if granted
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Only show what the script would get
    #[arg(long = "dry-run")]
    only_tell: bool,
    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

fn parse_argument(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub fn run(arguments: Run) -> anyhow::Result<ExitCode> {
    let config = config::resolve_unranked(arguments.roots.cli_args())?;
    let request = Request {
        skill: arguments.skill,
        file: arguments.script,
        arguments: arguments.arguments.into_iter().collect(),
        working_folder: arguments.cwd.map(std::path::absolute).transpose().context("`--cwd` is not a valid path")?,
        dry_run: arguments.only_tell,
    };
    compose::with_app(config, async |app: &App| {
        let cancellation = CancellationToken::new();
        let interrupt = cancellation.clone();
        tokio::spawn(async move {
            let _ = tokio::signal::ctrl_c().await;
            interrupt.cancel();
        });
        let call = Call {
            caller: Caller { principal: Principal::local_user(), client: None },
            cancelled: cancellation,
            progress: Progress::new(|_, message| tracing::info!("{message}")),
            usage: Usage::disabled(),
        };
        execute(app, request, &call, arguments.json).await
    })
}

async fn execute(app: &App, request: Request, call: &Call, json: bool) -> anyhow::Result<ExitCode> {
    let error = if request.dry_run {
        match app.scripts.dry_run(request, call).await {
            Ok(policy) => {
                terminal::print_json(&policy_view(&policy, Audience::Local))?;
                return Ok(ExitCode::SUCCESS);
            }
            Err(error) => error,
        }
    } else {
        match app.scripts.run(request, call).await {
            Ok(ran) => return print_run(ran, json),
            Err(error) => error,
        }
    };
    let denial = match error {
        ScriptError::Denied(Denied::MissingArguments { file, missing }) => {
            let (file, missing) = (printable(&file), quoted(&missing));
            format!("script `{file}` needs the arguments {missing}\nhint: give each as `--arg NAME=VALUE`")
        }
        ScriptError::Denied(denied) => denied.for_audience(Audience::Local),
        error => anyhow::bail!(error.for_audience(Audience::Local)),
    };
    failure::report(&denial, json)
}

fn print_run(ran: CompletedRun, json: bool) -> anyhow::Result<ExitCode> {
    let code = ExitCode::from(u8::try_from(ran.finished.exit_code).unwrap_or(1));
    if json {
        terminal::print_json(&RunView::new(ran, Audience::Local))?;
        return Ok(code);
    }
    terminal::print(&ran.finished.stdout.text)?;
    let mut errors = ran.finished.stderr.text.clone();
    // The host appended a message, which has to end its line.
    if ran.finished.limit_hit.is_some() && !errors.ends_with('\n') {
        errors.push('\n');
    }
    std::io::stderr().write_all(errors.as_bytes())?;
    for refusal in RunView::new(ran, Audience::Local).refusals {
        tracing::warn!("refused: {refusal}");
    }
    Ok(code)
}
