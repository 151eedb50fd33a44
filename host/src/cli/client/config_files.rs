//! The known clients, and the files in which they configure servers.

use super::document::Format::{self, Json, Jsonc, JsoncTrailingCommas as Loose, Toml};
use Scope::{Project, User};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigFile {
    /// The name of the client.
    pub title: &'static str,
    pub scope: Scope,
    base: Base,
    path: &'static str,
    pub format: Format,
    /// The key of the object that has the servers.
    pub servers: &'static str,
    system: System,
}

/// The folder that a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// A folder below the home folder.
    Home(&'static str),
    /// The folder in an environment variable, by default one below the home folder.
    Variable {
        variable: &'static str,
        below_home: &'static str,
    },
    Project,
}

/// The operating system on which a client uses the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum System {
    Any,
    Mac,
    Other,
}

const CLAUDE: Base = Base::Variable { variable: "CLAUDE_CONFIG_DIR", below_home: "" };
const CODEX: Base = Base::Variable { variable: "CODEX_HOME", below_home: ".codex" };
const XDG: Base = Base::Variable { variable: "XDG_CONFIG_HOME", below_home: ".config" };
const HOME: Base = Base::Home("");
const MAC: Base = Base::Home("Library/Application Support");

/// Every known file, with its client if this program can write its settings.
const ALL: [(Option<Client>, ConfigFile); 14] = [
    (Some(Client::Claude), file("Claude Code", User, CLAUDE, ".claude.json", Json, "mcpServers")),
    (Some(Client::Claude), file("Claude Code", Project, Base::Project, ".mcp.json", Json, "mcpServers")),
    (Some(Client::Codex), file("Codex", User, CODEX, "config.toml", Toml, "mcp_servers")),
    (Some(Client::Codex), file("Codex", Project, Base::Project, ".codex/config.toml", Toml, "mcp_servers")),
    (Some(Client::Cursor), file("Cursor", User, HOME, ".cursor/mcp.json", Loose, "mcpServers")),
    (Some(Client::Cursor), file("Cursor", Project, Base::Project, ".cursor/mcp.json", Loose, "mcpServers")),
    (Some(Client::Vscode), file("VS Code", User, XDG, "Code/User/mcp.json", Loose, "servers").on(System::Other)),
    (Some(Client::Vscode), file("VS Code", User, MAC, "Code/User/mcp.json", Loose, "servers").on(System::Mac)),
    (Some(Client::Vscode), file("VS Code", Project, Base::Project, ".vscode/mcp.json", Loose, "servers")),
    (Some(Client::Gemini), file("Gemini", User, HOME, ".gemini/settings.json", Jsonc, "mcpServers")),
    (Some(Client::Gemini), file("Gemini", Project, Base::Project, ".gemini/settings.json", Jsonc, "mcpServers")),
    (None, file("Claude", User, XDG, "Claude/claude_desktop_config.json", Json, "mcpServers")),
    (None, file("Claude", User, MAC, "Claude/claude_desktop_config.json", Json, "mcpServers")),
    (None, file("Windsurf", User, HOME, ".codeium/windsurf/mcp_config.json", Loose, "mcpServers")),
];

const fn file(
    title: &'static str,
    scope: Scope,
    base: Base,
    path: &'static str,
    format: Format,
    servers: &'static str,
) -> ConfigFile {
    ConfigFile { title, scope, base, path, format, servers, system: System::Any }
}

/// The folders of this machine that paths are relative to.
pub struct BaseFolders<'a> {
    pub home: Option<&'a Path>,
    pub project: &'a Path,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl ConfigFile {
    const fn on(self, system: System) -> Self {
        Self { system, ..self }
    }

    /// The path of the file on this machine, or `None` if the home folder is unknown.
    pub fn path_in(&self, bases: &BaseFolders<'_>) -> Option<PathBuf> {
        let folder = match self.base {
            Base::Project => bases.project.to_owned(),
            Base::Home(below) => bases.home?.join(below),
            Base::Variable { variable, below_home } => {
                let configured = (bases.variable)(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
                configured.or_else(|| bases.home.map(|home| home.join(below_home)))?
            }
        };
        Some(folder.join(self.path))
    }
}

/// The file in which a client on this system configures servers of this scope.
pub fn config_file(client: Client, scope: Scope) -> ConfigFile {
    let system = if cfg!(target_os = "macos") { System::Mac } else { System::Other };
    let mut files = ALL.into_iter().filter(|(owner, _)| *owner == Some(client)).map(|(_, file)| file);
    let found = files.find(|file| file.scope == scope && (file.system == System::Any || file.system == system));
    found.expect("every client has a file of either scope")
}

/// The files that exist on this machine, without duplicates.
pub fn existing(bases: &BaseFolders<'_>) -> Vec<(Option<Client>, ConfigFile, PathBuf)> {
    let mut found: Vec<(Option<Client>, ConfigFile, PathBuf)> = Vec::new();
    for (client, file) in ALL {
        let Some(path) = file.path_in(bases).filter(|path| path.is_file()) else { continue };
        if !found.iter().any(|(_, _, known)| *known == path) {
            found.push((client, file, path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_user_file_and_a_project_file() {
        let no_variables = |_: &str| None;
        let bases =
            BaseFolders { home: Some(Path::new("/home/me")), project: Path::new("/srv"), variable: &no_variables };
        for client in Client::value_variants() {
            let [user, project] =
                [Scope::User, Scope::Project].map(|scope| config_file(*client, scope).path_in(&bases).expect("a home"));
            assert!(user.starts_with("/home/me") && project.starts_with("/srv"), "{user:?} {project:?}");
        }
        let without_home = BaseFolders { home: None, ..bases };
        assert_eq!(config_file(Client::Claude, Scope::User).path_in(&without_home), None);
        assert_eq!(
            config_file(Client::Claude, Scope::Project).path_in(&without_home),
            Some(PathBuf::from("/srv/.mcp.json"))
        );
    }

    #[test]
    fn a_variable_sets_the_folder_of_a_client() {
        let codex_home = |name: &str| (name == "CODEX_HOME").then(|| "/elsewhere".to_owned());
        let bases = BaseFolders { home: None, project: Path::new("/srv"), variable: &codex_home };
        assert_eq!(
            config_file(Client::Codex, Scope::User).path_in(&bases),
            Some(PathBuf::from("/elsewhere/config.toml"))
        );
        let relative = |_: &str| Some("elsewhere".to_owned());
        let bases = BaseFolders { home: Some(Path::new("/home/me")), project: Path::new("/srv"), variable: &relative };
        assert_eq!(
            config_file(Client::Codex, Scope::User).path_in(&bases),
            Some(PathBuf::from("/home/me/.codex/config.toml"))
        );
    }

    #[test]
    fn a_file_of_both_home_and_project_is_found_once() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(".cursor/mcp.json"), "{}").unwrap();
        let no_variables = |_: &str| None;
        let bases = BaseFolders { home: Some(home.path()), project: home.path(), variable: &no_variables };
        assert_eq!(existing(&bases).len(), 1);
    }
}
