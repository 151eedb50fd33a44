//! `skillcell doctor`: checks that everything works, and shows how to fix what does not.

mod clients;
mod grants;
mod plugins;
mod report;
mod repositories;
mod roots;
mod tools;

use super::{Roots, package};
use crate::compose;
use crate::config::{self, Config};
use crate::lockdown;
use audit::Audit;
use base::environment::variable;
use base::printable::counted;
use base::user_folders::UserFolders;
use catalog::Scope;
use catalog::scorers::options::ScorerChoice;
use clap::Args;
use guests::cache::Cache;
use report::{Check, Report};
use roots::Inventory;
use std::process::ExitCode;
use terminal::Output;
use terminal::progress::Progress;

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
            report.add("clients", clients::checks(&std::env::current_dir().unwrap_or_default()));
        }
    }
    terminal::print_report(arguments.json, &report.view(), &report.lines(Output::standard()))?;
    Ok(ExitCode::from(u8::from(report.has_failed())))
}

/// Runs all checks. A failed one does not stop the others.
fn check_all(mut config: Config, online: bool, report: &mut Report) -> anyhow::Result<()> {
    let _progress = Progress::start_indeterminate("running checks");
    let (surface, scripts, grants) = (config.surface.clone(), config.scripts.enabled, config.grants.clone());
    let configuration = configuration(&config);
    if online {
        git::ask_credential_helper(&mut config.git);
    }
    lockdown::forbid_exec()?;
    let plugins = plugins::checks(&config);
    let storage = storage(config.user_folders.as_ref());
    let packages = packages(&config);
    let repositories = repositories::checks(&config, online);
    let integrations = config.integrations.all.iter().map(plugins::check_integration).collect();
    let clients = clients::checks(&config.roots.working_folder);
    let inventory = read_roots(config)?;
    report.add("configuration", configuration);
    report.add("roots", roots::checks(&inventory));
    report.add("engine and plugins", plugins);
    report.add("grants", grants::checks(scripts, &grants, inventory.as_ref().ok()));
    report.add("packages", packages);
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
    let tools = config.surface.listed().count();
    vec![Check::ok(format!("{source}; {tools} tools are offered"))]
}

/// Checks the cache of compiled code and the audit record.
fn storage(folders: Option<&UserFolders>) -> Vec<Check> {
    let Some(folders) = folders else {
        let reason = UserFolders::why_missing(variable);
        let what = format!("{reason}, so compiled code is not cached and there is no audit record");
        return vec![Check::warn(what, "set HOME where the server is started")];
    };
    vec![cache(folders), record(folders)]
}

/// Checks the Python packages for scripts.
fn packages(config: &Config) -> Vec<Check> {
    let Some(store) = compose::package_store(config) else { return vec![Check::ok("none")] };
    match store.lock() {
        Ok(lock) if lock.packages.is_empty() => vec![Check::ok("none: scripts have the standard library of Python")],
        Ok(lock) => match package::problem(&store, &lock) {
            Some(problem) => vec![Check::failed(&problem)],
            None => vec![Check::ok(package::summary(&lock))],
        },
        Err(error) => vec![Check::failed(&error)],
    }
}

fn cache(folders: &UserFolders) -> Check {
    let folder = folders.native_code();
    match Cache::open(&folder, &folders.cache_key()) {
        Ok(_) => {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let files = entries.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
            let (files, bytes) = files.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.len()));
            Check::ok(format!("compiled code: {}, {}, {bytes} bytes", folder.display(), counted(files, "file")))
        }
        Err(error) => Check::warned(&format!("compiled code is not cached: {error}")),
    }
}

fn record(folders: &UserFolders) -> Check {
    let folder = folders.audit();
    let verified = Audit::open(&folder, &folders.audit_key())
        .map_err(|error| error.to_string())
        .and_then(|audit| audit.verify().map_err(|error| error.to_string()));
    match verified {
        Ok(verdict) if verdict.faults.is_empty() => {
            Check::ok(format!("audit record: {}, {}, intact", folder.display(), counted(verdict.lines, "line")))
        }
        Ok(_) => Check::fail(
            format!("audit record: {} was tampered with", folder.display()),
            "run `skillcell audit verify` to see where",
        ),
        Err(error) => Check::failed(&format!("scripts and queries are disabled: {error}")),
    }
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
