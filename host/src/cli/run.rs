//! `skillcell run`: one script of a skill, in the sandbox, from the command line.

use super::{Roots, open, refused};
use crate::config::{self, ScorerChoice};
use crate::mcp::tools::run_script::{RunView, policy_view};
use crate::scripts::{Denied, Request, ScriptError};
use crate::terminal;
use anyhow::Context as _;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub struct Run {
    /// The skill, by name or path
    skill: String,
    /// The script, as a path below the skill's folder
    script: String,
    /// An argument of the script
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = pair)]
    arguments: Vec<(String, String)>,
    /// The project, which the script sees as /work if that is granted
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Only tell what the script would get
    #[arg(long = "dry-run")]
    only_tell: bool,
    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub fn run(arguments: Run) -> anyhow::Result<ExitCode> {
    let mut config = config::resolve(arguments.roots.told())?;
    // Nothing is ranked here.
    config.scorer = ScorerChoice::Keyword;
    let request = Request {
        skill: arguments.skill,
        file: arguments.script,
        arguments: arguments.arguments.into_iter().collect::<BTreeMap<_, _>>(),
        working_folder: arguments.cwd.map(std::path::absolute).transpose().context("`--cwd` is no path")?,
        dry_run: arguments.only_tell,
    };
    let runtime = open::runtime()?;
    let code = runtime.block_on(async {
        let opened = open::ready(config).await?;
        let stopped = CancellationToken::new();
        let stop = stopped.clone();
        tokio::spawn(async move {
            let _ = tokio::signal::ctrl_c().await;
            stop.cancel();
        });
        answer(&opened, request, stopped, arguments.json).await
    });
    runtime.shutdown_background();
    code
}

async fn answer(
    opened: &open::Opened,
    request: Request,
    stopped: CancellationToken,
    json: bool,
) -> anyhow::Result<ExitCode> {
    if request.dry_run {
        return told(opened.scripts.dry_run(request).await, json, |policy| {
            terminal::print_json(&policy_view(&policy))?;
            Ok(ExitCode::SUCCESS)
        });
    }
    let progress = Arc::new(|_, message: String| tracing::info!("{message}"));
    told(opened.scripts.run(request, stopped, progress).await, json, |ran| {
        // As the script ended, so that a shell can tell.
        let code = ExitCode::from(u8::try_from(ran.finished.exit_code).unwrap_or(1));
        if json {
            terminal::print_json(&RunView::new(ran))?;
            return Ok(code);
        }
        terminal::print(&ran.finished.stdout.text)?;
        let mut errors = ran.finished.stderr.text.clone();
        // The last words are then the host's, which are a line.
        if ran.finished.limit_hit.is_some() && !errors.ends_with('\n') {
            errors.push('\n');
        }
        std::io::stderr().write_all(errors.as_bytes())?;
        for refusal in ran.policy.refusals.iter().chain(&ran.finished.denials) {
            tracing::warn!("refused: {refusal}");
        }
        Ok(code)
    })
}

fn told<T>(
    answer: Result<T, ScriptError>,
    json: bool,
    tell: impl FnOnce(T) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    match answer {
        Ok(answer) => tell(answer),
        Err(ScriptError::Denied(Denied::MissingArguments { file, missing })) => refused::tell(
            &format!("script `{file}` needs the arguments {missing}\nhint: give each as `--arg NAME=VALUE`"),
            json,
        ),
        Err(ScriptError::Denied(denied)) => refused::tell(&denied.to_string(), json),
        Err(error) => Err(error.into()),
    }
}
