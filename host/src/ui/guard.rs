//! Decides which requests may see the page, by their heads alone. A refusal reveals nothing but a status code.

use http_server::hosts::{HostError, Hosts, LOOPBACK, single_header};
use http_server::token::Token;
use http_server::{HttpResponse, response};
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

impl Guard {
    pub fn new(token: Token, address: SocketAddr) -> Self {
        let origins = LOOPBACK.map(|name| format!("http://{name}:{}", address.port()));
        Self { token, hosts: Hosts::local(address), origins }
    }

    /// Returns the status of the refusal if a request is not admitted.
    pub fn check(&self, head: &Parts) -> Result<(), StatusCode> {
        self.hosts.check(head).map_err(status_of)?;
        let origin = single_header(head, &ORIGIN).map_err(status_of)?;
        if !origin.is_none_or(|origin| self.origins.iter().any(|own| origin == own.as_str())) {
            return Err(StatusCode::FORBIDDEN);
        }
        let path = head.uri.path().strip_prefix('/').ok_or(StatusCode::NOT_FOUND)?;
        let token = path.split('/').next().unwrap_or_default();
        if !self.token.matches(token.as_bytes()) {
            return Err(StatusCode::NOT_FOUND);
        }
        let is_allowed = head.method == Method::GET || head.method == Method::HEAD;
        if is_allowed { Ok(()) } else { Err(StatusCode::METHOD_NOT_ALLOWED) }
    }
}

/// Returns the path below the token of an admitted request. `None` if the slash after the token is missing.
pub fn below_token(path: &str) -> Option<&str> {
    path.strip_prefix('/')?.split_once('/').map(|(_, below)| below)
}

fn status_of(error: HostError) -> StatusCode {
    match error {
        // Proxies and this server may disagree about the host.
        HostError::RepeatedHeader | HostError::MissingHost => StatusCode::BAD_REQUEST,
        HostError::UnknownHost => StatusCode::FORBIDDEN,
    }
}

/// The response to a request that is not admitted.
pub fn refusal(status: StatusCode) -> HttpResponse {
    let mut response = response(status, "text/plain", "");
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
