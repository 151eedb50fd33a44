//! Between the stream of the service and whoever asked.

use crate::events::{Event, Events};
use crate::meaning::{Meaning, in_words, meaning};
use integration_kit::QueryError;
use integration_kit::http::{ANSWER_BYTES, Head, Request, Response, too_large};
use integration_kit::json::Value;
use integration_kit::service::status;
use integration_kit::text::{ANSWER_CHARS, block, cut, line};

/// Most of what is told about an answer that was cut off, in characters.
const REMNANT_CHARS: usize = 2000;

/// Takes in an answer and passes on its progress.
pub struct Relay<'a> {
    request: &'a Request,
    now: u64,
    progress: &'a dyn Fn(&str),
    received: usize,
    events: Events,
    /// What is no stream of events.
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

    /// The next bytes of the answer. A failure ends the stream, also when everything is known.
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

    /// The answer, when the stream has ended in one way or the other.
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
                Meaning::Progress(text) => self.tell(&text),
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

    fn tell(&mut self, text: &str) {
        let told = line(text);
        if !told.is_empty() {
            (self.progress)(&told);
            self.last_progress = Some(told);
        }
    }

    /// Parts come first, and the text of `complete` follows unless it repeats them.
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
        if let Some(elsewhere) = status::elsewhere(&response.head) {
            let elsewhere = line(elsewhere);
            let what = format!("{} is sent elsewhere; set the address to `{elsewhere}`", self.request.describe());
            return Err(QueryError::Failed(what));
        }
        if let Some(error) = status::failure(self.request, &response, self.now, "the query service at this address") {
            return Err(error);
        }
        let text = String::from_utf8_lossy(&response.body);
        if is_page(&text) {
            let what = format!("{} answered with a page for browsers; check the address", self.request.describe());
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
            Ok(value) => answered(&block(&in_words(&value))),
            Err(_) if says_json(&response.head) => {
                Err(QueryError::Failed(format!("the answer to {} is no JSON", self.request.describe())))
            }
            Err(_) => answered(&block(&text)),
        });
        Ok(())
    }

    /// What happened, and what came until then.
    fn cut_off(&self, what: &str) -> QueryError {
        let parts = block(&self.parts.join("\n"));
        QueryError::Unreachable(match (&self.last_progress, parts.is_empty()) {
            (None, true) => what.to_owned(),
            (Some(progress), true) => format!("{what}; the last that it said was: {progress}"),
            (_, false) => format!("{what}; this came before:\n{}", cut(&parts, REMNANT_CHARS)),
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

/// Whether this is a stream of events that is not called so.
fn looks_like_events(text: &str) -> bool {
    let fields = ["event:", "data:"];
    fields.iter().any(|field| text.trim_start_matches('\u{feff}').trim_start().starts_with(field))
}
