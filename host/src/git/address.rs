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
}

impl Address {
    /// Takes an address apart. A user and a password in it are handed out, and are not part of the address.
    pub fn parse(text: &str, folder: impl Fn(&str) -> PathBuf) -> Result<(Self, Option<Credential>), WrongAddress> {
        let text = text.trim();
        let unknown = || WrongAddress::Unknown { shown: without_user(text) };
        if text.is_empty() || text.chars().any(|letter| letter.is_control() || letter.is_whitespace() && letter != ' ')
        {
            return Err(unknown());
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::of_path(text, folder) };
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            let is_path = path.starts_with('/');
            return if is_path { Ok((Self::in_folder(Path::new(&decoded(path))), None)) } else { Err(unknown()) };
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let host = host.to_ascii_lowercase();
        match scheme.as_str() {
            "https" | "http" => {}
            "ssh" | "git+ssh" | "ssh+git" => {
                let name = host.split(':').next().unwrap_or_default();
                return Err(WrongAddress::Ssh { shown: without_user(text), instead: format!("https://{name}{path}") });
            }
            "git" => return Err(WrongAddress::GitProtocol { shown: without_user(text) }),
            _ => return Err(unknown()),
        }
        let path = path.trim_end_matches('/');
        // An `@` there belongs to a password with a `/` in it, and what looks like the host is the rest of that.
        if !is_host(&host) || path.is_empty() || path.contains(['?', '#', '\\', ' ', '@']) {
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
            return Err(WrongAddress::Unknown { shown: without_user(text) });
        }
        // As in `git@github.com:team/skills.git`. A folder with a colon can be named with `./` in front.
        let end = text.find('/').unwrap_or(text.len());
        let bare = text[..end].rfind('@').map_or(text, |at| &text[at + 1..]);
        if let Some((host, path)) = bare.split_once(':').filter(|(host, _)| !host.contains('/')) {
            let instead = format!("https://{host}/{}", path.trim_start_matches('/'));
            return Err(WrongAddress::Ssh { shown: without_user(text), instead });
        }
        Ok((Self::in_folder(&folder(text)), None))
    }

    fn in_folder(path: &Path) -> Self {
        // Put together anew, without `.` and double separators.
        let path: PathBuf = path.components().collect();
        Self { text: path.to_string_lossy().into_owned(), way: Way::Folder(path) }
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

/// An address that cannot be used, as it may be shown: a user, and what stands behind `?` or `#`, may be a secret.
fn without_user(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let shown = match rest.rfind('@') {
        // The user of ssh is part of how people know it, and is no secret; a password behind a colon is.
        Some(at) if rest[..at] == *"git" => rest,
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    crate::printable::printable(&if scheme.is_empty() { shown.to_owned() } else { format!("{scheme}://{shown}") })
}

fn credential(user: &str) -> Option<Credential> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (user, password) = (decoded(user), decoded(password));
    (!user.is_empty() || !password.is_empty()).then(|| Credential::new(user, password))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Address, Option<Credential>), WrongAddress> {
        Address::parse(text, |path| Path::new("/here").join(path))
    }

    #[test]
    fn a_user_in_an_address_is_taken_out_of_it() {
        let (address, credential) = parse("https://x-access-token:s3cr%40t@GitHub.com:443/team/skills.git/").unwrap();
        assert_eq!(address.text(), "https://github.com/team/skills.git");
        assert_eq!(address.host(), Some("github.com"));
        assert_eq!(address.name(), "skills");
        let credential = credential.unwrap();
        assert_eq!(credential.basic(), Credential::new("x-access-token", "s3cr@t").basic());
        assert!(!format!("{address:?}{credential:?}").contains("s3cr"), "{credential:?}");
        assert!(parse("https://github.com/team/skills").unwrap().1.is_none());
    }

    #[test]
    fn what_cannot_be_reached_is_refused_with_what_to_write() {
        for (text, part) in [
            ("git@github.com:team/skills.git", "`https://github.com/team/skills.git`"),
            ("ssh://git@github.com:22/team/skills", "`https://github.com/team/skills`"),
            ("git://example.com/skills", "https://"),
            ("ftp://example.com/skills", "no address"),
            ("https://", "no address"),
            ("https://github.com", "no address"),
            ("https://github.com/a?b", "no address"),
            ("https://git hub.com/a", "no address"),
            ("file://skills", "no address"),
            ("", "no address"),
            ("--upload-pack=x", "no address"),
            ("a\nb", "no address"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn an_address_that_is_refused_shows_no_password() {
        for text in ["ftp://me:secret@example.com/x", "ssh://me:secret@example.com/x", "me:secret@example.com:x"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn endings_make_no_difference_and_branches_do() {
        let address = |text: &str| parse(text).unwrap().0;
        let (a, b) = (address("https://github.com/team/skills"), address("https://u:p@github.com/team/skills.git/"));
        assert!(a.is_same(&b));
        assert_eq!(a.key(None), b.key(None));
        assert_ne!(a.key(None), a.key(Some("dev")));
        assert!(!a.is_same(&address("https://github.com/team/skills2")));
        assert!(a.key(None).starts_with("skills-"), "{}", a.key(None));
        assert_eq!(a.key(None).len(), "skills-".len() + 12);
        assert_eq!(address("https://h/..").name(), "repository");
    }

    #[test]
    fn folders_are_absolute() {
        assert_eq!(parse("team/skills").unwrap().0.text(), "/here/team/skills");
        assert_eq!(parse("./a:b").unwrap().0.text(), "/here/a:b");
        assert_eq!(parse("file:///srv/my%20skills").unwrap().0.folder(), Some(Path::new("/srv/my skills")));
    }

    #[test]
    fn secrets_go_only_where_nobody_else_reads_them() {
        let keeps = |text: &str| parse(text).unwrap().0.keeps_secrets();
        for text in ["https://example.com/x", "http://127.0.0.1:8080/x", "http://[::1]:8080/x", "http://localhost/x"] {
            assert!(keeps(text), "{text}");
        }
        for text in ["http://example.com/x", "http://127.0.0.1.example.com/x", "http://10.0.0.1/x", "/srv/x"] {
            assert!(!keeps(text), "{text}");
        }
    }
}
