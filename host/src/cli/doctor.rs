//! `skillcell doctor`: checks that everything works, and shows how to fix what does not.

mod clients;
mod grants;
mod integrations;
mod plugins;
mod report;
mod repositories;
mod roots;
mod storage;
mod tools;

use super::Roots;
use crate::compose;
use crate::config::{self, Config};
use base::environment::variable;
use catalog::Scope;
use catalog::scorers::options::ScorerChoice;
use clap::Args;
use git;
use report::{Check, Report};
use roots::Inventory;
use std::path::PathBuf;
use std::process::ExitCode;
use terminal::progress::Progress;
use terminal::{self, Output};

#[derive(Args)]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also contact the remotes of repositories, each for at most ten seconds
    #[arg(long)]
    online: bool,
    #[command(flatten)]
    roots: Roots,
}

pub fn run(arguments: Doctor) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    match config::resolve(arguments.roots.cli_args()) {
        Ok(config) => check_all(config, arguments.online, &mut report)?,
        Err(error) => {
            report.add("configuration", vec![Check::failed(&error)]);
            let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
            let project = std::env::current_dir().unwrap_or_default();
            report.add("clients", clients::checks(home.as_deref(), &project));
        }
    }
    if arguments.json {
        terminal::print_json(&report.view())?;
    } else {
        terminal::print_lines(&report.lines(Output::standard()))?;
    }
    Ok(ExitCode::from(u8::from(report.has_failed())))
}

/// Runs all checks. A failed one does not stop the others.
fn check_all(mut config: Config, online: bool, report: &mut Report) -> anyhow::Result<()> {
    let _progress = Progress::start_indeterminate("running checks");
    let (surface, scripts, grants) = (config.surface.clone(), config.scripts.enabled, config.grants.clone());
    let configuration = configuration(&config);
    let plugins = plugins::checks(&config);
    let storage = storage::checks(config.user_folders.as_ref());
    if online {
        git::ask_credential_helper(&mut config.git);
    }
    let repositories = repositories::checks(&config, online);
    let integrations = integrations::checks(&config);
    let clients = clients::checks(config.roots.home.as_deref(), &config.roots.working_folder);
    let inventory = read_roots(config)?;
    report.add("configuration", configuration);
    report.add("roots", roots::checks(&inventory));
    report.add("engine and plugins", plugins);
    report.add("grants", grants::checks(scripts, &grants, inventory.as_ref().ok()));
    report.add("cache and records", storage);
    report.add("git", repositories);
    report.add("integrations", integrations);
    report.add("clients", clients);
    report.add("tools that skills mention", tools::checks(inventory.as_ref().ok(), &surface));
    Ok(())
}

fn configuration(config: &Config) -> Vec<Check> {
    let file = &config.grants.file;
    let source = if file.exists() { file.display().to_string() } else { "there is no operator's file".to_owned() };
    let tools = config.surface.tools.len();
    vec![Check::ok(format!("{source}; {tools} tools are offered"))]
}

/// Reads the roots, or returns why that fails. Repositories are not synced.
fn read_roots(mut config: Config) -> anyhow::Result<Result<Inventory, anyhow::Error>> {
    // Ranking is not needed.
    config.scorers.choice = ScorerChoice::Keyword;
    let runtime = compose::tokio_runtime()?;
    let inventory = runtime.block_on(async {
        let app = tokio::task::spawn_blocking(move || compose::open(config)).await??;
        app.catalog.refresh(Scope::Full).await;
        Inventory::of(&app).await
    });
    runtime.shutdown_background();
    Ok(inventory)
}
