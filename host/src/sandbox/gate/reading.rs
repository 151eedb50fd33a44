//! What holds for integrations besides: they only read, and their service learns who asks without their help.

use super::answer::Watched;
use super::graphql;
use super::requests::{MOST, Noted, Requests, reason};
use super::secret::Secret;
use super::{Answered, Gate, Target};
use crate::grants::hosts::Reach;
use crate::percent::decoded;
use crate::printable::printable_up_to;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use hyper::header::{TRANSFER_ENCODING, USER_AGENT};
use hyper::{Method, Request};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

/// How the server calls itself.
const CALLED: HeaderValue = HeaderValue::from_static(concat!("skillcell/", env!("CARGO_PKG_VERSION")));

/// Most of a body that is sent, in bytes. Questions are short.
const MOST_SENT: usize = 256 << 10;

/// Headers that an integration may send; besides, those whose name ends with `-version`. Any other could say who asks, or make
/// one request out of another.
const HARMLESS: [HeaderName; 5] = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH];

/// Headers that the gate writes itself.
const OURS: [HeaderName; 4] = [ACCEPT_ENCODING, CONTENT_LENGTH, HOST, USER_AGENT];

/// Most headers that a refusal names, and how much of each, in characters.
const MOST_NAMED: usize = 5;
const LONGEST_NAMED: usize = 30;

/// How often a path may be percent-encoded. Names with a percent sign in them are encoded twice.
const MOST_ENCODINGS: usize = 3;

/// Who is asked, and what besides `GET` may be sent there.
#[derive(Clone)]
pub struct Reading {
    pub service: Service,
    pub posts: Posts,
    pub credential: Option<Credential>,
    pub requests: Requests,
}

/// Where a service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub target: Target,
    /// The path that all its others are below, without a slash at the end.
    pub path: String,
}

/// What may be sent by `POST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posts {
    Nothing,
    /// Questions in GraphQL, to the service itself or to `graphql` in its place.
    Questions,
    /// Anything, to the service itself: a question is what it is for.
    ToItself,
}

/// What tells a service who asks. Only the gate ever reads it.
#[derive(Clone)]
pub struct Credential {
    name: HeaderName,
    value: HeaderValue,
    secret: Secret,
}

impl Credential {
    /// `scheme` is what stands before the token, as in `Bearer`. Nothing if such a token cannot be sent.
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
    /// Whether a path is the service's own. Others on its host may belong to somebody else.
    fn is_at(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.path);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) || self.answers_questions_at(path)
    }

    /// Whether an address could ask a question in GraphQL there, as the most lenient service understands the path.
    fn may_answer_address_at(&self, understood: &str) -> bool {
        let is_itself = !self.path.is_empty() && understood.trim_end_matches('/') == plain(&self.path);
        is_itself || understood.contains("graphql")
    }

    /// Where a question in GraphQL may go. GitHub's own servers have theirs beside the rest of the service.
    fn answers_questions_at(&self, path: &str) -> bool {
        let beside = self.path.strip_suffix("/v3").map(|above| format!("{above}/graphql"));
        path == self.path || path == format!("{}/graphql", self.path) || beside.is_some_and(|beside| path == beside)
    }
}

impl Reading {
    pub(super) async fn send(
        &self,
        gate: &Gate,
        request: Request<WasiBody>,
        target: &Target,
        options: RequestOptions,
    ) -> Result<Answered, Error> {
        let Some(noted) = self.requests.begin(&request, &target.to_string()) else {
            gate.denials.note(format!("send more than {MOST} requests for one question"));
            return Err(Error::HttpRequestDenied);
        };
        let request = match self.checked(gate, request, target).await {
            Ok(request) => request,
            Err(refusal) => {
                noted.failed(&refusal);
                gate.denials.note(refusal);
                return Err(Error::HttpRequestDenied);
            }
        };
        let (answer, end) =
            gate.pass(request, target, options).await.inspect_err(|error| noted.failed(&reason(error)))?;
        noted.answered(answer.status());
        if let Some(coding) = coding(answer.headers()) {
            let error = Error::HttpResponseContentCoding(Some(coding));
            noted.failed(&reason(&error));
            return Err(error);
        }
        if answer.headers().values().any(|value| self.secret().is_in(value.as_bytes())) {
            noted.failed("the answer repeats the token");
            gate.denials.note(repeated(target));
            return Err(Error::HttpRequestDenied);
        }
        Ok((answer.map(|body| self.watched(gate, body, target, noted)), end))
    }

    fn watched(&self, gate: &Gate, body: WasiBody, target: &Target, noted: Noted) -> WasiBody {
        let (denials, refusal) = (gate.denials.clone(), repeated(target));
        Watched::new(body, self.secret(), noted, move || denials.note(refusal.clone())).boxed_unsync()
    }

    fn secret(&self) -> Secret {
        self.credential.as_ref().map(|credential| credential.secret.clone()).unwrap_or_default()
    }

    /// The request as it is sent, or what is not allowed about it.
    async fn checked(
        &self,
        gate: &Gate,
        request: Request<WasiBody>,
        target: &Target,
    ) -> Result<Request<WasiBody>, String> {
        let (mut parts, body) = request.into_parts();
        let reach = gate.reach(target);
        if reach == Reach::Refused {
            return Err(Gate::not_granted(target));
        }
        if !target.secure && reach != Reach::Private {
            return Err(format!("connect to `{target}`: `http` is not encrypted"));
        }
        if parts.uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(format!("connect to `{target}` as a user of its own: the host says who asks"));
        }
        let path = parts.uri.path();
        let (method, is_service) = (&parts.method, *target == self.service.target);
        let refused = |why: &str| Err(format!("send a `{method}` to `{target}{path}`: {why}"));
        let takes_questions = is_service && self.posts == Posts::Questions && self.service.answers_questions_at(path);
        let is_itself = is_service && path.trim_end_matches('/') == self.service.path;
        let understood = plain(path);
        if is_service && understood.split('/').any(leads_elsewhere) {
            return refused("its path leads elsewhere than it says");
        }
        let has_values = parts.uri.query().is_some();
        let asks = match (method, self.posts) {
            (&Method::GET, _) if is_service && has_values && self.service.may_answer_address_at(&understood) => {
                return refused("questions in GraphQL are sent with `POST`");
            }
            (&Method::GET, _) => false,
            // Some services take what stands there for the question, whatever the body says.
            (&Method::POST, Posts::Questions) if takes_questions && has_values => {
                return refused("a question in GraphQL has nothing behind a `?`");
            }
            (&Method::POST, Posts::Questions) if takes_questions => true,
            (&Method::POST, Posts::ToItself) if is_itself => true,
            _ => return refused("integrations only read"),
        };
        let sent = Limited::new(body, if asks { MOST_SENT } else { 0 }).collect().await;
        let Ok(sent) = sent.map(Collected::to_bytes) else {
            return refused(if asks { "its body is too long, or never ended" } else { "it must not have a body" });
        };
        let sent = match self.posts {
            Posts::Questions if asks => match graphql::question(&sent) {
                Ok(question) => Bytes::from(question),
                Err(refusal) => return refused(&refusal.to_string()),
            },
            _ => sent,
        };
        let others = without_others(&mut parts.headers);
        if !others.is_empty() {
            gate.denials.note(format!("send {} to `{target}`: the host says who asks", named(&others)));
        }
        let credential = self.credential.as_ref().filter(|_| is_service && self.service.is_at(parts.uri.path()));
        self.complete(&mut parts.headers, target, credential, asks.then_some(sent.len()));
        Ok(Request::from_parts(parts, Full::new(sent).map_err(Error::from).boxed_unsync()))
    }

    /// Adds what only the host may say.
    fn complete(
        &self,
        headers: &mut HeaderMap,
        target: &Target,
        credential: Option<&Credential>,
        length: Option<usize>,
    ) {
        headers.remove(CONTENT_LENGTH);
        if let Some(length) = length {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        if self.posts == Posts::Questions && length.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let usual = target.port == if target.secure { 443 } else { 80 };
        let host = if usual { target.host.clone() } else { target.to_string() };
        headers.insert(HOST, HeaderValue::from_str(&host).expect("a host that was looked at"));
        headers.insert(USER_AGENT, CALLED);
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(credential) = credential {
            headers.insert(credential.name.clone(), credential.value.clone());
        }
    }
}

/// Takes out headers that an integration may not send. Returns their names in order.
fn without_others(headers: &mut HeaderMap) -> Vec<HeaderName> {
    let is_harmless = |name: &HeaderName| HARMLESS.contains(name) || name.as_str().ends_with("-version");
    let others = headers.keys().filter(|name| !is_harmless(name) && !OURS.contains(name));
    let mut others: Vec<HeaderName> = others.cloned().collect();
    others.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
    for name in &others {
        headers.remove(name);
    }
    others
}

/// As in ``the header `cookie` `` or ``the headers `a`, `b`, `c`, `d`, `e` and 15 more``.
fn named(headers: &[HeaderName]) -> String {
    let shown = headers.iter().take(MOST_NAMED);
    let shown: Vec<String> = shown.map(|name| format!("`{}`", printable_up_to(name.as_str(), LONGEST_NAMED))).collect();
    let more = headers.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the header{} {}{more}", if headers.len() == 1 { "" } else { "s" }, shown.join(", "))
}

/// How an answer is encoded, though it was asked not to be: nobody could see a token in it.
fn coding(headers: &HeaderMap) -> Option<String> {
    let codings = headers.get_all(CONTENT_ENCODING).iter().chain(headers.get_all(TRANSFER_ENCODING));
    let codings = codings.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let mut others = codings.filter(|coding| !matches!(coding.trim(), "" | "identity" | "chunked"));
    others.next()
}

/// The path as the most lenient service may understand it.
fn plain(path: &str) -> String {
    let decoded = (0..MOST_ENCODINGS).fold(path.to_owned(), |path, _| decoded(&path));
    decoded.to_ascii_lowercase().replace('\\', "/")
}

/// Whether a segment of a path stands for another folder. Some services leave out what follows a semicolon or the end of a
/// text in C, and some take a path apart once more after decoding it.
fn leads_elsewhere(segment: &str) -> bool {
    matches!(segment.split([';', '?', '#', '\0']).next(), Some("." | ".."))
}

fn repeated(target: &Target) -> String {
    format!("read the token: `{target}` sent it back")
}
