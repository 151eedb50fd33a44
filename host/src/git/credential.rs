//! Who the server is to a host of repositories.

use crate::git::address::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use git2::{Config, CredentialHelper};
use std::fmt;
use std::sync::mpsc;
use std::time::Duration;

/// A user and a password, kept in memory only.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    user: String,
    password: String,
}

impl Credential {
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: user.into(), password: password.into() }
    }

    /// A token of GitHub and those who do as GitHub does.
    pub fn token(token: &str) -> Self {
        Self::new("x-access-token", token.trim())
    }

    /// The value of an `Authorization` header.
    pub fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(…)")
    }
}

/// Asks the machine's credential helper, which is a program. It has to happen before programs are forbidden, and before the
/// settings of git's user are hidden. One that waits for a person is not waited for.
pub fn ask_helper(address: &Address, longest: Duration) -> Option<Credential> {
    let settings = Config::open_default().ok()?;
    let mut helper = CredentialHelper::new(address.text());
    helper.config(&settings);
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || answer.send(helper.execute()));
    let told = answered.recv_timeout(longest).inspect_err(|_| {
        tracing::warn!("the credential helper did not answer within {} seconds", longest.as_secs());
    });
    let (user, password) = told.ok()??;
    Some(Credential::new(user, password))
}
