//! Requests that never reach MCP, and what their senders are told.

use crate::listening::Answer;
use crate::listening::hosts::Misled;
use crate::mcp::http::BODY_BYTES;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// `Host`, `Origin` or `Authorization` is there twice, and nobody knows which one others saw.
    Repeated,
    /// No `Host`.
    Nameless,
    /// The server was reached by a name that is not its own: the mark of DNS rebinding.
    Host,
    /// A web page asks that has nothing to do with this server.
    Origin,
    /// Something other than MCP.
    Path,
    /// No token, or the wrong one.
    Token,
    TooMany,
    TooLarge,
    /// The body did not come in time.
    Slow,
    /// The body broke off or is malformed.
    Broken,
    /// The server is about to end.
    Ending,
}

impl From<Misled> for Refusal {
    fn from(misled: Misled) -> Self {
        match misled {
            Misled::Repeated => Self::Repeated,
            Misled::Nameless => Self::Nameless,
            Misled::Elsewhere => Self::Host,
        }
    }
}

impl Refusal {
    /// Whether the sender tries what it may not, rather than makes a mistake.
    pub fn is_trespass(self) -> bool {
        matches!(self, Self::Host | Self::Origin | Self::Token)
    }

    pub fn response(self) -> Answer {
        let mut response = Response::new(Full::from(format!("{}\n", self.sentence())).boxed());
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        // A place among the connections is for those that are answered.
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
            Self::Repeated | Self::Nameless | Self::Broken => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Path => StatusCode::NOT_FOUND,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Ending => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub fn sentence(self) -> String {
        let sentence = match self {
            Self::Repeated => "a header that may be there once is there twice",
            Self::Nameless => "the host header is missing",
            Self::Host => "this is not the host that was asked for",
            Self::Origin => "pages of this origin may not ask",
            Self::Path => "there is nothing here",
            Self::Token => "the bearer token is missing or wrong",
            Self::TooMany => "too many requests",
            Self::TooLarge => return format!("the body is larger than {BODY_BYTES} bytes"),
            Self::Slow => "the body did not come in time",
            Self::Broken => "the body cannot be read",
            Self::Ending => "the server is about to end",
        };
        sentence.to_owned()
    }
}
