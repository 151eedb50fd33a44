//! The configuration of git.

use crate::address::Address;
use crate::credential::Credential;
use std::path::PathBuf;
use std::time::Duration;

/// Default timeout for talking to a remote.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
pub struct Options {
    /// `SKILLS_REPO`; used only if no folder is configured.
    pub main: Option<Remote>,
    /// `repos`; always used.
    pub more: Vec<Remote>,
    pub refresh: Refresh,
    pub network: Network,
    /// Whether the machine's credential helper may be asked.
    pub credential_helper: bool,
}

/// A remote repository, and the folder of its clone.
#[derive(Debug, Clone)]
pub struct Remote {
    pub address: Address,
    /// The configured branch. By default it is `main`, or the remote's default branch if there is no `main`.
    pub branch: Option<String>,
    pub credential: Option<Credential>,
    pub folder: PathBuf,
    /// Whether the clone was made by another program, in a folder of its own.
    pub taken_over: bool,
    /// Whether a variable is configured for the token, but not set.
    pub token_missing: bool,
}

impl Remote {
    /// The lock file to hold while changing the clone, next to its folder.
    pub fn lock(&self) -> PathBuf {
        let mut path = self.folder.clone().into_os_string();
        path.push(".lock");
        path.into()
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.address.is_same(&other.address) && self.branch == other.branch
    }
}

/// How a remote is reached.
#[derive(Debug, Clone)]
pub struct Network {
    pub timeout: Duration,
    /// Additional trusted certificates, in PEM.
    pub certificates: Vec<u8>,
}

impl Default for Network {
    fn default() -> Self {
        Self { timeout: DEFAULT_TIMEOUT, certificates: Vec::new() }
    }
}

/// When repositories are synced automatically, as far as it is configured. For the rest, the settings in the content apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refresh {
    pub enabled: Option<bool>,
    pub interval: Option<Duration>,
}
