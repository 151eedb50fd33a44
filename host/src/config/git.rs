//! Resolves which repositories skills come from, and how they are fetched.

use super::ConfigError;
use super::content::within;
use super::file::{RawGit, RawRefresh, RawRepository};
use base::printable::printable;
use git::address::{Address, AddressError};
use git::clone_folder;
use git::credential::Credential;
use git::options::{DEFAULT_TIMEOUT, Network, Options, Refresh, Remote};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Allowed timeouts, in seconds: up to a day.
const TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=86_400;

/// The host that `GITHUB_TOKEN` is always sent to.
const GITHUB: &str = "github.com";

/// What the settings are resolved against.
pub struct ResolveContext<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Resolves a path of the operator's file.
    pub path: &'a dyn Fn(&str) -> PathBuf,
    /// Makes an error about that file.
    pub invalid: &'a dyn Fn(String) -> ConfigError,
    pub working_folder: &'a Path,
    pub home: Option<&'a Path>,
    /// Where clones are kept. `None` without a home folder.
    pub clones: Option<PathBuf>,
}

pub fn resolve(
    repositories: Vec<RawRepository>,
    git: RawGit,
    refresh: &RawRefresh,
    context: &ResolveContext,
) -> Result<Options, ConfigError> {
    let timeout = within("git.timeout_seconds", git.timeout_seconds, TIMEOUT_SECONDS).map_err(context.invalid)?;
    let network = Network {
        timeout: timeout.map_or(DEFAULT_TIMEOUT, Duration::from_secs),
        certificates: git.ca_file.map(|file| certificates(&file, context)).transpose()?.unwrap_or_default(),
    };
    let token = (context.variable)("GITHUB_TOKEN").map(|token| Credential::token(&token));
    let mut hosts = vec![GITHUB.to_owned()];
    let main = match (context.variable)("SKILLS_REPO") {
        Some(text) => {
            let folder = |path: &str| context.working_folder.join(path);
            let invalid = |error: AddressError| ConfigError::Outside(format!("SKILLS_REPO: {error}"));
            let (address, in_address) = Address::parse(&text, folder).map_err(invalid)?;
            hosts.extend(address.host().map(str::to_owned));
            let branch = (context.variable)("SKILLS_BRANCH").map(|branch| branch.trim().to_owned());
            if let Some(branch) = branch.as_ref().filter(|branch| !is_branch(branch)) {
                return Err(ConfigError::Outside(format!(
                    "SKILLS_BRANCH is `{}`, which is not a valid branch name",
                    printable(branch)
                )));
            }
            let credential = in_address.or_else(|| token.clone().filter(|_| address.host().is_some()));
            let existing = clone_folder::find_existing(&address, branch.as_deref(), context.home);
            let remote = remote(address, branch, credential, context)?;
            Some(match existing {
                Some(folder) => Remote { folder, taken_over: true, ..remote },
                None => remote,
            })
        }
        None => None,
    };
    let mut more: Vec<Remote> = Vec::new();
    for (number, raw) in repositories.into_iter().enumerate() {
        let invalid = |error: AddressError| (context.invalid)(format!("repos[{number}].url: {error}"));
        let (address, in_address) = Address::parse(&raw.url, context.path).map_err(invalid)?;
        let named = raw.token_env.as_ref().and_then(|name| named_token(name, context));
        let default =
            token.clone().filter(|_| address.host().is_some_and(|host| hosts.iter().any(|known| known == host)));
        let credential = in_address.or(named).or(default.filter(|_| raw.token_env.is_none()));
        let token_missing = raw.token_env.is_some() && credential.is_none();
        let remote = Remote { token_missing, ..remote(address, raw.branch, credential, context)? };
        let known = || main.iter().chain(&more);
        if !known().any(|known| known.is_same(&remote)) {
            more.push(remote);
        }
    }
    let refresh = self::refresh(refresh, context)?;
    Ok(Options { main, more, refresh, network, credential_helper: git.credential_helper })
}

fn remote(
    address: Address,
    branch: Option<String>,
    credential: Option<Credential>,
    context: &ResolveContext,
) -> Result<Remote, ConfigError> {
    let Some(clones) = &context.clones else {
        let message = "HOME is not set, so repositories cannot be cloned\nhint: set HOME or XDG_DATA_HOME";
        return Err(ConfigError::Outside(message.to_owned()));
    };
    let folder = clones.join(address.key(branch.as_deref()));
    Ok(Remote { address, branch, credential, folder, taken_over: false, token_missing: false })
}

fn named_token(name: &str, context: &ResolveContext) -> Option<Credential> {
    let token = (context.variable)(name);
    if token.is_none() {
        // The token itself may have been written there by mistake.
        let is_name =
            name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
        let name = if is_name { name } else { "(not shown)" };
        tracing::warn!("the variable {name} in repos.token_env is not set\nhint: write the name of a variable there");
    }
    token.map(|token| Credential::token(&token))
}

fn certificates(file: &str, context: &ResolveContext) -> Result<Vec<u8>, ConfigError> {
    let path = (context.path)(file);
    let unusable =
        |reason: String| (context.invalid)(format!("git.ca_file {} cannot be used: {reason}", path.display()));
    let bytes = std::fs::read(&path).map_err(|error| unusable(error.to_string()))?;
    let count = git::certificates(&bytes).map_err(unusable)?.len();
    if count == 0 { Err(unusable("it contains no PEM certificate".to_owned())) } else { Ok(bytes) }
}

fn refresh(raw: &RawRefresh, context: &ResolveContext) -> Result<Refresh, ConfigError> {
    let minutes = |minutes: u32| Duration::from_mins(minutes.into());
    if raw.interval_minutes == Some(0) {
        let message = "refresh.interval_minutes is 0, and must be at least 1; `refresh.enabled: false` disables it";
        return Err((context.invalid)(message.to_owned()));
    }
    let from_file = Refresh { enabled: raw.enabled, interval: raw.interval_minutes.map(minutes) };
    let Some(text) = (context.variable)("REFRESH_INTERVAL_MINUTES") else { return Ok(from_file) };
    match text.trim().parse() {
        Ok(number) if number > 0 => Ok(Refresh { enabled: Some(true), interval: Some(minutes(number)) }),
        _ => Err(ConfigError::Outside(format!(
            "REFRESH_INTERVAL_MINUTES is `{}`, which is not a number of minutes\nhint: set it to a whole number above 0, as in REFRESH_INTERVAL_MINUTES=15",
            printable(&text)
        ))),
    }
}

/// Whether git accepts the name, which becomes part of a reference.
pub fn is_branch(name: &str) -> bool {
    let forbidden = |letter: char| letter.is_control() || " ~^:?*[\\".contains(letter);
    let is_invalid_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(forbidden)
        && !name.split('/').any(is_invalid_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::RawConfig;
    use crate::config::tests::lookup;

    fn resolved(file: &str, variables: &[(&str, &str)]) -> Result<Options, ConfigError> {
        let raw: RawConfig = serde_yaml::from_str(file).unwrap();
        let context = ResolveContext {
            variable: &lookup(variables),
            path: &|path| Path::new("/etc/skillcell").join(path),
            invalid: &|message| ConfigError::Value { file: PathBuf::new(), line: String::new(), message },
            working_folder: Path::new("/here"),
            home: None,
            clones: Some(PathBuf::from("/data/repos")),
        };
        let (repositories, git) = (raw.repos.unwrap_or_default(), raw.git.unwrap_or_default());
        resolve(repositories, git, &raw.refresh.unwrap_or_default(), &context)
    }

    const TWO: &str =
        "repos:\n- {url: https://github.com/team/a.git}\n- {url: https://git.corp/b, branch: dev, token_env: CORP}\n";

    #[test]
    fn the_default_token_is_sent_to_github_and_the_host_of_the_main_repository() {
        let token = Some(Credential::token("t"));
        let git = resolved(TWO, &[("SKILLS_REPO", "https://git.corp:8443/main"), ("GITHUB_TOKEN", "t")]).unwrap();
        assert_eq!(git.main.as_ref().unwrap().credential, token);
        assert_eq!(git.more[0].credential, token);
        assert_eq!(git.more[1].credential, None, "its own variable is named, and not set");
        let git = resolved(TWO, &[("GITHUB_TOKEN", "t"), ("CORP", "c")]).unwrap();
        assert_eq!(git.more[1].credential, Some(Credential::token("c")));
        let other = "repos: [{url: 'https://git.other/b'}]";
        assert_eq!(resolved(other, &[("GITHUB_TOKEN", "t")]).unwrap().more[0].credential, None);
        let own = "repos: [{url: 'https://me:mine@github.com/b'}]";
        let credential = resolved(own, &[("GITHUB_TOKEN", "t")]).unwrap().more[0].credential.clone();
        assert_eq!(credential, Some(Credential::new("me", "mine")));
    }

    #[test]
    fn one_repository_is_cloned_once() {
        let twice = "repos: [{url: 'https://h/a'}, {url: 'https://h/a.git/'}, {url: 'https://h/a', branch: dev}]";
        let git = resolved(twice, &[("SKILLS_REPO", "https://h/a")]).unwrap();
        assert_eq!(git.more.len(), 1);
        assert_eq!(git.more[0].branch.as_deref(), Some("dev"));
    }

    #[test]
    fn an_interval_in_the_environment_enables_refreshing() {
        let refresh = |file: &str, variables: &[(&str, &str)]| {
            let Refresh { enabled, interval } = resolved(file, variables).unwrap().refresh;
            (enabled, interval.map(|interval| interval.as_secs() / 60))
        };
        assert_eq!(refresh("{}", &[]), (None, None));
        assert_eq!(refresh("refresh: {interval_minutes: 5}", &[]), (None, Some(5)));
        assert_eq!(refresh("refresh: {enabled: false}", &[]), (Some(false), None));
        let variable = [("REFRESH_INTERVAL_MINUTES", "3")];
        assert_eq!(refresh("refresh: {enabled: false, interval_minutes: 5}", &variable), (Some(true), Some(3)));
    }

    #[test]
    fn invalid_values_are_reported_with_their_source() {
        for (file, start) in [
            ("refresh: {interval_minutes: 0}", "refresh.interval_minutes"),
            ("git: {timeout_seconds: 0}", "git.timeout_seconds"),
            ("git: {ca_file: missing.pem}", "git.ca_file /etc/skillcell/missing.pem"),
        ] {
            let Err(ConfigError::Value { message, .. }) = resolved(file, &[]) else { panic!("{file}") };
            assert!(message.starts_with(start), "{file}: {message}");
        }
        let variables =
            [("SKILLS_REPO", "git://h/a"), ("REFRESH_INTERVAL_MINUTES", "0"), ("REFRESH_INTERVAL_MINUTES", "soon")];
        for (name, value) in variables {
            let Err(ConfigError::Outside(message)) = resolved("{}", &[(name, value)]) else { panic!("{name}") };
            assert!(message.starts_with(name), "{name}={value}: {message}");
        }
    }
}
