//! `skillcell lint`: checks the files of skills, fixes what is mechanical, and lists the tools they mention.

mod codes;
mod edits;
mod fix;
mod inspect;
mod lines;
mod report;
mod sarif;

pub use codes::CodeInfo;
pub use inspect::Inspection;
pub use report::Folders;

use super::{Roots, hidden};
use crate::compose::{self, App};
use crate::config;
use anyhow::bail;
use base::printable::printable;
use clap::{Args, ValueEnum};
use codes::Codes;
use report::Report;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::{self, Output};

#[derive(Args)]
pub struct Lint {
    /// Folders of skills; separate several by commas
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    /// Silence problems with this code; repeat it for several, or separate them by commas
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Also exit with code 1 for these
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    #[command(flatten)]
    fix_options: FixOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print SARIF 2.1.0, for code scanning
    #[arg(long, conflicts_with_all = ["json", "fix"])]
    sarif: bool,
    /// Print every code with its meaning, and check nothing
    #[arg(long, conflicts_with_all = ["sarif", "fix", "allow", "deny"])]
    codes: bool,
    #[command(flatten)]
    more: Roots,
}

#[derive(Args)]
struct FixOptions {
    /// Fix what is mechanical, and check again
    #[arg(long)]
    fix: bool,
    /// Show what `--fix` would change, without changing it
    #[arg(long, requires = "fix")]
    dry_run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

pub fn run(arguments: Lint) -> anyhow::Result<ExitCode> {
    let Lint { allow, deny, fix_options: FixOptions { fix, dry_run }, json, sarif, .. } = arguments;
    let mut cli_args = arguments.more.cli_args();
    cli_args.folders = arguments.folders.into_iter().chain(cli_args.folders).collect();
    for folder in cli_args.folders.iter().flat_map(|list| list.split(',')).map(str::trim) {
        let path = Path::new(folder);
        if path.is_file() {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let parent = printable(&parent.to_string_lossy());
            bail!("`{}` is a file, not a folder\nhint: `skillcell lint {parent}`", printable(folder));
        }
        // A server waits for a folder to appear. Here a wrong name would pass as a folder without problems.
        if !folder.is_empty() && !path.is_dir() {
            let hint = "use a folder of skills, as in `skillcell lint ./team-skills`";
            bail!("there is no folder `{}`\nhint: {hint}", printable(folder));
        }
    }
    let config = config::resolve_unranked(cli_args)?;
    let codes = Codes::of(&config)?;
    if arguments.codes {
        terminal::print_report(json, &codes, &codes.lines(Output::standard()))?;
        return Ok(ExitCode::SUCCESS);
    }
    codes.check(&allow)?;
    let working_folder = config.roots.working_folder.clone();
    let (report, hidden) = compose::with_app(config, async |app: &App| {
        let folders = Folders::new(&app.terms.roots, &working_folder);
        let (fixed, inspection) = match (fix, dry_run) {
            (true, true) => fix::preview(app, &folders, &allow).await?,
            (true, false) => fix::fix(app, &folders, &allow).await?,
            (false, _) => (Vec::new(), Inspection::run(app, &folders, &allow).await?),
        };
        let mut report = Report::new(inspection, folders, allow, &app.config.surface);
        report.fixed = fixed;
        let hidden = app.catalog.hidden_skills(Arc::clone(&app.terms.roots)).await?;
        Ok((report, hidden::note(&hidden, &working_folder)))
    })?;
    if sarif {
        terminal::print_json(&sarif::sarif(&report, &codes, &working_folder))?;
    } else {
        terminal::print_report(json, &report, &lines::lines(&report, Output::standard()))?;
    }
    if let Some(hidden) = hidden {
        terminal::print_note(&hidden);
    }
    let failed = report.errors > 0 || deny == Some(Deny::Warnings) && report.warnings > 0;
    Ok(ExitCode::from(u8::from(failed)))
}
