//! Clients on this machine: whether the files in which they name servers can be read, and whether what they say of this one
//! works. Nothing is told of other servers.

use super::report::Check;
use crate::cli::Serve;
use crate::cli::client::merge::{self, NoMerge};
use crate::cli::client::places::{self, Bases, Client, Place};
use crate::cli::client::{entry, program, writing};
use crate::cli::serve::start::{self, Surroundings};
use crate::config::variable;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What this server is usually called.
const OURS: &str = "skillcell";

/// Members of an entry for a server that is not started but reached.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// A file of a client, and what is to be told about it.
struct Found<'a> {
    client: Option<Client>,
    place: &'a Place,
    file: &'a Path,
    /// Where clients are taken to start servers: here.
    project: &'a Path,
}

pub fn checks(home: Option<&Path>, project: &Path) -> Vec<Check> {
    let bases = Bases { home, project, variable: &variable };
    let mut named = false;
    let mut checks = Vec::new();
    for (client, place, file) in places::existing(&bases) {
        let found = Found { client, place: &place, file: &file, project };
        match found.entries() {
            Ok(entries) if entries.is_empty() => {
                checks.push(Check::ok(format!("{}: {} does not name {OURS}", place.title, file.display())));
            }
            Ok(entries) => {
                named = true;
                checks.extend(entries.iter().flat_map(|(name, entry)| found.check(name, entry)));
            }
            Err(check) => checks.push(check),
        }
    }
    if !named {
        checks.push(Check::warn(
            format!("no client was found that names {OURS}"),
            "run `skillcell client claude DIR --write`, or the same for codex, cursor, vscode or gemini",
        ));
    }
    checks
}

impl Found<'_> {
    /// The entries for this server. Claude Code has further ones for single projects in the same file.
    fn entries(&self) -> Result<Vec<(String, Value)>, Check> {
        let Place { title, format, servers, .. } = *self.place;
        let path = self.file.display();
        let text = writing::text(self.file).map_err(|error| Check::warned(&format!("{title}: {error}")))?;
        let read = format.read(&text).map_err(|error| {
            let what = format!("{title}: {path} cannot be understood: {error}");
            let advice = format!("mend it; {title} cannot read it either");
            if text.contains(OURS) { Check::fail(what, advice) } else { Check::warn(what, advice) }
        })?;
        let wrong = |error: NoMerge| Check::warn(format!("{title}: {path}: {error}"), "see what is there");
        let here = merge::entries(&read, servers).map_err(wrong)?;
        let project =
            self.project.to_str().and_then(|project| read.get("projects")?.get(project)?.get(servers)?.as_object());
        let entries = here.into_iter().chain(project).flatten();
        Ok(entries
            .filter(|(name, entry)| is_ours(name, entry))
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect())
    }

    /// A line for everything that keeps an entry from working, or one that says that it works.
    fn check(&self, name: &str, entry: &Value) -> Vec<Check> {
        let title = self.place.title;
        let said = format!("{title}: `{name}` in {}", self.file.display());
        let again = self.again(name);
        if ADDRESSES.iter().any(|address| entry.get(address).is_some()) {
            return vec![Check::ok(format!("{said} is reached over HTTP"))];
        }
        let Some(command) = entry.get("command").and_then(Value::as_str) else {
            return vec![Check::fail(format!("{said} names no command"), again)];
        };
        let Some(program) = program::find(command) else {
            return vec![Check::fail(format!("{said} starts `{command}`, which is not there or no program"), again)];
        };
        let mut checks = Vec::new();
        if is_switched_off(entry) {
            checks.push(Check::warn(format!("{said} is switched off"), format!("switch it on in {title}")));
        }
        if command.contains('/') && !Path::new(command).is_absolute() {
            checks.push(Check::warn(format!("{said} starts `{command}`, which depends on where {title} is"), &again));
        }
        if !program::is_called_skillcell(command) {
            checks.push(Check::ok(format!("{said} starts `{command}`, of which nothing more is known")));
            return checks;
        }
        let own = std::env::current_exe().unwrap_or_default();
        if !program::is_same(&program, &own) {
            checks.push(Check::warn(
                format!("{said} starts another one, {}; this is {}", program.display(), own.display()),
                &again,
            ));
        }
        let words = words(entry);
        match words.as_ref().and_then(|words| start::parsed(words.iter().copied())) {
            None => checks.push(Check::fail(format!("{said} has arguments that do not make it a server"), &again)),
            Some(serve) => {
                let folders =
                    serve.folders.iter().chain(&serve.more.folders).cloned().chain(member(entry, "SKILLS_DIR"));
                let folders: Vec<String> = folders.flat_map(|list| split(&list)).collect();
                checks.extend(folders.iter().filter_map(|folder| self.missing(&said, folder)));
                if let Err(error) = self.try_start(serve, entry) {
                    checks.push(Check::failed(&format!("{said} would end at once: {error:#}")));
                }
            }
        }
        if checks.is_empty() {
            checks.push(Check::ok(format!("{said} starts this program")));
        }
        checks
    }

    /// How to write an entry of this name anew.
    fn again(&self, name: &str) -> String {
        let Some(client) = self.client.filter(|_| entry::is_name(name)) else { return "correct it there".to_owned() };
        let project = if self.place.scope == places::Scope::Project { " --scope project" } else { "" };
        let name = if name == OURS { String::new() } else { format!(" --name {name}") };
        format!("write it anew: `skillcell client {} DIR{project}{name} --write --force`", client.word())
    }

    /// Whether a server with these arguments would start in the environment that its entry gives it. What a client puts
    /// values into is nothing that can be known here.
    fn try_start(&self, serve: Serve, entry: &Value) -> anyhow::Result<()> {
        let is_open = |value: &Value| value.as_str().is_some_and(|text| text.contains("${"));
        let values = |key: &str| match entry.get(key) {
            Some(Value::Array(values)) => values.iter().collect(),
            Some(Value::Object(values)) => values.values().collect(),
            value => value.into_iter().collect::<Vec<_>>(),
        };
        if ["args", "env", "cwd"].into_iter().flat_map(values).any(is_open) {
            return Ok(());
        }
        let variable = |name: &str| match member(entry, name) {
            Some(value) => Some(value).filter(|value| !value.trim().is_empty()),
            None => variable(name),
        };
        let folder = entry.get("cwd").and_then(Value::as_str).map_or(self.project, Path::new);
        start::check(serve, &Surroundings { variable: &variable, working_folder: &self.project.join(folder) })
    }

    /// What is wrong with a folder that an entry names.
    fn missing(&self, said: &str, folder: &str) -> Option<Check> {
        let path = PathBuf::from(folder);
        if path.is_relative() {
            let what = format!("{said} serves `{folder}`, which depends on where {} starts it", self.place.title);
            return Some(Check::warn(what, "name folders by their whole paths"));
        }
        let advice = "make it, or correct it there; its skills are served as soon as it is there";
        (!path.is_dir()).then(|| Check::warn(format!("{said} serves {folder}, which is no folder"), advice))
    }
}

fn is_ours(name: &str, entry: &Value) -> bool {
    let command = entry.get("command").and_then(Value::as_str);
    name == OURS || command.is_some_and(program::is_called_skillcell)
}

fn is_switched_off(entry: &Value) -> bool {
    entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false))
}

/// The arguments of an entry, if they are words.
fn words(entry: &Value) -> Option<Vec<&str>> {
    match entry.get("args") {
        None => Some(Vec::new()),
        Some(words) => words.as_array()?.iter().map(Value::as_str).collect(),
    }
}

/// A variable that an entry sets.
fn member(entry: &Value, variable: &str) -> Option<String> {
    entry.get("env")?.get(variable)?.as_str().map(str::to_owned)
}

/// The folders of a comma list.
fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|folder| !folder.is_empty()).map(str::to_owned).collect()
}
