//! Why a repository could not be synced, and what to do about it.

use crate::private::Untrusted;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(
        "{address} has no branch `{branch}`{others}\nhint: set SKILLS_BRANCH, or `branch` below `repos`, to one that it has"
    )]
    NoBranch { address: String, branch: String, others: String },
    #[error("{address} has no commit yet\nhint: push one; it is looked at again by itself")]
    Empty { address: String },
    #[error("there is no repository at {path}{hint}", path = path.display())]
    NotThere { path: PathBuf, hint: &'static str },
    #[error("another git works on the clone\nhint: if none does, remove {file}", file = file.display())]
    Locked { file: PathBuf },
    #[error("another server is syncing for too long\nhint: it holds {lock}", lock = lock.display())]
    Busy { lock: PathBuf },
    #[error(
        "{address} could not be brought to disk: {reason}\nhint: what was there is served, and the next sync tries again"
    )]
    Checkout { address: String, reason: String },
    #[error("cannot use {path}: {reason}", path = path.display())]
    Unusable { path: PathBuf, reason: io::Error },
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    #[error(
        "{address} took longer than {seconds} seconds\nhint: set `git.timeout_seconds` to more, and look at the network"
    )]
    TooSlow { address: String, seconds: u64 },
    /// Something is wrong with what git keeps in the clone, so that trying again is of no use.
    #[error("the clone of {address} is damaged: {reason}")]
    Damaged { address: String, reason: String },
    #[error("cannot sync {address}: {reason}")]
    Git { address: String, reason: String },
}

/// Whether libgit2 found something wrong with what it keeps on disk.
pub fn is_damage(error: &git2::Error) -> bool {
    use git2::ErrorClass::{Index, Object, Odb, Reference, Repository, Sha1, Tree, Zlib};
    let kept = matches!(error.class(), Index | Object | Odb | Reference | Repository | Sha1 | Tree | Zlib);
    kept && error.code() != git2::ErrorCode::Locked
}

/// What went wrong on the way to a remote. No text here holds a secret.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NetworkError {
    #[error("{host} cannot be reached: {reason}\nhint: look at the network; what was cloned before is served")]
    Unreachable { host: String, reason: String },
    #[error("{host} did not answer in time\nhint: look at the network, or set `git.timeout_seconds` to more")]
    TooSlow { host: String },
    #[error(
        "{host} has no certificate that is trusted: {reason}\nhint: if it is a server of your own, name its certificate with `git.ca_file`"
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
    #[error("{address} moved to {to}, where no token is sent\nhint: write that address instead")]
    Moved { address: String, to: String },
    #[error("{address} leads to {to}, which is not followed: {why}\nhint: write the address that is meant")]
    BadRedirect { address: String, to: String, why: &'static str },
    #[error("{host} answers with an error ({status})\nhint: it is tried again later")]
    Failing { host: String, status: u16 },
    #[error("{address} is no repository that git can fetch: {what}\nhint: check the address")]
    NotGit { address: String, what: String },
    #[error("{host} broke off: {reason}\nhint: it is tried again later")]
    BrokenOff { host: String, reason: String },
}
