//! HTTP requests and responses.

#[cfg(target_family = "wasm")]
pub mod outgoing;

use crate::QueryError;

/// Maximum size of one response; the limit of the host.
pub const ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// A request to an absolute URL, as in `https://api.example.com/a?b=c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    pub address: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The methods that integrations may use: reading, and posting a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
}

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

/// A complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub head: Head,
    pub body: Vec<u8>,
}

/// An HTTP client.
pub trait Http {
    /// Sends a request and passes each part of the response to `receive`, whose error ends it.
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError>;

    /// Sends a request and waits for the complete response.
    fn send(&self, request: &Request) -> Result<Response, QueryError> {
        let mut body = Vec::new();
        let head = self.stream(request, &mut |_, part| {
            if body.len() + part.len() > ANSWER_BYTES {
                return Err(too_large(request));
            }
            body.extend_from_slice(part);
            Ok(())
        })?;
        Ok(Response { head, body })
    }
}

/// Receives the head and the next part of a response.
pub type Receive<'a> = dyn FnMut(&Head, &[u8]) -> Result<(), QueryError> + 'a;

impl Request {
    pub fn get(address: impl Into<String>) -> Self {
        Self { method: Method::Get, address: address.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn post(address: impl Into<String>, body: Vec<u8>) -> Self {
        Self { method: Method::Post, address: address.into(), headers: Vec::new(), body }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns text such as `GET https://api.example.com/a` for messages, without the query string.
    pub fn describe(&self) -> String {
        let address = self.address.split(['?', '#']).next().unwrap_or_default();
        format!("{} {address}", self.method.name())
    }
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

impl Head {
    /// Returns the first header of this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }
}

/// The error for a response larger than [`ANSWER_BYTES`].
pub fn too_large(request: &Request) -> QueryError {
    QueryError::Failed(format!("the answer to {} is larger than {} MiB", request.describe(), ANSWER_BYTES >> 20))
}

/// The parts of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<'a> {
    pub secure: bool,
    pub authority: &'a str,
    /// With the leading slash and the query string.
    pub path: &'a str,
}

/// Splits an absolute `http` or `https` URL; none for anything else.
pub fn parts(address: &str) -> Option<Parts<'_>> {
    let (secure, rest) = match address.split_once("://")? {
        (scheme, rest) if scheme.eq_ignore_ascii_case("https") => (true, rest),
        (scheme, rest) if scheme.eq_ignore_ascii_case("http") => (false, rest),
        _ => return None,
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    (!authority.is_empty() && path.starts_with('/')).then_some(Parts { secure, authority, path })
}

/// Percent-encodes text for a path segment or a query value. Dots alone would change the path.
pub fn encode(text: &str) -> String {
    if matches!(text, "." | "..") {
        return text.replace('.', "%2E");
    }
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.extend(format!("%{byte:02X}").chars());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_are_taken_apart() {
        let whole = Parts { secure: true, authority: "ghe.example.com:8443", path: "/api/v3?a=b" };
        assert_eq!(parts("https://ghe.example.com:8443/api/v3?a=b#part"), Some(whole));
        assert_eq!(parts("HTTP://a"), Some(Parts { secure: false, authority: "a", path: "/" }));
        for wrong in ["", "a", "ftp://a/", "https://", "https:///a", "://", "https://a?b"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_not_plain_is_encoded() {
        assert_eq!(encode("feature/ä b?&#"), "feature%2F%C3%A4%20b%3F%26%23");
        assert_eq!((encode(".."), encode("a..")), ("%2E%2E".into(), "a..".into()));
        assert_eq!(encode("v1.2-rc_3~"), "v1.2-rc_3~");
    }

    #[test]
    fn messages_name_no_values_of_a_query() {
        assert_eq!(Request::get("https://a/b?secret=c").describe(), "GET https://a/b");
    }

    proptest! {
        #[test]
        fn any_address_has_parts_or_none(address in "(https?://)?\\PC{0,40}") {
            if let Some(parts) = parts(&address) {
                prop_assert!(parts.path.starts_with('/') && !parts.authority.is_empty());
            }
        }
    }
}
