//! `skillcell client`: shows the settings a client needs for this server, or writes them.

pub mod config_files;
pub mod document;
pub mod edit_file;
pub mod entry;
mod json;
pub mod merge;
pub mod program;
mod report;
mod toml;

use super::Roots;
use super::serve::preflight::{self, Environment};
use anyhow::{Context as _, anyhow};
use base::environment::variable;
use base::printable::printable;
use base::user_files;
use base::user_folders::UserFolders;
use clap::Args;
use config_files::{Client, ConfigFile, Scope, name_of};
use edit_file::{Links, Lock, SettingsFile, edit_file};
use entry::Entry;
use library::roots::split_lists;
use mcp::surface::Profile;
use merge::MergeError;
use report::{Outcome, Report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The default name of the server in a client.
pub const DEFAULT_NAME: &str = "skillcell";

#[derive(Args)]
pub struct ClientArguments {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// Folders of skills; separate several by commas
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    #[command(flatten)]
    more: Roots,
    /// Offer the tools and names of another server
    #[arg(long, value_enum, value_name = "NAME")]
    profile: Option<Profile>,
    /// The name of the server in the client; skills that mention tools expect `skillcell`
    #[arg(long, value_name = "NAME", default_value = DEFAULT_NAME)]
    name: String,
    /// Whether to use your own settings, or those of the project in the working folder
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    #[command(flatten)]
    action: Action,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What to do with the client's file. By default it is not changed.
#[derive(Args)]
struct Action {
    /// Write the entry into the client's file, and keep everything else in it
    #[arg(long)]
    write: bool,
    /// With `--write`: replace a different entry of this name
    #[arg(long, requires = "write")]
    force: bool,
    /// Remove the entry of this name from the client's file
    #[arg(long, conflicts_with_all = ["write", "folders", "profile"])]
    remove: bool,
}

pub fn run(arguments: ClientArguments) -> anyhow::Result<ExitCode> {
    let ClientArguments { client, folders, more, profile, name, scope, action, json } = arguments;
    let working_folder = std::env::current_dir().context("the working folder cannot be found")?;
    let config_file = config_files::config_file(client, scope);
    let environment = Environment { variable: &variable, working_folder: &working_folder };
    let no_home =
        || format!("{}, so the client's settings cannot be found\nhint: set HOME", UserFolders::why_missing(variable));
    let file = config_file.path_in(&environment).with_context(no_home)?;
    let entry = Entry::new(name, server_arguments(&folders, &more, profile, &working_folder)?, scope)?;
    if !action.remove {
        entry.check_for(client, config_file.title)?;
        warn_if_it_fails(&entry, &environment);
        warn_if_cached(&entry);
    }
    let links = match scope {
        Scope::User => Links::Follow,
        Scope::Project => Links::RefuseBelow(&working_folder),
    };
    let (outcome, backup) = apply(&action, client, &config_file, &file, links, &entry)?;
    let report = Report { client, config_file, file, entry, outcome, backup };
    terminal::print_report(json, &report.view(), &report.lines())?;
    Ok(ExitCode::from(u8::from(matches!(report.outcome, Outcome::Differs(_)))))
}

/// Warns if the entry starts a program from a cache that may be emptied.
fn warn_if_cached(entry: &Entry) {
    if let Some(command) = program::install_command(&entry.program) {
        terminal::print_note(&format!(
            "{} is in a cache, and the entry fails once that is emptied\nhint: install it with `{command}`, and run this again",
            printable(&entry.program)
        ));
    }
}

/// The arguments to start the server with. All paths are absolute, so the working folder does not matter.
fn server_arguments(
    folders: &[String],
    more: &Roots,
    profile: Option<Profile>,
    working_folder: &Path,
) -> anyhow::Result<Vec<String>> {
    let mut arguments = vec!["serve".to_owned()];
    for folder in split_lists(folders.iter().chain(&more.folders)) {
        let folder = absolute(working_folder, Path::new(folder));
        if !folder.is_dir() {
            let folder = folder.display();
            terminal::print_note(&format!("{folder} is not a folder yet; it is served as soon as it exists"));
        }
        arguments.push(entry::path_text(&folder)?);
    }
    arguments.extend(more.user.then(|| "--user".to_owned()));
    arguments.extend(more.plugins.then(|| "--plugins".to_owned()));
    if let Some(config) = &more.config {
        arguments.extend(["--config".to_owned(), entry::path_text(&absolute(working_folder, config))?]);
    }
    if let Some(profile) = profile {
        arguments.extend(["--profile".to_owned(), name_of(&profile)]);
    }
    Ok(arguments)
}

/// Warns if a server with this entry would exit immediately. Not an error, because the cause may be fixed later.
fn warn_if_it_fails(entry: &Entry, environment: &Environment<'_>) {
    let Some(serve) = preflight::parse_serve(entry.arguments.iter().map(String::as_str)) else { return };
    if let Err(error) = preflight::check(serve, environment) {
        let error =
            format!("{error:#}").replace("`skillcell serve ./my-skills`", "`skillcell client CLIENT ./my-skills`");
        terminal::print_note(&format!("a server started like this exits immediately: {error}"));
    }
}

/// Makes a path absolute. Links are only resolved if the path contains `..`.
fn absolute(working_folder: &Path, path: &Path) -> PathBuf {
    let absolute: PathBuf = working_folder.join(path).components().collect();
    let has_parent = absolute.components().any(|part| part == std::path::Component::ParentDir);
    if has_parent { absolute.canonicalize().unwrap_or(absolute) } else { absolute }
}

fn apply(
    action: &Action,
    client: Client,
    config_file: &ConfigFile,
    file: &Path,
    links: Links<'_>,
    entry: &Entry,
) -> anyhow::Result<(Outcome, Option<PathBuf>)> {
    let mut outcome = Outcome::Shown;
    if !action.remove && !action.write {
        return Ok((outcome, None));
    }
    // The settings of a user may hold secrets.
    let mode = if config_file.scope == Scope::User { 0o600 } else { 0o666 };
    let folders = UserFolders::find(variable);
    let lock = folders.map(|folders| Lock { file: folders.client_lock(), timeout: user_files::LOCK_TIMEOUT });
    let backup = edit_file(&SettingsFile { path: file, links, mode }, lock.as_ref(), |text| {
        let merged = if action.remove {
            merge::remove_entry(text, config_file, &entry.name)
        } else {
            merge::insert_entry(text, config_file, client, entry, action.force)
        };
        let (result, text) = merged.map_err(|error| unchanged(file, &error))?;
        outcome = result;
        anyhow::Ok(text)
    })?;
    Ok((outcome, backup))
}

/// Explains why the client's file was not changed.
fn unchanged(file: &Path, error: &MergeError) -> anyhow::Error {
    let file = file.display();
    match error {
        MergeError::Parse(_) => anyhow!(
            "{file} cannot be parsed: {error}\nhint: nothing was changed; fix the file first, the client cannot read it either"
        ),
        _ => anyhow!("{file}: {error}\nhint: nothing was changed; check the file"),
    }
}
