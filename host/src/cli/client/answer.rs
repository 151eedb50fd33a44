//! What came of `skillcell client`, for people and as JSON.

use super::entry::{Entry, command_line};
use super::places::{Client, Place, Scope};
use super::setting::Setting;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What the server is called unless somebody says otherwise.
pub const USUAL_NAME: &str = "skillcell";

pub enum Done {
    Shown,
    Added,
    Replaced,
    Same,
    Differs(Vec<String>),
    Removed,
    Absent,
}

pub struct Answer {
    pub client: Client,
    pub place: Place,
    pub file: PathBuf,
    pub entry: Entry,
    pub done: Done,
    /// Where the copy of what was there is.
    pub backup: Option<PathBuf>,
}

impl Answer {
    pub fn lines(&self) -> Vec<String> {
        let (title, file, name) = (self.place.title, self.file.display(), &self.entry.name);
        let kept = self.backup.iter().map(|backup| format!("what was there is kept in {}", backup.display()));
        let start = format!("start {title} anew, and it has the server `{name}`");
        match &self.done {
            Done::Shown => self.shown(),
            Done::Added => std::iter::once(format!("added `{name}` to {file}")).chain(kept).chain([start]).collect(),
            Done::Replaced => {
                std::iter::once(format!("changed `{name}` in {file}")).chain(kept).chain([start]).collect()
            }
            Done::Removed => std::iter::once(format!("removed `{name}` from {file}")).chain(kept).collect(),
            Done::Same => vec![format!("`{name}` is already there, in {file}")],
            Done::Absent => vec![format!("there is no `{name}` in {file}")],
            Done::Differs(differences) => {
                let first = format!("`{name}` is in {file} and says something else:");
                let last = "nothing was changed; `--force` changes it, `--name` adds another".to_owned();
                let shown = differences.iter().map(|line| format!("  {line}"));
                std::iter::once(first).chain(shown).chain([last]).collect()
            }
        }
    }

    fn shown(&self) -> Vec<String> {
        let title = self.place.title;
        let whom = match self.place.scope {
            Scope::User => "for you, in all projects",
            Scope::Project => "for everybody in this project",
        };
        let mut lines = vec![format!("{title}, {whom}: {}", self.file.display()), String::new()];
        lines.extend(self.snippet().trim_end().lines().map(str::to_owned));
        lines.extend([String::new(), "Let it be written there, beside everything else in that file:".to_owned()]);
        lines.push(format!("  {}", self.command()));
        if let Some(command) = self.entry.own_command(self.client, self.place.scope) {
            lines.extend([String::new(), format!("Or by {title} itself:"), format!("  {command}")]);
        }
        lines
    }

    /// The file as it would be if nothing else were in it.
    fn snippet(&self) -> String {
        let entry = Setting::Group(self.entry.settings(self.client));
        self.place.format.alone(&[self.place.servers], &self.entry.name, &entry)
    }

    /// The command that writes what is shown.
    fn command(&self) -> String {
        let Entry { name, program, arguments } = &self.entry;
        let mut words = vec![program.as_str(), "client", self.client.word()];
        words.extend(arguments.iter().skip(1).map(String::as_str));
        if self.place.scope == Scope::Project {
            words.extend(["--scope", Scope::Project.word()]);
        }
        if name != USUAL_NAME {
            words.extend(["--name", name]);
        }
        words.push("--write");
        command_line(words)
    }

    pub fn view(&self) -> Value {
        let result = match self.done {
            Done::Shown => "shown",
            Done::Added => "added",
            Done::Replaced => "replaced",
            Done::Same => "already there",
            Done::Differs(_) => "differs",
            Done::Removed => "removed",
            Done::Absent => "not there",
        };
        let differences = if let Done::Differs(lines) = &self.done { Some(lines) } else { None };
        json!({
            "client": self.client.word(),
            "scope": self.place.scope.word(),
            "file": self.file.display().to_string(),
            "name": self.entry.name,
            "command": self.entry.program,
            "args": self.entry.arguments,
            "snippet": self.snippet(),
            "own_command": self.entry.own_command(self.client, self.place.scope),
            "result": result,
            "differences": differences,
            "backup": self.backup.as_ref().map(|backup| backup.display().to_string()),
        })
    }
}
