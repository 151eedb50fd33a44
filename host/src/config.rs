//! The configuration of the server, resolved from the operator's file, the environment and the command line.

mod analytics;
mod content;
pub mod file;
mod git;
mod integrations;
pub mod packages;
mod scorers;
mod scripts;
mod surface;

use ::git::options::Remote;
use ::scripts::grants::Grants;
use base::environment::variable;
use base::user_folders::UserFolders;
use bindings::catalog::OperatorSettings;
use catalog::scorers::options::ScorerChoice;
use file::RawConfig;
use library::roots::{ClonedRepository, RootOptions};
use mcp::surface::{Profile, Surface};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The resolved configuration: paths are absolute, defaults are filled in.
#[derive(Debug)]
pub struct Config {
    pub roots: RootOptions,
    /// Whether the skills stay as they are at the start.
    pub frozen: bool,
    /// An engine component to use instead of the one in this binary.
    pub engine: Option<PathBuf>,
    /// Settings that content can set too.
    pub operator: OperatorSettings,
    pub scorers: catalog::scorers::options::Options,
    pub surface: Surface,
    pub scripts: ::scripts::Options,
    pub git: ::git::options::Options,
    pub grants: Arc<Grants>,
    /// Where Python packages come from.
    pub packages: ::packages::download::Options,
    pub analytics: ::analytics::options::Options,
    pub integrations: Arc<::integrations::options::Options>,
    /// `None` if the home folder is unknown.
    pub user_folders: Option<UserFolders>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "cannot read the configuration {path}: {reason}\nhint: make it readable or remove it, or choose another with --config FILE or SKILLCELL_CONFIG"
    )]
    Unreadable { path: PathBuf, reason: std::io::Error },
    #[error("the configuration {0}")]
    Untrusted(base::user_files::Untrusted),
    #[error("{path}{position}: {message}\nhint: docs/configuration.md lists every key", path = path.display())]
    Syntax { path: PathBuf, position: String, message: String },
    /// A value of the file is invalid.
    #[error("{file}{line}: {message}", file = file.display())]
    Value { file: PathBuf, line: String, message: String },
    /// The environment or an argument is invalid.
    #[error("{0}")]
    Outside(String),
}

/// The arguments of the command line that are settings.
#[derive(Debug, Default)]
pub struct CliArgs {
    pub profile: Option<Profile>,
    /// Names of the tools to offer; empty for those of the profile.
    pub tools: Vec<String>,
    pub folders: Vec<String>,
    /// Adds the folders of the user and the project.
    pub user: bool,
    /// Adds the folders of installed plugins.
    pub plugins: bool,
    /// Keeps the skills as they are at the start.
    pub frozen: bool,
    pub engine: Option<PathBuf>,
    /// The name or path of a scorer. Overrides the file.
    pub scorer: Option<String>,
    pub config: Option<PathBuf>,
}

/// Reads the operator's file and the environment. The command line takes precedence over both.
pub fn resolve(args: CliArgs) -> Result<Config, ConfigError> {
    let unknown = |error| ConfigError::Outside(format!("cannot determine the working folder: {error}"));
    let working_folder = std::env::current_dir().map_err(unknown)?;
    resolve_in(args, &variable, &working_folder)
}

/// Like [`resolve`], for a command that does not rank skills: no scorer is loaded.
pub fn resolve_unranked(args: CliArgs) -> Result<Config, ConfigError> {
    let mut config = resolve(args)?;
    config.scorers.choice = ScorerChoice::Keyword;
    Ok(config)
}

/// Resolves the configuration of a process with the given environment and working folder.
pub fn resolve_in(
    args: CliArgs,
    variable: &dyn Fn(&str) -> Option<String>,
    working_folder: &Path,
) -> Result<Config, ConfigError> {
    let user_folders = UserFolders::find(variable);
    let default_file = user_folders.as_ref().map(UserFolders::config_file);
    let chosen_file = args.config.or_else(|| variable("SKILLCELL_CONFIG").map(PathBuf::from));
    let raw = match (&chosen_file, &default_file) {
        (Some(chosen), _) => file::read(chosen)?,
        (None, Some(default)) if !file::is_absent(default) => file::read(default)?,
        (None, _) => RawConfig::default(),
    };
    let file = chosen_file.or(default_file).unwrap_or_else(|| PathBuf::from("config.yaml"));
    let invalid = |message: String| {
        let line = file::line_of(&file, &message);
        ConfigError::Value { line, file: file.clone(), message: file::hide_passwords(&message) }
    };
    let home = variable("HOME").map(PathBuf::from);
    let path = |text: &str| match (text.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if text == "~" => home.clone().unwrap_or_else(|| PathBuf::from(text)),
        _ => file.parent().unwrap_or(working_folder).join(text),
    };
    let file_limit = variable("MAX_FILE_SIZE_MB").map(|text| file_limit(&text)).transpose()?;
    let tools = surface::tools(&args.tools).map_err(ConfigError::Outside)?;
    let endpoint = analytics::from_environment(variable).map_err(ConfigError::Outside)?;
    let mut surface = surface::resolve(args.profile, tools, &raw).map_err(invalid)?;
    let context = git::ResolveContext {
        variable,
        path: &path,
        invalid: &invalid,
        working_folder,
        home: home.as_deref(),
        clones: user_folders.as_ref().map(UserFolders::clones),
    };
    let (repositories, git) = (raw.repos.unwrap_or_default(), raw.git.unwrap_or_default());
    let git = git::resolve(repositories, git, &raw.refresh.unwrap_or_default(), &context)?;
    let scorers = scorers::installed(raw.scorers.unwrap_or_default(), path).map_err(invalid)?;
    let mut matching = raw.matching.unwrap_or_default();
    let from_file = scorers::chosen(matching.scorer.take(), &surface, &scorers, path).map_err(invalid)?;
    let from_args = args.scorer.map(|named| scorers.choose(&named, |path| working_folder.join(path))).transpose();
    let scorer = from_args.map_err(|error| ConfigError::Outside(format!("--scorer {error}")))?.unwrap_or(from_file);
    let context = integrations::ResolveContext { variable, path: &path };
    let integrations = integrations::resolve(raw.integrations.unwrap_or_default(), &context).map_err(invalid)?;
    surface.lists_query |= !integrations.askable_names().is_empty();
    let clone = |remote: &Remote| ClonedRepository { label: remote.address.name(), folder: remote.folder.clone() };
    let mut raw_scripts = raw.scripts.unwrap_or_default();
    raw_scripts.undeclared = raw_scripts.undeclared.or(Some(!surface.only_declared_scripts));
    let scripts = scripts::resolve(raw_scripts, path).map_err(invalid)?;
    let (roots, assets) = (raw.roots.unwrap_or_default(), raw.assets.unwrap_or_default());
    Ok(Config {
        roots: RootOptions {
            main_clone: git.main.as_ref().map(clone),
            more_clones: git.more.iter().map(clone).collect(),
            given: args.folders,
            environment: variable("SKILLS_DIR"),
            working_folder: working_folder.to_owned(),
            home: home.clone().filter(|home| home.is_absolute()),
            user: args.user || roots.user || surface.all_roots,
            plugins: args.plugins || roots.plugins || surface.all_roots,
        },
        frozen: args.frozen,
        engine: args.engine,
        operator: content::resolve(&matching, &scorer, &assets, file_limit, git.refresh, &scripts).map_err(invalid)?,
        scorers: catalog::scorers::options::Options { choice: scorer, installed: scorers },
        surface,
        scripts,
        git,
        grants: Arc::new(scripts::grants(raw.grants.unwrap_or_default(), file.clone(), path).map_err(invalid)?),
        packages: packages::resolve(raw.packages.unwrap_or_default(), path).map_err(invalid)?,
        analytics: analytics::resolve(&raw.analytics.unwrap_or_default(), endpoint, variable).map_err(invalid)?,
        integrations: Arc::new(integrations),
        user_folders,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be between 0 and 4096 megabytes"
)]
fn file_limit(text: &str) -> Result<u64, ConfigError> {
    match text.trim().parse::<f64>() {
        Ok(megabytes) if megabytes > 0.0 && megabytes <= 4096.0 => Ok((megabytes * 1_048_576.0) as u64),
        _ => Err(ConfigError::Outside(format!(
            "MAX_FILE_SIZE_MB is `{text}`, which is not a number of megabytes\nhint: set it to a number above 0, as in MAX_FILE_SIZE_MB=2"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment with only these variables.
    pub fn lookup<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_file_limit_is_a_number_of_megabytes() {
        assert_eq!(file_limit("2").unwrap(), 2 << 20);
        assert_eq!(file_limit(" 0.5 ").unwrap(), 1 << 19);
        for text in ["", "0", "-1", "NaN", "inf", "1e9", "2MB"] {
            assert!(file_limit(text).is_err(), "{text}");
        }
    }
}
