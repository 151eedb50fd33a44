//! A client for JSON services.

pub mod paging;
pub mod status;

use crate::http::{Head, Http, Request, parts};
use crate::json::Value;
use crate::{QueryError, http};

/// Maximum number of consecutive redirects.
const MAX_REDIRECTS: usize = 3;

/// The address of a service, and the headers to send.
pub struct Service<'a> {
    http: &'a dyn Http,
    address: &'a str,
    now: u64,
    headers: Vec<(String, String)>,
}

/// A JSON value, with the head of its response.
#[derive(Debug)]
pub struct Fetched {
    pub head: Head,
    pub value: Value,
}

impl<'a> Service<'a> {
    /// Creates a client. `now` is in seconds since 1970.
    pub fn new(http: &'a dyn Http, address: &'a str, now: u64) -> Self {
        let service = Self { http, address: address.trim_end_matches('/'), now, headers: Vec::new() };
        // GitHub rejects requests without a user agent.
        service.with("user-agent", "skillcell").with("accept", "application/json")
    }

    /// Sends this header with every request, replacing an earlier one of this name.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the JSON at a path below the address. `what` names it in the message if it does not exist.
    pub fn get(&self, path: &str, what: &str) -> Result<Value, QueryError> {
        Ok(self.fetch(path, what)?.value)
    }

    /// Like `get`, but returns the head of the response too, and accepts absolute URLs.
    pub fn fetch(&self, path: &str, what: &str) -> Result<Fetched, QueryError> {
        let (request, response) = self.follow_redirects(path)?;
        self.parse(&request, response, what)
    }

    /// Like `get`, but returns none if the service answers with one of these statuses.
    pub fn get_optional(&self, path: &str, absent: &[u16], what: &str) -> Result<Option<Value>, QueryError> {
        let (request, response) = self.follow_redirects(path)?;
        if absent.contains(&response.head.status) {
            return Ok(None);
        }
        Ok(Some(self.parse(&request, response, what)?.value))
    }

    /// Sends a GET request and follows redirects.
    fn follow_redirects(&self, path: &str) -> Result<(Request, http::Response), QueryError> {
        let mut address = self.absolute(path);
        for _ in 0..=MAX_REDIRECTS {
            let request = self.with_headers(Request::get(address));
            let response = self.http.send(&request)?;
            let Some(redirect) = status::redirect(&response.head) else { return Ok((request, response)) };
            address = resolve_location(&request.address, redirect).ok_or_else(|| {
                QueryError::Failed(format!("{} was redirected to an invalid address", request.describe()))
            })?;
        }
        Err(QueryError::Failed(format!("GET {} was redirected more than {MAX_REDIRECTS} times", self.absolute(path))))
    }

    /// Posts a JSON document and returns the JSON response.
    pub fn post(&self, path: &str, body: &Value, what: &str) -> Result<Value, QueryError> {
        let request = Request::post(self.absolute(path), body.to_string().into_bytes());
        let request = self.with_headers(request.with("content-type", "application/json"));
        let response = self.http.send(&request)?;
        Ok(self.parse(&request, response, what)?.value)
    }

    /// Returns the time of the question, in seconds since 1970.
    pub fn now(&self) -> u64 {
        self.now
    }

    fn parse(&self, request: &Request, response: http::Response, what: &str) -> Result<Fetched, QueryError> {
        if let Some(error) = status::failure(request, &response, self.now, what) {
            return Err(error);
        }
        match serde_json::from_slice(&response.body) {
            Ok(value) => Ok(Fetched { head: response.head, value }),
            Err(error) => Err(QueryError::Failed(format!("the answer to {} is not JSON: {error}", request.describe()))),
        }
    }

    fn with_headers(&self, mut request: Request) -> Request {
        request.headers.extend(self.headers.iter().cloned());
        request
    }

    fn absolute(&self, path: &str) -> String {
        if parts(path).is_some() { path.to_owned() } else { format!("{}{path}", self.address) }
    }
}

/// Resolves the target of a redirect: an absolute URL, or a path at the same service.
fn resolve_location(address: &str, location: &str) -> Option<String> {
    if parts(location).is_some() {
        return Some(location.to_owned());
    }
    let here = parts(address)?;
    let scheme = if here.secure { "https" } else { "http" };
    let local = location.starts_with('/') && !location.starts_with("//");
    local.then(|| format!("{scheme}://{}{location}", here.authority))
}

#[cfg(test)]
mod tests;
