//! The only way out for a guest: HTTP to hosts that were granted, at the address that was checked.
//!
//! A script does there what it likes. An integration only reads, and is sent on with the token of its service: that is what
//! [`reading`] adds.

mod answer;
mod connection;
pub mod graphql;
mod linking;
pub mod reading;
pub mod requests;
mod secret;

use crate::grants::hosts::{HostPattern, Reach, bare, is_public, reach};
use crate::sandbox::denials::Denials;
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use reading::Reading;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

pub use connection::trusting;
pub use linking::add_to_linker;

/// Names are looked up on threads that requests need too, and a slow answer keeps one.
static LOOKUPS: Semaphore = Semaphore::const_new(2);

/// Lets requests through to granted hosts.
#[derive(Clone)]
pub struct Gate {
    hosts: Arc<[HostPattern]>,
    denials: Denials,
    tls: TlsConnector,
    /// What else holds for an integration.
    reading: Option<Arc<Reading>>,
}

/// A machine and a port, and whether what is sent there is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub secure: bool,
    /// In lower case; an address of version 6 with its brackets.
    pub host: String,
    pub port: u16,
}

type Answered = (Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl Target {
    pub fn of(uri: &Uri) -> Option<Self> {
        let secure = uri.scheme() == Some(&Scheme::HTTPS);
        let host = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
        // A port that is no number is no port; hyper takes it for the usual one.
        let authority = uri.authority()?.as_str().rsplit('@').next()?;
        let written = authority.get(host.len()..)?.strip_prefix(':');
        let port = match written {
            None | Some("") => {
                if secure {
                    443
                } else {
                    80
                }
            }
            Some(port) => port.parse().ok()?,
        };
        Some(Self { secure, host, port })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl Gate {
    /// For a script.
    pub fn new(hosts: &[HostPattern], denials: Denials) -> Self {
        Self { hosts: hosts.into(), denials, tls: connection::usual(), reading: None }
    }

    /// For an integration. Who the service is, is proven by a certificate that `tls` trusts.
    pub fn reading(hosts: &[HostPattern], denials: Denials, tls: TlsConnector, reading: Reading) -> Self {
        Self { hosts: hosts.into(), denials, tls, reading: Some(Arc::new(reading)) }
    }

    /// Sends a request if everything about it is granted.
    pub async fn send(self, request: Request<WasiBody>, options: RequestOptions) -> Result<Answered, Error> {
        let Some(target) = Target::of(request.uri()) else { return Err(self.nowhere(&request)) };
        match &self.reading {
            None => self.pass(request, &target, options).await,
            Some(reading) => reading.send(&self, request, &target, options).await,
        }
    }

    async fn pass(
        &self,
        mut request: Request<WasiBody>,
        target: &Target,
        mut options: RequestOptions,
    ) -> Result<Answered, Error> {
        options.first_byte_timeout = Some(self.answer_time(options.first_byte_timeout));
        let addresses = self.addresses(target).await?;
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
        connection::exchange(target, &addresses, &self.tls, request, options).await
    }

    /// How long the beginning of an answer is waited for. A question of an integration has a limit of its own, which the operator
    /// sets.
    fn answer_time(&self, asked: Option<Duration>) -> Duration {
        let longest = if self.reading.is_some() { Duration::MAX } else { connection::ANSWER_TIME };
        asked.map_or(longest, |asked| asked.min(longest))
    }

    /// Refuses a request to a host or port that cannot be one.
    fn nowhere(&self, request: &Request<WasiBody>) -> Error {
        let authority = request.uri().authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default();
        let refusal = format!("connect to `{host}`: this is no host and port");
        if let Some(noted) = self.reading.as_ref().and_then(|reading| reading.requests.begin(request, host)) {
            noted.failed(&refusal);
        }
        self.denials.note(refusal);
        Error::HttpRequestDenied
    }

    fn reach(&self, target: &Target) -> Reach {
        reach(&self.hosts, &target.host, target.port)
    }

    fn not_granted(target: &Target) -> String {
        format!("connect to `{target}`: this host is not granted")
    }

    /// Looks the host up once. The connection then goes to an address that was checked, whatever the name means later.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Error> {
        let reach = self.reach(target);
        if reach == Reach::Refused {
            self.denials.note(Self::not_granted(target));
            return Err(Error::HttpRequestDenied);
        }
        let _turn = LOOKUPS.acquire().await;
        let looking = tokio::net::lookup_host((bare(&target.host), target.port));
        let found = tokio::time::timeout(connection::CONNECT_TIME, looking).await;
        let unknown = |_| Error::DnsError { rcode: Some("not found".to_owned()), info_code: None };
        let found: Vec<SocketAddr> = found.map_err(|_| Error::DnsTimeout)?.map_err(unknown)?.collect();
        if found.is_empty() {
            return Err(Error::DestinationNotFound);
        }
        let allowed = |address: &SocketAddr| match (reach, is_public(address.ip())) {
            (Reach::Public, is_public) => is_public,
            // What an integration sends in clear text stays in the network of this machine.
            (_, true) => target.secure || self.reading.is_none(),
            (_, false) => true,
        };
        let addresses: Vec<SocketAddr> = found.into_iter().filter(allowed).collect();
        if addresses.is_empty() {
            let host = &target.host;
            self.denials.note(match reach {
                Reach::Public => format!(
                    "connect to `{target}`: its address is private, and the grant does not say `private:{host}`"
                ),
                _ => format!("connect to `{target}`: it is no machine of this network, and `http` is not encrypted"),
            });
            return Err(Error::DestinationIpProhibited);
        }
        Ok(addresses)
    }
}

impl WasiHttpHooks for Gate {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Answered, Error>> + Send> {
        Box::new(self.clone().send(request, options.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests;
