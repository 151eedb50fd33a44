//! The known clients, and the files in which they configure servers.

use super::document::Format::{self, Json, Jsonc, JsoncTrailingCommas as Loose, Toml};
use crate::cli::serve::preflight::Environment;
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A client whose settings this program can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    Claude,
    Codex,
    Cursor,
    Vscode,
    Gemini,
}

/// Who a server is configured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// For you, in all projects
    User,
    /// For everyone in the project in this folder
    Project,
}

/// The name of a client, a scope or a profile on the command line.
pub fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// A file in which a client configures servers.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile {
    /// `None` if this program cannot write the client's settings.
    pub client: Option<Client>,
    /// The name of the client.
    pub title: &'static str,
    pub scope: Scope,
    base: Base,
    path: &'static str,
    pub format: Format,
    /// The key of the object that has the servers.
    pub servers: &'static str,
}

/// The folder that a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The absolute folder in an environment variable, by default one below the home folder.
    User {
        variable: Option<&'static str>,
        below_home: &'static str,
    },
    Project,
}

const CLAUDE: Base = Base::User { variable: Some("CLAUDE_CONFIG_DIR"), below_home: "" };
const CODEX: Base = Base::User { variable: Some("CODEX_HOME"), below_home: ".codex" };
const XDG: Base = Base::User { variable: Some("XDG_CONFIG_HOME"), below_home: ".config" };
const HOME: Base = Base::User { variable: None, below_home: "" };
const MAC: Base = Base::User { variable: None, below_home: "Library/Application Support" };

/// The folder that clients only use on other operating systems.
const FOREIGN: Base = if cfg!(target_os = "macos") { XDG } else { MAC };

const ALL: [ConfigFile; 14] = [
    file(Some(Client::Claude), "Claude Code", CLAUDE, ".claude.json", Json, "mcpServers"),
    file(Some(Client::Claude), "Claude Code", Base::Project, ".mcp.json", Json, "mcpServers"),
    file(Some(Client::Codex), "Codex", CODEX, "config.toml", Toml, "mcp_servers"),
    file(Some(Client::Codex), "Codex", Base::Project, ".codex/config.toml", Toml, "mcp_servers"),
    file(Some(Client::Cursor), "Cursor", HOME, ".cursor/mcp.json", Loose, "mcpServers"),
    file(Some(Client::Cursor), "Cursor", Base::Project, ".cursor/mcp.json", Loose, "mcpServers"),
    file(Some(Client::Vscode), "VS Code", XDG, "Code/User/mcp.json", Loose, "servers"),
    file(Some(Client::Vscode), "VS Code", MAC, "Code/User/mcp.json", Loose, "servers"),
    file(Some(Client::Vscode), "VS Code", Base::Project, ".vscode/mcp.json", Loose, "servers"),
    file(Some(Client::Gemini), "Gemini", HOME, ".gemini/settings.json", Jsonc, "mcpServers"),
    file(Some(Client::Gemini), "Gemini", Base::Project, ".gemini/settings.json", Jsonc, "mcpServers"),
    file(None, "Claude", XDG, "Claude/claude_desktop_config.json", Json, "mcpServers"),
    file(None, "Claude", MAC, "Claude/claude_desktop_config.json", Json, "mcpServers"),
    file(None, "Windsurf", HOME, ".codeium/windsurf/mcp_config.json", Loose, "mcpServers"),
];

const fn file(
    client: Option<Client>,
    title: &'static str,
    base: Base,
    path: &'static str,
    format: Format,
    servers: &'static str,
) -> ConfigFile {
    let scope = if matches!(base, Base::Project) { Scope::Project } else { Scope::User };
    ConfigFile { client, title, scope, base, path, format, servers }
}

impl ConfigFile {
    /// The path of the file on this machine, or `None` if the home folder is unknown.
    pub fn path_in(&self, environment: &Environment<'_>) -> Option<PathBuf> {
        let absolute = |name| (environment.variable)(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let folder = match self.base {
            Base::Project => environment.working_folder.to_owned(),
            Base::User { variable, below_home } => {
                variable.and_then(absolute).or_else(|| Some(absolute("HOME")?.join(below_home)))?
            }
        };
        Some(folder.join(self.path))
    }
}

/// The file in which a client on this system configures servers of this scope.
pub fn config_file(client: Client, scope: Scope) -> ConfigFile {
    let is_wanted = |file: &ConfigFile| file.client == Some(client) && file.scope == scope && file.base != FOREIGN;
    ALL.into_iter().find(is_wanted).expect("every client has a file of either scope")
}

/// The files that exist on this machine, without duplicates.
pub fn existing(environment: &Environment<'_>) -> Vec<(ConfigFile, PathBuf)> {
    let mut seen = BTreeSet::new();
    let paths = ALL.into_iter().filter_map(|file| Some((file, file.path_in(environment)?)));
    paths.filter(|(_, path)| path.is_file() && seen.insert(path.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn absolute_variables_set_the_folders_of_clients() {
        for (variables, client, scope, expected) in [
            (&[("HOME", "/me")][..], Client::Claude, Scope::User, Some("/me/.claude.json")),
            (&[("HOME", "/me"), ("CODEX_HOME", "/x")], Client::Codex, Scope::User, Some("/x/config.toml")),
            (&[("HOME", "/me"), ("CODEX_HOME", "x")], Client::Codex, Scope::User, Some("/me/.codex/config.toml")),
            (&[("HOME", "me")], Client::Codex, Scope::User, None),
            (&[("CODEX_HOME", "/x")], Client::Codex, Scope::User, Some("/x/config.toml")),
            (&[], Client::Claude, Scope::User, None),
            (&[], Client::Claude, Scope::Project, Some("/srv/.mcp.json")),
        ] {
            let variable = |name: &str| {
                variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
            };
            let environment = Environment { variable: &variable, working_folder: Path::new("/srv") };
            let path = config_file(client, scope).path_in(&environment);
            assert_eq!(path.as_deref(), expected.map(Path::new), "{variables:?}");
        }
    }

    #[test]
    fn a_file_of_both_home_and_project_is_found_once() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(".cursor/mcp.json"), "{}").unwrap();
        let variable = |name: &str| (name == "HOME").then(|| home.path().display().to_string());
        assert_eq!(existing(&Environment { variable: &variable, working_folder: home.path() }).len(), 1);
    }
}
