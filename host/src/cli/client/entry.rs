//! What a client is told about this server: how to start it.

use super::places::{Client, Scope};
use super::program;
use super::setting::{Setting, quoted};
use crate::printable::printable;
use std::path::{Path, PathBuf};

/// Longest name of a server, in characters.
const LONGEST_NAME: usize = 64;

/// A server as clients name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// A path, or a word that the PATH leads to.
    pub program: String,
    pub arguments: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum WrongEntry {
    #[error(
        "`{}` is no name that every client takes\nhint: use up to {LONGEST_NAME} letters from a to z, digits, `-` and `_`, as in `skillcell`",
        printable(.0)
    )]
    Name(String),
    #[error("the path `{}` is not UTF-8, and settings are\nhint: rename it, or make a link to it", printable(&.0.display().to_string()))]
    NotText(PathBuf),
    #[error(
        "the path `{}` has a `$`, which {client} takes for a variable\nhint: make a link to it that has none",
        printable(path)
    )]
    Variable { path: String, client: &'static str },
    #[error("it cannot be found out where this program is: {0}")]
    Program(std::io::Error),
}

impl Entry {
    /// One that starts this program with these arguments.
    pub fn new(name: String, arguments: Vec<String>, scope: Scope) -> Result<Self, WrongEntry> {
        if !is_name(&name) {
            return Err(WrongEntry::Name(name));
        }
        let program = text(&program::own_name(scope).map_err(WrongEntry::Program)?)?;
        Ok(Self { name, program, arguments })
    }

    /// Clients put values of variables into what they read. Codex does not.
    pub fn check_for(&self, client: Client, title: &'static str) -> Result<(), WrongEntry> {
        let mut words = std::iter::once(&self.program).chain(&self.arguments);
        match words.find(|word| client != Client::Codex && word.contains('$')) {
            Some(path) => Err(WrongEntry::Variable { path: path.clone(), client: title }),
            None => Ok(()),
        }
    }

    /// The members of the entry, in the order in which the client's own command writes them.
    pub fn settings(&self, client: Client) -> Vec<(String, Setting)> {
        let kind = ("type", Setting::word("stdio"));
        let command = ("command", Setting::word(&self.program));
        let arguments = ("args", Setting::List(self.arguments.clone()));
        let members = match client {
            Client::Claude => vec![kind, command, arguments, ("env", Setting::Group(Vec::new()))],
            Client::Vscode => vec![kind, command, arguments],
            Client::Codex | Client::Cursor | Client::Gemini => vec![command, arguments],
        };
        members.into_iter().map(|(key, setting)| (key.to_owned(), setting)).collect()
    }

    /// The client's own command for it, where there is one for this scope.
    pub fn own_command(&self, client: Client, scope: Scope) -> Option<String> {
        let Self { name, program, arguments } = self;
        let scope_word = scope.word();
        let start: Vec<&str> = match (client, scope) {
            (Client::Claude, _) => vec!["claude", "mcp", "add", "--scope", scope_word, name, "--", program],
            (Client::Gemini, _) => vec!["gemini", "mcp", "add", "--scope", scope_word, name, program],
            (Client::Codex, Scope::User) => vec!["codex", "mcp", "add", name, "--", program],
            (Client::Vscode, Scope::User) => {
                let said = format!(
                    "{{\"name\":{},\"command\":{},\"args\":{}}}",
                    quoted(name),
                    quoted(program),
                    Setting::List(arguments.clone()).on_one_line("")
                );
                return Some(command_line(["code", "--add-mcp", &said]));
            }
            (Client::Codex | Client::Vscode, Scope::Project) | (Client::Cursor, _) => return None,
        };
        Some(command_line(start.into_iter().chain(arguments.iter().map(String::as_str))))
    }
}

/// Whether every client takes this for the name of a server.
pub fn is_name(name: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(legal)
}

/// A path as settings have it.
pub fn text(path: &Path) -> Result<String, WrongEntry> {
    path.to_str().map(str::to_owned).ok_or_else(|| WrongEntry::NotText(path.to_owned()))
}

/// Words as a shell reads them.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    let word = |word: &str| match word {
        "" => "''".to_owned(),
        _ if word.chars().all(is_plain) => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(program: &str, argument: &str) -> Entry {
        let arguments = vec!["serve".to_owned(), argument.to_owned()];
        Entry { name: "skillcell".to_owned(), program: program.to_owned(), arguments }
    }

    #[test]
    fn names_that_some_client_refuses_are_refused() {
        for name in ["", "a b", "a.b", "été", "a\u{202e}b", "a\nb", &"x".repeat(65)] {
            assert!(matches!(Entry::new(name.to_owned(), Vec::new(), Scope::User), Err(WrongEntry::Name(_))), "{name}");
        }
        assert!(Entry::new("team_skills-2".to_owned(), Vec::new(), Scope::User).is_ok());
    }

    #[test]
    fn a_path_with_a_variable_in_it_is_refused_where_it_would_be_replaced() {
        let odd = entry("skillcell", "/srv/$HOME");
        assert!(odd.check_for(Client::Gemini, "Gemini").is_err());
        assert!(odd.check_for(Client::Codex, "Codex").is_ok());
        assert!(entry("/$x/skillcell", "/srv").check_for(Client::Claude, "Claude Code").is_err());
    }

    #[test]
    fn own_commands_can_be_pasted() {
        let odd = entry("/opt/it's here/skillcell", "/srv/a b");
        assert_eq!(
            odd.own_command(Client::Claude, Scope::Project).unwrap(),
            r"claude mcp add --scope project skillcell -- '/opt/it'\''s here/skillcell' serve '/srv/a b'"
        );
        assert_eq!(
            entry("skillcell", "/w").own_command(Client::Vscode, Scope::User).unwrap(),
            r#"code --add-mcp '{"name":"skillcell","command":"skillcell","args":["serve","/w"]}'"#
        );
        assert_eq!(odd.own_command(Client::Cursor, Scope::User), None);
        assert_eq!(command_line(["", "a;b"]), "'' 'a;b'");
    }
}
