//! Errors of a sync, and what to do about them.

use crate::address::Address;
use base::place::{Audience, LocalReason, Place};
use std::io;
use std::path::Path;

/// Why a clone could not be synced. Reasons of libgit2 and of the file system may contain paths. `Damaged` means that the
/// repository on disk is corrupt, so a retry does not help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncError {
    Network(NetworkError),
    NoBranch { address: Address, branch: String, others: String },
    Empty { address: Address },
    NotThere { address: Address },
    Locked { file: Place },
    Busy { lock: Place },
    Checkout { address: Address, reason: LocalReason },
    Unusable { place: Place, reason: LocalReason },
    UntrustedFolder(LocalReason),
    TooSlow { address: Address, seconds: u64 },
    Damaged { address: Address, reason: LocalReason },
    Git { address: Address, reason: LocalReason },
    Panicked,
}

impl SyncError {
    pub fn unusable(path: &Path, reason: &io::Error) -> Self {
        Self::Unusable { place: Place::file(path), reason: LocalReason(reason.to_string()) }
    }

    pub fn for_audience(&self, audience: Audience) -> String {
        let named = |address: &Address| address.for_audience(audience).into_owned();
        let why = |reason: &LocalReason| reason.for_audience(audience).to_owned();
        match self {
            Self::Network(error) => error.to_string(),
            Self::NoBranch { address, branch, others } => format!(
                "{} has no branch `{branch}`{others}\nhint: set SKILLS_BRANCH, or `branch` below `repos`, to an existing branch",
                named(address)
            ),
            Self::Empty { address } => {
                format!("{} has no commit yet\nhint: push one; the server checks again by itself", named(address))
            }
            Self::NotThere { address } => format!(
                "there is no repository at {}\nhint: a repository on the network is written as `https://HOST/PATH`",
                named(address)
            ),
            Self::Locked { file } => format!(
                "another git process is using the clone\nhint: if there is none, remove {}",
                file.for_audience(audience)
            ),
            Self::Busy { lock } => format!(
                "another server is syncing the clone, and takes too long\nhint: it holds the lock {}",
                lock.for_audience(audience)
            ),
            Self::Checkout { address, reason } => format!(
                "{} could not be checked out: {}\nhint: the previous files are still served, and the next sync tries again",
                named(address),
                why(reason)
            ),
            Self::Unusable { place, reason } => {
                format!("cannot use {}: {}", place.for_audience(audience), why(reason))
            }
            Self::UntrustedFolder(reason) => format!("the folder of clones is not used: {}", why(reason)),
            Self::TooSlow { address, seconds } => format!(
                "{} took longer than {seconds} seconds\nhint: increase `git.timeout_seconds`, or check the network",
                named(address)
            ),
            Self::Damaged { address, reason } => {
                format!("the clone of {} is damaged: {}", named(address), why(reason))
            }
            Self::Git { address, reason } => format!("cannot sync {}: {}", named(address), why(reason)),
            Self::Panicked => "the server panicked during the sync".to_owned(),
        }
    }
}

/// Whether libgit2 found the repository on disk corrupt.
pub fn is_damage(error: &git2::Error) -> bool {
    use git2::ErrorClass::{Index, Object, Odb, Reference, Repository, Sha1, Tree, Zlib};
    let is_on_disk = matches!(error.class(), Index | Object | Odb | Reference | Repository | Sha1 | Tree | Zlib);
    is_on_disk && error.code() != git2::ErrorCode::Locked
}

/// Why a remote could not be used. No field contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    #[error("{host} cannot be reached: {reason}\nhint: check the network; existing clones are still served")]
    Unreachable { host: String, reason: String },
    #[error("{host} did not answer in time\nhint: check the network, or increase `git.timeout_seconds`")]
    TooSlow { host: String },
    #[error(
        "the certificate of {host} is not trusted: {reason}\nhint: if it is your own server, set `git.ca_file` to its certificate"
    )]
    Certificate { host: String, reason: String },
    #[error(
        "{address} is private or does not exist ({status})\nhint: set GITHUB_TOKEN to a token that may read it (`token_env` for one of `repos`), or `git.credential_helper: true` to ask git's credential helper, or check the address"
    )]
    NoCredential { address: String, status: u16 },
    #[error(
        "{address} is private or does not exist ({status}), and a token is sent only over https\nhint: write the address with `https://`"
    )]
    NotSecret { address: String, status: u16 },
    #[error("{address} refuses the token ({status})\nhint: check that it may read this repository and has not expired")]
    WrongCredential { address: String, status: u16 },
    #[error("{address} moved to {to}, where no token is sent\nhint: configure that address instead")]
    Moved { address: String, to: String },
    #[error("{address} redirects to {to}, which is not followed: {reason}\nhint: configure the final address")]
    BadRedirect { address: String, to: String, reason: &'static str },
    #[error("{host} answers with an error ({status})\nhint: the next sync tries again")]
    Failing { host: String, status: u16 },
    #[error("{address} is not a repository that git can fetch: {reason}\nhint: check the address")]
    NotGit { address: String, reason: String },
    #[error(
        "{address} is not fetched: {reason}\nhint: remove large files from the branch, or serve the skills from a smaller repository; existing clones are still served"
    )]
    TooLarge { address: String, reason: String },
    #[error("the transfer from {host} failed: {reason}\nhint: the next sync tries again")]
    Interrupted { host: String, reason: String },
}
