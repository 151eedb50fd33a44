//! `skillcell audit`: what ran, what was asked and what was refused, and whether the record is whole.

use crate::audit::Audit;
use crate::config::places::Places;
use crate::config::variable;
use crate::printable::counted;
use crate::terminal::{self, Output, Tone};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(Args)]
pub struct AuditArguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Print the lines as they are, each a JSON object; nothing at all if there is none
    #[arg(long, global = true)]
    json: bool,
    /// Show only this many of the newest
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    last: usize,
}

#[derive(Subcommand)]
enum What {
    /// Check that no line was changed, removed or cut off; exit code 1 when one was
    ///
    /// Example: skillcell audit verify --json
    Verify,
}

pub fn run(arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let places = Places::find(variable)
        .with_context(|| format!("{}, so there is no audit record", Places::missing(variable)))?;
    let audit = Audit::open(&places.audit(), &places.audit_key())?;
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
        let output = Output::standard();
        let whole = if faults.is_empty() {
            output.toned(Tone::Good, "the record is whole")
        } else {
            output.toned(Tone::Bad, "the record was tampered with")
        };
        let verdict = format!("{}: {whole}", counted(verdict.lines, "line"));
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
        terminal::print_lines(&newest.iter().map(|line| shown(line, output)).collect::<Vec<_>>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line of the record on one line.
fn shown(line: &str, output: Output) -> String {
    let entry: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |name: &str| entry[name].as_str().unwrap_or_default().escape_debug().to_string();
    let outcome = match text("kind").as_str() {
        "refusal" => format!("{} {}", output.toned(Tone::Bad, "refused:"), text("reason")),
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
