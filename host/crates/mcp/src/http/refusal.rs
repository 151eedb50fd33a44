//! HTTP responses to requests that do not reach MCP.

use crate::http::MAX_BODY_BYTES;
use http_body_util::{BodyExt, Full};
use http_server::HttpResponse;
use http_server::hosts::HostError;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// `Host`, `Origin` or `Authorization` is repeated, and a proxy may have checked the other one.
    Repeated,
    MissingHost,
    /// The host is not a name of this server, as with DNS rebinding.
    Host,
    /// The request is from a web page of another origin.
    Origin,
    /// The path is not that of the MCP endpoint.
    Path,
    /// The token is missing or wrong.
    Token,
    TooMany,
    TooLarge,
    /// The body did not arrive in time.
    Slow,
    /// The body is incomplete or malformed.
    Broken,
    ShuttingDown,
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        match error {
            HostError::RepeatedHeader => Self::Repeated,
            HostError::MissingHost => Self::MissingHost,
            HostError::UnknownHost => Self::Host,
        }
    }
}

impl Refusal {
    /// Whether the sender may be an attacker, so that the refusal is logged and limited.
    pub fn is_unauthorized(self) -> bool {
        matches!(self, Self::Host | Self::Origin | Self::Token)
    }

    pub fn response(self) -> HttpResponse {
        let mut response = Response::new(Full::from(format!("{}\n", self.message())).boxed());
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        // The number of connections is limited.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        match self {
            Self::Token => drop(headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            Self::TooMany => drop(headers.insert(RETRY_AFTER, HeaderValue::from_static("1"))),
            _ => {}
        }
        response
    }

    fn status(self) -> StatusCode {
        match self {
            Self::Repeated | Self::MissingHost | Self::Broken => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Path => StatusCode::NOT_FOUND,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub fn message(self) -> String {
        let message = match self {
            Self::Repeated => "a header is repeated",
            Self::MissingHost => "the host header is missing",
            Self::Host => "the host is not a name of this server",
            Self::Origin => "the origin is not allowed",
            Self::Path => "not found",
            Self::Token => "the bearer token is missing or wrong",
            Self::TooMany => "too many requests",
            Self::TooLarge => return format!("the body is larger than {MAX_BODY_BYTES} bytes"),
            Self::Slow => "the body did not arrive in time",
            Self::Broken => "the body cannot be read",
            Self::ShuttingDown => "the server is shutting down",
        };
        message.to_owned()
    }
}
