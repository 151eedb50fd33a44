//! Credentials for remotes.

use crate::address::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use git2::{Config, CredentialHelper};
use std::fmt;
use std::sync::mpsc;
use std::time::Duration;

/// A user name and a password, kept in memory only.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    user: String,
    password: String,
}

impl Credential {
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: user.into(), password: password.into() }
    }

    /// A token of GitHub, or of a host that works alike.
    pub fn token(token: &str) -> Self {
        Self::new("x-access-token", token.trim())
    }

    /// Returns the value of an `Authorization` header.
    pub fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(…)")
    }
}

/// Runs the machine's credential helper. Must be called before starting programs is forbidden and the user's git
/// configuration is hidden. The timeout covers helpers that wait for input.
pub fn ask_helper(address: &Address, timeout: Duration) -> Option<Credential> {
    let config = Config::open_default().ok()?;
    let mut helper = CredentialHelper::new(address.text());
    helper.config(&config);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(helper.execute()));
    let result = receiver.recv_timeout(timeout).inspect_err(|_| {
        tracing::warn!("the credential helper did not answer within {} seconds", timeout.as_secs());
    });
    let (user, password) = result.ok()??;
    Some(Credential::new(user, password))
}
