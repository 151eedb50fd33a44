//! Which repositories skills come from, and how they are reached.

use super::file::{RawGit, RawRefresh, RawRepository};
use crate::git::address::{Address, WrongAddress};
use crate::git::credential::Credential;
use crate::git::place;
use crate::printable::printable;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest that one exchange with a remote may take, unless told otherwise.
const USUAL_TIMEOUT: Duration = Duration::from_mins(1);

const LONGEST_TIMEOUT: u64 = 24 * 60 * 60;

/// `GITHUB_TOKEN` is for this host in any case.
const GITHUB: &str = "github.com";

/// What the operator said about git.
#[derive(Debug, Default)]
pub struct Git {
    /// `SKILLS_REPO`. It counts when no folder is named.
    pub main: Option<Remote>,
    /// `repos`, which count in any case.
    pub more: Vec<Remote>,
    pub refresh: Refresh,
    pub network: Network,
    /// Whether the machine's credential helper may be asked.
    pub credential_helper: bool,
}

/// A repository that somebody else keeps, and where its clone is.
#[derive(Debug, Clone)]
pub struct Remote {
    pub address: Address,
    /// The branch that somebody named. Without one it is `main`, else what the remote calls its default.
    pub branch: Option<String>,
    pub credential: Option<Credential>,
    pub folder: PathBuf,
    /// Whether another program made the clone, in a folder of its own.
    pub taken_over: bool,
    /// Whether a variable was named for its token, and holds none.
    pub token_missing: bool,
}

impl Remote {
    /// Held by whoever changes the clone. Its name is that of the folder, so that there is one for each.
    pub fn lock(&self) -> PathBuf {
        let mut path = self.folder.clone().into_os_string();
        path.push(".lock");
        path.into()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.address.is_same(&other.address) && self.branch == other.branch
    }
}

/// How a remote is reached.
#[derive(Debug, Clone)]
pub struct Network {
    pub timeout: Duration,
    /// Certificates in PEM that are trusted as well.
    pub certificates: Vec<u8>,
}

impl Default for Network {
    fn default() -> Self {
        Self { timeout: USUAL_TIMEOUT, certificates: Vec::new() }
    }
}

/// When repositories are refreshed by themselves, as far as the operator or the environment said it. The rest is for content to
/// say, which the engine knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refresh {
    pub enabled: Option<bool>,
    pub interval: Option<Duration>,
}

/// Why this cannot be meant.
#[derive(Debug, PartialEq, Eq)]
pub enum WrongGit {
    /// The operator's file says something wrong.
    InFile(String),
    /// A variable does.
    InVariable(String),
}

/// What it takes to understand the file and the environment.
pub struct Around<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// A path in the operator's file.
    pub path: &'a dyn Fn(&str) -> PathBuf,
    pub working_folder: &'a Path,
    pub home: Option<&'a Path>,
    /// Where clones are kept. Missing without a home folder.
    pub clones: Option<PathBuf>,
}

pub fn resolve(
    repositories: Vec<RawRepository>,
    git: RawGit,
    refresh: &RawRefresh,
    around: &Around,
) -> Result<Git, WrongGit> {
    let seconds = git.timeout_seconds.unwrap_or(USUAL_TIMEOUT.as_secs());
    if !(1..=LONGEST_TIMEOUT).contains(&seconds) {
        let message = format!("git.timeout_seconds is {seconds}, and must be from 1 to {LONGEST_TIMEOUT}");
        return Err(WrongGit::InFile(message));
    }
    let network = Network {
        timeout: Duration::from_secs(seconds),
        certificates: git.ca_file.map(|file| certificates(&(around.path)(&file))).transpose()?.unwrap_or_default(),
    };
    let token = (around.variable)("GITHUB_TOKEN").map(|token| Credential::token(&token));
    let mut hosts = vec![GITHUB.to_owned()];
    let main = match (around.variable)("SKILLS_REPO") {
        Some(text) => {
            let folder = |path: &str| around.working_folder.join(path);
            let wrong = |error: WrongAddress| WrongGit::InVariable(format!("SKILLS_REPO: {error}"));
            let (address, in_address) = Address::parse(&text, folder).map_err(wrong)?;
            hosts.extend(address.host().map(str::to_owned));
            let branch = (around.variable)("SKILLS_BRANCH").map(|branch| branch.trim().to_owned());
            if let Some(branch) = branch.as_ref().filter(|branch| !is_branch(branch)) {
                return Err(WrongGit::InVariable(format!(
                    "SKILLS_BRANCH is `{}`, which is no name of a branch",
                    printable(branch)
                )));
            }
            let credential = in_address.or_else(|| token.clone().filter(|_| address.host().is_some()));
            let existing = place::existing(&address, branch.as_deref(), around.home);
            let remote = remote(address, branch, credential, around)?;
            Some(match existing {
                Some(folder) => Remote { folder, taken_over: true, ..remote },
                None => remote,
            })
        }
        None => None,
    };
    let mut more: Vec<Remote> = Vec::new();
    for (number, said) in repositories.into_iter().enumerate() {
        let wrong = |error: WrongAddress| WrongGit::InFile(format!("repos[{number}].url: {error}"));
        let (address, in_address) = Address::parse(&said.url, around.path).map_err(wrong)?;
        let named = said.token_env.as_ref().and_then(|name| named_token(name, around));
        let usual =
            token.clone().filter(|_| address.host().is_some_and(|host| hosts.iter().any(|known| known == host)));
        let credential = in_address.or(named).or(usual.filter(|_| said.token_env.is_none()));
        let token_missing = said.token_env.is_some() && credential.is_none();
        let remote = Remote { token_missing, ..remote(address, said.branch, credential, around)? };
        let known = || main.iter().chain(&more);
        if !known().any(|known| known.is_same(&remote)) {
            more.push(remote);
        }
    }
    let refresh = self::refresh(refresh, around)?;
    Ok(Git { main, more, refresh, network, credential_helper: git.credential_helper })
}

fn remote(
    address: Address,
    branch: Option<String>,
    credential: Option<Credential>,
    around: &Around,
) -> Result<Remote, WrongGit> {
    let Some(clones) = &around.clones else {
        let message = "HOME is not set, so there is no place for a clone\nhint: set HOME or XDG_DATA_HOME";
        return Err(WrongGit::InVariable(message.to_owned()));
    };
    let folder = clones.join(address.key(branch.as_deref()));
    Ok(Remote { address, branch, credential, folder, taken_over: false, token_missing: false })
}

fn named_token(name: &str, around: &Around) -> Option<Credential> {
    let token = (around.variable)(name);
    if token.is_none() {
        // Somebody may have written the token itself there.
        let is_name =
            name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
        let name = if is_name { name } else { "which is not repeated here" };
        tracing::warn!(
            "the variable that repos.token_env names, {name}, is not set\nhint: write the name of a variable there"
        );
    }
    token.map(|token| Credential::token(&token))
}

fn certificates(path: &Path) -> Result<Vec<u8>, WrongGit> {
    let unusable =
        |reason: String| WrongGit::InFile(format!("git.ca_file {} cannot be used: {reason}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let count = crate::git::certificates(&bytes).map_err(unusable)?.len();
    if count == 0 { Err(unusable("it holds no certificate in PEM".to_owned())) } else { Ok(bytes) }
}

fn refresh(raw: &RawRefresh, around: &Around) -> Result<Refresh, WrongGit> {
    let minutes = |minutes: u32| Duration::from_mins(minutes.into());
    if raw.interval_minutes == Some(0) {
        let message = "refresh.interval_minutes is 0, and must be at least 1; `refresh.enabled: false` switches it off";
        return Err(WrongGit::InFile(message.to_owned()));
    }
    let said = Refresh { enabled: raw.enabled, interval: raw.interval_minutes.map(minutes) };
    let Some(text) = (around.variable)("REFRESH_INTERVAL_MINUTES") else { return Ok(said) };
    match text.trim().parse() {
        Ok(number) if number > 0 => Ok(Refresh { enabled: Some(true), interval: Some(minutes(number)) }),
        _ => Err(WrongGit::InVariable(format!(
            "REFRESH_INTERVAL_MINUTES is `{}`, which is no number of minutes\nhint: set it to a whole number above 0, as in REFRESH_INTERVAL_MINUTES=15",
            printable(&text)
        ))),
    }
}

/// As git has it, as far as it matters: the name becomes part of a reference.
pub fn is_branch(name: &str) -> bool {
    let forbidden = |letter: char| letter.is_control() || " ~^:?*[\\".contains(letter);
    let odd_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(forbidden)
        && !name.split('/').any(odd_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(file: &str, variables: &[(&str, &str)]) -> Result<Git, WrongGit> {
        let raw: super::super::file::RawConfig = serde_yaml::from_str(file).unwrap();
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let around = Around {
            variable: &value,
            path: &|path| Path::new("/etc/skillcell").join(path),
            working_folder: Path::new("/here"),
            home: None,
            clones: Some(PathBuf::from("/data/repos")),
        };
        resolve(raw.repos, raw.git, &raw.refresh, &around)
    }

    const TWO: &str =
        "repos:\n- {url: https://github.com/team/a.git}\n- {url: https://git.corp/b, branch: dev, token_env: CORP}\n";

    #[test]
    fn a_token_is_for_the_host_of_the_main_repository_and_for_github() {
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
    fn the_environment_sets_the_interval_and_switches_it_on() {
        let said = |file: &str, variables: &[(&str, &str)]| {
            let Refresh { enabled, interval } = resolved(file, variables).unwrap().refresh;
            (enabled, interval.map(|interval| interval.as_secs() / 60))
        };
        assert_eq!(said("{}", &[]), (None, None));
        assert_eq!(said("refresh: {interval_minutes: 5}", &[]), (None, Some(5)));
        assert_eq!(said("refresh: {enabled: false}", &[]), (Some(false), None));
        let variable = [("REFRESH_INTERVAL_MINUTES", "3")];
        assert_eq!(said("refresh: {enabled: false, interval_minutes: 5}", &variable), (Some(true), Some(3)));
    }

    #[test]
    fn wrong_values_are_told_with_what_to_write() {
        let file = |text: &str| match resolved(text, &[]) {
            Err(WrongGit::InFile(message)) => message,
            other => panic!("{text}: {other:?}"),
        };
        assert!(file("refresh: {interval_minutes: 0}").starts_with("refresh.interval_minutes"));
        assert!(file("git: {timeout_seconds: 0}").starts_with("git.timeout_seconds"));
        assert!(file("git: {ca_file: missing.pem}").starts_with("git.ca_file /etc/skillcell/missing.pem"));
        for (name, value) in
            [("SKILLS_REPO", "git://h/a"), ("REFRESH_INTERVAL_MINUTES", "0"), ("REFRESH_INTERVAL_MINUTES", "soon")]
        {
            assert!(
                matches!(resolved("{}", &[(name, value)]), Err(WrongGit::InVariable(text)) if text.starts_with(name))
            );
        }
    }
}
