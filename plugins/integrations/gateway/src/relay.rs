//! Relays the response stream of the service to the caller.

use crate::events::{Event, Events};
use crate::meaning::{Meaning, as_text, meaning};
use integration_kit::QueryError;
use integration_kit::http::{ANSWER_BYTES, Head, Request, Response, too_large};
use integration_kit::json::Value;
use integration_kit::service::status;
use integration_kit::text::{ANSWER_CHARS, block, cut, line};

/// Maximum number of characters shown of an interrupted answer.
const REMNANT_CHARS: usize = 2000;

/// Collects an answer and forwards its progress.
pub struct Relay<'a> {
    request: &'a Request,
    now: u64,
    progress: &'a dyn Fn(&str),
    received: usize,
    events: Events,
    /// A response that is not an event stream.
    body: Vec<u8>,
    parts: Vec<String>,
    last_progress: Option<String>,
    outcome: Option<Result<String, QueryError>>,
}

impl<'a> Relay<'a> {
    pub fn new(request: &'a Request, now: u64, progress: &'a dyn Fn(&str)) -> Self {
        Self {
            request,
            now,
            progress,
            received: 0,
            events: Events::default(),
            body: Vec::new(),
            parts: Vec::new(),
            last_progress: None,
            outcome: None,
        }
    }

    /// Processes the next bytes of the answer. An error ends the stream, also once the answer is complete.
    pub fn receive(&mut self, head: &Head, bytes: &[u8]) -> Result<(), QueryError> {
        self.received += bytes.len();
        if self.received > ANSWER_BYTES {
            self.outcome = Some(Err(too_large(self.request)));
        } else if is_stream(head) {
            let events = self.events.feed(bytes);
            self.take(&events);
        } else {
            self.body.extend_from_slice(bytes);
        }
        if self.outcome.is_some() { Err(QueryError::Failed("nothing more is needed".to_owned())) } else { Ok(()) }
    }

    /// Returns the answer after the stream ended, successfully or not.
    pub fn finish(mut self, received: Result<Head, QueryError>) -> Result<String, QueryError> {
        match received {
            _ if self.outcome.is_some() => {}
            Ok(head) if is_stream(&head) => self.end_stream(),
            Ok(head) => self.end_body(head)?,
            Err(QueryError::Unreachable(what)) => return Err(self.cut_off(&what)),
            Err(error) => return Err(error),
        }
        match self.outcome.take() {
            Some(outcome) => outcome,
            None => Err(self.cut_off(&format!("{}: the stream ended before `complete`", self.request.describe()))),
        }
    }

    fn take(&mut self, events: &[Event]) {
        for event in events {
            if self.outcome.is_some() {
                return;
            }
            match meaning(event) {
                Meaning::Progress(text) => self.report_progress(&text),
                Meaning::Part(text) => self.parts.push(text),
                Meaning::Complete(text) => self.outcome = Some(self.complete(&text)),
                Meaning::Error(text) if text.trim().is_empty() => {
                    self.outcome =
                        Some(Err(QueryError::Failed("the query service failed and did not say why".to_owned())));
                }
                Meaning::Error(text) => self.outcome = Some(Err(QueryError::Failed(cut(&line(&text), REMNANT_CHARS)))),
                Meaning::Other => {}
            }
        }
    }

    fn report_progress(&mut self, text: &str) {
        let text = line(text);
        if !text.is_empty() {
            (self.progress)(&text);
            self.last_progress = Some(text);
        }
    }

    /// Parts come first, followed by the text of `complete` unless it repeats them.
    fn complete(&self, last: &str) -> Result<String, QueryError> {
        let parts = block(&self.parts.join("\n"));
        let last = block(last);
        let answer = if last.contains(&parts) {
            last
        } else if parts.contains(&last) {
            parts
        } else {
            format!("{parts}\n\n{last}")
        };
        answered(&answer)
    }

    /// Some services close without an empty line after the last event.
    fn end_stream(&mut self) {
        let last = self.events.end();
        self.take(last.as_slice());
    }

    fn end_body(&mut self, head: Head) -> Result<(), QueryError> {
        let response = Response { head, body: std::mem::take(&mut self.body) };
        if let Some(redirect) = status::redirect(&response.head) {
            let redirect = line(redirect);
            let what = format!("{} is redirected; set the address to `{redirect}`", self.request.describe());
            return Err(QueryError::Failed(what));
        }
        if let Some(error) = status::failure(self.request, &response, self.now, "the query service at this address") {
            return Err(error);
        }
        let text = String::from_utf8_lossy(&response.body);
        if is_page(&text) {
            let what = format!("{} answered with an HTML page; check the address", self.request.describe());
            return Err(QueryError::Failed(what));
        }
        if looks_like_events(&text) {
            let events = self.events.feed(text.as_bytes());
            self.take(&events);
            if self.outcome.is_none() {
                self.end_stream();
            }
            return Ok(());
        }
        self.outcome = Some(match text.parse::<Value>() {
            Ok(value) => answered(&block(&as_text(&value))),
            Err(_) if says_json(&response.head) => {
                Err(QueryError::Failed(format!("the answer to {} is not JSON", self.request.describe())))
            }
            Err(_) => answered(&block(&text)),
        });
        Ok(())
    }

    /// Describes what happened, with what was received until then.
    fn cut_off(&self, what: &str) -> QueryError {
        let parts = block(&self.parts.join("\n"));
        QueryError::Unreachable(match (&self.last_progress, parts.is_empty()) {
            (None, true) => what.to_owned(),
            (Some(progress), true) => format!("{what}; its last progress was: {progress}"),
            (_, false) => format!("{what}; received before that:\n{}", cut(&parts, REMNANT_CHARS)),
        })
    }
}

fn answered(text: &str) -> Result<String, QueryError> {
    if text.is_empty() {
        return Err(QueryError::Failed("the query service answered nothing".to_owned()));
    }
    Ok(cut(text, ANSWER_CHARS))
}

fn is_stream(head: &Head) -> bool {
    (200..300).contains(&head.status) && content_type(head).starts_with("text/event-stream")
}

fn says_json(head: &Head) -> bool {
    let kind = content_type(head);
    kind.starts_with("application/json") || kind.contains("+json")
}

fn content_type(head: &Head) -> String {
    head.header("content-type").unwrap_or_default().to_lowercase()
}

fn is_page(text: &str) -> bool {
    let start: String = text.trim_start_matches('\u{feff}').trim_start().chars().take(14).collect();
    let start = start.to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// Whether this is an event stream with the wrong content type.
fn looks_like_events(text: &str) -> bool {
    let fields = ["event:", "data:"];
    fields.iter().any(|field| text.trim_start_matches('\u{feff}').trim_start().starts_with(field))
}
