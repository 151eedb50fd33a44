//! The requests of an integration, for the audit record: without headers, bodies and query values.

use base::printable::printable_up_to;
use hyper::{Request, StatusCode};
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use wasmtime_wasi_http::Error;

/// Per question, including refused requests.
pub const MAX_REQUESTS: usize = 50;

/// Of each text in the record, in characters.
const MAX_LENGTH: usize = 200;

/// The requests sent for one question.
#[derive(Debug, Clone, Default)]
pub struct RequestLog(Arc<Mutex<Vec<LoggedRequest>>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoggedRequest {
    pub method: String,
    pub host: String,
    pub path: String,
    /// `None` without a response.
    pub status: Option<u16>,
    /// Why it was not sent, or has no usable response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Size of the response body.
    pub bytes: u64,
    pub duration_ms: u64,
    #[serde(skip)]
    started: Instant,
}

/// A handle to update a logged request.
#[derive(Debug, Clone)]
pub struct LogEntry {
    log: RequestLog,
    index: usize,
}

impl RequestLog {
    /// Logs a request before it is sent. Returns `None` after too many.
    pub fn begin<B>(&self, request: &Request<B>, host: &str) -> Option<LogEntry> {
        let mut requests = self.requests();
        if requests.len() == MAX_REQUESTS {
            return None;
        }
        requests.push(LoggedRequest {
            method: printable_up_to(request.method().as_str(), MAX_LENGTH),
            host: printable_up_to(host, MAX_LENGTH),
            path: printable_up_to(&without_values(request.uri().path(), request.uri().query()), MAX_LENGTH),
            status: None,
            failure: None,
            bytes: 0,
            duration_ms: 0,
            started: Instant::now(),
        });
        Some(LogEntry { log: self.clone(), index: requests.len() - 1 })
    }

    pub fn all(&self) -> Vec<LoggedRequest> {
        self.requests().clone()
    }

    fn requests(&self) -> MutexGuard<'_, Vec<LoggedRequest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogEntry {
    pub fn answered(&self, status: StatusCode) {
        self.update(|request| request.status = Some(status.as_u16()));
    }

    pub fn failed(&self, reason: &str) {
        self.update(|request| request.failure = Some(printable_up_to(reason, MAX_LENGTH)));
    }

    pub fn received(&self, bytes: usize) {
        self.update(|request| request.bytes += bytes as u64);
    }

    fn update(&self, update: impl FnOnce(&mut LoggedRequest)) {
        if let Some(request) = self.log.requests().get_mut(self.index) {
            update(request);
            request.duration_ms = u64::try_from(request.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
    }
}

/// Turns `/a?b=c&d=e` into `/a?b&d`.
fn without_values(path: &str, query: Option<&str>) -> String {
    let Some(query) = query else { return path.to_owned() };
    let names: Vec<&str> = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
    format!("{path}?{}", names.join("&"))
}

/// Explains a failed request for the record.
pub fn reason(error: &Error) -> String {
    match error {
        Error::HttpRequestDenied => "this host is not granted".to_owned(),
        Error::DestinationIpProhibited => "this address is not granted".to_owned(),
        Error::TlsCertificateError => "its certificate is not trusted".to_owned(),
        Error::HttpResponseContentCoding(_) => "the answer is encoded although that was not requested".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_logged_without_query_values() {
        let log = RequestLog::default();
        let request = Request::get("https://api.example.com/a/b?state=open&key=secret&flag").body(()).unwrap();
        let entry = log.begin(&request, "api.example.com:443").unwrap();
        entry.answered(StatusCode::OK);
        entry.received(3);
        entry.received(4);
        let [request] = &log.all()[..] else { panic!("one was sent") };
        assert_eq!((request.method.as_str(), request.host.as_str()), ("GET", "api.example.com:443"));
        assert_eq!((request.path.as_str(), request.status, request.bytes), ("/a/b?state&key&flag", Some(200), 7));
        let json = serde_json::to_string(request).unwrap();
        assert!(!json.contains("secret") && !json.contains("open"), "{json}");
    }
}
