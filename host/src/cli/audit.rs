//! `skillcell audit`: shows the audit record, or verifies that it is intact.

use anyhow::Context as _;
use audit::Audit;
use base::environment::variable;
use base::printable::counted;
use base::user_folders::UserFolders;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::process::ExitCode;
use terminal::{self, Output, Tone};

#[derive(Args)]
pub struct AuditArguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Print the raw lines, each a JSON object
    #[arg(long, global = true)]
    json: bool,
    /// Show at most this many of the newest lines
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    last: usize,
}

#[derive(Subcommand)]
enum What {
    /// Check that no line was changed, removed or cut off; exit code 1 if one was
    ///
    /// Example: skillcell audit verify --json
    Verify,
}

pub fn run(arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let folders = UserFolders::find(variable)
        .with_context(|| format!("{}, so there is no audit record", UserFolders::why_missing(variable)))?;
    let audit = Audit::open(&folders.audit(), &folders.audit_key())?;
    match arguments.what {
        Some(What::Verify) => verify(&audit, arguments.json),
        None => show(&audit, arguments),
    }
}

fn verify(audit: &Audit, json: bool) -> anyhow::Result<ExitCode> {
    let verdict = audit.verify()?;
    let faults: Vec<String> = verdict.faults.iter().map(ToString::to_string).collect();
    if json {
        terminal::print(&format!("{}\n", json!({"lines": verdict.lines, "faults": faults})))?;
    } else {
        let result = match faults.as_slice() {
            [] => Output::standard().paint(Tone::Good, "the record is intact"),
            _ => Output::standard().paint(Tone::Bad, "the record was tampered with"),
        };
        let verdict = format!("{}: {result}", counted(verdict.lines, "line"));
        terminal::print_lines(&[&faults[..], &[verdict]].concat())?;
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}

fn show(audit: &Audit, arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let lines = audit.lines()?;
    let newest = &lines[lines.len().saturating_sub(arguments.last)..];
    if arguments.json {
        terminal::print_lines(newest)?;
    } else {
        let output = Output::standard();
        terminal::print_lines(&newest.iter().map(|line| format_line(line, output)).collect::<Vec<_>>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats a record entry on one line.
fn format_line(line: &str, output: Output) -> String {
    let entry: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |name: &str| entry[name].as_str().unwrap_or_default().escape_debug().to_string();
    let outcome = match text("kind").as_str() {
        "refusal" => format!("{} {}", output.paint(Tone::Bad, "refused:"), text("reason")),
        "query" => match entry["requests"].as_array().map_or(0, Vec::len) {
            0 => text("outcome"),
            sent => format!("{}, {}", text("outcome"), counted(sent, "request")),
        },
        _ => {
            let limit = entry["outcome"]["limit_hit"].as_str().map(|limit| format!(", limit {limit}"));
            let refusals = entry["outcome"]["refusals"].as_u64().and_then(|count| usize::try_from(count).ok());
            let refusals = refusals.filter(|count| *count > 0).map(|count| format!(", {}", counted(count, "refusal")));
            let exit = &entry["outcome"]["exit_code"];
            format!("exit {exit}{}{}", limit.unwrap_or_default(), refusals.unwrap_or_default())
        }
    };
    let names = ["integration", "skill", "script"].map(text);
    let names = names.iter().filter(|name| !name.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
    format!("{}  {names}  {outcome}", text("time"))
}
