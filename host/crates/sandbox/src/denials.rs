//! What the host denied to a guest, for the result of the run.

use crate::files::FileError;
use crate::files::path::GuestPath;
use crate::gate::Target;
use crate::gate::graphql::QueryError;
use crate::gate::request_log::MAX_REQUESTS;
use base::printable::{counted, printable_up_to};
use hyper::Method;
use hyper::header::HeaderName;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of distinct denials listed for one run. Further ones are only counted.
const MAX_DENIALS: usize = 20;

/// Of one denial, in characters.
const MAX_LENGTH: usize = 300;

/// Of headers named in a denial.
const MAX_LISTED_HEADERS: usize = 5;
const MAX_HEADER_LENGTH: usize = 30;

/// Something that a guest tried and that was denied. It names paths of the sandbox only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// `path` is as the guest wrote it if it leads out of the sandbox.
    File { action: &'static str, path: String, reason: FileError },
    /// Links are never created.
    Link(GuestPath),
    /// `host` includes the port.
    Connection { host: String, reason: ConnectionDenial },
    /// A URL with a user name, which would authenticate the request.
    UserName(Target),
    /// A request of an integration.
    Request { method: Method, target: Target, path: String, reason: RequestDenial },
    /// Headers that were removed from a request of an integration.
    Headers { names: Vec<HeaderName>, target: Target },
    /// More than an integration may send for one question.
    TooManyRequests,
    /// A service sent its token back.
    Token(Target),
    /// The runtime has no network; the texts are the attempt and the reason.
    NoNetwork(&'static str, &'static str),
    /// The number of further denials.
    Unlisted(usize),
}

/// Why a guest may not connect to a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionDenial {
    #[error("this host is not granted")]
    NotGranted,
    #[error("not a valid host and port")]
    Invalid,
    #[error("`http` is not encrypted")]
    Unencrypted,
    #[error("it is not in the local network, and `http` is not encrypted")]
    UnencryptedOutside,
    #[error("its address is private, and the grant does not say `private:{host}`")]
    Private { host: String },
}

/// Why an integration may not send a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestDenial {
    #[error("its path contains a `.` or `..` segment")]
    DotSegment,
    #[error("GraphQL queries must be sent with `POST`")]
    QueryWithGet,
    #[error("a GraphQL request must not have a query string")]
    QueryString,
    #[error("integrations only read")]
    Writes,
    #[error("it must not have a body")]
    HasBody,
    #[error("its body is too long or incomplete")]
    BadBody,
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Escapes the text, because it contains what the guest named.
impl fmt::Display for Denial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::File { action, path, reason } => format!("{action} `{path}`: {reason}"),
            Self::Link(path) => format!("create the link `{path}`: links cannot be created"),
            Self::Connection { host, reason } => format!("connect to `{host}`: {reason}"),
            Self::UserName(target) => {
                format!("connect to `{target}` with a user name: only the gate authenticates requests")
            }
            Self::Request { method, target, path, reason } => {
                format!("send a `{method}` to `{target}{path}`: {reason}")
            }
            Self::Headers { names, target } => {
                format!("send {} to `{target}`: not allowed for integrations", list_headers(names))
            }
            Self::TooManyRequests => format!("send more than {MAX_REQUESTS} requests for one question"),
            Self::Token(target) => format!("read the token: `{target}` sent it back"),
            Self::NoNetwork(attempt, reason) => format!("{attempt}: {reason}"),
            Self::Unlisted(number) => format!("and {}, not listed here", counted(*number, "more attempt")),
        };
        formatter.write_str(&printable_up_to(&text, MAX_LENGTH))
    }
}

impl Serialize for Denial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns a text such as ``the header `cookie` `` or ``the headers `a`, `b`, `c`, `d`, `e` and 15 more``.
fn list_headers(headers: &[HeaderName]) -> String {
    let listed = headers.iter().take(MAX_LISTED_HEADERS);
    let listed: Vec<String> =
        listed.map(|name| format!("`{}`", printable_up_to(name.as_str(), MAX_HEADER_LENGTH))).collect();
    let more = headers.len() - listed.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the header{} {}{more}", if headers.len() == 1 { "" } else { "s" }, listed.join(", "))
}

/// The denials of one run, shared by everything that can deny something to the guest.
#[derive(Debug, Clone, Default)]
pub struct Denials(Arc<Mutex<List>>);

#[derive(Debug, Default)]
struct List {
    listed: Vec<Denial>,
    unlisted: usize,
}

impl Denials {
    pub fn note(&self, denial: Denial) {
        let mut denials = self.lock();
        if denials.listed.contains(&denial) {
            return;
        }
        if denials.listed.len() < MAX_DENIALS {
            denials.listed.push(denial);
        } else {
            denials.unlisted = denials.unlisted.saturating_add(1);
        }
    }

    /// Takes the listed denials in the order of their texts, followed by the number of unlisted ones.
    pub fn take(&self) -> Vec<Denial> {
        let List { mut listed, unlisted } = std::mem::take(&mut *self.lock());
        listed.sort_by_cached_key(ToString::to_string);
        listed.extend((unlisted > 0).then_some(Denial::Unlisted(unlisted)));
        listed
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: usize) -> Denial {
        Denial::File { action: "read", path: format!("{number:02}"), reason: FileError::Escapes }
    }

    #[test]
    fn unlisted_denials_are_counted() {
        let denials = Denials::default();
        for number in 0..MAX_DENIALS {
            denials.note(read(number));
            denials.note(read(0));
        }
        assert_eq!(denials.take().len(), MAX_DENIALS);
        for number in 0..=MAX_DENIALS {
            denials.note(read(number));
        }
        assert_eq!(denials.take().last().unwrap().to_string(), "and 1 more attempt, not listed here");
        for number in (0..MAX_DENIALS + 7).rev() {
            denials.note(read(number));
            denials.note(read(MAX_DENIALS));
        }
        let listed = denials.take();
        assert_eq!((listed.len(), &listed[0]), (MAX_DENIALS + 1, &read(7)));
        assert_eq!(listed[MAX_DENIALS].to_string(), "and 7 more attempts, not listed here");
        assert!(denials.take().is_empty());
    }

    #[test]
    fn what_a_guest_names_is_escaped() {
        let denial =
            Denial::File { action: "open", path: format!("../\n{}", "x".repeat(400)), reason: FileError::Escapes };
        assert!(denial.to_string().starts_with("open `../\\nxxx"), "{denial}");
        assert!(denial.to_string().chars().count() < 310, "{denial}");
    }
}
