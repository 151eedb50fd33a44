//! `skillcell lint`: what is wrong in the files of skills, and which tools they mention.

#![expect(clippy::print_stdout, reason = "here a person reads standard output; no server is running")]

mod report;

use super::mentions::{MOST, Offer};
use super::{Roots, open};
use crate::config::{self, ScorerChoice};
use anyhow::{Context as _, bail};
use clap::Args;
use report::{Report, Used};
use std::path::Path;
use std::process::ExitCode;

#[derive(Args)]
pub struct Lint {
    /// Folders of skills; a comma separates several
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    more: Roots,
}

pub fn run(arguments: Lint) -> anyhow::Result<ExitCode> {
    let mut told = arguments.more.told();
    told.folders = arguments.folders.into_iter().chain(told.folders).collect();
    for folder in told.folders.iter().flat_map(|list| list.split(',')).map(str::trim) {
        // A server waits for a folder to appear. Here nobody waits, and a wrong name would pass for skills without problems.
        if !folder.is_empty() && !Path::new(folder).is_dir() {
            bail!("there is no folder `{folder}`\nhint: name a folder of skills, as in `skillcell lint ./team-skills`");
        }
    }
    let mut config = config::resolve(told)?;
    // Nothing is ranked here.
    config.scorer = ScorerChoice::Keyword;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    let report = runtime.block_on(async {
        let opened = open::ready(config).await?;
        examine(&opened).await
    });
    runtime.shutdown_background();
    let report = report?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        report.lines().iter().for_each(|line| println!("{line}"));
    }
    Ok(ExitCode::from(u8::from(report.errors > 0)))
}

/// Every problem of every file, and every mention of a tool.
async fn examine(opened: &open::Opened) -> anyhow::Result<Report> {
    let asked = opened.catalog.ask_all(|engine, _| {
        Ok((engine.problems(u32::MAX)?, engine.mentions(MOST)?, engine.skills(None, None, 0, 0)?.total))
    });
    let (problems, mentions, skills) = asked.await?;
    let mut report = Report::new(&opened.terms.roots, &opened.config.roots.working_folder, skills);
    for problem in problems {
        report.add(problem);
    }
    for mention in mentions {
        let offer = Offer::of(&mention, &opened.config.surface);
        report.add_mention(Used { mention, offer });
    }
    Ok(report.finished())
}
