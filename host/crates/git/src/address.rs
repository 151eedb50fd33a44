//! Addresses of repositories, separated from the credentials that people write into them.

use crate::credential::Credential;
use base::digest::Sha256;
use base::percent::decode;
use base::place::Audience;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The address of a repository. Never contains a user name or a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    text: String,
    location: Location,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Location {
    /// The host with its port, as in `git.example.com:8443`.
    Https(String),
    Http(String),
    /// A folder on this machine.
    Folder(PathBuf),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("`{redacted}` uses ssh, which is not supported: write it as `{instead}`")]
    Ssh { redacted: String, instead: String },
    #[error("`{redacted}` is not encrypted and cannot be trusted: write it with `https://`")]
    GitProtocol { redacted: String },
    #[error("`{redacted}` is not the address of a repository: write it as `https://HOST/PATH`, or name a folder")]
    Unknown { redacted: String },
    #[error(
        "`{redacted}` seems to contain a user name or a password, and there is no such folder: write it as `{instead}`, and put the token into GITHUB_TOKEN or the variable that `token_env` names"
    )]
    Secret { redacted: String, instead: String },
}

impl Address {
    /// Parses an address. A user name and password in it are returned separately.
    pub fn parse(text: &str, folder: impl Fn(&str) -> PathBuf) -> Result<(Self, Option<Credential>), AddressError> {
        let text = text.trim();
        let unknown = || AddressError::Unknown { redacted: redact(text) };
        if text.is_empty() || text.chars().any(|letter| letter.is_control() || letter.is_whitespace() && letter != ' ')
        {
            return Err(unknown());
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::parse_path(text, folder) };
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            let is_path = path.starts_with('/');
            return if is_path { Self::in_folder(path, Path::new(&decode(path))) } else { Err(unknown()) };
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let host = host.to_ascii_lowercase();
        // An `@` in the path means that the password contains a `/`, and the apparent host is a part of it.
        if user_end(path) > 0 {
            return Err(unknown());
        }
        match scheme.as_str() {
            "https" | "http" => {}
            "ssh" | "git+ssh" | "ssh+git" => {
                let host = authority[user_end(authority)..].to_ascii_lowercase();
                let name = host.split(':').next().unwrap_or_default();
                return Err(AddressError::Ssh { redacted: redact(text), instead: format!("https://{name}{path}") });
            }
            "git" => return Err(AddressError::GitProtocol { redacted: redact(text) }),
            _ => return Err(unknown()),
        }
        let path = path.trim_end_matches('/');
        if !is_host(&host) || path.is_empty() || path.contains(['?', '#', '\\', ' ']) {
            return Err(unknown());
        }
        let (default_port, location): (_, fn(String) -> Location) =
            if scheme == "https" { (":443", Location::Https) } else { (":80", Location::Http) };
        let host = host.strip_suffix(default_port).unwrap_or(&host).to_owned();
        let address = Self { text: format!("{scheme}://{host}{path}"), location: location(host) };
        Ok((address, user.and_then(credential)))
    }

    fn parse_path(text: &str, folder: impl Fn(&str) -> PathBuf) -> Result<(Self, Option<Credential>), AddressError> {
        // Looks like a command-line flag.
        if text.starts_with('-') {
            return Err(AddressError::Unknown { redacted: redact(text) });
        }
        // As in `git@github.com:team/skills.git`. A folder whose name contains a colon needs a leading `./`.
        let (user, bare) = text.split_at(user_end(text));
        let is_user = !user.contains(['/', '\\']);
        if let Some((host, path)) = bare.split_once(':').filter(|(host, _)| is_user && !host.contains('/')) {
            let is_secret = user.is_empty() && !is_known_host(host);
            let instead = format!("https://{host}/{}", path.trim_start_matches('/'));
            let redacted = redact(text);
            return Err(if is_secret {
                AddressError::Unknown { redacted }
            } else {
                AddressError::Ssh { redacted, instead }
            });
        }
        Self::in_folder(text, &folder(text))
    }

    /// Returns the address of a folder. A text that is not a folder may be a misspelt URL with a password in it.
    fn in_folder(text: &str, path: &Path) -> Result<(Self, Option<Credential>), AddressError> {
        if may_hold_secret(text) && !path.is_dir() {
            return Err(AddressError::Secret { redacted: redact(text), instead: with_scheme(text) });
        }
        // Removes `.` and double separators.
        let path: PathBuf = path.components().collect();
        Ok((Self { text: path.to_string_lossy().into_owned(), location: Location::Folder(path) }, None))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Remote clients see only the name of a repository on this machine.
    pub fn for_audience(&self, audience: Audience) -> Cow<'_, str> {
        match (audience, &self.location) {
            (Audience::Remote, Location::Folder(_)) => format!("repository {}", self.name()).into(),
            _ => (&self.text).into(),
        }
    }

    /// Returns the host with its port, of an address on the network.
    pub fn host(&self) -> Option<&str> {
        match &self.location {
            Location::Https(host) | Location::Http(host) => Some(host),
            Location::Folder(_) => None,
        }
    }

    pub fn folder(&self) -> Option<&Path> {
        if let Location::Folder(path) = &self.location { Some(path) } else { None }
    }

    /// Whether a credential can be sent there without being read on the way.
    pub fn is_confidential(&self) -> bool {
        match &self.location {
            Location::Https(_) => true,
            Location::Http(host) => is_loopback(host),
            Location::Folder(_) => false,
        }
    }

    /// Returns the last segment, without `.git`.
    pub fn name(&self) -> String {
        let last = normalize(&self.text).rsplit('/').next().unwrap_or_default();
        let name: String = last.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
        let name = name.trim_matches(['-', '.']).to_owned();
        if name.is_empty() { "repository".to_owned() } else { name }
    }

    /// Whether both are the same repository, apart from notation.
    pub fn is_same(&self, other: &Self) -> bool {
        normalize(&self.text) == normalize(&other.text)
    }

    /// Returns the name of the folder for a clone, distinct for each repository and configured branch.
    pub fn key(&self, branch: Option<&str>) -> String {
        let mut text = normalize(&self.text).to_owned();
        if let Some(branch) = branch {
            text.push('\n');
            text.push_str(branch);
        }
        format!("{}-{}", self.name(), &Sha256::of(text.as_bytes()).hex()[..12])
    }
}

/// Removes endings that make no difference.
fn normalize(text: &str) -> &str {
    let text = text.trim_end_matches('/');
    text.strip_suffix(".git").unwrap_or(text).trim_end_matches('/')
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Whether a text is a name or an address, with or without a port. IPv6 addresses have brackets.
pub(super) fn is_host(host: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let (is_name, rest) = match host.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((address, rest))) => (address.parse::<std::net::Ipv6Addr>().is_ok(), rest),
        Some(None) => (false, ""),
        None => {
            let (name, rest) = host.split_at(host.find(':').unwrap_or(host.len()));
            (!name.is_empty() && name.chars().all(legal), rest)
        }
    };
    is_name && (rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()))
}

/// Whether a host, with or without a port, is this machine.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Characters and escapes that may end the user name of an address.
const AT_SIGNS: [&str; 5] = ["@", "%40", "%2540", "\u{ff20}", "\u{fe6b}"];

/// Returns where the user name of an address ends. Everything before may be a secret.
fn user_end(text: &str) -> usize {
    AT_SIGNS.iter().filter_map(|sign| text.rfind(sign).map(|at| at + sign.len())).max().unwrap_or(0)
}

/// Whether a text that is not a URL may contain a credential. A clear path may have an `@`, but no `:` before it.
fn may_hold_secret(text: &str) -> bool {
    let user = &text[..user_end(text)];
    let is_path = ["./", "../", "~/", "/"].iter().any(|start| text.starts_with(start)) && !text.starts_with("//");
    let has_password = [":", "%3a", "%3A", "\u{ff1a}"].iter().any(|colon| user.contains(colon));
    !user.is_empty() && (has_password || !is_path)
}

/// Whether a text before a colon is a host rather than a user name before a password.
fn is_known_host(host: &str) -> bool {
    is_host(host) && (host.contains('.') || host == "localhost")
}

/// Suggests a URL for an address that begins with a user name.
fn with_scheme(text: &str) -> String {
    let bare = &text[user_end(text)..];
    let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
    let is_clear = is_host(host) && !path.is_empty() && path.chars().all(|letter| is_plain(letter) || letter == '/');
    if is_clear { format!("https://{host}/{path}") } else { "https://HOST/PATH".to_owned() }
}

/// Removes what may be a secret from an invalid address: the user name, and everything after `?` or `#`.
fn redact(text: &str) -> String {
    let before_question = |text: &str| text.split(['?', '#']).next().unwrap_or_default().to_owned();
    let end = user_end(text);
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let scheme = if scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '+') { scheme } else { "" };
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let redacted = match &text[end..] {
        // `git@` is the usual user name of ssh, and not a secret.
        _ if end > 0 && text[scheme.len()..end] == *"git@" => before_question(text),
        // Without a path it may be anything.
        bare if end > 0 && bare.contains(['/', ':']) => format!("{scheme}{}", before_question(bare)),
        _ if end > 0 => format!("{scheme}…"),
        // A password without an `@` comes after a colon.
        _ if has_odd_port(&scheme, &text[scheme.len()..]) => format!("{scheme}…"),
        _ => before_question(text),
    };
    base::printable::printable(&redacted)
}

fn has_odd_port(scheme: &str, bare: &str) -> bool {
    let authority = bare.split('/').next().unwrap_or_default();
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok();
    // Without a scheme, this may be a path of ssh.
    let is_fine =
        |host: &str, port: &str| is_port(port) || host.starts_with('[') || scheme.is_empty() && is_known_host(host);
    authority.split_once(':').is_some_and(|(host, port)| !is_fine(host, port))
}

fn credential(user: &str) -> Option<Credential> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (user, password) = (decode(user), decode(password));
    (!user.is_empty() || !password.is_empty()).then(|| Credential::new(user, password))
}

#[cfg(test)]
mod tests;
