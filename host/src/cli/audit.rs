//! `skillcell audit`: shows the audit record, or verifies that it is intact.

use anyhow::Context as _;
use audit::{Audit, Shown, Stage};
use base::environment::variable;
use base::printable::counted;
use base::user_folders::UserFolders;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
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
    /// Check that no line was changed, removed or cut off, except by rotation; exit code 1 if one was
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
    let removed: Vec<String> = verdict.removed.iter().map(ToString::to_string).collect();
    if json {
        let unfinished: Vec<Value> = verdict.unfinished.iter().map(|line| parsed(line)).collect();
        let report = json!({"lines": verdict.lines, "faults": faults, "removed": removed, "unfinished": unfinished});
        terminal::print(&format!("{report}\n"))?;
    } else {
        let output = Output::standard();
        let result = match faults.as_slice() {
            [] => output.paint(Tone::Good, "the record is intact"),
            _ => output.paint(Tone::Bad, "the record was tampered with"),
        };
        let unfinished = verdict.unfinished.iter().map(|line| format_line(&parsed(line), Stage::Unfinished, output));
        let unfinished: Vec<String> = unfinished.collect();
        let verdict = format!("{}: {result}", counted(verdict.lines, "line"));
        terminal::print_lines(&[&faults[..], &removed, &unfinished, &[verdict]].concat())?;
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}

fn show(audit: &Audit, arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let mut lines = audit.lines()?;
    if arguments.json {
        let texts: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        terminal::print_lines(&texts[texts.len().saturating_sub(arguments.last)..])?;
    } else {
        // The end of a run says everything that its beginning does.
        lines.retain(|line| line.stage != Stage::Ended);
        let newest = &lines[lines.len().saturating_sub(arguments.last)..];
        let output = Output::standard();
        let refusals = refusals(&lines);
        let format = |line: &Shown| format_line(&with_refusal(parsed(&line.text), &refusals), line.stage, output);
        terminal::print_lines(&newest.iter().map(format).collect::<Vec<_>>())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_default()
}

/// The refusals that were repeated, by number.
fn refusals(lines: &[Shown]) -> HashMap<u64, Value> {
    let entries: Vec<Value> = lines.iter().map(|line| parsed(&line.text)).collect();
    let repeated: HashSet<u64> = entries.iter().filter_map(|entry| entry["of"].as_u64()).collect();
    let refusals = entries.into_iter().filter(|entry| entry["after"].is_u64());
    let refusals = refusals.filter_map(|entry| Some((entry["number"].as_u64()?, entry)));
    refusals.filter(|(number, _)| repeated.contains(number)).collect()
}

/// Adds to the line of repetitions what was repeated.
fn with_refusal(mut entry: Value, refusals: &HashMap<u64, Value>) -> Value {
    if let Some(refusal) = entry["of"].as_u64().and_then(|number| refusals.get(&number)) {
        for name in ["integration", "skill", "script", "reason", "outcome"] {
            entry[name] = refusal[name].clone();
        }
    }
    entry
}

/// Formats a record entry on one line.
fn format_line(entry: &Value, stage: Stage, output: Output) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().escape_debug().to_string();
    let number = |value: &Value| value.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
    let outcome = match text("kind").as_str() {
        _ if stage == Stage::Unfinished => {
            output.paint(Tone::Bad, "began and has not ended: it is still running, or its server was killed")
        }
        "refusal" => format!("{} {}", output.paint(Tone::Bad, "refused:"), text("reason")),
        "repeats" => {
            let what = if entry["reason"].is_string() { text("reason") } else { text("outcome") };
            format!("repeated {}: {what}", counted(number(&entry["count"]), "time"))
        }
        "query" => match entry["requests"].as_array().map_or(0, Vec::len) {
            0 => text("outcome"),
            sent => format!("{}, {}", text("outcome"), counted(sent, "request")),
        },
        _ => {
            let limit = entry["outcome"]["limit_hit"].as_str().map(|limit| format!(", limit {limit}"));
            let refusals = Some(number(&entry["outcome"]["refusals"])).filter(|count| *count > 0);
            let refusals = refusals.map(|count| format!(", {}", counted(count, "refusal")));
            let exit = &entry["outcome"]["exit_code"];
            format!("exit {exit}{}{}", limit.unwrap_or_default(), refusals.unwrap_or_default())
        }
    };
    let names = ["integration", "skill", "script"].map(text);
    let names = names.iter().filter(|name| !name.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
    format!("{}  {names}  {outcome}", text("time"))
}
