//! `skillcell stats`: usage statistics of this machine.

use super::table::table;
use analytics::{SkillUse, Summary, summary};
use anyhow::Context as _;
use base::environment::variable;
use base::printable::printable;
use base::user_folders::UserFolders;
use clap::Args;
use std::process::ExitCode;
use terminal::Output;

#[derive(Args)]
pub struct Stats {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const COLUMNS: [&str; 9] =
    ["skill", "served", "last used", "useful", "not useful", "assets", "scripts", "failed", "tools called after it"];

pub fn run(arguments: &Stats) -> anyhow::Result<ExitCode> {
    let folders = UserFolders::find(variable)
        .with_context(|| format!("{}, so there is no history", UserFolders::why_missing(variable)))?;
    let summary = summary(&folders.records);
    terminal::print_report(arguments.json, &summary, &lines(&summary, &folders, Output::standard()))?;
    Ok(ExitCode::SUCCESS)
}

fn lines(summary: &Summary, folders: &UserFolders, output: Output) -> Vec<String> {
    let Some(since) = &summary.since else {
        let hint = format!("hint: add `analytics: {{enabled: true}}` to {}", folders.config_file().display());
        return vec!["no history yet".to_owned(), hint];
    };
    let mut lines = table(output, &COLUMNS, summary.skills.iter().map(row));
    let Summary { no_match, ambiguous, events_waiting, events_dropped, .. } = summary;
    let since = printable(since);
    lines.push(format!("since {since}: no match {no_match}, ambiguous {ambiguous}"));
    lines.push(format!("events: {events_waiting} waiting, {events_dropped} dropped"));
    lines
}

fn row(skill: &SkillUse) -> Vec<String> {
    let tools: Vec<String> =
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
        tools.join(", "),
    ]
}
