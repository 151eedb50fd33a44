//! What the server was told: the operator's file, the environment and the command line, in one place.

mod analytics;
mod content;
pub mod file;
pub mod git;
pub mod integrations;
pub mod places;
mod scorers;
mod scripts;
mod surface;

pub use analytics::{Analytics, Endpoint};
pub use integrations::{Integration, Source, Token, TokenValue};
pub use scorers::{InstalledScorers, ScorerChoice, ScorerFile};
pub use scripts::{Runner, Scripts};

use crate::bindings::catalog::OperatorSettings;
use crate::grants::Grants;
use crate::library::roots::{Choice, ClonedRepository};
use crate::mcp::surface::{Profile, Surface};
use file::{FileProblem, RawConfig};
use git::{Git, Remote, WrongGit};
use places::Places;
use std::path::{Path, PathBuf};

/// Everything the server has to know, with nothing left to look up.
#[derive(Debug)]
pub struct Config {
    pub roots: Choice,
    /// Whether the skills stay as they are at the start.
    pub frozen: bool,
    /// An engine component in place of the one in this binary.
    pub engine: Option<PathBuf>,
    /// What was said where content may say something too.
    pub operator: OperatorSettings,
    /// What ranks skills, and what else could.
    pub scorer: ScorerChoice,
    pub scorers: InstalledScorers,
    /// What clients see.
    pub surface: Surface,
    pub scripts: Scripts,
    pub git: Git,
    pub grants: Grants,
    pub analytics: Analytics,
    pub integrations: integrations::Integrations,
    /// Missing when nobody said where the user's home is.
    pub places: Option<Places>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "MAX_FILE_SIZE_MB is `{0}`, which is no number of megabytes\nhint: set it to a number above 0, as in MAX_FILE_SIZE_MB=2"
    )]
    FileLimit(String),
    #[error("the working folder cannot be found: {0}")]
    WorkingFolder(std::io::Error),
    #[error(transparent)]
    File(#[from] FileProblem),
    #[error("{file}{line}: {message}", file = file.display())]
    Value { file: PathBuf, line: String, message: String },
    #[error("{0}")]
    Flag(String),
}

/// What the command line says.
#[derive(Debug, Default)]
pub struct Told {
    pub profile: Option<Profile>,
    /// Names of the tools that are offered; empty for those of the profile.
    pub tools: Vec<String>,
    pub folders: Vec<String>,
    /// The folders of the user and the project, whatever else is named.
    pub user: bool,
    /// The folders of installed plugins, in the same way.
    pub plugins: bool,
    /// The skills stay as they are at the start.
    pub frozen: bool,
    pub engine: Option<PathBuf>,
    /// A scorer by its name or path, whatever the file says.
    pub scorer: Option<String>,
    pub config: Option<PathBuf>,
}

/// Reads the operator's file and the environment. The command line is the strongest.
pub fn resolve(told: Told) -> Result<Config, ConfigError> {
    let working_folder = std::env::current_dir().map_err(ConfigError::WorkingFolder)?;
    resolve_in(told, &variable, &working_folder)
}

/// The same in an environment and a folder that somebody else would be started in.
pub fn resolve_in(
    told: Told,
    variable: &dyn Fn(&str) -> Option<String>,
    working_folder: &Path,
) -> Result<Config, ConfigError> {
    let places = Places::find(variable);
    let usual = places.as_ref().map(Places::config_file);
    let named = told.config.or_else(|| variable("SKILLCELL_CONFIG").map(PathBuf::from));
    let mut raw = match (&named, &usual) {
        (Some(named), _) => file::read(named)?,
        (None, Some(usual)) if !file::is_absent(usual) => file::read(usual)?,
        (None, _) => RawConfig::default(),
    };
    let file = named.or(usual).unwrap_or_else(|| PathBuf::from("config.yaml"));
    let wrong =
        |message: String| ConfigError::Value { line: file::line_of(&file, &message), file: file.clone(), message };
    let home = variable("HOME").map(PathBuf::from);
    let path = |text: &str| match (text.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if text == "~" => home.clone().unwrap_or_else(|| PathBuf::from(text)),
        _ => file.parent().unwrap_or(working_folder).join(text),
    };
    let file_limit = variable("MAX_FILE_SIZE_MB").map(|text| file_limit(&text)).transpose()?;
    let tools = surface::tools(&told.tools).map_err(ConfigError::Flag)?;
    let endpoint = analytics::from_environment(variable).map_err(ConfigError::Flag)?;
    let surface = surface::resolve(told.profile, tools, &raw).map_err(wrong)?;
    let around = git::Around {
        variable,
        path: &path,
        working_folder,
        home: home.as_deref(),
        clones: places.as_ref().map(Places::clones),
    };
    let git = git::resolve(raw.repos, raw.git, &raw.refresh, &around).map_err(|error| match error {
        WrongGit::InFile(message) => wrong(message),
        WrongGit::InVariable(message) => ConfigError::Flag(message),
    })?;
    let scorers = scorers::installed(raw.scorers, path).map_err(wrong)?;
    let in_file = scorers::chosen(raw.matching.scorer.take(), &scorers, path).map_err(wrong)?;
    let named = told.scorer.map(|named| scorers.choose(&named, |path| working_folder.join(path))).transpose();
    let scorer = named.map_err(|told| ConfigError::Flag(format!("--scorer {told}")))?.unwrap_or(in_file);
    let around = integrations::Around { variable, path: &path };
    let integrations = integrations::resolve(raw.integrations, &around).map_err(wrong)?;
    let clone = |remote: &Remote| ClonedRepository { label: remote.address.name(), folder: remote.folder.clone() };
    let scripts = scripts::resolve(raw.scripts, path).map_err(wrong)?;
    Ok(Config {
        roots: Choice {
            main_clone: git.main.as_ref().map(clone),
            more_clones: git.more.iter().map(clone).collect(),
            given: told.folders,
            environment: variable("SKILLS_DIR"),
            working_folder: working_folder.to_owned(),
            home: home.clone().filter(|home| home.is_absolute()),
            user: told.user || raw.roots.user || surface.all_roots,
            plugins: told.plugins || raw.roots.plugins || surface.all_roots,
        },
        frozen: told.frozen,
        engine: told.engine,
        operator: content::resolve(&raw.matching, &raw.assets, file_limit, git.refresh, &scripts).map_err(wrong)?,
        scorer,
        scorers,
        surface,
        scripts,
        git,
        grants: scripts::grants(raw.grants, file.clone(), path).map_err(wrong)?,
        analytics: analytics::resolve(&raw.analytics, endpoint, variable).map_err(wrong)?,
        integrations,
        places,
    })
}

/// A variable of the environment. Empty is as good as missing.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be between 0 and 4096 megabytes"
)]
fn file_limit(text: &str) -> Result<u64, ConfigError> {
    let megabytes: Option<f64> = text.trim().parse().ok();
    let megabytes = megabytes.filter(|megabytes| *megabytes > 0.0 && *megabytes <= 4096.0);
    megabytes.map(|megabytes| (megabytes * 1_048_576.0) as u64).ok_or_else(|| ConfigError::FileLimit(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_limit_is_a_number_of_megabytes() {
        assert_eq!(file_limit("2").unwrap(), 2 << 20);
        assert_eq!(file_limit(" 0.5 ").unwrap(), 1 << 19);
        for text in ["", "0", "-1", "NaN", "inf", "1e9", "2MB"] {
            assert!(file_limit(text).is_err(), "{text}");
        }
    }
}
