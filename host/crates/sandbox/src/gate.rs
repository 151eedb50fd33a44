//! A guest's only way to the network: HTTP to granted hosts, at the address that was checked.
//!
//! Scripts may send any request there. Integrations may only read, and the gate adds the token of their service; see
//! [`read_only`].

mod connection;
pub mod read_only;
pub mod graphql;
pub mod request_log;
mod response_body;
mod secret;

use crate::denials::{ConnectionDenial, Denial, Denials};
use crate::hosts::{HostAccess, HostPattern, host_access, is_public, without_brackets};
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use read_only::ReadOnly;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, IoError};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks, WasiHttpView};

pub use connection::tls_connector;

/// Limits DNS lookups, because each blocks a thread that requests need too.
static LOOKUPS: Semaphore = Semaphore::const_new(2);

/// Lets requests through to granted hosts.
#[derive(Clone)]
pub struct Gate {
    hosts: Arc<[HostPattern]>,
    denials: Denials,
    tls: TlsConnector,
    /// Set for integrations.
    read_only: Option<Arc<ReadOnly>>,
}

/// The destination of a request, without its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub secure: bool,
    /// In lower case; an IPv6 address has brackets.
    pub host: String,
    pub port: u16,
}

type WasiRequest = Request<WasiBody>;

/// A response, and the future that drives its connection.
type GateResponse = (Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl Target {
    pub fn of(uri: &Uri) -> Option<Self> {
        let secure = uri.scheme() == Some(&Scheme::HTTPS);
        let host = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
        // hyper takes `[a@b]:80` for the host `b]`.
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        if bare.contains(['[', ']']) {
            return None;
        }
        // hyper treats a port that is not a number as the default port; here it is an error.
        let authority = uri.authority()?.as_str().rsplit('@').next()?;
        let port = match authority.get(host.len()..)?.strip_prefix(':') {
            None | Some("") => default_port(secure),
            Some(port) => port.parse().ok()?,
        };
        Some(Self { secure, host, port })
    }

    fn denial(&self, reason: ConnectionDenial) -> Denial {
        Denial::Connection { host: self.to_string(), reason }
    }
}

fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl Gate {
    /// Creates the gate of a script.
    pub fn new(hosts: &[HostPattern], denials: Denials) -> Self {
        Self { hosts: hosts.into(), denials, tls: tls_connector(&[]), read_only: None }
    }

    /// Creates the gate of an integration. `tls` determines which certificates are trusted.
    pub fn read_only(hosts: &[HostPattern], denials: Denials, tls: TlsConnector, rules: ReadOnly) -> Self {
        Self { hosts: hosts.into(), denials, tls, read_only: Some(Arc::new(rules)) }
    }

    /// Sends a request if it is allowed.
    pub async fn send(self, request: WasiRequest, options: RequestOptions) -> Result<GateResponse, Error> {
        let Some(target) = Target::of(request.uri()) else { return Err(self.deny_invalid_target(&request)) };
        match &self.read_only {
            None => self.forward(request, &target, options).await,
            Some(rules) => rules.send(&self, request, &target, options).await,
        }
    }

    /// Sends a request to an address that was checked.
    async fn forward(
        &self,
        mut request: WasiRequest,
        target: &Target,
        mut options: RequestOptions,
    ) -> Result<GateResponse, Error> {
        options.first_byte_timeout = Some(self.response_timeout(options.first_byte_timeout));
        let addresses = self.addresses(target).await?;
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
        connection::send(target, &addresses, &self.tls, request, options).await
    }

    /// The timeout for the start of the response. Integrations have a timeout per question instead.
    fn response_timeout(&self, requested: Option<Duration>) -> Duration {
        let limit = if self.read_only.is_some() { Duration::MAX } else { connection::RESPONSE_TIMEOUT };
        requested.map_or(limit, |requested| requested.min(limit))
    }

    fn deny_invalid_target(&self, request: &WasiRequest) -> Error {
        let authority = request.uri().authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default();
        let denial = Denial::Connection { host: host.to_owned(), reason: ConnectionDenial::Invalid };
        if let Some(entry) = self.read_only.as_ref().and_then(|rules| rules.requests.begin(request, host)) {
            entry.failed(&denial.to_string());
        }
        self.denials.note(denial);
        Error::HttpRequestDenied
    }

    fn access(&self, target: &Target) -> HostAccess {
        host_access(&self.hosts, &target.host, target.port)
    }

    /// Looks up the host once and checks its addresses. The connection goes to one of these, even if the name resolves
    /// differently later.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Error> {
        let access = self.access(target);
        if access == HostAccess::Refused {
            self.denials.note(target.denial(ConnectionDenial::NotGranted));
            return Err(Error::HttpRequestDenied);
        }
        let _permit = LOOKUPS.acquire().await;
        let lookup = tokio::net::lookup_host((without_brackets(&target.host), target.port));
        let found = tokio::time::timeout(connection::CONNECT_TIMEOUT, lookup).await;
        let not_found = |_| Error::DnsError { rcode: Some("not found".to_owned()), info_code: None };
        let found: Vec<SocketAddr> = found.map_err(|_| Error::DnsTimeout)?.map_err(not_found)?.collect();
        if found.is_empty() {
            return Err(Error::DestinationNotFound);
        }
        let allowed = |address: &SocketAddr| match (access, is_public(address.ip())) {
            (HostAccess::Public, is_public) => is_public,
            // Integrations may only send unencrypted requests within the local network.
            (_, true) => target.secure || self.read_only.is_none(),
            (_, false) => true,
        };
        let addresses: Vec<SocketAddr> = found.into_iter().filter(allowed).collect();
        if addresses.is_empty() {
            self.denials.note(target.denial(match access {
                HostAccess::Public => ConnectionDenial::Private { host: target.host.clone() },
                _ => ConnectionDenial::UnencryptedOutside,
            }));
            return Err(Error::DestinationIpProhibited);
        }
        Ok(addresses)
    }
}

impl WasiHttpHooks for Gate {
    fn send_request(
        &mut self,
        request: WasiRequest,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<GateResponse, Error>> + Send> {
        Box::new(self.clone().send(request, options.unwrap_or_default()))
    }
}

/// Links `wasi:http` to the gate in a guest's store.
pub fn add_to_linker<S: WasiHttpView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    // wasmtime's own returns `none` for a body that broke off, because it looks for another error type.
    linker.allow_shadowing(true);
    linker.instance("wasi:http/types@0.2.12")?.func_wrap(
        "http-error-code",
        |mut store: StoreContextMut<'_, S>, (error,): (Resource<IoError>,)| {
            let http = store.data_mut().http();
            Ok((error_code(http.table.get(&error)?),))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

fn error_code(error: &IoError) -> Option<ErrorCode> {
    if let Some(code) = error.downcast_ref::<ErrorCode>() {
        return Some(code.clone());
    }
    match error.downcast_ref::<Error>()? {
        Error::HttpResponseBodySize(size) => Some(ErrorCode::HttpResponseBodySize(*size)),
        Error::HttpRequestDenied => Some(ErrorCode::HttpRequestDenied),
        Error::Hyper(_) => Some(ErrorCode::ConnectionTerminated),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
