//! What an integration sent, for the record: never a header, a body or a value in an address.

use crate::printable::printable_up_to;
use hyper::{Request, StatusCode};
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wasmtime_wasi_http::Error;

/// Most requests of one question, also of those that are refused.
pub const MOST: usize = 50;

/// Longest path and longest reason in the record, in characters.
const LONGEST: usize = 200;

/// Shared by everything that sends requests for one question.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<Mutex<Vec<Sent>>>);

/// One request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sent {
    pub method: String,
    pub host: String,
    pub path: String,
    /// Of the answer, if there was one.
    pub status: Option<u16>,
    /// Why it was not sent, or has no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Of the answer's body.
    pub bytes: u64,
    pub duration_ms: u64,
    #[serde(skip)]
    began: Instant,
}

/// A request of which more is to be told.
#[derive(Debug, Clone)]
pub struct Noted {
    requests: Requests,
    number: usize,
}

impl Requests {
    /// Notes a request that somebody wants to send to a host. Nothing when there were too many.
    pub fn begin<B>(&self, request: &Request<B>, host: &str) -> Option<Noted> {
        let mut sent = self.sent();
        if sent.len() == MOST {
            return None;
        }
        sent.push(Sent {
            method: printable_up_to(request.method().as_str(), LONGEST),
            host: printable_up_to(host, LONGEST),
            path: printable_up_to(&without_values(request.uri().path(), request.uri().query()), LONGEST),
            status: None,
            failure: None,
            bytes: 0,
            duration_ms: 0,
            began: Instant::now(),
        });
        Some(Noted { requests: self.clone(), number: sent.len() - 1 })
    }

    pub fn all(&self) -> Vec<Sent> {
        self.sent().clone()
    }

    fn sent(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Noted {
    pub fn answered(&self, status: StatusCode) {
        self.change(|sent| sent.status = Some(status.as_u16()));
    }

    pub fn failed(&self, reason: &str) {
        self.change(|sent| sent.failure = Some(printable_up_to(reason, LONGEST)));
    }

    pub fn received(&self, bytes: usize) {
        self.change(|sent| sent.bytes += bytes as u64);
    }

    fn change(&self, change: impl FnOnce(&mut Sent)) {
        if let Some(sent) = self.requests.sent().get_mut(self.number) {
            change(sent);
            sent.duration_ms = milliseconds(sent.began.elapsed());
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// `/a?b=c&d=e` as `/a?b&d`.
fn without_values(path: &str, query: Option<&str>) -> String {
    let Some(query) = query else { return path.to_owned() };
    let names: Vec<&str> = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
    format!("{path}?{}", names.join("&"))
}

/// Why there is no answer, for the record.
pub fn reason(error: &Error) -> String {
    match error {
        Error::HttpRequestDenied => "this host is not granted".to_owned(),
        Error::DestinationIpProhibited => "this address is not granted".to_owned(),
        Error::TlsCertificateError => "its certificate is not trusted".to_owned(),
        Error::HttpResponseContentCoding(_) => "the answer is encoded, and nobody asked for that".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(requests: &Requests, uri: &str) -> Option<Noted> {
        let request = Request::get(uri).body(()).unwrap();
        requests.begin(&request, "api.example.com:443")
    }

    #[test]
    fn a_request_is_noted_without_the_values_in_its_address() {
        let requests = Requests::default();
        let noted = begin(&requests, "https://api.example.com/a/b?state=open&key=secret&flag").unwrap();
        noted.answered(StatusCode::OK);
        noted.received(3);
        noted.received(4);
        let [sent] = &requests.all()[..] else { panic!("one was sent") };
        assert_eq!((sent.method.as_str(), sent.host.as_str()), ("GET", "api.example.com:443"));
        assert_eq!((sent.path.as_str(), sent.status, sent.bytes), ("/a/b?state&key&flag", Some(200), 7));
        let written = serde_json::to_string(sent).unwrap();
        assert!(!written.contains("secret") && !written.contains("open"), "{written}");
    }

    #[test]
    fn there_is_an_end_to_requests() {
        let requests = Requests::default();
        for _ in 0..MOST {
            assert!(begin(&requests, "https://api.example.com/").is_some());
        }
        assert!(begin(&requests, "https://api.example.com/").is_none());
        assert_eq!(requests.all().len(), MOST);
    }
}
