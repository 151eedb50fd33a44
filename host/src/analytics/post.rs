//! One batch on its way to the endpoint.

use crate::config::Endpoint;
use std::time::Duration;
use ureq::Agent;
use ureq::config::Config;

/// What came of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Taken,
    /// The status of the answer.
    Refused(u16),
    /// No answer in time, or none at all.
    NoAnswer,
}

pub struct Post {
    agent: Agent,
    endpoint: Endpoint,
}

impl Post {
    pub fn new(endpoint: Endpoint, timeout: Duration) -> Self {
        let config = Config::builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // Who moved says so in an answer, and the operator decides whether events go there.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // A batch each half minute needs no open connection.
            .max_idle_connections(0)
            .proxy(None)
            .user_agent(concat!("skillcell/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), endpoint }
    }

    /// The endpoint without its path, which may be a secret.
    pub fn shown(&self) -> &str {
        &self.endpoint.shown
    }

    /// Sends events, each as JSON, and how many were ever dropped on this machine.
    pub fn send(&self, events: &[String], dropped: u64) -> Outcome {
        let dropped = if dropped > 0 { format!(",\"dropped\":{dropped}") } else { String::new() };
        let body = format!("{{\"events\":[{}]{dropped}}}", events.join(","));
        let request = self.agent.post(&self.endpoint.url).header("Content-Type", "application/json");
        match request.send(body.as_bytes()).map(|answer| answer.status()) {
            // What else the answer says is not read.
            Ok(status) if status.is_success() => Outcome::Taken,
            Ok(status) => Outcome::Refused(status.as_u16()),
            Err(error) => {
                tracing::debug!("the analytics endpoint {} gave no answer: {error}", self.shown());
                Outcome::NoAnswer
            }
        }
    }
}
