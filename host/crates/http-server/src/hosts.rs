//! Checks the `Host` header against the names of this server, which stops DNS rebinding.

use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use std::net::SocketAddr;

/// The names of the loopback interface.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The accepted values of `Host`, in lower case.
#[derive(Debug)]
pub struct Hosts(pub Vec<String>);

/// Why a request is not for this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// A proxy may have checked another value than this server.
    #[error("a header is repeated")]
    RepeatedHeader,
    #[error("the host header is missing")]
    MissingHost,
    #[error("the host is not a name of this server")]
    UnknownHost,
}

impl Hosts {
    /// Accepts the loopback names and the address itself, with and without its port.
    pub fn local(address: SocketAddr) -> Self {
        let own = SocketAddr::new(address.ip(), 0).to_string();
        let names = LOOPBACK.into_iter().chain(own.strip_suffix(":0"));
        Self(names.flat_map(|name| [name.to_owned(), format!("{name}:{}", address.port())]).collect())
    }

    pub fn check(&self, head: &Parts) -> Result<(), HostError> {
        let host = single_header(head, &HOST)?.ok_or(HostError::MissingHost)?;
        // If the request line names a host too, programs differ on which of the two counts.
        let request_line = head.uri.authority().map(|authority| authority.as_str().as_bytes());
        let is_known = self.contains(host.as_bytes()) && request_line.is_none_or(|name| self.contains(name));
        if is_known { Ok(()) } else { Err(HostError::UnknownHost) }
    }

    fn contains(&self, name: &[u8]) -> bool {
        self.0.iter().any(|host| host.as_bytes().eq_ignore_ascii_case(name))
    }
}

/// Returns the value of a header that may occur only once.
pub fn single_header<'a>(head: &'a Parts, name: &HeaderName) -> Result<Option<&'a HeaderValue>, HostError> {
    let mut values = head.headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() { Err(HostError::RepeatedHeader) } else { Ok(value) }
}
