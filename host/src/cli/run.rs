//! `skillcell run`: runs one script of a skill in the sandbox.

use super::{Roots, failure, untrusted};
use crate::compose::{self, App};
use crate::config;
use analytics::Usage;
use anyhow::Context as _;
use base::place::Audience;
use base::printable::{printable, quoted};
use bytes::Bytes;
use call::{Call, Caller, Principal, Progress};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use clap::Args;
use scripts::input::{self, Input, InputFile};
use scripts::outputs::OutputFile;
use scripts::{CompletedRun, Denied, Request, ScriptError};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use terminal::Output;
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
    /// A file for the script's working folder; PATH is its place there, by default its name
    #[arg(long = "file", value_name = "FILE[=PATH]", value_parser = parse_file)]
    files: Vec<(PathBuf, String)>,
    /// The file that the script reads as standard input; `-` for this command's own
    #[arg(long, value_name = "FILE")]
    stdin_file: Option<PathBuf>,
    /// The folder to write the script's output files to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The project folder, which the script sees as /work if granted
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Arguments for the script, after `--`
    #[arg(last = true, value_name = "ARGS")]
    argv: Vec<String>,
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

fn parse_file(text: &str) -> Result<(PathBuf, String), String> {
    let (file, path) = match text.rsplit_once('=') {
        Some((file, path)) => (file, path.to_owned()),
        None => (text, Path::new(text).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()),
    };
    if path.is_empty() { Err("expected FILE or FILE=PATH".to_owned()) } else { Ok((PathBuf::from(file), path)) }
}

/// Reads at most one byte more than is allowed, so that a device or a large file does not fill the memory.
fn read(file: &Path, limit: usize) -> anyhow::Result<Bytes> {
    let read_from = |source: &mut dyn Read| {
        let mut bytes = Vec::new();
        source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes.into())
    };
    let bytes = if file == Path::new("-") {
        read_from(&mut std::io::stdin().lock())
    } else {
        std::fs::File::open(file).and_then(|mut opened| read_from(&mut opened))
    };
    bytes.with_context(|| format!("cannot read `{}`", file.display()))
}

pub fn run(arguments: Run) -> anyhow::Result<ExitCode> {
    let config = config::resolve_unranked(arguments.roots.cli_args())?;
    let mut files = Vec::new();
    for (file, path) in arguments.files {
        files.push(InputFile { path, bytes: read(&file, input::MAX_FILE_BYTES)? });
    }
    let stdin = arguments.stdin_file.map(|file| read(&file, input::MAX_STDIN_BYTES)).transpose()?;
    let request = Request {
        skill: arguments.skill,
        file: arguments.script,
        input: Input {
            named: arguments.arguments.into_iter().collect(),
            argv: arguments.argv,
            stdin: stdin.unwrap_or_default(),
            files,
        },
        outputs: None,
        save_to: None,
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
            caller: Caller { principal: Principal::local_user(), client: None, session: None },
            cancelled: cancellation,
            progress: Progress::new(|_, message| tracing::info!("{message}")),
            usage: Usage::disabled(),
        };
        execute(app, request, &call, arguments.out.as_deref(), arguments.json).await
    })
}

async fn execute(app: &App, request: Request, call: &Call, out: Option<&Path>, json: bool) -> anyhow::Result<ExitCode> {
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
            Ok(ran) => {
                let written = out.map(|folder| write_outputs(folder, &ran.outputs.files)).transpose();
                return print_run(ran, json).and_then(|code| written.map(|_| code));
            }
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

/// Writes the files of a run below a folder that need not exist. Links in it are not followed.
fn write_outputs(folder: &Path, files: &[OutputFile]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let opened = Dir::open_ambient_dir(folder, ambient_authority())?;
    for file in files {
        let path = Path::new(file.path.trim_start_matches('/'));
        let written = path.parent().map_or(Ok(()), |parent| opened.create_dir_all(parent));
        let written = written.and_then(|()| opened.write(path, &file.bytes));
        written.with_context(|| format!("cannot write `{}`", folder.join(path).display()))?;
    }
    Ok(())
}

fn print_run(ran: CompletedRun, json: bool) -> anyhow::Result<ExitCode> {
    let code = ExitCode::from(u8::try_from(ran.finished.exit_code).unwrap_or(1));
    let unkept = |_| String::new();
    if json {
        terminal::print_json(&RunView::new(ran, Audience::Local, unkept))?;
        return Ok(code);
    }
    terminal::print(&untrusted::text_for(Output::standard(), &ran.finished.stdout.text))?;
    let mut errors = untrusted::text_for(Output::error(), &ran.finished.stderr.text).into_owned();
    // The host appended a message, which has to end its line.
    if ran.finished.limit_hit.is_some() && !errors.ends_with('\n') {
        errors.push('\n');
    }
    std::io::stderr().write_all(errors.as_bytes())?;
    let view = RunView::new(ran, Audience::Local, unkept);
    for refusal in view.refusals {
        tracing::warn!("refused: {refusal}");
    }
    if let Some(hint) = view.hint {
        terminal::print_note(&format!("hint: {hint}"));
    }
    Ok(code)
}
