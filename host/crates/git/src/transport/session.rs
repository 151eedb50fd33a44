//! The HTTP requests of one fetch: credentials, redirects and timeouts.

use crate::address::{is_host, is_loopback};
use crate::error::NetworkError;
use crate::limits::{MAX_PACK_BYTES, MAX_REFERENCES_BYTES};
use crate::options::{Network, Remote};
use crate::transport::received::Refusal;
use crate::{Deadline, certificates};
use base::printable::printable;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::http::{Response, StatusCode, Uri, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, RequestBuilder};

const REFERENCES: &str = "/info/refs?service=git-upload-pack";
const REFERENCES_TYPE: &str = "application/x-git-upload-pack-advertisement";
const REQUEST_TYPE: &str = "application/x-git-upload-pack-request";
const RESULT_TYPE: &str = "application/x-git-upload-pack-result";

/// Hosts use this to distinguish git from browsers.
const USER_AGENT: &str = concat!("git/2.0 (skillcell ", env!("CARGO_PKG_VERSION"), ")");

const MAX_REDIRECTS: usize = 3;

/// Timeouts for a connection, and for the next bytes of a response.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

pub struct HttpSession {
    remote: Remote,
    /// One for each set of trusted certificates.
    agents: Vec<Agent>,
    deadline: Deadline,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where requests go.
    base: String,
    redirected: bool,
    /// Whether the remote asked for a credential.
    authorized: bool,
    /// The agent that trusts the remote's certificate.
    agent: usize,
    /// The first failure. libgit2 passes on only a message.
    failure: Option<NetworkError>,
}

impl HttpSession {
    pub fn new(remote: &Remote, network: &Network, deadline: Deadline) -> Self {
        let own = certificates(&network.certificates).unwrap_or_default();
        let own = (!own.is_empty()).then(|| RootCerts::Specific(Arc::new(own)));
        let agents = own.into_iter().chain([RootCerts::WebPki]).map(|roots| agent(roots, network.timeout)).collect();
        let state = Mutex::new(State { base: remote.address.text().to_owned(), ..State::default() });
        Self { remote: remote.clone(), agents, deadline, state }
    }

    pub fn take_failure(&self) -> Option<NetworkError> {
        self.state().failure.take()
    }

    /// Requests the list of references. Redirects are followed only here.
    pub fn references(&self) -> Result<Box<dyn Read + Send>, NetworkError> {
        self.record_failure(self.try_references())
    }

    /// Requests objects, from where the references came.
    pub fn upload_pack(&self, request: &[u8]) -> Result<Box<dyn Read + Send>, NetworkError> {
        self.record_failure(self.try_upload_pack(request))
    }

    /// Records that reading a response failed, and returns the error for libgit2.
    pub fn interrupted(&self, error: io::Error) -> io::Error {
        let failure = self.network_error(ureq::Error::from(error));
        let text = failure.to_string();
        let _ = self.record_failure::<()>(Err(failure));
        io::Error::other(text)
    }

    /// Records that a response is not accepted, and returns the error for libgit2.
    pub fn refused(&self, refusal: Refusal) -> io::Error {
        let failure = refusal.into_error(self.address());
        let text = failure.to_string();
        let _ = self.record_failure::<()>(Err(failure));
        io::Error::other(text)
    }

    fn try_references(&self) -> Result<Box<dyn Read + Send>, NetworkError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request_references()?;
            let status = response.status();
            if let Some(to) = redirect_target(&response) {
                self.follow(&to)?;
                continue;
            }
            if is_refusal(status) && self.may_authorize(status)? {
                self.state().authorized = true;
                continue;
            }
            return self.body(response, REFERENCES_TYPE, MAX_REFERENCES_BYTES);
        }
        Err(self.bad_redirect("one address after another", "there are too many redirects"))
    }

    /// Tries each set of certificates in turn. Nothing is sent to a host whose certificate is not trusted.
    fn request_references(&self) -> Result<Response<Body>, NetworkError> {
        loop {
            let (url, agent) = self.target(REFERENCES);
            let request = self.agents[agent].get(&url).header(header::ACCEPT, "*/*").header(header::PRAGMA, "no-cache");
            match self.prepared(request).call() {
                Err(error) if is_certificate_error(&error) && agent + 1 < self.agents.len() => self.state().agent += 1,
                result => return result.map_err(|error| self.network_error(error)),
            }
        }
    }

    fn try_upload_pack(&self, request: &[u8]) -> Result<Box<dyn Read + Send>, NetworkError> {
        let (url, agent) = self.target("/git-upload-pack");
        let post = self.agents[agent].post(&url).content_type(REQUEST_TYPE).header(header::ACCEPT, RESULT_TYPE);
        let response = self.prepared(post).send(request).map_err(|error| self.network_error(error))?;
        if let Some(to) = redirect_target(&response) {
            return Err(self.bad_redirect(&to, "only the first request may be redirected"));
        }
        self.body(response, RESULT_TYPE, MAX_PACK_BYTES)
    }

    /// Returns the URL of a request, and the number of the agent to send it with.
    fn target(&self, path: &str) -> (String, usize) {
        let state = self.state();
        (format!("{}{path}", state.base), state.agent)
    }

    /// Adds the timeout, and the credential if it may be sent: only to the host of the configured address.
    fn prepared<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        let state = self.state();
        let is_allowed = state.authorized && !state.redirected && self.remote.address.is_confidential();
        let request = request.config().timeout_global(Some(self.deadline.remaining())).build();
        match self.remote.credential.as_ref().filter(|_| is_allowed) {
            Some(credential) => request.header(header::AUTHORIZATION, credential.basic()),
            None => request,
        }
    }

    /// Returns the body of a successful response of the expected content type.
    fn body(&self, response: Response<Body>, kind: &str, limit: u64) -> Result<Box<dyn Read + Send>, NetworkError> {
        let (status, address) = (response.status(), self.address());
        let code = status.as_u16();
        if is_refusal(status) {
            return Err(if self.state().authorized {
                NetworkError::WrongCredential { address, status: code }
            } else {
                NetworkError::NoCredential { address, status: code }
            });
        }
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(NetworkError::Failing { host: self.host(), status: code });
        }
        if !status.is_success() {
            return Err(NetworkError::NotGit { address, reason: format!("it answers with status {code}") });
        }
        let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default();
        if content_type.split(';').next().unwrap_or_default().trim() != kind {
            let reason = format!("it answers with `{}`", printable(content_type));
            return Err(NetworkError::NotGit { address, reason });
        }
        let body = response.into_body();
        let remaining = body.content_length();
        Ok(Box::new(CompleteBody { body: body.into_with_config().limit(limit).reader(), remaining }))
    }

    /// Whether to retry with a credential. Fails if the credential must not be sent.
    fn may_authorize(&self, refusal: StatusCode) -> Result<bool, NetworkError> {
        let state = self.state();
        if self.remote.credential.is_none() {
            return Ok(false);
        }
        let address = self.address();
        if state.redirected {
            return Err(NetworkError::Moved { address, to: without_secrets(&state.base) });
        }
        if state.authorized {
            return Ok(false);
        }
        let not_secret = || NetworkError::NotSecret { address, status: refusal.as_u16() };
        if self.remote.address.is_confidential() { Ok(true) } else { Err(not_secret()) }
    }

    fn follow(&self, location: &str) -> Result<(), NetworkError> {
        let mut state = self.state();
        let base = redirected_base(&state.base, location).map_err(|reason| self.bad_redirect(location, reason))?;
        tracing::info!("{} redirects to {}", self.address(), without_secrets(&base));
        state.base = base;
        state.redirected = true;
        Ok(())
    }

    fn bad_redirect(&self, to: &str, reason: &'static str) -> NetworkError {
        NetworkError::BadRedirect { address: self.address(), to: without_secrets(to), reason }
    }

    fn address(&self) -> String {
        self.remote.address.text().to_owned()
    }

    fn host(&self) -> String {
        self.remote.address.host().unwrap_or_default().to_owned()
    }

    fn network_error(&self, error: ureq::Error) -> NetworkError {
        let host = self.host();
        if is_certificate_error(&error) {
            return NetworkError::Certificate { host, reason: error.to_string() };
        }
        match error {
            ureq::Error::Timeout(_) => NetworkError::TooSlow { host },
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => NetworkError::TooSlow { host },
            ureq::Error::HostNotFound => {
                NetworkError::Unreachable { host, reason: "its name cannot be resolved".to_owned() }
            }
            ureq::Error::Io(error)
                if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) =>
            {
                NetworkError::Interrupted { host, reason: error.to_string() }
            }
            ureq::Error::Protocol(error) => NetworkError::Interrupted { host, reason: error.to_string() },
            ureq::Error::BodyExceedsLimit(bytes) => {
                let reason = format!("its response is larger than {} MiB, which is the limit", bytes >> 20);
                NetworkError::TooLarge { address: self.address(), reason }
            }
            ureq::Error::Io(error) => NetworkError::Unreachable { host, reason: error.to_string() },
            error => NetworkError::Unreachable { host, reason: error.to_string() },
        }
    }

    /// Keeps the first failure, because libgit2 passes on only a message.
    fn record_failure<T>(&self, result: Result<T, NetworkError>) -> Result<T, NetworkError> {
        result.inspect_err(|failure| {
            self.state().failure.get_or_insert_with(|| failure.clone());
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fails if a body ends before its announced length.
struct CompleteBody<R> {
    body: R,
    /// Bytes still to come, if the length is known.
    remaining: Option<u64>,
}

impl<R: Read> Read for CompleteBody<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(bytes)?;
        if let Some(remaining) = &mut self.remaining {
            if count == 0 && *remaining > 0 && !bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{remaining} bytes are missing")));
            }
            *remaining = remaining.saturating_sub(count as u64);
        }
        Ok(count)
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
        .user_agent(USER_AGENT)
        .timeout_resolve(Some(CONNECT_TIMEOUT.min(timeout)))
        .timeout_connect(Some(CONNECT_TIMEOUT.min(timeout)))
        .timeout_recv_response(Some(IDLE_TIMEOUT.min(timeout)))
        .timeout_per_read(Some(IDLE_TIMEOUT.min(timeout)));
    config.build().new_agent()
}

/// Includes 404, because hosts hide that a private repository exists.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND)
}

fn redirect_target(response: &Response<Body>) -> Option<String> {
    let is_redirect = [301, 302, 303, 307, 308].contains(&response.status().as_u16());
    let to = response.headers().get(header::LOCATION)?.to_str().ok()?;
    is_redirect.then(|| to.to_owned())
}

/// Returns the address of the repository that a redirect from `base` leads to, or why it is not followed.
fn redirected_base(base: &str, location: &str) -> Result<String, &'static str> {
    let is_path = location.starts_with('/') && !location.starts_with("//");
    let to = if is_path { format!("{}{location}", &base[..authority(base).end]) } else { location.to_owned() };
    // What is parsed is checked and requested; a fragment is neither.
    let to: Uri = to.parse().map_err(|_| "it is not an HTTP address")?;
    let (Some(scheme @ ("http" | "https")), Some(host)) = (to.scheme_str(), to.authority()) else {
        return Err("it is not an HTTP address");
    };
    let (is_encrypted, host) = (scheme == "https", host.as_str());
    if !is_encrypted && (base.starts_with("https://") || !is_loopback(host)) {
        return Err("it is not encrypted");
    }
    if host.contains('@') {
        return Err("it contains a user name");
    }
    if !is_host(host) {
        return Err("it is not an HTTP address");
    }
    // With a query of its own, another path would be requested than the one that is checked.
    let path = to.path_and_query().and_then(|path| path.as_str().strip_suffix(REFERENCES));
    match path.filter(|path| !path.contains('?')) {
        Some(path) => Ok(format!("{scheme}://{host}{path}")),
        None => Err("it is not the address of a repository"),
    }
}

fn is_certificate_error(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        ureq::Error::Io(error) => error.kind() == io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// Returns where in a URL its host is, with user name and port.
fn authority(url: &str) -> Range<usize> {
    let start = url.find("://").map_or(0, |at| at + 3);
    start..url[start..].find('/').map_or(url.len(), |at| start + at)
}

/// Removes what may be a secret from an address: everything before an `@` and after a `?`.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Range { start, end } = authority(url);
    let host = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    printable(&format!("{}{}", &url[..start], &url[host..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;

    #[test]
    fn a_redirect_leads_only_to_the_references_of_a_repository() {
        let followed = |base: &str, to: &str| redirected_base(base, &format!("{to}{REFERENCES}"));
        for (to, expected) in [
            ("https://b.example/x.git", "https://b.example/x.git"),
            ("HTTPS://B.example:8443/x", "https://B.example:8443/x"),
            ("/moved/x", "https://a.example/moved/x"),
        ] {
            assert_eq!(followed("https://a.example/x", to).as_deref(), Ok(expected), "{to}");
        }
        let fragment = format!("https://b.example/x{REFERENCES}#@evil.example");
        assert_eq!(redirected_base("https://a.example/x", &fragment).as_deref(), Ok("https://b.example/x"));
        for (to, reason) in [
            ("https://b.example/any/path#", "it is not the address of a repository"),
            ("https://b.example/any/path?x=", "it is not the address of a repository"),
            ("/any/path#", "it is not the address of a repository"),
            ("/any/path?", "it is not the address of a repository"),
            ("https://b.example#", "it is not the address of a repository"),
            ("https://a.example@b.example/x", "it contains a user name"),
            ("https://b.example:x@c.example/x", "it contains a user name"),
            ("http://b.example#127.0.0.1/x", "it is not encrypted"),
            ("http://127.0.0.1/x", "it is not encrypted"),
            ("//b.example/x", "it is not an HTTP address"),
            ("x", "it is not an HTTP address"),
            ("https://b.example\\@c.example/x", "it is not an HTTP address"),
            ("https://b.\texample/x", "it is not an HTTP address"),
            ("https://b.exämple/x", "it is not an HTTP address"),
            ("https://b.example:/x", "it is not an HTTP address"),
            ("https://b.example:99999/x", "it is not an HTTP address"),
            ("ftp://b.example/x", "it is not an HTTP address"),
            ("https:///x", "it is not an HTTP address"),
        ] {
            assert_eq!(followed("https://a.example/x", to), Err(reason), "{to}");
        }
        for (to, is_followed) in [("http://127.0.0.1:1/x", true), ("http://localhost/x", true), ("http://b/x", false)] {
            assert_eq!(followed("http://127.0.0.1/x", to).is_ok(), is_followed, "{to}");
        }
    }

    #[test]
    fn the_error_for_a_token_that_cannot_be_sent_contains_the_status() {
        let (address, credential) = Address::parse("http://me:s3cret@example.com/skills", |path| path.into()).unwrap();
        let folder = "clone".into();
        let remote = Remote { address, branch: None, credential, folder, taken_over: false, token_missing: false };
        let network = Network::default();
        let session = HttpSession::new(&remote, &network, Deadline::after(network.timeout));
        for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND] {
            let error = session.may_authorize(status).unwrap_err().to_string();
            assert!(error.contains(&format!("({})", status.as_u16())) && error.contains("only over https"), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
