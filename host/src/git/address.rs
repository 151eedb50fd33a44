//! Where a repository is, without the secrets that people write into addresses.

use crate::git::credential::Credential;
use crate::percent::decoded;
use crate::sha256::Sha256;
use std::path::{Path, PathBuf};

/// The address of a repository. It never holds a user or a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    text: String,
    way: Way,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// The host with its port, as in `git.example.com:8443`.
    Https(String),
    Http(String),
    /// A folder of this machine.
    Folder(PathBuf),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongAddress {
    #[error("`{shown}` is reached over ssh, which the server does not speak: write it as `{instead}`")]
    Ssh { shown: String, instead: String },
    #[error("`{shown}` is not encrypted and cannot be trusted: write it with `https://`")]
    GitProtocol { shown: String },
    #[error("`{shown}` is no address of a repository: write it as `https://HOST/PATH`, or name a folder")]
    Unknown { shown: String },
    #[error(
        "`{shown}` seems to hold a user or a password, and there is no such folder: write it as `{instead}`, and put the token into GITHUB_TOKEN or the variable that `token_env` names"
    )]
    Secret { shown: String, instead: String },
}

impl Address {
    /// Takes an address apart. A user and a password in it are handed out, and are not part of the address.
    pub fn parse(text: &str, folder: impl Fn(&str) -> PathBuf) -> Result<(Self, Option<Credential>), WrongAddress> {
        let text = text.trim();
        let unknown = || WrongAddress::Unknown { shown: shown(text) };
        if text.is_empty() || text.chars().any(|letter| letter.is_control() || letter.is_whitespace() && letter != ' ')
        {
            return Err(unknown());
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::of_path(text, folder) };
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            let is_path = path.starts_with('/');
            return if is_path { Self::in_folder(path, Path::new(&decoded(path))) } else { Err(unknown()) };
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let host = host.to_ascii_lowercase();
        // An `@` there belongs to a password with a `/` in it, and what looks like the host is the rest of that.
        if end_of_user(path) > 0 {
            return Err(unknown());
        }
        match scheme.as_str() {
            "https" | "http" => {}
            "ssh" | "git+ssh" | "ssh+git" => {
                let host = authority[end_of_user(authority)..].to_ascii_lowercase();
                let name = host.split(':').next().unwrap_or_default();
                return Err(WrongAddress::Ssh { shown: shown(text), instead: format!("https://{name}{path}") });
            }
            "git" => return Err(WrongAddress::GitProtocol { shown: shown(text) }),
            _ => return Err(unknown()),
        }
        let path = path.trim_end_matches('/');
        if !is_host(&host) || path.is_empty() || path.contains(['?', '#', '\\', ' ']) {
            return Err(unknown());
        }
        let (usual_port, way): (_, fn(String) -> Way) =
            if scheme == "https" { (":443", Way::Https) } else { (":80", Way::Http) };
        let host = host.strip_suffix(usual_port).unwrap_or(&host).to_owned();
        let address = Self { text: format!("{scheme}://{host}{path}"), way: way(host) };
        Ok((address, user.and_then(credential)))
    }

    fn of_path(text: &str, folder: impl Fn(&str) -> PathBuf) -> Result<(Self, Option<Credential>), WrongAddress> {
        // It looks like a flag of some program, and nobody means that.
        if text.starts_with('-') {
            return Err(WrongAddress::Unknown { shown: shown(text) });
        }
        // As in `git@github.com:team/skills.git`. A folder with a colon can be named with `./` in front.
        let (user, bare) = text.split_at(end_of_user(text));
        let is_user = !user.contains(['/', '\\']);
        if let Some((host, path)) = bare.split_once(':').filter(|(host, _)| is_user && !host.contains('/')) {
            let is_secret = user.is_empty() && !is_known_host(host);
            let instead = format!("https://{host}/{}", path.trim_start_matches('/'));
            let shown = shown(text);
            return Err(if is_secret { WrongAddress::Unknown { shown } } else { WrongAddress::Ssh { shown, instead } });
        }
        Self::in_folder(text, &folder(text))
    }

    /// A folder of this machine. One that is not there may be an address whose beginning was misspelt, with a password in it.
    fn in_folder(text: &str, path: &Path) -> Result<(Self, Option<Credential>), WrongAddress> {
        if may_hold_secret(text) && !path.is_dir() {
            return Err(WrongAddress::Secret { shown: shown(text), instead: with_scheme(text) });
        }
        // Put together anew, without `.` and double separators.
        let path: PathBuf = path.components().collect();
        Ok((Self { text: path.to_string_lossy().into_owned(), way: Way::Folder(path) }, None))
    }

    /// As libgit2 and people read it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The host with its port, of an address on the network.
    pub fn host(&self) -> Option<&str> {
        match &self.way {
            Way::Https(host) | Way::Http(host) => Some(host),
            Way::Folder(_) => None,
        }
    }

    pub fn folder(&self) -> Option<&Path> {
        if let Way::Folder(path) = &self.way { Some(path) } else { None }
    }

    /// Whether nobody on the way can read what is sent.
    pub fn keeps_secrets(&self) -> bool {
        match &self.way {
            Way::Https(_) => true,
            Way::Http(host) => is_loopback(host),
            Way::Folder(_) => false,
        }
    }

    /// The last part, without `.git`.
    pub fn name(&self) -> String {
        let last = plain(&self.text).rsplit('/').next().unwrap_or_default();
        let name: String = last.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
        let name = name.trim_matches(['-', '.']).to_owned();
        if name.is_empty() { "repository".to_owned() } else { name }
    }

    /// Whether both lead to one repository, however it is written.
    pub fn is_same(&self, other: &Self) -> bool {
        plain(&self.text) == plain(&other.text)
    }

    /// The name of the folder for a clone: one for each repository, and for each branch that somebody named.
    pub fn key(&self, branch: Option<&str>) -> String {
        let mut text = plain(&self.text).to_owned();
        if let Some(branch) = branch {
            text.push('\n');
            text.push_str(branch);
        }
        format!("{}-{}", self.name(), &Sha256::of(text.as_bytes()).hex()[..12])
    }
}

/// Without the endings that make no difference.
fn plain(text: &str) -> &str {
    let text = text.trim_end_matches('/');
    text.strip_suffix(".git").unwrap_or(text).trim_end_matches('/')
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

pub(super) fn is_host(host: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ':' | '[' | ']');
    let port = host.rsplit_once(':').filter(|_| !host.ends_with(']')).map(|(_, port)| port);
    let is_number = |port: &str| port.parse::<u16>().is_ok();
    !host.is_empty() && !host.starts_with(':') && host.chars().all(legal) && port.is_none_or(is_number)
}

/// Whether a host with a port is this machine.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// What ends a user in an address, also where somebody escaped it or typed the letter of another keyboard.
const AT_SIGNS: [&str; 5] = ["@", "%40", "%2540", "\u{ff20}", "\u{fe6b}"];

/// Where the user of an address ends. Whatever is before may be a secret.
fn end_of_user(text: &str) -> usize {
    AT_SIGNS.iter().filter_map(|sign| text.rfind(sign).map(|at| at + sign.len())).max().unwrap_or(0)
}

/// Whether a text that was taken for a folder may be an address with a user: what is clearly a path may have an `@` in it,
/// but no `:` before that.
fn may_hold_secret(text: &str) -> bool {
    let user = &text[..end_of_user(text)];
    let is_path = ["./", "../", "~/", "/"].iter().any(|start| text.starts_with(start)) && !text.starts_with("//");
    let has_password = [":", "%3a", "%3A", "\u{ff1a}"].iter().any(|colon| user.contains(colon));
    !user.is_empty() && (has_password || !is_path)
}

/// Whether a text before a colon is a host. The user of a password would stand in the same place.
fn is_known_host(host: &str) -> bool {
    is_host(host) && (host.contains('.') || host == "localhost")
}

/// What to write for an address that begins with a user.
fn with_scheme(text: &str) -> String {
    let bare = &text[end_of_user(text)..];
    let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
    let is_clear = is_host(host) && !path.is_empty() && path.chars().all(|letter| is_plain(letter) || letter == '/');
    if is_clear { format!("https://{host}/{path}") } else { "https://HOST/PATH".to_owned() }
}

/// An address that cannot be used, as far as it may be shown: a user, and what stands behind `?` or `#`, may be a secret.
fn shown(text: &str) -> String {
    let before_question = |text: &str| text.split(['?', '#']).next().unwrap_or_default().to_owned();
    let end = end_of_user(text);
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let scheme = if scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '+') { scheme } else { "" };
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let shown = match &text[end..] {
        // The user of ssh is part of how people know it, and is no secret.
        _ if end > 0 && text[scheme.len()..end] == *"git@" => before_question(text),
        // Without a path it may be anything.
        bare if end > 0 && bare.contains(['/', ':']) => format!("{scheme}{}", before_question(bare)),
        _ if end > 0 => format!("{scheme}…"),
        // A password whose `@` was forgotten stands behind a colon.
        _ if has_odd_port(&scheme, &text[scheme.len()..]) => format!("{scheme}…"),
        _ => before_question(text),
    };
    crate::printable::printable(&shown)
}

fn has_odd_port(scheme: &str, bare: &str) -> bool {
    let authority = bare.split('/').next().unwrap_or_default();
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok();
    // Without a scheme, a path of ssh stands there.
    let is_fine =
        |host: &str, port: &str| is_port(port) || host.starts_with('[') || scheme.is_empty() && is_known_host(host);
    authority.split_once(':').is_some_and(|(host, port)| !is_fine(host, port))
}

fn credential(user: &str) -> Option<Credential> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (user, password) = (decoded(user), decoded(password));
    (!user.is_empty() || !password.is_empty()).then(|| Credential::new(user, password))
}

#[cfg(test)]
mod tests;
