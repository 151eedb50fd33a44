//! `skillcell lint`: what is wrong in the files of skills, how to mend it, and which tools they mention.

mod codes;
mod fixing;
mod lines;
mod looking;
mod mending;
mod report;
mod sarif;

pub use codes::Known;

use super::Roots;
use super::mentions::Offer;
use super::open::{self, Opened};
use crate::config::{self, ScorerChoice};
use crate::printable::printable;
use crate::terminal::{self, Output};
use anyhow::bail;
use clap::{Args, ValueEnum};
use codes::Codes;
use looking::Look;
use report::{Folders, Report, Used};
use std::path::Path;
use std::process::ExitCode;

#[derive(Args)]
pub struct Lint {
    /// Folders of skills; a comma separates several
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    /// Do not tell problems with this code; repeat it for several, or separate them by commas
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// What makes the exit code 1 besides errors
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    #[command(flatten)]
    fixing: Fixing,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print SARIF 2.1.0, for code scanning
    #[arg(long, conflicts_with_all = ["json", "fix"])]
    sarif: bool,
    /// Print every code with what it means, and look at nothing
    #[arg(long, conflicts_with_all = ["sarif", "fix", "allow", "deny"])]
    codes: bool,
    #[command(flatten)]
    more: Roots,
}

#[derive(Args)]
struct Fixing {
    /// Mend what is mechanical, and look again
    #[arg(long)]
    fix: bool,
    /// Show what `--fix` would change, and change nothing
    #[arg(long, requires = "fix")]
    dry_run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

pub fn run(arguments: Lint) -> anyhow::Result<ExitCode> {
    let Lint { allow, deny, fixing: Fixing { fix, dry_run }, json, sarif, .. } = arguments;
    let mut told = arguments.more.told();
    told.folders = arguments.folders.into_iter().chain(told.folders).collect();
    for folder in told.folders.iter().flat_map(|list| list.split(',')).map(str::trim) {
        let path = Path::new(folder);
        if path.is_file() {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let above = printable(&above.to_string_lossy());
            bail!("`{}` is a file, and folders are checked\nhint: `skillcell lint {above}`", printable(folder));
        }
        // A server waits for a folder to appear. Here nobody waits, and a wrong name would pass for skills without problems.
        if !folder.is_empty() && !path.is_dir() {
            let hint = "name a folder of skills, as in `skillcell lint ./team-skills`";
            bail!("there is no folder `{}`\nhint: {hint}", printable(folder));
        }
    }
    let mut config = config::resolve(told)?;
    // Nothing is ranked here.
    config.scorer = ScorerChoice::Keyword;
    let codes = Codes::of(&config)?;
    if arguments.codes {
        if json {
            terminal::print_json(&codes)?;
        } else {
            terminal::print_lines(&codes.lines(Output::standard()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    codes.check(&allow)?;
    let working_folder = config.roots.working_folder.clone();
    let report = open::once(config, async |opened: &Opened| {
        let folders = Folders::new(&opened.terms.roots, &working_folder);
        let (mended, look) = match (fix, dry_run) {
            (true, true) => fixing::rehearse(opened, &folders, &allow).await?,
            (true, false) => fixing::fix(opened, &folders, &allow).await?,
            (false, _) => (Vec::new(), Look::at(opened, &folders, &allow).await?),
        };
        let mut report = reported(opened, look, folders, allow);
        report.mended = mended;
        Ok(report)
    })?;
    if json {
        terminal::print_json(&report)?;
    } else if sarif {
        terminal::print_json(&sarif::sarif(&report, &codes, &working_folder))?;
    } else {
        terminal::print_lines(&lines::lines(&report, Output::standard()))?;
    }
    let failed = report.errors > 0 || deny == Some(Deny::Warnings) && report.warnings > 0;
    Ok(ExitCode::from(u8::from(failed)))
}

fn reported(opened: &Opened, look: Look, folders: Folders, allow: Vec<String>) -> Report {
    let mut report = Report::new(folders, look.skills, allow);
    for looked in look.files {
        report.add(looked.reviewed);
    }
    for mention in look.mentions {
        let offer = Offer::of(&mention, &opened.config.surface);
        report.add_mention(Used { mention, offer });
    }
    report.finished()
}
