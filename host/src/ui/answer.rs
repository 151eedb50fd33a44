//! Answers, and the headers that all of them carry.

use crate::listening::Answer;
use crate::percent;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use serde::Serialize;

/// The page uses nothing but its own files, makes no HTML out of text, and is never inside another.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// The address is a secret, so it is neither kept nor told to anybody, and no other page may look at what is behind it.
const GUARDS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Why a question has no answer, as the page shows it.
#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
    hint: &'a str,
}

pub fn guarded(mut answer: Answer) -> Answer {
    for (name, value) in GUARDS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

pub fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(text) => made(StatusCode::OK, "application/json", text),
        Err(error) => failed(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// A message may have a second part that says what to do.
pub fn failed(status: StatusCode, message: &str) -> Answer {
    let (error, hint) = message.split_once("\nhint: ").unwrap_or((message, ""));
    let text = serde_json::to_vec(&Failure { error, hint }).unwrap_or_default();
    made(status, "application/json", text)
}

/// The page is at the address with a slash behind the token.
pub fn redirected(path: &str) -> Answer {
    let mut answer = made(StatusCode::PERMANENT_REDIRECT, "text/plain", Bytes::new());
    if let Ok(place) = HeaderValue::try_from(format!("{path}/")) {
        answer.headers_mut().insert(LOCATION, place);
    }
    answer
}

pub fn made(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// What a query says under a name.
pub fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| percent::decoded(value))
}
