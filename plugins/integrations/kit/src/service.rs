//! A service that speaks JSON.

pub mod paging;
pub mod status;

use crate::http::{Head, Http, Request, parts};
use crate::json::Value;
use crate::{QueryError, http};

/// How often in a row a service may send a request elsewhere.
const REDIRECTS: usize = 3;

/// Where a service is and how it is spoken to.
pub struct Service<'a> {
    http: &'a dyn Http,
    address: &'a str,
    now: u64,
    headers: Vec<(String, String)>,
}

/// What a service said, with the head of its answer.
#[derive(Debug)]
pub struct Answered {
    pub head: Head,
    pub value: Value,
}

impl<'a> Service<'a> {
    /// A service at an address, asked at a moment in seconds since 1970.
    pub fn new(http: &'a dyn Http, address: &'a str, now: u64) -> Self {
        let service = Self { http, address: address.trim_end_matches('/'), now, headers: Vec::new() };
        // GitHub refuses requests without a name.
        service.with("user-agent", "skillcell").with("accept", "application/json")
    }

    /// Sends this header with every request, in place of an earlier one of this name.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What is at a path below the address. `what` names it in the message when there is nothing.
    pub fn get(&self, path: &str, what: &str) -> Result<Value, QueryError> {
        Ok(self.answered(path, what)?.value)
    }

    /// The same, with the head of the answer. The path may be a whole address.
    pub fn answered(&self, path: &str, what: &str) -> Result<Answered, QueryError> {
        let (request, response) = self.followed(path)?;
        self.understand(&request, response, what)
    }

    /// The same. Nothing if the service answers with one of these statuses.
    pub fn found(&self, path: &str, absent: &[u16], what: &str) -> Result<Option<Value>, QueryError> {
        let (request, response) = self.followed(path)?;
        if absent.contains(&response.head.status) {
            return Ok(None);
        }
        Ok(Some(self.understand(&request, response, what)?.value))
    }

    /// A request, wherever the service sends it, and its answer.
    fn followed(&self, path: &str) -> Result<(Request, http::Response), QueryError> {
        let mut address = self.whole(path);
        for _ in 0..=REDIRECTS {
            let request = self.headed(Request::get(address));
            let response = self.http.send(&request)?;
            let Some(elsewhere) = status::elsewhere(&response.head) else { return Ok((request, response)) };
            address = beside(&request.address, elsewhere)
                .ok_or_else(|| QueryError::Failed(format!("{} was sent nowhere", request.describe())))?;
        }
        Err(QueryError::Failed(format!("GET {} was sent elsewhere more than {REDIRECTS} times", self.whole(path))))
    }

    /// What the service answers to a JSON document.
    pub fn post(&self, path: &str, body: &Value, what: &str) -> Result<Value, QueryError> {
        let request = Request::post(self.whole(path), body.to_string().into_bytes());
        let request = self.headed(request.with("content-type", "application/json"));
        let response = self.http.send(&request)?;
        Ok(self.understand(&request, response, what)?.value)
    }

    /// The moment of asking, in seconds since 1970.
    pub fn now(&self) -> u64 {
        self.now
    }

    fn understand(&self, request: &Request, response: http::Response, what: &str) -> Result<Answered, QueryError> {
        if let Some(error) = status::failure(request, &response, self.now, what) {
            return Err(error);
        }
        match serde_json::from_slice(&response.body) {
            Ok(value) => Ok(Answered { head: response.head, value }),
            Err(error) => Err(QueryError::Failed(format!("the answer to {} is no JSON: {error}", request.describe()))),
        }
    }

    fn headed(&self, mut request: Request) -> Request {
        request.headers.extend(self.headers.iter().cloned());
        request
    }

    fn whole(&self, path: &str) -> String {
        if parts(path).is_some() { path.to_owned() } else { format!("{}{path}", self.address) }
    }
}

/// Where a redirect leads: a whole address, or a path at the same service.
fn beside(address: &str, location: &str) -> Option<String> {
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
