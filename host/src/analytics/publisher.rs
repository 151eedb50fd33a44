//! Sends what waits, from a thread of its own.
//!
//! Events are removed only after the endpoint took them. Whatever else happens, they stay, and the next try sends them again
//! with the same ids. Only an event that is too large for the endpoint all alone is dropped, and counted.

use super::older;
use super::post::{Outcome, Post};
use super::waiting::Waiting;
use crate::printable::counted;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// After failures the wait grows to this many intervals.
const LONGEST_WAIT: u32 = 10;

/// The status for a request that has more bytes than a server takes.
const TOO_LARGE: u16 = 413;

pub struct Publisher {
    pub waiting: Arc<Waiting>,
    pub post: Post,
    pub interval: Duration,
    pub include_text: bool,
    /// The buffer of an older server, until it was looked for.
    pub older: Option<PathBuf>,
}

/// How it went, as far as somebody has to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fine,
    Failing(Outcome),
    /// The buffer cannot be read.
    Stuck,
}

impl Publisher {
    /// Sends now and at each interval, until the server ends. A batch that is on its way then is sent again by the next.
    pub fn run(mut self, ended: &Receiver<()>) {
        let mut state = State::Fine;
        let mut failures = 0;
        loop {
            if let Some(now) = self.round() {
                if now != state {
                    self.tell(now);
                    state = now;
                }
                failures = if state == State::Fine { 0 } else { failures + 1 };
            }
            let wait = self.interval * 2_u32.saturating_pow(failures).min(LONGEST_WAIT);
            if ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// Nothing is known when another server sends.
    fn round(&mut self) -> Option<State> {
        let alone = self.waiting.only_sender();
        match alone.and_then(|alone| alone.map(|_alone| self.send_all()).transpose()) {
            Ok(None) => None,
            Ok(Some(Outcome::Taken)) => Some(State::Fine),
            Ok(Some(outcome)) => Some(State::Failing(outcome)),
            Err(error) => {
                tracing::debug!("events cannot be sent: {error}");
                Some(State::Stuck)
            }
        }
    }

    /// Everything that waits, and last what this server wrote itself. While an endpoint takes nothing, that file stays open,
    /// so that there are not many small ones.
    fn send_all(&mut self) -> io::Result<Outcome> {
        if let Some(older) = self.older.take() {
            let taken_over = older::take_over(&older, &self.waiting, self.include_text);
            taken_over.unwrap_or_else(|error| tracing::warn!("{error}"));
        }
        let mut closed = false;
        loop {
            let batch = self.waiting.batch()?;
            if batch.events.is_empty() {
                if closed || !self.waiting.close() {
                    return Ok(Outcome::Taken);
                }
                closed = true;
                continue;
            }
            let mut refused = Vec::new();
            match self.send(&batch.events, 0, &mut refused) {
                Outcome::Taken => self.waiting.forget(batch, &refused)?,
                outcome => return Ok(outcome),
            }
            if !refused.is_empty() {
                let (dropped, endpoint) = (counted(refused.len(), "event"), self.post.shown());
                tracing::warn!(
                    "dropped {dropped}: the analytics endpoint {endpoint} answers {TOO_LARGE} to each alone"
                );
            }
        }
    }

    /// Sends events, in halves if together they are too large. One that is too large alone would be in the way of all others
    /// forever, so it is passed over: `refused` gets its place, counted from `first`.
    fn send(&self, events: &[String], first: usize, refused: &mut Vec<usize>) -> Outcome {
        match self.post.send(events, self.waiting.dropped()) {
            Outcome::Refused(TOO_LARGE) if events.len() > 1 => {
                let half = events.len() / 2;
                match self.send(&events[..half], first, refused) {
                    Outcome::Taken => self.send(&events[half..], first + half, refused),
                    outcome => outcome,
                }
            }
            Outcome::Refused(TOO_LARGE) => {
                refused.push(first);
                Outcome::Taken
            }
            outcome => outcome,
        }
    }

    fn tell(&self, state: State) {
        let endpoint = self.post.shown();
        let fault = match state {
            State::Fine => {
                tracing::info!("the analytics endpoint {endpoint} takes events again");
                return;
            }
            State::Stuck => {
                tracing::warn!("events for {endpoint} cannot be read from disk; `-v` says why");
                return;
            }
            State::Failing(Outcome::Refused(status)) => format!("answers {status}"),
            State::Failing(_) => "gives no answer".to_owned(),
        };
        // With most of these only the operator can help; 408 and 429 pass.
        let hint = match state {
            State::Failing(Outcome::Refused(300..=407 | 409..=428 | 430..=499)) => {
                ": check `analytics.endpoint`, redirects are not followed"
            }
            _ => "",
        };
        tracing::warn!("the analytics endpoint {endpoint} {fault}; events wait on disk until it takes them{hint}");
    }
}
