//! Responses, and the security headers of all of them.

use base::percent;
use bytes::Bytes;
use http_server::{HttpResponse, response};
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
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

/// Responds with what takes a while to read, such as a long record.
pub async fn json_blocking<T: Serialize + Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> HttpResponse {
    match tokio::task::spawn_blocking(read).await {
        Ok(value) => json(&value),
        Err(panic) => failure(StatusCode::INTERNAL_SERVER_ERROR, &panic.to_string()),
    }
}

/// Responds with a message, which may contain a hint after the first line.
pub fn failure(status: StatusCode, message: &str) -> HttpResponse {
    let (error, hint) = message.split_once("\nhint: ").unwrap_or((message, ""));
    response(status, "application/json", serde_json::json!({"error": error, "hint": hint}).to_string())
}

/// Redirects to the address with a slash after the token, where the page is.
pub fn redirect(path: &str) -> HttpResponse {
    let mut response = response(StatusCode::PERMANENT_REDIRECT, "text/plain", Bytes::new());
    if let Ok(location) = HeaderValue::try_from(format!("{path}/")) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Returns the decoded value of a query parameter.
pub fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| percent::decode(value))
}
