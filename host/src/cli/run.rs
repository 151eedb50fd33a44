//! `skillcell run`: runs one script of a skill in the sandbox.

use super::{Roots, failure};
use crate::compose;
use crate::config;
use analytics::Usage;
use anyhow::Context as _;
use base::place::Audience;
use base::printable::{printable, quoted};
use call::{Call, Caller, Principal, Progress};
use catalog::scorers::options::ScorerChoice;
use clap::Args;
use scripts::{Denied, Request, ScriptError};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use terminal;
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
    let mut config = config::resolve(arguments.roots.cli_args())?;
    // Ranking is not needed.
    config.scorers.choice = ScorerChoice::Keyword;
    let request = Request {
        skill: arguments.skill,
        file: arguments.script,
        arguments: arguments.arguments.into_iter().collect::<BTreeMap<_, _>>(),
        working_folder: arguments.cwd.map(std::path::absolute).transpose().context("`--cwd` is not a valid path")?,
        dry_run: arguments.only_tell,
    };
    let runtime = compose::tokio_runtime()?;
    let code = runtime.block_on(async {
        let app = compose::open_and_scan(config).await?;
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
        execute(&app, request, &call, arguments.json).await
    });
    runtime.shutdown_background();
    code
}

async fn execute(app: &compose::App, request: Request, call: &Call, json: bool) -> anyhow::Result<ExitCode> {
    if request.dry_run {
        return report(app.scripts.dry_run(request, call).await, json, |policy| {
            terminal::print_json(&policy_view(&policy, Audience::Local))?;
            Ok(ExitCode::SUCCESS)
        });
    }
    report(app.scripts.run(request, call).await, json, |ran| {
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
    })
}

/// Prints a success with `print`, and reports a denial as a negative answer.
fn report<T>(
    result: Result<T, ScriptError>,
    json: bool,
    print: impl FnOnce(T) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    match result {
        Ok(value) => print(value),
        Err(ScriptError::Denied(Denied::MissingArguments { file, missing })) => failure::report(
            &format!(
                "script `{}` needs the arguments {}\nhint: give each as `--arg NAME=VALUE`",
                printable(&file),
                quoted(&missing)
            ),
            json,
        ),
        Err(ScriptError::Denied(denied)) => failure::report(&denied.for_audience(Audience::Local), json),
        Err(error) => Err(anyhow::anyhow!(error.for_audience(Audience::Local))),
    }
}
