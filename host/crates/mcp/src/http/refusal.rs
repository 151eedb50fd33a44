//! HTTP responses to requests that do not reach MCP.

use crate::http::{MAX_BODY_BYTES, MAX_LISTENERS};
use http_server::HttpResponse;
use http_server::hosts::HostError;
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

/// Why a request is refused. The message is the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{0}")]
    Host(#[from] HostError),
    /// The request is from a web page of another origin.
    #[error("the origin is not allowed")]
    Origin,
    /// The path is not that of the MCP endpoint.
    #[error("not found")]
    Path,
    #[error("the bearer token is missing or wrong")]
    Token,
    #[error("too many requests")]
    TooMany,
    #[error("the body is larger than {MAX_BODY_BYTES} bytes")]
    TooLarge,
    #[error("the body did not arrive in time")]
    Slow,
    #[error("the body cannot be read")]
    Broken,
    #[error("{MAX_LISTENERS} clients are listening, which is the most")]
    TooManyListeners,
    #[error("the server is shutting down")]
    ShuttingDown,
}

impl Refusal {
    /// Whether the sender may be an attacker, so that the refusal is logged and limited.
    pub fn is_unauthorized(self) -> bool {
        matches!(self, Self::Host(HostError::UnknownHost) | Self::Origin | Self::Token)
    }

    pub fn response(self) -> HttpResponse {
        let mut response = http_server::response(self.status(), "text/plain", format!("{self}\n"));
        let headers = response.headers_mut();
        // The rest of the body is not read.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        match self {
            Self::Token => drop(headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            Self::TooMany | Self::TooManyListeners => drop(headers.insert(RETRY_AFTER, HeaderValue::from_static("1"))),
            _ => {}
        }
        response
    }

    fn status(self) -> StatusCode {
        match self {
            Self::Host(HostError::UnknownHost) | Self::Origin => StatusCode::FORBIDDEN,
            Self::Host(HostError::RepeatedHeader | HostError::MissingHost) | Self::Broken => StatusCode::BAD_REQUEST,
            Self::Path => StatusCode::NOT_FOUND,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::TooManyListeners | Self::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
