//! Who may see the page. Everything is decided by the head of a request, and who is refused learns no more than a number.

use crate::listening::Answer;
use crate::listening::hosts::{Hosts, LOOPBACK, Misled, only};
use crate::listening::token::Token;
use crate::ui::answer::made;
use hyper::header::{ALLOW, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use std::net::SocketAddr;

/// Knows what the head of a request must say.
#[derive(Debug)]
pub struct Guard {
    token: Token,
    hosts: Hosts,
    /// Where pages come from that may ask: only this server.
    origins: [String; 3],
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not understood the same by everybody.
    Unclear,
    /// Another name than this server's, or a page of somebody else's.
    Foreign,
    /// The wrong token, or nothing of that name.
    Nothing,
    /// Something other than reading.
    Method,
}

impl Guard {
    pub fn new(token: Token, address: SocketAddr) -> Self {
        let origins = LOOPBACK.map(|name| format!("http://{name}:{}", address.port()));
        Self { token, hosts: Hosts::here(address), origins }
    }

    /// What is asked for, as a path below the token. Nothing when even the slash behind the token is missing.
    pub fn admit<'a>(&self, head: &'a Parts) -> Result<Option<&'a str>, Refusal> {
        self.hosts.check(head)?;
        if !only(head, &ORIGIN)?.is_none_or(|origin| self.origins.iter().any(|own| origin == own.as_str())) {
            return Err(Refusal::Foreign);
        }
        let path = head.uri.path().strip_prefix('/').ok_or(Refusal::Nothing)?;
        let (token, rest) = path.split_once('/').map_or((path, None), |(token, rest)| (token, Some(rest)));
        if !self.token.is(token.as_bytes()) {
            return Err(Refusal::Nothing);
        }
        if head.method == Method::GET || head.method == Method::HEAD { Ok(rest) } else { Err(Refusal::Method) }
    }
}

impl From<Misled> for Refusal {
    fn from(misled: Misled) -> Self {
        match misled {
            Misled::Repeated | Misled::Nameless => Self::Unclear,
            Misled::Elsewhere => Self::Foreign,
        }
    }
}

impl Refusal {
    pub fn answer(self) -> Answer {
        let status = match self {
            Self::Unclear => StatusCode::BAD_REQUEST,
            Self::Foreign => StatusCode::FORBIDDEN,
            Self::Nothing => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
        };
        let mut answer = made(status, "text/plain", "");
        if self == Self::Method {
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    const TOKEN: &str = "0123456789abcdef";

    fn admitted(method: &str, target: &str, headers: &[(&str, &str)]) -> Result<Option<String>, Refusal> {
        let guard = Guard::new(Token::given(TOKEN, "a test").unwrap(), "127.0.0.1:8080".parse().unwrap());
        let request = headers.iter().fold(Request::builder(), |request, (name, value)| request.header(*name, *value));
        let head = request.method(method).uri(target).body(()).unwrap().into_parts().0;
        guard.admit(&head).map(|path| path.map(str::to_owned))
    }

    #[test]
    fn only_the_whole_token_opens() {
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
            assert_eq!(admitted("GET", target, &host), Err(Refusal::Nothing), "{target}");
        }
    }

    #[test]
    fn another_name_or_another_page_is_refused_even_with_the_token() {
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
        assert_eq!(admitted("GET", target, &[]), Err(Refusal::Unclear));
        let twice = [("host", "localhost:8080"), ("host", "localhost:8080")];
        assert_eq!(admitted("GET", target, &twice), Err(Refusal::Unclear));
        let absolute = "http://evil.example/0123456789abcdef/";
        assert_eq!(admitted("GET", absolute, &[("host", "localhost:8080")]), Err(Refusal::Foreign));
    }

    #[test]
    fn without_the_token_nobody_learns_which_methods_there_are() {
        let host = [("host", "127.0.0.1:8080")];
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "INVENTED"] {
            assert_eq!(admitted(method, "/0123456789abcdef/", &host), Err(Refusal::Method), "{method}");
            assert_eq!(admitted(method, "/wrong/", &host), Err(Refusal::Nothing), "{method}");
        }
    }
}
