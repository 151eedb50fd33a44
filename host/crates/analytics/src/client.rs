//! Sends batches of events to the endpoint.

use crate::options::Endpoint;
use std::time::Duration;
use ureq::Agent;
use ureq::config::Config;

/// The result of sending a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Accepted,
    /// With this HTTP status.
    Rejected(u16),
    NoResponse,
}

pub struct Client {
    agent: Agent,
    endpoint: Endpoint,
}

impl Client {
    pub fn new(endpoint: Endpoint, timeout: Duration) -> Self {
        let config = Config::builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // Events only go where the operator sends them; a redirect is reported instead.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Batches are too rare for an idle connection to pay off.
            .max_idle_connections(0)
            .proxy(None)
            .user_agent(concat!("skillcell/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), endpoint }
    }

    /// The URL of the endpoint without secrets.
    pub fn redacted_url(&self) -> &str {
        &self.endpoint.redacted
    }

    /// Sends events, each a JSON text, and the number of events ever dropped on this machine.
    pub fn send(&self, events: &[String], dropped: u64) -> Outcome {
        let dropped = if dropped > 0 { format!(",\"dropped\":{dropped}") } else { String::new() };
        let body = format!("{{\"events\":[{}]{dropped}}}", events.join(","));
        let request = self.agent.post(&self.endpoint.url).header("Content-Type", "application/json");
        match request.send(body.as_bytes()).map(|response| response.status()) {
            Ok(status) if status.is_success() => Outcome::Accepted,
            Ok(status) => Outcome::Rejected(status.as_u16()),
            Err(error) => {
                tracing::debug!("the analytics endpoint {} did not answer: {error}", self.redacted_url());
                Outcome::NoResponse
            }
        }
    }
}
