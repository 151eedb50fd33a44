//! The entry of this server in a client's settings: how to start it.

use super::config_files::{Client, Scope, name_of};
use super::document::Members;
use super::program;
use anyhow::{Context as _, bail, ensure};
use base::printable::printable;
use serde_json::json;
use std::path::Path;

const MAX_NAME_LENGTH: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// A path, or a name to look up in PATH.
    pub program: String,
    pub arguments: Vec<String>,
}

impl Entry {
    /// Creates an entry that starts this program with these arguments.
    pub fn new(name: String, arguments: Vec<String>, scope: Scope) -> anyhow::Result<Self> {
        ensure!(
            is_name(&name),
            "`{}` is not a name that every client accepts\nhint: use up to {MAX_NAME_LENGTH} letters from a to z, digits, `-` and `_`, as in `skillcell`",
            printable(&name)
        );
        let program = program::own_command(scope).context("cannot find the path of this program")?;
        Ok(Self { name, program: path_text(&program)?, arguments })
    }

    /// Rejects `$`, because all clients except Codex expand variables in their settings.
    pub fn check_for(&self, client: Client, title: &str) -> anyhow::Result<()> {
        let mut texts = std::iter::once(&self.program).chain(&self.arguments);
        match texts.find(|text| client != Client::Codex && text.contains('$')) {
            None => Ok(()),
            Some(path) => bail!(
                "the path `{}` has a `$`, which {title} takes for a variable\nhint: create a link to it without a `$`",
                printable(path)
            ),
        }
    }

    /// The members of the entry, in the order in which the client's own command writes them.
    pub fn members(&self, client: Client) -> Members {
        let kind = ("type", json!("stdio"));
        let command = ("command", json!(self.program));
        let arguments = ("args", json!(self.arguments));
        Members(match client {
            Client::Claude => vec![kind, command, arguments, ("env", json!({}))],
            Client::Vscode => vec![kind, command, arguments],
            Client::Codex | Client::Cursor | Client::Gemini => vec![command, arguments],
        })
    }

    /// The client's own command that adds the entry, if there is one for this scope.
    pub fn client_command(&self, client: Client, scope: Scope) -> Option<String> {
        let Self { name, program, arguments } = self;
        let scope_name = &name_of(&scope);
        let command: Vec<&str> = match (client, scope) {
            (Client::Claude, _) => vec!["claude", "mcp", "add", "--scope", scope_name, name, "--", program],
            (Client::Gemini, _) => vec!["gemini", "mcp", "add", "--scope", scope_name, name, program],
            (Client::Codex, Scope::User) => vec!["codex", "mcp", "add", name, "--", program],
            (Client::Vscode, Scope::User) => {
                let members = vec![("name", json!(name)), ("command", json!(program)), ("args", json!(arguments))];
                let json = serde_json::to_string(&Members(members)).ok()?;
                return Some(command_line(["code", "--add-mcp", &json]));
            }
            (Client::Codex | Client::Vscode, Scope::Project) | (Client::Cursor, _) => return None,
        };
        Some(command_line(command.into_iter().chain(arguments.iter().map(String::as_str))))
    }
}

/// Whether every client accepts this as the name of a server.
pub fn is_name(name: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= MAX_NAME_LENGTH && name.chars().all(legal)
}

/// Converts a path to text, as settings need it.
pub fn path_text(path: &Path) -> anyhow::Result<String> {
    path.to_str().map(str::to_owned).with_context(|| {
        let path = printable(&path.display().to_string());
        format!("the path `{path}` is not UTF-8, as settings must be\nhint: rename it, or create a link to it")
    })
}

/// Quotes words for a shell and joins them.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    let quote = |word: &str| match word {
        "" => "''".to_owned(),
        _ if word.chars().all(is_plain) => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(program: &str, argument: &str) -> Entry {
        let arguments = vec!["serve".to_owned(), argument.to_owned()];
        Entry { name: "skillcell".to_owned(), program: program.to_owned(), arguments }
    }

    #[test]
    fn names_that_some_client_rejects_are_rejected() {
        for name in ["", "a b", "a.b", "été", "a\u{202e}b", "a\nb", &"x".repeat(65)] {
            let error = Entry::new(name.to_owned(), Vec::new(), Scope::User).unwrap_err().to_string();
            assert!(error.contains("is not a name that every client accepts"), "{name}: {error}");
        }
        assert!(Entry::new("team_skills-2".to_owned(), Vec::new(), Scope::User).is_ok());
    }

    #[test]
    fn a_path_with_a_variable_is_rejected_for_clients_that_expand_it() {
        let odd = entry("skillcell", "/srv/$HOME");
        assert!(odd.check_for(Client::Gemini, "Gemini").is_err());
        assert!(odd.check_for(Client::Codex, "Codex").is_ok());
        assert!(entry("/$x/skillcell", "/srv").check_for(Client::Claude, "Claude Code").is_err());
    }

    #[test]
    fn client_commands_can_be_pasted_into_a_shell() {
        let odd = entry("/opt/it's here/skillcell", "/srv/a b");
        assert_eq!(
            odd.client_command(Client::Claude, Scope::Project).unwrap(),
            r"claude mcp add --scope project skillcell -- '/opt/it'\''s here/skillcell' serve '/srv/a b'"
        );
        assert_eq!(
            entry("skillcell", "/w").client_command(Client::Vscode, Scope::User).unwrap(),
            r#"code --add-mcp '{"name":"skillcell","command":"skillcell","args":["serve","/w"]}'"#
        );
        assert_eq!(odd.client_command(Client::Cursor, Scope::User), None);
        assert_eq!(command_line(["", "a;b"]), "'' 'a;b'");
    }
}
