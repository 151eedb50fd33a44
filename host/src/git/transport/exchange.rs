//! The requests of one exchange with a remote: which credential they carry, where they are redirected, how long they take.

use crate::config::git::{Network, Remote};
use crate::git::address::is_loopback;
use crate::git::credential::Credential;
use crate::git::problem::NetworkError;
use crate::git::{Patience, certificates};
use crate::printable::printable;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

const REFERENCES: &str = "/info/refs?service=git-upload-pack";
const REFERENCES_TYPE: &str = "application/x-git-upload-pack-advertisement";
const REQUEST_TYPE: &str = "application/x-git-upload-pack-request";
const RESULT_TYPE: &str = "application/x-git-upload-pack-result";

/// Hosts look at this to tell git from browsers.
const CALLED: &str = concat!("git/2.0 (skillcell ", env!("CARGO_PKG_VERSION"), ")");

const MOST_REDIRECTS: usize = 3;

/// Most that a list of references takes, in bytes: about a million of them.
const MOST_REFERENCES: u64 = 64 << 20;

/// Most that one fetch takes, in bytes. Skills are text.
const MOST_PACK: u64 = 4 << 30;

/// Longest wait for a connection, and for the next bytes of an answer.
const LONGEST_CONNECT: Duration = Duration::from_secs(15);
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

pub struct Exchange {
    address: String,
    host: String,
    credential: Option<Credential>,
    /// Whether a credential may be sent to where the address leads.
    keeps_secrets: bool,
    /// One for each set of certificates that is trusted.
    agents: Vec<Agent>,
    patience: Patience,
    state: Mutex<State>,
}

/// What was learnt on the way.
struct State {
    /// Where requests go.
    base: String,
    redirected: bool,
    /// Whether the remote asked who we are.
    authorized: bool,
    /// The agent that the remote's certificate was good enough for.
    agent: usize,
    /// The first thing that went wrong. libgit2 only knows words for it.
    failure: Option<NetworkError>,
}

impl Exchange {
    pub fn new(remote: &Remote, network: &Network, patience: Patience) -> Self {
        let own = certificates(&network.certificates).unwrap_or_default();
        let own = (!own.is_empty()).then(|| RootCerts::Specific(Arc::new(own)));
        let agents = own.into_iter().chain([RootCerts::WebPki]).map(|roots| agent(roots, network.timeout)).collect();
        let state = State {
            base: remote.address.text().to_owned(),
            redirected: false,
            authorized: false,
            agent: 0,
            failure: None,
        };
        Self {
            address: remote.address.text().to_owned(),
            host: remote.address.host().unwrap_or_default().to_owned(),
            credential: remote.credential.clone(),
            keeps_secrets: remote.address.keeps_secrets(),
            agents,
            patience,
            state: Mutex::new(state),
        }
    }

    /// What went wrong, if something did.
    pub fn failure(&self) -> Option<NetworkError> {
        self.state().failure.take()
    }

    /// Asks which branches there are. Redirects are followed only here.
    pub fn references(&self) -> Result<Box<dyn Read + Send>, NetworkError> {
        self.noted(self.try_references())
    }

    /// Sends a request for objects, where the references came from.
    pub fn upload_pack(&self, request: &[u8]) -> Result<Box<dyn Read + Send>, NetworkError> {
        self.noted(self.try_upload_pack(request))
    }

    /// The error for libgit2, when an answer ends before its end.
    pub fn broke_off(&self, error: io::Error) -> io::Error {
        let failure = self.failed(ureq::Error::from(error));
        let text = failure.to_string();
        let _ = self.noted::<()>(Err(failure));
        io::Error::other(text)
    }

    fn try_references(&self) -> Result<Box<dyn Read + Send>, NetworkError> {
        for _ in 0..=MOST_REDIRECTS {
            let answer = self.ask_for_references()?;
            let status = answer.status();
            if let Some(to) = redirect(&answer) {
                self.follow(&to)?;
                continue;
            }
            if is_refusal(status) && self.may_authorize(status)? {
                self.state().authorized = true;
                continue;
            }
            return self.body(answer, REFERENCES_TYPE, MOST_REFERENCES);
        }
        Err(self.bad_redirect("elsewhere again and again", "there are too many redirects"))
    }

    /// Asks with each set of certificates in turn. Nothing is sent to a host whose certificate is not trusted.
    fn ask_for_references(&self) -> Result<Response<Body>, NetworkError> {
        loop {
            let (url, authorization, number) = {
                let state = self.state();
                (format!("{}{REFERENCES}", state.base), self.authorization(&state), state.agent)
            };
            let mut request =
                self.agents[number].get(&url).header(header::ACCEPT, "*/*").header(header::PRAGMA, "no-cache");
            if let Some(authorization) = authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            match request.config().timeout_global(Some(self.patience.left())).build().call() {
                Err(error) if is_certificate(&error) && number + 1 < self.agents.len() => self.state().agent += 1,
                answered => return answered.map_err(|error| self.failed(error)),
            }
        }
    }

    fn try_upload_pack(&self, request: &[u8]) -> Result<Box<dyn Read + Send>, NetworkError> {
        let (url, authorization, number) = {
            let state = self.state();
            (format!("{}/git-upload-pack", state.base), self.authorization(&state), state.agent)
        };
        let mut post = self.agents[number].post(&url).content_type(REQUEST_TYPE).header(header::ACCEPT, RESULT_TYPE);
        if let Some(authorization) = authorization {
            post = post.header(header::AUTHORIZATION, authorization);
        }
        let answer = post.config().timeout_global(Some(self.patience.left())).build().send(request);
        let answer = answer.map_err(|error| self.failed(error))?;
        if let Some(to) = redirect(&answer) {
            return Err(self.bad_redirect(&to, "only the first request may be redirected"));
        }
        self.body(answer, RESULT_TYPE, MOST_PACK)
    }

    /// The answer, if it is what was asked for.
    fn body(&self, answer: Response<Body>, kind: &str, most: u64) -> Result<Box<dyn Read + Send>, NetworkError> {
        let (status, address) = (answer.status(), self.address.clone());
        let told = status.as_u16();
        if is_refusal(status) {
            return Err(if self.state().authorized {
                NetworkError::WrongCredential { address, status: told }
            } else {
                NetworkError::NoCredential { address, status: told }
            });
        }
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(NetworkError::Failing { host: self.host.clone(), status: told });
        }
        if !status.is_success() {
            return Err(NetworkError::NotGit { address, what: format!("it answers with status {told}") });
        }
        let said = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if said.split(';').next().unwrap_or_default().trim() != kind {
            return Err(NetworkError::NotGit { address, what: format!("it answers with `{}`", printable(said)) });
        }
        let body = answer.into_body();
        let left = body.content_length();
        Ok(Box::new(Whole { body: body.into_with_config().limit(most).reader(), left }))
    }

    /// Whether to ask again and say who we are, or why that is of no use.
    fn may_authorize(&self, refusal: StatusCode) -> Result<bool, NetworkError> {
        let state = self.state();
        if self.credential.is_none() {
            return Ok(false);
        }
        let address = self.address.clone();
        if state.redirected {
            return Err(NetworkError::Moved { address, to: without_secrets(&state.base) });
        }
        if state.authorized {
            return Ok(false);
        }
        let not_secret = || NetworkError::NotSecret { address, status: refusal.as_u16() };
        if self.keeps_secrets { Ok(true) } else { Err(not_secret()) }
    }

    /// A credential is for the host of the address, and goes nowhere else.
    fn authorization(&self, state: &State) -> Option<String> {
        let may = state.authorized && !state.redirected && self.keeps_secrets;
        self.credential.as_ref().filter(|_| may).map(Credential::basic)
    }

    fn follow(&self, to: &str) -> Result<(), NetworkError> {
        let mut state = self.state();
        let host_end = state.base.find("://").map_or(0, |at| at + 3);
        let host_end = state.base[host_end..].find('/').map_or(state.base.len(), |at| host_end + at);
        let to = if to.starts_with('/') && !to.starts_with("//") {
            format!("{}{to}", &state.base[..host_end])
        } else {
            to.to_owned()
        };
        let shown = without_secrets(&to);
        let secure = |url: &str| url.starts_with("https://");
        if !secure(&to) && !to.starts_with("http://") {
            return Err(self.bad_redirect(&shown, "it is no address of a web server"));
        }
        let host = to.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        if secure(&state.base) && !secure(&to) || !secure(&to) && !is_loopback(host) {
            return Err(self.bad_redirect(&shown, "it is not encrypted"));
        }
        if host.contains('@') {
            return Err(self.bad_redirect(&shown, "it names a user"));
        }
        let Some(base) = to.strip_suffix(REFERENCES) else {
            return Err(self.bad_redirect(&shown, "it leads to no repository"));
        };
        tracing::info!("{} is at {} now", self.address, without_secrets(base));
        base.clone_into(&mut state.base);
        state.redirected = true;
        Ok(())
    }

    fn bad_redirect(&self, to: &str, why: &'static str) -> NetworkError {
        NetworkError::BadRedirect { address: self.address.clone(), to: without_secrets(to), why }
    }

    fn failed(&self, error: ureq::Error) -> NetworkError {
        let host = self.host.clone();
        if is_certificate(&error) {
            return NetworkError::Certificate { host, reason: error.to_string() };
        }
        match error {
            ureq::Error::Timeout(_) => NetworkError::TooSlow { host },
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => NetworkError::TooSlow { host },
            ureq::Error::HostNotFound => {
                NetworkError::Unreachable { host, reason: "nobody knows its address".to_owned() }
            }
            ureq::Error::Io(error)
                if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) =>
            {
                NetworkError::BrokenOff { host, reason: error.to_string() }
            }
            ureq::Error::Protocol(error) => NetworkError::BrokenOff { host, reason: error.to_string() },
            ureq::Error::BodyExceedsLimit(bytes) => {
                NetworkError::BrokenOff { host, reason: format!("the answer is larger than {bytes} bytes") }
            }
            ureq::Error::Io(error) => NetworkError::Unreachable { host, reason: error.to_string() },
            error => NetworkError::Unreachable { host, reason: error.to_string() },
        }
    }

    /// Keeps the first failure, because libgit2 only passes on words.
    fn noted<T>(&self, result: Result<T, NetworkError>) -> Result<T, NetworkError> {
        result.inspect_err(|failure| {
            self.state().failure.get_or_insert_with(|| failure.clone());
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that is not whole is an error, also when it ends quietly.
struct Whole<R> {
    body: R,
    /// Bytes that are still to come, if the remote said how many there are.
    left: Option<u64>,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(bytes)?;
        if let Some(left) = &mut self.left {
            if count == 0 && *left > 0 && !bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{left} bytes are missing")));
            }
            *left = left.saturating_sub(count as u64);
        }
        Ok(count)
    }
}

fn agent(roots: RootCerts, longest: Duration) -> Agent {
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        // The environment may name a proxy; only the operator's file and our own variables count.
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(CALLED)
        .timeout_resolve(Some(LONGEST_CONNECT.min(longest)))
        .timeout_connect(Some(LONGEST_CONNECT.min(longest)))
        .timeout_recv_response(Some(LONGEST_SILENCE.min(longest)))
        .timeout_per_read(Some(LONGEST_SILENCE.min(longest)));
    config.build().new_agent()
}

/// Hosts hide that a private repository exists.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND)
}

fn redirect(answer: &Response<Body>) -> Option<String> {
    let moved = [301, 302, 303, 307, 308].contains(&answer.status().as_u16());
    let to = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    moved.then(|| to.to_owned())
}

fn is_certificate(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        ureq::Error::Io(error) => error.kind() == io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// Other people's addresses may hold secrets of theirs: what is before an `@`, and what is behind a `?`.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    let host = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    printable(&format!("{}{}", &url[..start], &url[host..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::address::Address;

    #[test]
    fn a_token_that_cannot_be_sent_is_told_with_what_the_remote_answered() {
        let (address, credential) = Address::parse("http://me:s3cret@example.com/skills", |path| path.into()).unwrap();
        let folder = "clone".into();
        let remote = Remote { address, branch: None, credential, folder, taken_over: false, token_missing: false };
        let network = Network::default();
        let exchange = Exchange::new(&remote, &network, Patience::new(network.timeout));
        for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND] {
            let told = exchange.may_authorize(status).unwrap_err().to_string();
            assert!(told.contains(&format!("({})", status.as_u16())) && told.contains("only over https"), "{told}");
            assert!(!told.contains("s3cret"), "{told}");
        }
    }
}
