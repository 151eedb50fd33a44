//! HTTPS services on this machine with recorded answers, and faults on demand.

mod listening;
mod moment;
mod recording;

pub use crate::wire::{Answer, Request};
pub use moment::now;

use crate::authority::Authority;
use crate::{PATIENCE, wire};
use listening::{Listening, Stream};
use recording::Recording;
use serde_json::json;
use std::io::{self, BufReader, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The pause between two bytes of `Misbehavior::Drip`.
const DROP: Duration = Duration::from_millis(50);

/// What a service does instead of giving the recorded answer.
#[derive(Debug, Clone)]
pub enum Misbehavior {
    /// Gives this answer.
    Say(Answer),
    /// Gives these answers in turn, over and over.
    Turns(Vec<Answer>),
    /// Sends nothing until `behave` is called.
    Hang,
    /// Sends the head of the answer and white space, a byte at a time, and the rest when `behave` is called.
    Drip,
    /// Closes the connection without an answer.
    HangUp,
    /// Sends this many bytes of the answer and closes the connection.
    Cut(usize),
    /// Sends a JSON array of this many bytes.
    Huge(usize),
    /// Sends the whole request back, with its headers.
    Echo,
    /// Sends the first of these parts of an answer, and each other one when `go_on` is called.
    Parts(Answer, Vec<String>),
}

impl Misbehavior {
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Say(Answer::json(302, &json!({})).header("location", to))
    }
}

/// A running service. Stopped when the value is dropped.
pub struct Service {
    shared: Arc<Shared>,
    listening: Listening,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    recording: Option<Recording>,
    misbehavior: Option<Misbehavior>,
    requests: Vec<Request>,
    /// Requests since `misbehave` was called.
    turn: usize,
    /// How many parts may be sent besides the first.
    parts: usize,
    ended: bool,
}

impl Service {
    /// Starts a service without recorded answers, with a certificate of this authority.
    pub fn start(authority: &Authority) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        // A client may disconnect at any time.
        let listening = Listening::start(authority.server(), move |stream| drop(theirs.converse(stream)));
        Self { shared, listening }
    }

    /// Starts a service with the answers of `fixtures/services/NAME`, for this commit.
    pub fn recorded(name: &str, authority: &Authority, commit: &str) -> Self {
        let service = Self::start(authority);
        let recording = Recording::open(name, &service.address(), commit);
        service.shared.state().recording = Some(recording);
        service
    }

    /// Its address, with the name `localhost`.
    pub fn address(&self) -> String {
        self.address_at("localhost")
    }

    /// Its address, with another name of this machine.
    pub fn address_at(&self, host: &str) -> String {
        format!("https://{host}:{}", self.port())
    }

    pub fn port(&self) -> u16 {
        self.listening.port()
    }

    /// Moves the recorded answers to the current time, and returns what an integration should make of them.
    pub fn expected(&self, answer: &str) -> String {
        let mut state = self.shared.state();
        let recording = state.recording.as_mut().expect("a service that was recorded");
        recording.move_to_now();
        recording.expected(answer)
    }

    /// Handles every request like this from now on.
    pub fn misbehave(&self, misbehavior: Misbehavior) {
        let mut state = self.shared.state();
        (state.misbehavior, state.turn, state.parts) = (Some(misbehavior), 0, 0);
    }

    /// Gives the recorded answers from now on, also to requests that wait.
    pub fn behave(&self) {
        self.shared.state().misbehavior = None;
        self.shared.changed.notify_all();
    }

    /// Sends the next part of an answer.
    pub fn go_on(&self) {
        self.shared.state().parts += 1;
        self.shared.changed.notify_all();
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Waits until this many requests were received in total.
    pub fn wait_for(&self, count: usize) {
        let waiting = |state: &mut State| state.requests.len() < count;
        let waited = self.shared.changed.wait_timeout_while(self.shared.state(), PATIENCE, waiting);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        let received = state.requests.len();
        drop(state);
        assert!(!timeout.timed_out(), "only {received} of {count} requests in {PATIENCE:?}");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn converse(&self, stream: &mut dyn Stream) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(request) = Request::read(&mut stream)? {
            let mut state = self.state();
            state.requests.push(request.clone());
            let misbehavior = match state.misbehavior.clone() {
                Some(Misbehavior::Turns(answers)) => {
                    Some(Misbehavior::Say(answers[state.turn % answers.len()].clone()))
                }
                other => other,
            };
            state.turn += 1;
            drop(state);
            self.changed.notify_all();
            self.answer(&request, misbehavior, stream.get_mut())?;
        }
        Ok(())
    }

    fn answer(
        &self,
        request: &Request,
        misbehavior: Option<Misbehavior>,
        mut stream: &mut dyn Stream,
    ) -> io::Result<()> {
        let stream = &mut stream;
        match misbehavior {
            None => whole(&self.proper(request), stream),
            Some(Misbehavior::Say(answer)) => whole(&answer, stream),
            Some(Misbehavior::Turns(_)) => unreachable!("each turn is something to say"),
            Some(Misbehavior::Echo) => whole(&echo(request), stream),
            Some(Misbehavior::Hang) => {
                let waiting = |state: &mut State| matches!(state.misbehavior, Some(Misbehavior::Hang)) && !state.ended;
                drop(self.changed.wait_while(self.state(), waiting));
                whole(&self.proper(request), stream)
            }
            Some(Misbehavior::Drip) => {
                let answer = self.proper(request);
                answer.write_head(stream)?;
                while self.still_drips() {
                    wire::write_piece(stream, b" ")?;
                }
                wire::write_piece(stream, &answer.body)?;
                wire::end_pieces(stream)
            }
            Some(Misbehavior::HangUp) => Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Misbehavior::Cut(bytes)) => {
                let answer = self.proper(request);
                answer.write_head(stream)?;
                wire::write_piece(stream, &answer.body[..answer.body.len().min(bytes)])?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Some(Misbehavior::Huge(bytes)) => {
                Answer::ok("application/json", "").write_head(stream)?;
                wire::write_piece(stream, b"[0")?;
                let piece = b",0".repeat(32 << 10);
                for _ in 0..bytes / piece.len() {
                    wire::write_piece(stream, &piece)?;
                }
                wire::write_piece(stream, b"]")?;
                wire::end_pieces(stream)
            }
            Some(Misbehavior::Parts(answer, parts)) => {
                answer.write_head(stream)?;
                for (number, part) in parts.iter().enumerate() {
                    let waiting = |state: &mut State| state.parts < number && !state.ended;
                    drop(self.changed.wait_while(self.state(), waiting));
                    wire::write_piece(stream, part.as_bytes())?;
                }
                wire::end_pieces(stream)
            }
        }
    }

    /// Waits for the time of the next byte. False when `behave` was called or the service ends.
    fn still_drips(&self) -> bool {
        let waiting = |state: &mut State| matches!(state.misbehavior, Some(Misbehavior::Drip)) && !state.ended;
        let waited = self.changed.wait_timeout_while(self.state(), DROP, waiting);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        timeout.timed_out()
    }

    /// The recorded answer.
    fn proper(&self, request: &Request) -> Answer {
        let state = self.state();
        state.recording.as_ref().map_or_else(|| Answer::json(200, &json!({})), |recording| recording.answer(request))
    }
}

fn whole(answer: &Answer, stream: &mut impl Write) -> io::Result<()> {
    answer.write_head(stream)?;
    wire::write_piece(stream, &answer.body)?;
    wire::end_pieces(stream)
}

fn echo(request: &Request) -> Answer {
    let body = String::from_utf8_lossy(&request.body);
    let seen = json!({"method": request.method, "target": request.target, "headers": request.headers, "body": body});
    Answer::json(200, &seen)
}
