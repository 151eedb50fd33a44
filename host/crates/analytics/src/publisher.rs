//! Sends buffered events from a thread of its own.
//!
//! Events are removed only after the endpoint accepted them; until then they are sent again, with the same ids. Only an
//! event that the endpoint rejects as too large on its own is dropped, and counted.

use super::buffer::Buffer;
use super::client::{Client, Outcome};
use super::legacy;
use base::printable::counted;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// In intervals.
const MAX_BACKOFF: u32 = 10;

/// HTTP status 413, Content Too Large.
const TOO_LARGE: u16 = 413;

pub struct Publisher {
    pub buffer: Arc<Buffer>,
    pub client: Client,
    pub interval: Duration,
    pub include_text: bool,
    /// The buffer of the older server, until it has been imported.
    pub legacy_file: Option<PathBuf>,
}

/// The state of sending. Transitions are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Healthy,
    Failing(Outcome),
    /// The buffer cannot be read.
    Unreadable,
}

impl Publisher {
    /// Sends at once what earlier servers left, and then everything at every interval, until the server shuts down, even in the middle of a batch.
    pub fn run(mut self, ended: &Receiver<()>) {
        let mut state = State::Healthy;
        let mut failures = 0;
        let mut with_own = false;
        loop {
            if let Some(new_state) = self.try_send(with_own) {
                if new_state != state {
                    self.log(new_state);
                    state = new_state;
                }
                failures = if state == State::Healthy { 0 } else { failures + 1 };
            }
            let wait = self.interval * 2_u32.saturating_pow(failures).min(MAX_BACKOFF);
            if ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            with_own = true;
        }
    }

    /// Returns `None` while another server is sending.
    fn try_send(&mut self, with_own: bool) -> Option<State> {
        let lock = self.buffer.lock_for_sending();
        match lock.and_then(|lock| lock.map(|_lock| self.send_all(with_own)).transpose()) {
            Ok(None) => None,
            Ok(Some(Outcome::Accepted)) => Some(State::Healthy),
            Ok(Some(outcome)) => Some(State::Failing(outcome)),
            Err(error) => {
                tracing::debug!("cannot send analytics events: {error}");
                Some(State::Unreadable)
            }
        }
    }

    /// Sends all buffered events, those of this server last, if they are to be sent. While the endpoint accepts nothing, this server's file stays
    /// open, so that many small ones do not pile up.
    fn send_all(&mut self, with_own: bool) -> io::Result<Outcome> {
        if let Some(file) = self.legacy_file.take() {
            let imported = legacy::import(&file, &self.buffer, self.include_text);
            imported.unwrap_or_else(|error| tracing::warn!("{error}"));
        }
        let mut closed = false;
        loop {
            let batch = self.buffer.batch()?;
            if batch.events.is_empty() {
                if closed || !with_own || !self.buffer.close() {
                    return Ok(Outcome::Accepted);
                }
                closed = true;
                continue;
            }
            let mut too_large = Vec::new();
            match self.send(&batch.events, 0, &mut too_large) {
                Outcome::Accepted => self.buffer.remove(batch, &too_large)?,
                outcome => return Ok(outcome),
            }
            if !too_large.is_empty() {
                let (dropped, endpoint) = (counted(too_large.len(), "event"), self.client.redacted_url());
                tracing::warn!(
                    "dropped {dropped}: the analytics endpoint {endpoint} answers {TOO_LARGE} even to a single event"
                );
            }
        }
    }

    /// Sends events, in halves if together they are too large. An event that is too large on its own would block all others
    /// forever, so it is skipped and its index, plus `first`, is added to `too_large`.
    fn send(&self, events: &[String], first: usize, too_large: &mut Vec<usize>) -> Outcome {
        match self.client.send(events, self.buffer.dropped()) {
            Outcome::Rejected(TOO_LARGE) if events.len() > 1 => {
                let half = events.len() / 2;
                match self.send(&events[..half], first, too_large) {
                    Outcome::Accepted => self.send(&events[half..], first + half, too_large),
                    outcome => outcome,
                }
            }
            Outcome::Rejected(TOO_LARGE) => {
                too_large.push(first);
                Outcome::Accepted
            }
            outcome => outcome,
        }
    }

    fn log(&self, state: State) {
        let endpoint = self.client.redacted_url();
        let check = ": check `analytics.endpoint`, redirects are not followed";
        let (fault, hint) = match state {
            State::Healthy => return tracing::info!("the analytics endpoint {endpoint} accepts events again"),
            State::Unreadable => {
                return tracing::warn!("cannot read the events for {endpoint} from disk; `-v` logs the reason");
            }
            State::Failing(Outcome::Rejected(status)) => {
                // Most of these need the operator; 408 and 429 are temporary.
                let is_permanent = matches!(status, 300..=407 | 409..=428 | 430..=499);
                (format!("answers {status}"), if is_permanent { check } else { "" })
            }
            State::Failing(_) => ("does not answer".to_owned(), ""),
        };
        tracing::warn!("the analytics endpoint {endpoint} {fault}; events stay on disk until it accepts them{hint}");
    }
}
