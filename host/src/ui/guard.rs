//! Decides which requests may see the page, by their heads alone. A refusal reveals nothing but a status code.

use crate::ui::response::response;
use http_server::HttpResponse;
use http_server::hosts::{HostError, Hosts, LOOPBACK, single_header};
use http_server::token::Token;
use hyper::header::{ALLOW, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use std::net::SocketAddr;

#[derive(Debug)]
pub struct Guard {
    token: Token,
    hosts: Hosts,
    /// Allowed values of `Origin`: only this server.
    origins: [String; 3],
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A header is repeated or missing, so that proxies and this server may disagree.
    Ambiguous,
    /// Another host name, or a page of another origin.
    Foreign,
    /// The wrong token, or an unknown path.
    NotFound,
    /// Neither `GET` nor `HEAD`.
    Method,
}

impl Guard {
    pub fn new(token: Token, address: SocketAddr) -> Self {
        let origins = LOOPBACK.map(|name| format!("http://{name}:{}", address.port()));
        Self { token, hosts: Hosts::local(address), origins }
    }

    /// Returns the requested path below the token. `None` if the slash after the token is missing.
    pub fn admit<'a>(&self, head: &'a Parts) -> Result<Option<&'a str>, Refusal> {
        self.hosts.check(head)?;
        if !single_header(head, &ORIGIN)?.is_none_or(|origin| self.origins.iter().any(|own| origin == own.as_str())) {
            return Err(Refusal::Foreign);
        }
        let path = head.uri.path().strip_prefix('/').ok_or(Refusal::NotFound)?;
        let (token, rest) = path.split_once('/').map_or((path, None), |(token, rest)| (token, Some(rest)));
        if !self.token.matches(token.as_bytes()) {
            return Err(Refusal::NotFound);
        }
        if head.method == Method::GET || head.method == Method::HEAD { Ok(rest) } else { Err(Refusal::Method) }
    }
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        match error {
            HostError::RepeatedHeader | HostError::MissingHost => Self::Ambiguous,
            HostError::UnknownHost => Self::Foreign,
        }
    }
}

impl Refusal {
    pub fn response(self) -> HttpResponse {
        let status = match self {
            Self::Ambiguous => StatusCode::BAD_REQUEST,
            Self::Foreign => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
        };
        let mut response = response(status, "text/plain", "");
        if self == Self::Method {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    const TOKEN: &str = "0123456789abcdef";

    fn admitted(method: &str, target: &str, headers: &[(&str, &str)]) -> Result<Option<String>, Refusal> {
        let guard = Guard::new(Token::from_text(TOKEN, "a test").unwrap(), "127.0.0.1:8080".parse().unwrap());
        let request = headers.iter().fold(Request::builder(), |request, (name, value)| request.header(*name, *value));
        let head = request.method(method).uri(target).body(()).unwrap().into_parts().0;
        guard.admit(&head).map(|path| path.map(str::to_owned))
    }

    #[test]
    fn only_the_complete_token_is_accepted() {
        let host = [("host", "127.0.0.1:8080")];
        assert_eq!(admitted("GET", "/0123456789abcdef/", &host), Ok(Some(String::new())));
        assert_eq!(admitted("HEAD", "/0123456789abcdef/api/skill?name=x", &host), Ok(Some("api/skill".to_owned())));
        assert_eq!(admitted("GET", "/0123456789abcdef", &host), Ok(None));
        assert_eq!(admitted("GET", "/0123456789abcdef/../x", &host), Ok(Some("../x".to_owned())));
        for target in [
            "/",
            "//",
            "*",
            "/0123456789abcde/",
            "/0123456789abcdeff/",
            "/0123456789ABCDEF/",
            "/%30123456789abcdef/",
            "/x/0123456789abcdef/",
            "/?0123456789abcdef/",
        ] {
            assert_eq!(admitted("GET", target, &host), Err(Refusal::NotFound), "{target}");
        }
    }

    #[test]
    fn another_host_or_origin_is_refused_even_with_the_token() {
        let target = "/0123456789abcdef/";
        for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "localhost"] {
            assert!(admitted("GET", target, &[("host", host)]).is_ok(), "{host}");
        }
        for host in ["evil.example:8080", "localhost:8081", "127.0.0.1.evil.example", ""] {
            assert_eq!(admitted("GET", target, &[("host", host)]), Err(Refusal::Foreign), "{host}");
        }
        let with = |origin| admitted("GET", target, &[("host", "localhost:8080"), ("origin", origin)]);
        assert!(with("http://localhost:8080").is_ok() && with("http://127.0.0.1:8080").is_ok());
        for origin in
            ["null", "http://localhost:8081", "https://localhost:8080", "http://evil.example", "http://localhost"]
        {
            assert_eq!(with(origin), Err(Refusal::Foreign), "{origin}");
        }
        assert_eq!(admitted("GET", target, &[]), Err(Refusal::Ambiguous));
        let twice = [("host", "localhost:8080"), ("host", "localhost:8080")];
        assert_eq!(admitted("GET", target, &twice), Err(Refusal::Ambiguous));
        let absolute = "http://evil.example/0123456789abcdef/";
        assert_eq!(admitted("GET", absolute, &[("host", "localhost:8080")]), Err(Refusal::Foreign));
    }

    #[test]
    fn allowed_methods_are_not_revealed_without_the_token() {
        let host = [("host", "127.0.0.1:8080")];
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "INVENTED"] {
            assert_eq!(admitted(method, "/0123456789abcdef/", &host), Err(Refusal::Method), "{method}");
            assert_eq!(admitted(method, "/wrong/", &host), Err(Refusal::NotFound), "{method}");
        }
    }
}
