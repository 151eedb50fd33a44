//! The output of `skillcell client`, as text and as JSON.

use super::DEFAULT_NAME;
use super::config_files::{Client, ConfigFile, Scope, name_of};
use super::entry::{Entry, command_line};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Shown,
    Added,
    Replaced,
    Same,
    Differs(Vec<String>),
    Removed,
    Absent,
}

pub struct Report {
    pub client: Client,
    pub config_file: ConfigFile,
    pub file: PathBuf,
    pub entry: Entry,
    pub outcome: Outcome,
    /// The copy of the previous file.
    pub backup: Option<PathBuf>,
}

impl Report {
    pub fn lines(&self) -> Vec<String> {
        let (title, name) = (self.config_file.title, &self.entry.name);
        let (_, mut lines) = self.result();
        lines.extend(self.backup.iter().map(|backup| format!("the previous file is saved as {}", backup.display())));
        if matches!(self.outcome, Outcome::Added | Outcome::Replaced) {
            lines.push(format!("restart {title} to use the server `{name}`"));
        }
        lines
    }

    /// The outcome as a word for programs, and as text.
    fn result(&self) -> (&'static str, Vec<String>) {
        let (file, name) = (self.file.display(), &self.entry.name);
        match &self.outcome {
            Outcome::Shown => ("shown", self.instructions()),
            Outcome::Added => ("added", vec![format!("added `{name}` to {file}")]),
            Outcome::Replaced => ("replaced", vec![format!("changed `{name}` in {file}")]),
            Outcome::Removed => ("removed", vec![format!("removed `{name}` from {file}")]),
            Outcome::Same => ("already there", vec![format!("`{name}` is already in {file}")]),
            Outcome::Absent => ("not there", vec![format!("there is no `{name}` in {file}")]),
            Outcome::Differs(differences) => {
                let first = format!("`{name}` in {file} is different:");
                let last = "nothing was changed; use `--force` to replace it, or `--name` to add another".to_owned();
                let lines = differences.iter().map(|line| format!("  {line}"));
                ("differs", [first].into_iter().chain(lines).chain([last]).collect())
            }
        }
    }

    fn instructions(&self) -> Vec<String> {
        let title = self.config_file.title;
        let scope = match self.config_file.scope {
            Scope::User => "for you, in all projects",
            Scope::Project => "for everyone in this project",
        };
        let mut lines = vec![format!("{title}, {scope}: {}", self.file.display()), String::new()];
        lines.extend(self.snippet().trim_end().lines().map(str::to_owned));
        lines.extend([String::new(), "To add it to that file and keep everything else:".to_owned()]);
        lines.push(format!("  {}", self.write_command()));
        if let Some(command) = self.entry.client_command(self.client, self.config_file.scope) {
            lines.extend([String::new(), format!("Or with {title} itself:"), format!("  {command}")]);
        }
        lines
    }

    /// A file with only the entry.
    fn snippet(&self) -> String {
        let ConfigFile { format, servers, .. } = self.config_file;
        let snippet = format.edit("", &[servers], &self.entry.name, Some(&self.entry.members(self.client)));
        snippet.expect("an empty file can be written to")
    }

    /// The `skillcell` command that writes the entry.
    fn write_command(&self) -> String {
        let Entry { name, program, arguments } = &self.entry;
        let client = name_of(&self.client);
        let mut command = vec![program.as_str(), "client", &client];
        command.extend(arguments.iter().skip(1).map(String::as_str));
        if self.config_file.scope == Scope::Project {
            command.extend(["--scope", "project"]);
        }
        if name != DEFAULT_NAME {
            command.extend(["--name", name]);
        }
        command.push("--write");
        command_line(command)
    }

    pub fn view(&self) -> Value {
        let differences = if let Outcome::Differs(lines) = &self.outcome { Some(lines) } else { None };
        json!({
            "client": name_of(&self.client),
            "scope": name_of(&self.config_file.scope),
            "file": self.file.display().to_string(),
            "name": self.entry.name,
            "command": self.entry.program,
            "args": self.entry.arguments,
            "snippet": self.snippet(),
            "own_command": self.entry.client_command(self.client, self.config_file.scope),
            "result": self.result().0,
            "differences": differences,
            "backup": self.backup.as_ref().map(|backup| backup.display().to_string()),
        })
    }
}
