//! The clients that are known, and the files in which they name their servers.

use super::document::Format;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// A client whose settings can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    Claude,
    Codex,
    Cursor,
    Vscode,
    Gemini,
}

/// For whom a server is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Scope {
    /// For you, in all projects
    User,
    /// For everybody in the project in this folder
    Project,
}

impl Client {
    /// As it is written at the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Gemini => "gemini",
        }
    }
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A file in which a client names servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What people call the client.
    pub title: &'static str,
    pub scope: Scope,
    base: Base,
    path: &'static str,
    pub format: Format,
    /// The key below which the servers are.
    pub servers: &'static str,
    system: System,
}

/// What a path is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    Home,
    /// The folder that a variable names, else one below the home folder.
    Named {
        variable: &'static str,
        below_home: &'static str,
    },
    Project,
}

/// Where a client keeps its file there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum System {
    Any,
    Mac,
    Other,
}

const CLAUDE: Base = Base::Named { variable: "CLAUDE_CONFIG_DIR", below_home: "" };
const CODEX: Base = Base::Named { variable: "CODEX_HOME", below_home: ".codex" };
const SETTINGS: Base = Base::Named { variable: "XDG_CONFIG_HOME", below_home: ".config" };

/// Every file, each with the client that it belongs to if that one's settings can be written.
const ALL: [(Option<Client>, Place); 14] = [
    (Some(Client::Claude), place("Claude Code", Scope::User, CLAUDE, ".claude.json", Format::Json, "mcpServers")),
    (
        Some(Client::Claude),
        place("Claude Code", Scope::Project, Base::Project, ".mcp.json", Format::Json, "mcpServers"),
    ),
    (Some(Client::Codex), place("Codex", Scope::User, CODEX, "config.toml", Format::Toml, "mcp_servers")),
    (
        Some(Client::Codex),
        place("Codex", Scope::Project, Base::Project, ".codex/config.toml", Format::Toml, "mcp_servers"),
    ),
    (Some(Client::Cursor), place("Cursor", Scope::User, Base::Home, ".cursor/mcp.json", Format::Loose, "mcpServers")),
    (
        Some(Client::Cursor),
        place("Cursor", Scope::Project, Base::Project, ".cursor/mcp.json", Format::Loose, "mcpServers"),
    ),
    (
        Some(Client::Vscode),
        Place {
            system: System::Other,
            ..place("VS Code", Scope::User, SETTINGS, "Code/User/mcp.json", Format::Loose, "servers")
        },
    ),
    (
        Some(Client::Vscode),
        Place {
            system: System::Mac,
            ..place(
                "VS Code",
                Scope::User,
                Base::Home,
                "Library/Application Support/Code/User/mcp.json",
                Format::Loose,
                "servers",
            )
        },
    ),
    (
        Some(Client::Vscode),
        place("VS Code", Scope::Project, Base::Project, ".vscode/mcp.json", Format::Loose, "servers"),
    ),
    (
        Some(Client::Gemini),
        place("Gemini", Scope::User, Base::Home, ".gemini/settings.json", Format::Commented, "mcpServers"),
    ),
    (
        Some(Client::Gemini),
        place("Gemini", Scope::Project, Base::Project, ".gemini/settings.json", Format::Commented, "mcpServers"),
    ),
    (None, place("Claude", Scope::User, SETTINGS, "Claude/claude_desktop_config.json", Format::Json, "mcpServers")),
    (
        None,
        place(
            "Claude",
            Scope::User,
            Base::Home,
            "Library/Application Support/Claude/claude_desktop_config.json",
            Format::Json,
            "mcpServers",
        ),
    ),
    (
        None,
        place("Windsurf", Scope::User, Base::Home, ".codeium/windsurf/mcp_config.json", Format::Loose, "mcpServers"),
    ),
];

const fn place(
    title: &'static str,
    scope: Scope,
    base: Base,
    path: &'static str,
    format: Format,
    servers: &'static str,
) -> Place {
    Place { title, scope, base, path, format, servers, system: System::Any }
}

/// Where paths begin on this machine.
pub struct Bases<'a> {
    pub home: Option<&'a Path>,
    pub project: &'a Path,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Place {
    /// The file on this machine. Missing when nobody said where the user's home is.
    pub fn file(&self, bases: &Bases<'_>) -> Option<PathBuf> {
        let folder = match self.base {
            Base::Project => bases.project.to_owned(),
            Base::Home => bases.home?.to_owned(),
            Base::Named { variable, below_home } => {
                let named = (bases.variable)(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
                named.or_else(|| bases.home.map(|home| home.join(below_home)))?
            }
        };
        Some(folder.join(self.path))
    }
}

/// The file in which a client of this system looks for servers of this scope.
pub fn of(client: Client, scope: Scope) -> Place {
    let here = if cfg!(target_os = "macos") { System::Mac } else { System::Other };
    let mut places = ALL.into_iter().filter(|(of, _)| *of == Some(client)).map(|(_, place)| place);
    let found = places.find(|place| place.scope == scope && (place.system == System::Any || place.system == here));
    found.expect("every client has a file of either scope")
}

/// Every file that is on this machine, each once.
pub fn existing(bases: &Bases<'_>) -> Vec<(Option<Client>, Place, PathBuf)> {
    let mut found: Vec<(Option<Client>, Place, PathBuf)> = Vec::new();
    for (client, place) in ALL {
        let Some(file) = place.file(bases).filter(|file| file.is_file()) else { continue };
        if !found.iter().any(|(_, _, known)| *known == file) {
            found.push((client, place, file));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_file_for_the_user_and_one_for_the_project() {
        let nothing = |_: &str| None;
        let bases = Bases { home: Some(Path::new("/home/me")), project: Path::new("/srv"), variable: &nothing };
        for client in Client::value_variants() {
            let [user, project] =
                [Scope::User, Scope::Project].map(|scope| of(*client, scope).file(&bases).expect("a home"));
            assert!(user.starts_with("/home/me") && project.starts_with("/srv"), "{user:?} {project:?}");
        }
        let homeless = Bases { home: None, ..bases };
        assert_eq!(of(Client::Claude, Scope::User).file(&homeless), None);
        assert_eq!(of(Client::Claude, Scope::Project).file(&homeless), Some(PathBuf::from("/srv/.mcp.json")));
    }

    #[test]
    fn a_variable_says_where_a_client_keeps_its_settings() {
        let said = |name: &str| (name == "CODEX_HOME").then(|| "/elsewhere".to_owned());
        let bases = Bases { home: None, project: Path::new("/srv"), variable: &said };
        assert_eq!(of(Client::Codex, Scope::User).file(&bases), Some(PathBuf::from("/elsewhere/config.toml")));
        let relative = |_: &str| Some("elsewhere".to_owned());
        let bases = Bases { home: Some(Path::new("/home/me")), project: Path::new("/srv"), variable: &relative };
        assert_eq!(of(Client::Codex, Scope::User).file(&bases), Some(PathBuf::from("/home/me/.codex/config.toml")));
    }

    #[test]
    fn a_file_that_is_both_at_home_and_in_the_project_is_found_once() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(".cursor/mcp.json"), "{}").unwrap();
        let nothing = |_: &str| None;
        let bases = Bases { home: Some(home.path()), project: home.path(), variable: &nothing };
        assert_eq!(existing(&bases).len(), 1);
    }
}
