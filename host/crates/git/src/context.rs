//! The repository the server runs in: its origin, branch and commit.

use super::address::is_host;
use super::prepare_libgit2;
use base::percent::decode;
use base::place::{Audience, LocalReason};
use base::printable::printable;
use git2::{ErrorCode, Repository, RepositoryOpenFlags};
use std::path::Path;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Context {
    pub origin: Option<Origin>,
    /// `None` if HEAD is detached.
    pub branch: Option<String>,
    /// In hexadecimal; `None` before the first commit.
    pub commit: Option<String>,
}

/// Where a repository comes from, independent of notation, credentials and port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub host: String,
    pub owner: String,
    pub name: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ContextError {
    NoRepository,
    /// Without the reason if it may contain a password.
    Unreadable(Option<LocalReason>),
}

impl ContextError {
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::NoRepository => "not in a git repository".to_owned(),
            Self::Unreadable(None) => "the git repository cannot be read".to_owned(),
            Self::Unreadable(Some(reason)) => {
                format!("the git repository cannot be read: {}", reason.for_audience(audience))
            }
        }
    }
}

/// Reads the state of the repository that contains a folder, without changing it or starting programs.
pub fn context(folder: &Path) -> Result<Context, ContextError> {
    prepare_libgit2();
    let none: [&Path; 0] = [];
    let repository =
        Repository::open_ext(folder, RepositoryOpenFlags::empty(), none).map_err(|error| match error.code() {
            ErrorCode::NotFound => ContextError::NoRepository,
            _ => unreadable(&error),
        })?;
    let (branch, commit) = head(&repository)?;
    let origin = origin(&repository, branch.as_deref());
    Ok(Context { origin, branch, commit })
}

/// Returns the branch and commit that are checked out.
fn head(repository: &Repository) -> Result<(Option<String>, Option<String>), ContextError> {
    let head = repository.find_reference("HEAD").map_err(|error| unreadable(&error))?;
    let named = head.symbolic_target_bytes().map(|name| String::from_utf8_lossy(name).into_owned());
    let branch = named.as_deref().and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned);
    let commit = match head.resolve() {
        Ok(reference) => reference.target().map(|id| id.to_string()),
        // An unborn branch.
        Err(error) if error.code() == ErrorCode::NotFound => None,
        Err(error) => return Err(unreadable(&error)),
    };
    Ok((branch, commit))
}

/// Returns the first of these remotes whose address can be parsed: the upstream of the branch, `origin`, the only remote.
fn origin(repository: &Repository, branch: Option<&str>) -> Option<Origin> {
    let upstream = branch.and_then(|branch| {
        let setting = repository.branch_upstream_remote(&format!("refs/heads/{branch}")).ok()?;
        Some(String::from_utf8_lossy(&setting).into_owned())
    });
    let only = repository.remotes().ok().filter(|remotes| remotes.len() == 1);
    let only = only.and_then(|remotes| remotes.get(0).map(str::to_owned));
    [upstream, Some("origin".to_owned()), only].into_iter().flatten().find_map(|name| {
        let address = match repository.find_remote(&name) {
            Ok(remote) => String::from_utf8_lossy(remote.url_bytes()).into_owned(),
            // The upstream of a branch may be a URL instead of a remote.
            Err(_) => name,
        };
        Origin::parse(&address)
    })
}

impl Origin {
    /// Parses `https://HOST/OWNER/NAME`, `ssh://git@HOST:22/OWNER/NAME` and `git@HOST:OWNER/NAME`.
    fn parse(address: &str) -> Option<Self> {
        let address = address.trim();
        let (host, path) = if let Some((scheme, rest)) = address.split_once("://") {
            let known = ["https", "http", "ssh", "git+ssh", "ssh+git", "git"];
            let (authority, path) = rest.split_once('/')?;
            let is_known = known.contains(&scheme.to_ascii_lowercase().as_str());
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            is_known.then(|| (host.to_owned(), decode(path)))?
        } else {
            let (before, _) = address.split_once('/').unwrap_or((address, ""));
            let user = before.rfind('@').map_or(0, |at| at + 1);
            let (host, path) = split_host(&address[user..])?;
            (host.to_owned(), path.to_owned())
        };
        // An `@` in the path means that the password contains a `/`, and the apparent host is a part of it.
        if path.contains(|letter: char| letter == '@' || letter.is_control()) {
            return None;
        }
        let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        let host = host.to_ascii_lowercase();
        if !is_host(&host) || !path.split('/').all(is_plain) {
            return None;
        }
        let (owner, name) = path.rsplit_once('/')?;
        Some(Self { host: without_port(&host).to_owned(), owner: owner.to_owned(), name: name.to_owned() })
    }
}

fn without_port(host: &str) -> &str {
    let end = if host.ends_with(']') { None } else { host.rfind(':') };
    match &host[..end.unwrap_or(host.len())] {
        // GitHub's host for ssh over the HTTPS port.
        "ssh.github.com" => "github.com",
        host => host,
    }
}

/// Splits an address without a scheme into host and path. Returns `None` for local paths and Windows drives.
fn split_host(address: &str) -> Option<(&str, &str)> {
    let end = if address.starts_with('[') { address.find(']')? + 1 } else { address.find([':', '/'])? };
    let (host, rest) = address.split_at(end);
    let path = rest.strip_prefix(':')?;
    (host.len() > 1).then_some((host, path))
}

/// Omits the message of libgit2 if it may contain an address, and so a password.
fn unreadable(error: &git2::Error) -> ContextError {
    let message = error.message();
    let may_be_secret = message.contains("://") || message.contains('@');
    let reason = (!may_be_secret).then(|| LocalReason(printable(message)));
    if let Some(LocalReason(reason)) = &reason {
        tracing::warn!("the git repository of the working folder cannot be read: {reason}");
    }
    ContextError::Unreadable(reason)
}

#[cfg(test)]
mod tests;
