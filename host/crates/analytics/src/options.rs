//! The settings of analytics.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    pub enabled: bool,
    /// Without an endpoint, events only go to the local history.
    pub endpoint: Option<Endpoint>,
    pub interval: Duration,
    pub timeout: Duration,
    /// Whether events contain text written by people and models.
    pub include_text: bool,
    /// Maximum size of unsent events on disk.
    pub max_bytes: u64,
    /// Identifies this installation to the endpoint.
    pub server_id: String,
}

/// Where events are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub url: String,
    /// The URL without path and query, which are often secrets.
    pub redacted: String,
}
