//! Requests to an index: encrypted, limited in size and time, with few redirects.

use base::printable::printable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, header};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use url::{Host, Url};

const MAX_REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// The public index.
const DEFAULT_INDEX: &str = "https://pypi.org/simple/";

/// Where packages come from.
#[derive(Debug, Clone)]
pub struct Options {
    pub index: IndexAddress,
    /// Additional trusted certificates, in PEM.
    pub certificates: Vec<u8>,
    /// Of one request.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let index = DEFAULT_INDEX.parse().expect("it is an address");
        Self { index, certificates: Vec::new(), timeout: DEFAULT_TIMEOUT }
    }
}

/// The address of an index. A user name and a password in it are kept apart, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexAddress {
    url: Url,
    /// The value of the header `Authorization`.
    credential: Option<String>,
}

impl std::fmt::Debug for IndexAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.url)
    }
}

impl std::fmt::Display for IndexAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.url)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is not the address of a package index\nhint: write it as `https://HOST/simple`; `http://` is allowed only on this machine"
)]
pub struct InvalidIndex;

impl std::str::FromStr for IndexAddress {
    type Err = InvalidIndex;

    fn from_str(text: &str) -> Result<Self, InvalidIndex> {
        let mut url = Url::parse(text.trim()).map_err(|_| InvalidIndex)?;
        let decoded = |text: &str| base::percent::decode(text);
        let (user, password) = (decoded(url.username()), url.password().map(decoded).unwrap_or_default());
        let credential = (!user.is_empty() || !password.is_empty())
            .then(|| format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))));
        let is_clean = url.set_username("").is_ok() && url.set_password(None).is_ok();
        if !is_clean || !is_allowed(&url) || url.query().is_some() || url.fragment().is_some() {
            return Err(InvalidIndex);
        }
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(Self { url, credential })
    }
}

impl IndexAddress {
    /// The page that lists the files of a package.
    pub fn page(&self, package: &crate::name::Name) -> Url {
        self.url.join(&format!("{package}/")).expect("a name needs no escaping")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    #[error("{0} does not exist")]
    Missing(String),
    #[error("{url} answers with status {status}")]
    Status { url: String, status: u16 },
    #[error("{url} redirects to {to}, which is not followed: {reason}")]
    Redirect { url: String, to: String, reason: &'static str },
    #[error("the response of {url} is larger than {limit} MiB")]
    TooLarge { url: String, limit: u64 },
    #[error(
        "{url} does not answer completely within {seconds} seconds\nhint: try again, or raise `packages.timeout_seconds`"
    )]
    TooSlow { url: String, seconds: u64 },
    #[error(
        "the certificate of {url} is not trusted: {reason}\nhint: if it is your own server, set `packages.ca_file` to its certificate"
    )]
    Certificate { url: String, reason: String },
    #[error("cannot reach {url}: {reason}")]
    Unreachable { url: String, reason: String },
}

/// Which redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// The response is trusted because of the host it comes from.
    SameHost,
    /// The response is checked against a digest.
    AnyHost,
}

pub struct Client {
    /// One for each set of trusted certificates.
    agents: Vec<Agent>,
    options: Options,
}

impl Client {
    pub fn new(options: Options) -> Self {
        let own = certificates(&options.certificates).unwrap_or_default();
        let own = (!own.is_empty()).then(|| RootCerts::Specific(Arc::new(own)));
        let agents = own.into_iter().chain([RootCerts::WebPki]).map(|roots| agent(roots, options.timeout)).collect();
        Self { agents, options }
    }

    pub fn index(&self) -> &IndexAddress {
        &self.options.index
    }

    /// Requests a file. Returns where it was found in the end, its type and its bytes.
    pub fn get(
        &self,
        url: &Url,
        accept: &str,
        limit: u64,
        redirects: Redirects,
    ) -> Result<(Url, String, Vec<u8>), DownloadError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send(&url, accept)?;
            let status = response.status();
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            if let Some(to) = location.filter(|_| status.is_redirection()) {
                url = redirected(&url, to, redirects)?;
                continue;
            }
            return match status.as_u16() {
                404 | 410 => Err(DownloadError::Missing(shown(&url))),
                _ if !status.is_success() => Err(DownloadError::Status { url: shown(&url), status: status.as_u16() }),
                _ => {
                    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
                    let kind = kind.unwrap_or_default().to_ascii_lowercase();
                    let announced = response.body().content_length();
                    let body = response.into_body().into_with_config().limit(limit).read_to_vec();
                    let body = body.map_err(|error| self.error(&url, error))?;
                    if announced.is_some_and(|length| length != body.len() as u64) {
                        let reason = "the response is cut off".to_owned();
                        return Err(DownloadError::Unreachable { url: shown(&url), reason });
                    }
                    Ok((url, kind, body))
                }
            };
        }
        Err(DownloadError::Redirect {
            url: shown(&url),
            to: "another address".to_owned(),
            reason: "there are too many",
        })
    }

    /// Tries each set of certificates in turn. Nothing is sent to a host whose certificate is not trusted.
    fn send(&self, url: &Url, accept: &str) -> Result<Response<ureq::Body>, DownloadError> {
        let mut failure = None;
        for agent in &self.agents {
            let mut request = agent.get(url.as_str()).header(header::ACCEPT, accept);
            let index = &self.options.index;
            if let Some(credential) = index.credential.as_ref().filter(|_| index.url.origin() == url.origin()) {
                request = request.header(header::AUTHORIZATION, credential);
            }
            match request.call() {
                Ok(response) => return Ok(response),
                Err(error) if is_certificate_error(&error) => failure = Some(error),
                Err(error) => return Err(self.error(url, error)),
            }
        }
        Err(self.error(url, failure.expect("there is an agent, and it failed")))
    }

    fn error(&self, url: &Url, error: ureq::Error) -> DownloadError {
        let url = shown(url);
        if is_certificate_error(&error) {
            return DownloadError::Certificate { url, reason: error.to_string() };
        }
        match error {
            ureq::Error::Timeout(_) => DownloadError::TooSlow { url, seconds: self.options.timeout.as_secs() },
            ureq::Error::BodyExceedsLimit(limit) => DownloadError::TooLarge { url, limit: limit >> 20 },
            ureq::Error::HostNotFound => {
                DownloadError::Unreachable { url, reason: "the name of its host cannot be resolved".to_owned() }
            }
            error => DownloadError::Unreachable { url, reason: printable(&error.to_string()) },
        }
    }
}

fn agent(roots: RootCerts, timeout: Duration) -> Agent {
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        // Ignores proxy variables of the environment; only the configuration counts.
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("skillcell/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(CONNECT_TIMEOUT.min(timeout)))
        .timeout_connect(Some(CONNECT_TIMEOUT.min(timeout)))
        .timeout_global(Some(timeout));
    config.build().new_agent()
}

fn redirected(from: &Url, to: &str, redirects: Redirects) -> Result<Url, DownloadError> {
    let refuse = |to: String, reason| Err(DownloadError::Redirect { url: shown(from), to, reason });
    let Ok(target) = from.join(to) else { return refuse(printable(to), "it is not an address") };
    if !is_allowed(&target) || from.scheme() == "https" && target.scheme() != "https" {
        return refuse(shown(&target), "it is not encrypted, or contains a user name");
    }
    if redirects == Redirects::SameHost && target.origin() != from.origin() {
        return refuse(shown(&target), "it is another host; if you trust it, name it with `--index`");
    }
    Ok(target)
}

/// Whether an address may be requested: encrypted, or on this machine, and without credentials of its own.
pub fn is_allowed(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => return false,
    };
    let is_private = url.scheme() == "https" || url.scheme() == "http" && is_loopback;
    is_private && url.username().is_empty() && url.password().is_none()
}

/// An address for messages, without what may be a secret.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let _ = (url.set_username(""), url.set_password(None));
    printable(url.as_str())
}

fn is_certificate_error(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// Parses certificates in PEM.
pub fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(ureq::Error::to_string(&error))),
    };
    parse_pem(pem).filter_map(certificate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_encrypted_or_on_this_machine() {
        for text in [
            "https://h/simple",
            "https://h:8443/simple/",
            "http://127.0.0.1:3141/root/",
            "http://[::1]/",
            "http://localhost:1/x",
        ] {
            assert!(text.parse::<IndexAddress>().is_ok(), "{text}");
        }
        for text in [
            "",
            "simple",
            "http://h/simple",
            "ftp://h/",
            "file:///wheels",
            "https://h/?a=b",
            "http://127.0.0.1.evil.org/",
        ] {
            assert!(text.parse::<IndexAddress>().is_err(), "{text}");
        }
        let address: IndexAddress = "https://me:secret@h/simple".parse().unwrap();
        assert_eq!(address.page(&"Py.YAML".parse().unwrap()).as_str(), "https://h/simple/py-yaml/");
        assert!(!format!("{address:?} {address}").contains("secret"));
        assert_eq!(address.credential.as_deref(), Some("Basic bWU6c2VjcmV0"));
    }

    #[test]
    fn redirects_stay_encrypted_and_pages_stay_on_their_host() {
        let from = Url::parse("https://h/simple/a/").unwrap();
        let ends = |to: &str, redirects| redirected(&from, to, redirects).map(|url| url.to_string()).ok();
        assert_eq!(ends("/simple/b/", Redirects::SameHost).as_deref(), Some("https://h/simple/b/"));
        assert_eq!(ends("https://cdn/b", Redirects::AnyHost).as_deref(), Some("https://cdn/b"));
        for to in ["https://cdn/b", "//cdn/b", "https://h:444/b"] {
            assert_eq!(ends(to, Redirects::SameHost), None, "{to}");
        }
        for to in ["http://h/simple/a/", "http://127.0.0.1/", "file:///etc/passwd", "https://me:pw@h/", "data:,x"] {
            assert_eq!(ends(to, Redirects::AnyHost), None, "{to}");
        }
    }
}
