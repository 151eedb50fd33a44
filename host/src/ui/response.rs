//! Responses, and the security headers of all of them.

use base::percent;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use http_server::HttpResponse;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use serde::Serialize;

/// The page loads only its own files, never turns text into HTML, and cannot be embedded.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// The address is a secret, so it is neither cached nor sent as a referrer, and other pages cannot read responses.
const SECURITY_HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// An error, as the page shows it.
#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
    hint: &'a str,
}

pub fn with_security_headers(mut response: HttpResponse) -> HttpResponse {
    for (name, value) in SECURITY_HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

pub fn json(value: &impl Serialize) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(text) => response(StatusCode::OK, "application/json", text),
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// Responds with a message, which may contain a hint after the first line.
pub fn failure(status: StatusCode, message: &str) -> HttpResponse {
    let (error, hint) = message.split_once("\nhint: ").unwrap_or((message, ""));
    let text = serde_json::to_vec(&Failure { error, hint }).unwrap_or_default();
    response(status, "application/json", text)
}

/// Redirects to the address with a slash after the token, where the page is.
pub fn redirect(path: &str) -> HttpResponse {
    let mut response = response(StatusCode::PERMANENT_REDIRECT, "text/plain", Bytes::new());
    if let Ok(location) = HeaderValue::try_from(format!("{path}/")) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

pub fn response(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Returns the decoded value of a query parameter.
pub fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| percent::decode(value))
}
