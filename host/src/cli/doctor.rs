//! `skillcell doctor`: whether everything works here, and what to do where it does not.

mod clients;
mod grants;
mod integrations;
mod places;
mod plugins;
mod report;
mod repositories;
mod roots;
mod tools;

use super::{Roots, open};
use crate::catalog::Look;
use crate::config::{self, Config, ScorerChoice, variable};
use crate::git;
use crate::terminal::progress::Progress;
use crate::terminal::{self, Output};
use clap::Args;
use report::{Check, Report};
use roots::Seen;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also ask the remotes of repositories, each for at most ten seconds
    #[arg(long)]
    online: bool,
    #[command(flatten)]
    roots: Roots,
}

pub fn run(arguments: Doctor) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    match config::resolve(arguments.roots.told()) {
        Ok(config) => examine(config, arguments.online, &mut report)?,
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

/// Looks at one thing after the other. What does not work keeps nothing else from being looked at.
fn examine(mut config: Config, online: bool, report: &mut Report) -> anyhow::Result<()> {
    let _looking = Progress::unknown("looking at everything");
    let (surface, scripts, grants) = (config.surface.clone(), config.scripts.enabled, config.grants.clone());
    let about_configuration = configuration(&config);
    let about_plugins = plugins::checks(&config);
    let about_places = places::checks(config.places.as_ref());
    if online {
        git::ask_credential_helper(&mut config.git);
    }
    let about_repositories = repositories::checks(&config, online);
    let about_integrations = integrations::checks(&config);
    let about_clients = clients::checks(config.roots.home.as_deref(), &config.roots.working_folder);
    let seen = look(config)?;
    report.add("configuration", about_configuration);
    report.add("roots", roots::checks(&seen));
    report.add("engine and plugins", about_plugins);
    report.add("grants", grants::checks(scripts, &grants, seen.as_ref().ok()));
    report.add("cache and records", about_places);
    report.add("git", about_repositories);
    report.add("integrations", about_integrations);
    report.add("clients", about_clients);
    report.add("tools that skills mention", tools::checks(seen.as_ref().ok(), &surface));
    Ok(())
}

fn configuration(config: &Config) -> Vec<Check> {
    let file = &config.grants.file;
    let told = if file.exists() { file.display().to_string() } else { "there is no operator's file".to_owned() };
    let tools = config.surface.tools.len();
    vec![Check::ok(format!("{told}; {tools} tools are offered"))]
}

/// What is in the roots now, or why nothing can be told. Repositories are left as they are.
fn look(mut config: Config) -> anyhow::Result<Result<Seen, anyhow::Error>> {
    // Nothing is ranked here.
    config.scorer = ScorerChoice::Keyword;
    let runtime = open::runtime()?;
    let seen = runtime.block_on(async {
        let opened = tokio::task::spawn_blocking(move || open::open(config)).await??;
        opened.catalog.bring_in(Look::Everything).await;
        Seen::of(&opened).await
    });
    runtime.shutdown_background();
    Ok(seen)
}
