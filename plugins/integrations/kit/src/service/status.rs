//! Interprets HTTP statuses.

use crate::QueryError;
use crate::http::{Head, Request, Response};
use crate::json::{Json, Value};
use crate::{text, time};

/// Maximum number of characters of a service's error message.
const MESSAGE_CHARS: usize = 300;

/// Returns the target of a redirect.
pub fn redirect(head: &Head) -> Option<&str> {
    matches!(head.status, 301 | 302 | 303 | 307 | 308).then(|| head.header("location")).flatten()
}

/// Returns the error that a response means, if any.
pub fn failure(request: &Request, response: &Response, now: u64, what: &str) -> Option<QueryError> {
    let head = &response.head;
    if (200..300).contains(&head.status) {
        return None;
    }
    let reason = message(&response.body);
    let described = || reason.clone().unwrap_or_else(|| format!("{} answered {}", request.describe(), head.status));
    Some(match head.status {
        401 => QueryError::Unauthorized(described()),
        403 | 429 if is_rate_limit(head, reason.as_deref()) => QueryError::RateLimited(wait(head, now)),
        403 => QueryError::Forbidden(described()),
        404 => QueryError::NotFound(what.to_owned()),
        status => QueryError::Failed(match reason {
            Some(reason) => format!("{} answered {status}: {reason}", request.describe()),
            None => format!("{} answered {status}", request.describe()),
        }),
    })
}

fn is_rate_limit(head: &Head, reason: Option<&str>) -> bool {
    head.status == 429
        || head.header("retry-after").is_some()
        || head.header("x-ratelimit-remaining") == Some("0")
        || reason.is_some_and(|reason| reason.to_lowercase().contains("rate limit"))
}

/// Returns the seconds until a retry is allowed.
pub fn wait(head: &Head, now: u64) -> Option<u64> {
    let asked = head.header("retry-after").and_then(|value| {
        value.parse().ok().or_else(|| time::from_http(value).map(|moment| moment.saturating_sub(now)))
    });
    asked.or_else(|| {
        let exhausted = head.header("x-ratelimit-remaining").is_none_or(|left| left == "0");
        let reset: u64 = head.header("x-ratelimit-reset").filter(|_| exhausted)?.parse().ok()?;
        Some(reset.saturating_sub(now))
    })
}

/// Returns the message of the service, on one line.
pub fn message(body: &[u8]) -> Option<String> {
    let reason = match serde_json::from_slice::<Value>(body) {
        Ok(value) => in_json(&value)?.to_owned(),
        Err(_) => plain(body)?,
    };
    let line = text::line(&reason);
    (!line.is_empty()).then(|| text::cut(&line, MESSAGE_CHARS))
}

fn in_json(value: &Value) -> Option<&str> {
    let first = value.list("errors").first();
    let places = ["message", "error.message", "error", "error_description", "detail", "title"];
    let named = places.iter().find_map(|place| value.text(place));
    named.or_else(|| first?.text("message")).or_else(|| first?.as_str()).or_else(|| value.as_str())
}

/// Returns plain text, but not an HTML page.
fn plain(body: &[u8]) -> Option<String> {
    let text = str::from_utf8(body).ok()?.trim();
    (!text.starts_with(['<', '{', '['])).then(|| text.to_owned())
}
