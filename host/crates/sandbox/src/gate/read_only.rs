//! The rules for integrations: they only read, and the gate authenticates their requests.

use super::graphql;
use super::request_log::{RequestLog, reason};
use super::response_body::GuardedBody;
use super::secret::Secret;
use super::{Gate, GateResponse, Target, WasiRequest, default_port};
use crate::denials::{ConnectionDenial, Denial, RequestDenial};
use crate::hosts::HostAccess;
use base::percent::decode;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use hyper::header::{TRANSFER_ENCODING, USER_AGENT};
use hyper::{Method, Request};
use wasmtime_wasi_http::{Error, RequestOptions};

const OUR_USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("skillcell/", env!("CARGO_PKG_VERSION")));

/// Of a request. Queries are short.
const MAX_BODY_BYTES: usize = 256 << 10;

/// Headers that an integration may send, besides those whose names end with `-version`. Any other could authenticate the
/// request or change its meaning.
const ALLOWED_HEADERS: [HeaderName; 5] = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH];

/// Headers that the gate sets itself.
const GATE_HEADERS: [HeaderName; 4] = [ACCEPT_ENCODING, CONTENT_LENGTH, HOST, USER_AGENT];

/// How often a service might decode a path. Names that contain a percent sign are encoded twice.
const MAX_ENCODINGS: usize = 3;

/// The service of an integration, and which requests besides `GET` it accepts.
#[derive(Clone)]
pub struct ReadOnly {
    pub service: Service,
    pub posts: PostPolicy,
    pub credential: Option<Credential>,
    pub requests: RequestLog,
}

/// The base URL of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub target: Target,
    /// The parent of all its paths, without a trailing slash.
    pub path: String,
}

/// What may be sent with `POST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostPolicy {
    Nothing,
    /// GraphQL queries, to the base URL of the service or to `graphql` below it.
    GraphqlQueries,
    /// Anything, to the base URL of the service, whose only purpose is to answer questions.
    ToBaseUrl,
}

/// The token of a service and the header that carries it. Only the gate reads it.
#[derive(Clone)]
pub struct Credential {
    name: HeaderName,
    value: HeaderValue,
    secret: Secret,
}

impl Credential {
    /// `scheme` precedes the token, as in `Bearer`. Returns `None` if the token cannot be sent in a header.
    pub fn new(name: HeaderName, scheme: Option<&str>, token: &str) -> Option<Self> {
        let text = scheme.map_or_else(|| token.to_owned(), |scheme| format!("{scheme} {token}"));
        let mut value = HeaderValue::from_str(&text).ok().filter(|_| token.is_ascii())?;
        value.set_sensitive(true);
        Some(Self { name, value, secret: Secret::new(token) })
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Credential({}: …)", self.name)
    }
}

impl Service {
    /// Whether a path belongs to the service. Other paths on its host may belong to another service.
    fn owns(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.path);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) || self.is_graphql_path(path)
    }

    /// Whether a service might execute a GraphQL query in the query string of this normalized path.
    fn may_execute_query_string_at(&self, normalized: &str) -> bool {
        let is_base_url = !self.path.is_empty() && normalized.trim_end_matches('/') == normalize_path(&self.path);
        is_base_url || normalized.contains("graphql")
    }

    /// Whether GraphQL queries may be sent to a path. GitHub Enterprise serves GraphQL beside its REST API.
    fn is_graphql_path(&self, path: &str) -> bool {
        let enterprise = self.path.strip_suffix("/v3").map(|parent| format!("{parent}/graphql"));
        path == self.path
            || path == format!("{}/graphql", self.path)
            || enterprise.is_some_and(|graphql| path == graphql)
    }
}

impl ReadOnly {
    pub(super) async fn send(
        &self,
        gate: &Gate,
        request: WasiRequest,
        target: &Target,
        options: RequestOptions,
    ) -> Result<GateResponse, Error> {
        let Some(entry) = self.requests.begin(&request, &target.to_string()) else {
            gate.denials.note(Denial::TooManyRequests);
            return Err(Error::HttpRequestDenied);
        };
        let request = match self.check(gate, request, target).await {
            Ok(request) => request,
            Err(denial) => {
                entry.failed(&denial.to_string());
                gate.denials.note(denial);
                return Err(Error::HttpRequestDenied);
            }
        };
        let (response, end) =
            gate.forward(request, target, options).await.inspect_err(|error| entry.failed(&reason(error)))?;
        entry.answered(response.status());
        if let Some(coding) = unexpected_coding(response.headers()) {
            let error = Error::HttpResponseContentCoding(Some(coding));
            entry.failed(&reason(&error));
            return Err(error);
        }
        if response.headers().values().any(|value| self.secret().is_in(value.as_bytes())) {
            entry.failed("the answer contains the token");
            gate.denials.note(Denial::Token(target.clone()));
            return Err(Error::HttpRequestDenied);
        }
        let (denials, target) = (gate.denials.clone(), target.clone());
        let guard = |body| GuardedBody::new(body, self.secret(), entry, denials, target).boxed_unsync();
        Ok((response.map(guard), end))
    }

    fn secret(&self) -> Secret {
        self.credential.as_ref().map(|credential| credential.secret.clone()).unwrap_or_default()
    }

    /// Returns the request to send, or why it is denied.
    async fn check(&self, gate: &Gate, request: WasiRequest, target: &Target) -> Result<WasiRequest, Denial> {
        let (mut parts, body) = request.into_parts();
        let access = gate.access(target);
        if access == HostAccess::Refused {
            return Err(target.denial(ConnectionDenial::NotGranted));
        }
        if !target.secure && access != HostAccess::Private {
            return Err(target.denial(ConnectionDenial::Unencrypted));
        }
        if parts.uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(Denial::UserName(target.clone()));
        }
        let path = parts.uri.path();
        let (method, is_service) = (&parts.method, *target == self.service.target);
        let denied = |reason: RequestDenial| {
            Err(Denial::Request { method: method.clone(), target: target.clone(), path: path.to_owned(), reason })
        };
        let takes_queries =
            is_service && self.posts == PostPolicy::GraphqlQueries && self.service.is_graphql_path(path);
        let is_base_url = is_service && path.trim_end_matches('/') == self.service.path;
        let normalized = normalize_path(path);
        if is_service && normalized.split('/').any(is_dot_segment) {
            return denied(RequestDenial::DotSegment);
        }
        let has_query_string = parts.uri.query().is_some();
        let has_body = match (method, self.posts) {
            (&Method::GET, _)
                if is_service && has_query_string && self.service.may_execute_query_string_at(&normalized) =>
            {
                return denied(RequestDenial::QueryWithGet);
            }
            (&Method::GET, _) => false,
            // Some services execute the query string instead of the body.
            (&Method::POST, PostPolicy::GraphqlQueries) if takes_queries && has_query_string => {
                return denied(RequestDenial::QueryString);
            }
            (&Method::POST, PostPolicy::GraphqlQueries) if takes_queries => true,
            (&Method::POST, PostPolicy::ToBaseUrl) if is_base_url => true,
            _ => return denied(RequestDenial::Writes),
        };
        let body = Limited::new(body, if has_body { MAX_BODY_BYTES } else { 0 }).collect().await;
        let Ok(body) = body.map(Collected::to_bytes) else {
            return denied(if has_body { RequestDenial::BadBody } else { RequestDenial::HasBody });
        };
        let body = match self.posts {
            PostPolicy::GraphqlQueries if has_body => match graphql::check_query(&body) {
                Ok(query) => Bytes::from(query),
                Err(error) => return denied(error.into()),
            },
            _ => body,
        };
        let removed = remove_disallowed(&mut parts.headers);
        if !removed.is_empty() {
            gate.denials.note(Denial::Headers { names: removed, target: target.clone() });
        }
        let credential = self.credential.as_ref().filter(|_| is_service && self.service.owns(parts.uri.path()));
        self.add_headers(&mut parts.headers, target, has_body.then_some(body.len()));
        if let Some(credential) = credential {
            parts.headers.insert(credential.name.clone(), credential.value.clone());
        }
        Ok(Request::from_parts(parts, Full::new(body).map_err(Error::from).boxed_unsync()))
    }

    /// Adds the headers that only the gate may set, except the token.
    fn add_headers(&self, headers: &mut HeaderMap, target: &Target, length: Option<usize>) {
        headers.remove(CONTENT_LENGTH);
        if let Some(length) = length {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        if self.posts == PostPolicy::GraphqlQueries && length.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let host = if target.port == default_port(target.secure) { target.host.clone() } else { target.to_string() };
        headers.insert(HOST, HeaderValue::from_str(&host).expect("the host was checked"));
        headers.insert(USER_AGENT, OUR_USER_AGENT);
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
}

/// Removes headers that an integration may not send. Returns their names, sorted.
fn remove_disallowed(headers: &mut HeaderMap) -> Vec<HeaderName> {
    let is_allowed = |name: &HeaderName| ALLOWED_HEADERS.contains(name) || name.as_str().ends_with("-version");
    let disallowed = headers.keys().filter(|name| !is_allowed(name) && !GATE_HEADERS.contains(name));
    let mut disallowed: Vec<HeaderName> = disallowed.cloned().collect();
    disallowed.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
    for name in &disallowed {
        headers.remove(name);
    }
    disallowed
}

/// Returns the encoding of a response other than the requested `identity`, in which a token could not be detected.
fn unexpected_coding(headers: &HeaderMap) -> Option<String> {
    let codings = headers.get_all(CONTENT_ENCODING).iter().chain(headers.get_all(TRANSFER_ENCODING));
    let codings = codings.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let mut unexpected = codings.filter(|coding| !matches!(coding.trim(), "" | "identity" | "chunked"));
    unexpected.next()
}

/// Returns the path as the most lenient service might read it.
fn normalize_path(path: &str) -> String {
    let decoded = (0..MAX_ENCODINGS).fold(path.to_owned(), |path, _| decode(&path));
    decoded.to_ascii_lowercase().replace('\\', "/")
}

/// Whether a segment is `.` or `..` to any service. Some ignore what follows a semicolon or a NUL, and some split a path
/// again after decoding it.
fn is_dot_segment(segment: &str) -> bool {
    matches!(segment.split([';', '?', '#', '\0']).next(), Some("." | ".."))
}
