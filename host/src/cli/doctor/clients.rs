//! Checks the clients on this machine: whether their settings can be read, and whether their entries for this server work.
//! Other servers are not reported.

use super::report::Check;
use crate::cli::Serve;
use crate::cli::client::config_files::{self, ConfigFile};
use crate::cli::client::merge::{self, MergeError};
use crate::cli::client::{DEFAULT_NAME, edit_file, entry, program};
use crate::cli::serve::preflight::{self, Environment};
use base::environment::variable;
use library::roots::split_lists;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Keys of an entry for a server reached over HTTP.
const URL_KEYS: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// A settings file of a client that exists.
struct ClientFile<'a> {
    config_file: ConfigFile,
    path: PathBuf,
    /// The folder in which clients are assumed to start servers.
    project: &'a Path,
}

pub fn checks(project: &Path) -> Vec<Check> {
    let mut has_entry = false;
    let mut checks = Vec::new();
    let environment = Environment { variable: &variable, working_folder: project };
    for (config_file, path) in config_files::existing(&environment) {
        let file = ClientFile { config_file, path, project };
        match file.entries() {
            Ok(entries) if entries.is_empty() => {
                let (title, path) = (config_file.title, file.path.display());
                checks.push(Check::ok(format!("{title}: {path} has no entry for {DEFAULT_NAME}")));
            }
            Ok(entries) => {
                has_entry = true;
                checks.extend(entries.iter().flat_map(|(name, entry)| file.check(name, entry)));
            }
            Err(check) => checks.push(check),
        }
    }
    if !has_entry {
        checks.push(Check::warn(
            format!("no client has an entry for {DEFAULT_NAME}"),
            "run `skillcell client claude DIR --write`, or the same for codex, cursor, vscode or gemini",
        ));
    }
    checks
}

impl ClientFile<'_> {
    /// The entries for this server, including those of Claude Code for single projects.
    fn entries(&self) -> Result<Vec<(String, Value)>, Check> {
        let ConfigFile { title, format, servers, .. } = self.config_file;
        let path = self.path.display();
        let text = edit_file::read_text(&self.path).map_err(|error| Check::warned(&format!("{title}: {error}")))?;
        let settings = format.read(&text).map_err(|error| {
            let what = format!("{title}: {path} cannot be parsed: {error}");
            let advice = format!("fix it; {title} cannot read it either");
            if text.contains(DEFAULT_NAME) { Check::fail(what, advice) } else { Check::warn(what, advice) }
        })?;
        let warning = |error: MergeError| Check::warn(format!("{title}: {path}: {error}"), "check the file");
        let shared = merge::entries(&settings, servers).map_err(warning)?;
        let project =
            self.project.to_str().and_then(|project| settings.get("projects")?.get(project)?.get(servers)?.as_object());
        let ours = shared.into_iter().chain(project).flatten().filter(|(name, entry)| is_ours(name, entry));
        Ok(ours.map(|(name, entry)| (name.clone(), entry.clone())).collect())
    }

    /// One check for everything that keeps an entry from working, or a single one that it works.
    fn check(&self, name: &str, entry: &Value) -> Vec<Check> {
        let title = self.config_file.title;
        let label = format!("{title}: `{name}` in {}", self.path.display());
        let advice = self.rewrite_advice(name);
        if URL_KEYS.iter().any(|key| entry.get(key).is_some()) {
            return vec![Check::ok(format!("{label} is reached over HTTP"))];
        }
        let Some(command) = entry.get("command").and_then(Value::as_str) else {
            return vec![Check::fail(format!("{label} has no command"), advice)];
        };
        let Some(program) = program::find(command) else {
            let what = format!("{label} starts `{command}`, which is missing or not executable");
            return vec![Check::fail(what, advice)];
        };
        let mut checks = Vec::new();
        if entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false)) {
            checks.push(Check::warn(format!("{label} is disabled"), format!("enable it in {title}")));
        }
        if command.contains('/') && !Path::new(command).is_absolute() {
            let what = format!("{label} starts `{command}`, which depends on the working folder of {title}");
            checks.push(Check::warn(what, &advice));
        }
        if !program::is_called_skillcell(command) {
            checks.push(Check::ok(format!("{label} starts `{command}`, which is not checked further")));
            return checks;
        }
        let own = std::env::current_exe().unwrap_or_default();
        if !program::is_same(&program, &own) {
            let (other, own) = (program.display(), own.display());
            let what = format!("{label} starts a different program, {other}; this one is {own}");
            checks.push(Check::warn(what, &advice));
        }
        let arguments = arguments(entry);
        match arguments.as_ref().and_then(|arguments| preflight::parse_serve(arguments.iter().copied())) {
            None => checks.push(Check::fail(format!("{label} has arguments that do not start a server"), &advice)),
            Some(serve) => {
                let variable = env_value(entry, "SKILLS_DIR");
                let lists = serve.folders.iter().chain(&serve.more.folders).chain(&variable);
                checks.extend(split_lists(lists).filter_map(|folder| self.check_folder(&label, folder)));
                if let Err(error) = self.try_start(serve, entry) {
                    checks.push(Check::failed(&format!("{label} would exit immediately: {error:#}")));
                }
            }
        }
        if checks.is_empty() {
            checks.push(Check::ok(format!("{label} starts this program")));
        }
        checks
    }

    /// How to rewrite an entry of this name.
    fn rewrite_advice(&self, name: &str) -> String {
        let Some(client) = self.config_file.client.filter(|_| entry::is_name(name)) else {
            return "correct the entry".to_owned();
        };
        let project = if self.config_file.scope == config_files::Scope::Project { " --scope project" } else { "" };
        let name = if name == DEFAULT_NAME { String::new() } else { format!(" --name {name}") };
        format!("rewrite it: `skillcell client {} DIR{project}{name} --write --force`", config_files::name_of(&client))
    }

    /// Checks whether a server would start with these arguments and the environment of its entry. Entries with variables
    /// that the client expands are not checked.
    fn try_start(&self, serve: Serve, entry: &Value) -> anyhow::Result<()> {
        let has_variable = |value: &Value| value.as_str().is_some_and(|text| text.contains("${"));
        let values = |key: &str| match entry.get(key) {
            Some(Value::Array(values)) => values.iter().collect(),
            Some(Value::Object(values)) => values.values().collect(),
            value => value.into_iter().collect::<Vec<_>>(),
        };
        if ["args", "env", "cwd"].into_iter().flat_map(values).any(has_variable) {
            return Ok(());
        }
        let variable = |name: &str| match env_value(entry, name) {
            Some(value) => Some(value).filter(|value| !value.trim().is_empty()),
            None => variable(name),
        };
        let folder = entry.get("cwd").and_then(Value::as_str).map_or(self.project, Path::new);
        preflight::check(serve, &Environment { variable: &variable, working_folder: &self.project.join(folder) })
    }

    /// Warns about a folder of an entry that is relative or does not exist.
    fn check_folder(&self, label: &str, folder: &str) -> Option<Check> {
        let title = self.config_file.title;
        if Path::new(folder).is_relative() {
            let what = format!("{label} serves `{folder}`, which depends on the working folder of {title}");
            return Some(Check::warn(what, "use absolute paths"));
        }
        let advice = "create it, or correct the entry; its skills are served as soon as it exists";
        let is_missing = !Path::new(folder).is_dir();
        is_missing.then(|| Check::warn(format!("{label} serves {folder}, which is not a folder"), advice))
    }
}

fn is_ours(name: &str, entry: &Value) -> bool {
    let command = entry.get("command").and_then(Value::as_str);
    name == DEFAULT_NAME || command.is_some_and(program::is_called_skillcell)
}

/// The arguments of an entry, if they are strings.
fn arguments(entry: &Value) -> Option<Vec<&str>> {
    match entry.get("args") {
        None => Some(Vec::new()),
        Some(arguments) => arguments.as_array()?.iter().map(Value::as_str).collect(),
    }
}

/// The value of a variable that an entry sets.
fn env_value(entry: &Value, variable: &str) -> Option<String> {
    entry.get("env")?.get(variable)?.as_str().map(str::to_owned)
}
