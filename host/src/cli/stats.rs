//! `skillcell stats`: what was used on this machine.

use super::table::table;
use crate::analytics::{SkillUse, Summary, summary};
use crate::config::places::Places;
use crate::config::variable;
use crate::printable::printable;
use crate::terminal::{self, Output};
use anyhow::Context as _;
use clap::Args;
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
    let places =
        Places::find(variable).with_context(|| format!("{}, so there is no history", Places::missing(variable)))?;
    let summary = summary(&places.records);
    if arguments.json {
        terminal::print_json(&summary)?;
    } else {
        terminal::print_lines(&lines(&summary, &places, Output::standard()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(summary: &Summary, places: &Places, output: Output) -> Vec<String> {
    let Some(since) = &summary.since else {
        let hint = format!("hint: add `analytics: {{enabled: true}}` to {}", places.config_file().display());
        return vec!["no history yet".to_owned(), hint];
    };
    let rows: Vec<Vec<String>> = summary.skills.iter().map(row).collect();
    let header: Vec<String> = COLUMNS.map(str::to_owned).into();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let mut lines = table(output, &rows);
    let Summary { no_match, ambiguous, events_waiting, events_dropped, .. } = summary;
    let since = printable(since);
    lines.push(format!("since {since}: no match {no_match}, ambiguous {ambiguous}"));
    lines.push(format!("events: {events_waiting} waiting, {events_dropped} dropped"));
    lines
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
