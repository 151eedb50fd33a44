//! The repository that the server runs in: where it comes from, and what is checked out.

use super::address::is_host;
use super::prepare_libgit2;
use crate::percent::decoded;
use crate::printable::printable;
use git2::{ErrorCode, Repository, RepositoryOpenFlags};
use std::path::Path;

/// What is checked out, and where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Context {
    pub origin: Option<Origin>,
    /// Nothing when a commit is checked out.
    pub branch: Option<String>,
    /// In hexadecimal. Nothing before the first one.
    pub commit: Option<String>,
}

/// Where a repository comes from, however its address is written. A user, a password and a port are no part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub host: String,
    pub owner: String,
    pub name: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    #[error("not in a git repository")]
    NoRepository,
    #[error("the git repository cannot be read{0}")]
    Unreadable(String),
}

/// The state of the repository that a folder is in. Changes nothing and starts nothing.
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

/// The branch and the commit that are checked out.
fn head(repository: &Repository) -> Result<(Option<String>, Option<String>), ContextError> {
    let head = repository.find_reference("HEAD").map_err(|error| unreadable(&error))?;
    let named = head.symbolic_target_bytes().map(|name| String::from_utf8_lossy(name).into_owned());
    let branch = named.as_deref().and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned);
    let commit = match head.resolve() {
        Ok(reference) => reference.target().map(|id| id.to_string()),
        // A branch without a commit.
        Err(error) if error.code() == ErrorCode::NotFound => None,
        Err(error) => return Err(unreadable(&error)),
    };
    Ok((branch, commit))
}

/// Where the branch comes from, else `origin`, else the only remote: the first of them whose address is understood.
fn origin(repository: &Repository, branch: Option<&str>) -> Option<Origin> {
    let followed = branch.and_then(|branch| {
        let setting = repository.branch_upstream_remote(&format!("refs/heads/{branch}")).ok()?;
        Some(String::from_utf8_lossy(&setting).into_owned())
    });
    let only = repository.remotes().ok().filter(|remotes| remotes.len() == 1);
    let only = only.and_then(|remotes| remotes.get(0).map(str::to_owned));
    [followed, Some("origin".to_owned()), only].into_iter().flatten().find_map(|name| {
        let address = match repository.find_remote(&name) {
            Ok(remote) => String::from_utf8_lossy(remote.url_bytes()).into_owned(),
            // A branch may follow an address that has no name.
            Err(_) => name,
        };
        Origin::parse(&address)
    })
}

impl Origin {
    /// Understands `https://HOST/OWNER/NAME`, `ssh://git@HOST:22/OWNER/NAME` and `git@HOST:OWNER/NAME`.
    fn parse(address: &str) -> Option<Self> {
        let address = address.trim();
        let (host, path) = if let Some((scheme, rest)) = address.split_once("://") {
            let known = ["https", "http", "ssh", "git+ssh", "ssh+git", "git"];
            let (authority, path) = rest.split_once('/')?;
            let is_known = known.contains(&scheme.to_ascii_lowercase().as_str());
            is_known.then(|| (without_user(authority).to_owned(), decoded(path)))?
        } else {
            let (before, _) = address.split_once('/').unwrap_or((address, ""));
            let user = before.rfind('@').map_or(0, |at| at + 1);
            let (host, path) = beyond_host(&address[user..])?;
            (host.to_owned(), path.to_owned())
        };
        // An `@` there belongs to a password with a `/` in it, and what looks like the host is the rest of that.
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

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn without_port(host: &str) -> &str {
    let end = if host.ends_with(']') { None } else { host.rfind(':') };
    match &host[..end.unwrap_or(host.len())] {
        // How GitHub is reached where only the ports of the web are open.
        "ssh.github.com" => "github.com",
        host => host,
    }
}

/// Host and path of an address without a scheme. A path of this machine has none, and neither has a drive of Windows.
fn beyond_host(address: &str) -> Option<(&str, &str)> {
    let end = if address.starts_with('[') { address.find(']')? + 1 } else { address.find([':', '/'])? };
    let (host, rest) = address.split_at(end);
    let path = rest.strip_prefix(':')?;
    (host.len() > 1).then_some((host, path))
}

/// What libgit2 says, unless an address may be part of it: that may hold a password.
fn unreadable(error: &git2::Error) -> ContextError {
    let said = error.message();
    let may_be_secret = said.contains("://") || said.contains('@');
    ContextError::Unreadable(if may_be_secret { String::new() } else { format!(": {}", printable(said)) })
}

#[cfg(test)]
mod tests;
