//! `skillcell stats`: what was used on this machine.

#![expect(clippy::print_stdout, reason = "here a person reads standard output; no server is running")]

use super::table::aligned;
use crate::analytics::{SkillUse, Summary, summary};
use crate::config::places::Places;
use crate::config::variable;
use crate::printable::printable;
use anyhow::Context as _;
use clap::Args;
use std::io::IsTerminal as _;
use std::process::ExitCode;

#[derive(Args)]
pub struct Stats {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Each line is one skill.
const COLUMNS: [&str; 9] =
    ["skill", "served", "last used", "useful", "not useful", "assets", "scripts", "failed", "tools called after it"];

pub fn run(arguments: &Stats) -> anyhow::Result<ExitCode> {
    let places = Places::find(variable).context("HOME is not set, so there is no history")?;
    let summary = summary(&places.records);
    if arguments.json {
        println!("{}", serde_json::to_string(&summary)?);
    } else {
        show(&summary, &places, std::io::stdout().is_terminal());
    }
    Ok(ExitCode::SUCCESS)
}

fn show(summary: &Summary, places: &Places, is_terminal: bool) {
    let Some(since) = &summary.since else {
        println!("no history yet");
        println!("hint: add `analytics: {{enabled: true}}` to {}", places.config_file().display());
        return;
    };
    let rows: Vec<Vec<String>> = summary.skills.iter().map(row).collect();
    let header: Vec<String> = COLUMNS.map(str::to_owned).into();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let shown = if is_terminal { aligned(&rows) } else { rows.iter().map(|row| row.join("\t")).collect() };
    for line in shown {
        println!("{line}");
    }
    let Summary { no_match, ambiguous, events_waiting, events_dropped, .. } = summary;
    let since = printable(since);
    println!("since {since}: no match {no_match}, ambiguous {ambiguous}");
    println!("events: {events_waiting} waiting, {events_dropped} dropped");
}

fn row(skill: &SkillUse) -> Vec<String> {
    let after: Vec<String> =
        skill.tools_after.iter().map(|(tool, count)| format!("{} {count}", printable(tool))).collect();
    vec![
        printable(&skill.skill_path),
        skill.served.to_string(),
        printable(&skill.last_used),
        skill.useful.to_string(),
        skill.not_useful.to_string(),
        skill.assets_served.to_string(),
        skill.scripts_run.to_string(),
        skill.scripts_failed.to_string(),
        after.join(", "),
    ]
}
