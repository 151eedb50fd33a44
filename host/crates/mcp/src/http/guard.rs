//! Access control of HTTP requests. It depends only on the head, before the body is read.

use crate::http::refusal::Refusal;
use http_server::hosts::{Hosts, LOOPBACK, single_header};
use http_server::token::Token;
use hyper::header::{AUTHORIZATION, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use std::net::SocketAddr;

/// The path of the MCP endpoint.
pub const PATH: &str = "/mcp";

#[derive(Debug)]
pub struct Guard {
    token: Token,
    pub hosts: Hosts,
    /// The origins of pages behind the proxy.
    origins: Vec<String>,
}

impl Guard {
    /// Creates the guard of a server at an address, or behind a proxy with these names.
    pub fn new(token: Token, names: Vec<String>, address: SocketAddr) -> Self {
        let origins = names.iter().map(|name| format!("https://{name}")).collect();
        let hosts = if names.is_empty() { Hosts::local(address) } else { Hosts(names) };
        Self { token, hosts, origins }
    }

    pub fn check(&self, head: &Parts) -> Result<(), Refusal> {
        let origin = single_header(head, &ORIGIN)?;
        let authorization = single_header(head, &AUTHORIZATION)?;
        self.hosts.check(head)?;
        if !origin.is_none_or(|origin| self.is_allowed_origin(origin)) {
            return Err(Refusal::Origin);
        }
        // Clients without a token look for OAuth metadata; not found tells them that there is none.
        if head.uri.path() != PATH {
            return Err(Refusal::Path);
        }
        if !authorization.is_some_and(|header| self.token.is_in_header(header.as_bytes())) {
            return Err(Refusal::Token);
        }
        Ok(())
    }

    /// Returns the allowed values of `Origin`, for rmcp, which checks again.
    pub fn origins(&self) -> impl Iterator<Item = String> {
        let local = LOOPBACK.iter().flat_map(|name| [format!("http://{name}:*"), format!("https://{name}:*")]);
        local.chain(self.origins.iter().cloned())
    }

    /// Allows pages of this machine, whichever program serves them, and those behind the proxy.
    fn is_allowed_origin(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str().map(str::to_ascii_lowercase) else { return false };
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let is_local = rest.is_some_and(|rest| LOOPBACK.iter().any(|name| is_host(rest, name)));
        is_local || self.origins.contains(&origin)
    }
}

/// Whether a text is this name, with or without a port.
fn is_host(text: &str, name: &str) -> bool {
    match text.strip_prefix(name) {
        Some("") => true,
        Some(port) => port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::config::spellings;
    use http_server::hosts::HostError;
    use hyper::Request;

    const UNKNOWN_HOST: Result<(), Refusal> = Err(Refusal::Host(HostError::UnknownHost));
    const RIGHT: &str = "Bearer 0123456789abcdef";

    fn guard(address: &str, names: &[&str]) -> Guard {
        let names = names.iter().flat_map(|name| spellings(name).unwrap()).collect();
        Guard::new(Token::from_text("0123456789abcdef", "a test").unwrap(), names, address.parse().unwrap())
    }

    fn head(target: &str, headers: &[(&str, &[u8])]) -> Parts {
        let mut request = Request::post(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn with_host(guard: &Guard, host: &str) -> Result<(), Refusal> {
        guard.check(&head("/mcp", &[("host", host.as_bytes()), ("authorization", RIGHT.as_bytes())]))
    }

    fn with_origin(guard: &Guard, host: &str, origin: &[u8]) -> Result<(), Refusal> {
        let headers = [("host", host.as_bytes()), ("origin", origin), ("authorization", RIGHT.as_bytes())];
        guard.check(&head("/mcp", &headers))
    }

    #[test]
    fn this_machine_has_few_names_and_one_port() {
        let guard = guard("127.0.0.2:8080", &[]);
        for host in
            ["localhost:8080", "LocalHost:8080", "localhost", "127.0.0.1:8080", "[::1]:8080", "[::1]", "127.0.0.2"]
        {
            assert_eq!(with_host(&guard, host), Ok(()), "{host}");
        }
        for host in [
            "",
            "localhost:8081",
            "localhost:",
            "localhost:08080",
            "localhost.",
            "localhost.evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "evil@localhost:8080",
            "127.1",
            "2130706433",
            "0.0.0.0:8080",
            "::1",
            "[::ffff:127.0.0.1]",
            "localhost, evil.example",
            "localhost/mcp",
        ] {
            assert_eq!(with_host(&guard, host), UNKNOWN_HOST, "{host}");
        }
    }

    #[test]
    fn behind_a_proxy_only_its_names_are_allowed() {
        let guard = guard("0.0.0.0:8080", &["a.example", "b.example:8443"]);
        for host in ["a.example", "A.EXAMPLE", "a.example:443", "b.example:8443"] {
            assert_eq!(with_host(&guard, host), Ok(()), "{host}");
        }
        for host in ["b.example", "a.example:8080", "x.a.example", "localhost", "127.0.0.1:8080", "0.0.0.0"] {
            assert_eq!(with_host(&guard, host), UNKNOWN_HOST, "{host}");
        }
        for origin in ["https://a.example", "https://a.example:443", "https://b.example:8443", "http://localhost:6274"]
        {
            assert_eq!(with_origin(&guard, "a.example", origin.as_bytes()), Ok(()), "{origin}");
        }
        for origin in
            ["http://a.example", "https://b.example", "https://a.example:8443", "https://a.example.evil.example"]
        {
            assert_eq!(with_origin(&guard, "a.example", origin.as_bytes()), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn only_pages_of_this_machine_are_allowed() {
        let guard = guard("127.0.0.1:8080", &[]);
        for origin in ["http://localhost", "https://localhost:1", "http://127.0.0.1:65535", "http://[::1]:3000"] {
            assert_eq!(with_origin(&guard, "localhost", origin.as_bytes()), Ok(()), "{origin}");
        }
        for origin in [
            "",
            "null",
            "localhost",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://localhost:1@evil.example",
            "http://localhost:99999",
            "http://localhost:",
            "http://localhost/",
            "http://evil.example#http://localhost",
            "file://",
            "chrome-extension://localhost",
            "http://localhost http://evil.example",
        ] {
            assert_eq!(with_origin(&guard, "localhost", origin.as_bytes()), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(with_origin(&guard, "localhost", b"http://localhost\xff"), Err(Refusal::Origin));
    }

    #[test]
    fn repeated_headers_are_refused_even_if_they_are_equal() {
        let guard = guard("127.0.0.1:8080", &[]);
        let right: [(&str, &[u8]); 3] =
            [("host", b"localhost"), ("origin", b"http://localhost"), ("authorization", RIGHT.as_bytes())];
        assert_eq!(guard.check(&head("/mcp", &right)), Ok(()));
        for again in right {
            let headers = [right[0], right[1], right[2], again];
            assert_eq!(
                guard.check(&head("/mcp", &headers)),
                Err(Refusal::Host(HostError::RepeatedHeader)),
                "{again:?}"
            );
        }
        assert_eq!(guard.check(&head("/mcp", &right[1..])), Err(Refusal::Host(HostError::MissingHost)));
    }

    #[test]
    fn the_request_line_must_agree_with_the_host() {
        let guard = guard("127.0.0.1:8080", &[]);
        let headers: [(&str, &[u8]); 2] = [("host", b"localhost:8080"), ("authorization", RIGHT.as_bytes())];
        for (target, expected) in [
            ("/mcp", Ok(())),
            ("/mcp?x=1", Ok(())),
            ("http://localhost:8080/mcp", Ok(())),
            ("http://evil.example/mcp", UNKNOWN_HOST),
            ("http://evil@localhost:8080/mcp", UNKNOWN_HOST),
            ("/", Err(Refusal::Path)),
            ("/mcp/", Err(Refusal::Path)),
            ("/MCP", Err(Refusal::Path)),
            ("/x/../mcp", Err(Refusal::Path)),
            ("//mcp", Err(Refusal::Path)),
            ("*", Err(Refusal::Path)),
        ] {
            assert_eq!(guard.check(&head(target, &headers)), expected, "{target}");
        }
    }

    #[test]
    fn the_host_is_checked_before_the_origin_and_the_token_last() {
        let guard = guard("127.0.0.1:8080", &[]);
        let check = |headers: &[(&str, &[u8])]| guard.check(&head("/mcp", headers));
        assert_eq!(check(&[("host", b"evil.example")]), UNKNOWN_HOST);
        assert_eq!(check(&[("host", b"localhost"), ("origin", b"null")]), Err(Refusal::Origin));
        assert_eq!(check(&[("host", b"localhost")]), Err(Refusal::Token));
        assert_eq!(check(&[("host", b"localhost"), ("authorization", b"Bearer wrong")]), Err(Refusal::Token));
        assert_eq!(check(&[("host", b"localhost"), ("authorization", RIGHT.as_bytes())]), Ok(()));
    }
}
