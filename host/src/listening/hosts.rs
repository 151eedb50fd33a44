//! The names by which a server is reached. A page elsewhere whose name was made to mean this machine has another one.

use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use std::net::SocketAddr;

/// What this machine calls itself.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What `Host` may say, in lower case.
#[derive(Debug)]
pub struct Hosts(Vec<String>);

/// Why a request is not for this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misled {
    /// A header is there twice, and nobody knows which one others saw.
    Repeated,
    /// No `Host`.
    Nameless,
    /// Another name.
    Elsewhere,
}

impl Hosts {
    /// The names of this machine, for a server at one of its addresses.
    pub fn here(address: SocketAddr) -> Self {
        let own = SocketAddr::new(address.ip(), 0).to_string();
        let names = LOOPBACK.into_iter().chain(own.strip_suffix(":0"));
        Self(names.flat_map(|name| [name.to_owned(), format!("{name}:{}", address.port())]).collect())
    }

    pub fn named(names: Vec<String>) -> Self {
        Self(names)
    }

    pub fn check(&self, head: &Parts) -> Result<(), Misled> {
        let host = only(head, &HOST)?.ok_or(Misled::Nameless)?;
        // Of a name in the request line and one in the header, software differs on which one counts.
        let line = head.uri.authority().map(|authority| authority.as_str().as_bytes());
        let is_here = self.is_one(host.as_bytes()) && line.is_none_or(|name| self.is_one(name));
        if is_here { Ok(()) } else { Err(Misled::Elsewhere) }
    }

    pub fn all(&self) -> &[String] {
        &self.0
    }

    fn is_one(&self, name: &[u8]) -> bool {
        self.0.iter().any(|host| host.as_bytes().eq_ignore_ascii_case(name))
    }
}

/// The value of a header that may be said once.
pub fn only<'a>(head: &'a Parts, name: &HeaderName) -> Result<Option<&'a HeaderValue>, Misled> {
    let mut values = head.headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() { Err(Misled::Repeated) } else { Ok(value) }
}
