//! Services on this machine that speak HTTPS, answer as recorded, and misbehave on order.

mod listening;
mod moment;
mod recording;

pub use crate::wire::{Answer, Request};
pub use moment::now;

use crate::authority::Authority;
use crate::wire;
use listening::{Listening, Stream};
use recording::Recording;
use serde_json::json;
use std::io::{self, BufReader, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longer than anything a test waits for, on the slowest machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a service that drips waits between drops.
const DROP: Duration = Duration::from_millis(50);

/// What becomes of a request in place of the recorded answer.
#[derive(Debug, Clone)]
pub enum Deed {
    /// This is answered.
    Say(Answer),
    /// These are answered in turn, over and over.
    Turns(Vec<Answer>),
    /// Nothing, until the service behaves.
    Hang,
    /// The head of the answer and white space, a little at a time; the rest when the service behaves.
    Drip,
    /// The end of the connection, and nothing before it.
    HangUp,
    /// So many bytes of the answer, and then the end of the connection.
    Cut(usize),
    /// JSON without an end, in so many bytes.
    Huge(usize),
    /// Everything that came, headers and all.
    Echo,
    /// These parts of an answer, each after the first when a test says so.
    Parts(Answer, Vec<String>),
}

impl Deed {
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Say(Answer::json(302, &json!({})).header("location", to))
    }
}

/// A running service. Ends with the value.
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
    deed: Option<Deed>,
    requests: Vec<Request>,
    /// Requests since it misbehaves.
    turn: usize,
    /// Parts that may be sent besides the first.
    parts: usize,
    ended: bool,
}

impl Service {
    /// Says nothing of its own yet. Its certificate is signed by this authority.
    pub fn start(authority: &Authority) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        // A client may go away at any moment.
        let listening = Listening::start(authority.server(), move |stream| drop(theirs.converse(stream)));
        Self { shared, listening }
    }

    /// Answers as `fixtures/services/NAME`, recorded at this commit.
    pub fn recorded(name: &str, authority: &Authority, commit: &str) -> Self {
        let service = Self::start(authority);
        let recording = Recording::open(name, &service.address(), commit);
        service.shared.state().recording = Some(recording);
        service
    }

    /// Where it is, by the usual name of this machine.
    pub fn address(&self) -> String {
        self.address_at("localhost")
    }

    /// The same by another name of this machine.
    pub fn address_at(&self, host: &str) -> String {
        format!("https://{host}:{}", self.port())
    }

    pub fn port(&self) -> u16 {
        self.listening.port()
    }

    /// What an integration should make of the recorded answers from now on.
    pub fn expected(&self, answer: &str) -> String {
        let mut state = self.shared.state();
        let recording = state.recording.as_mut().expect("a service that was recorded");
        recording.move_to_now();
        recording.expected(answer)
    }

    /// Does this with every request from now on.
    pub fn misbehave(&self, deed: Deed) {
        let mut state = self.shared.state();
        (state.deed, state.turn, state.parts) = (Some(deed), 0, 0);
    }

    /// Answers as recorded from now on, also what was held back.
    pub fn behave(&self) {
        self.shared.state().deed = None;
        self.shared.changed.notify_all();
    }

    /// Sends the next part of an answer.
    pub fn go_on(&self) {
        self.shared.state().parts += 1;
        self.shared.changed.notify_all();
    }

    /// Everything that was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Waits until so many requests came in all.
    pub fn wait_for(&self, count: usize) {
        let waiting = |state: &mut State| state.requests.len() < count;
        let waited = self.shared.changed.wait_timeout_while(self.shared.state(), PATIENCE, waiting);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        let came = state.requests.len();
        drop(state);
        assert!(!timeout.timed_out(), "only {came} of {count} requests in {PATIENCE:?}");
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
            let deed = match state.deed.clone() {
                Some(Deed::Turns(answers)) => Some(Deed::Say(answers[state.turn % answers.len()].clone())),
                other => other,
            };
            state.turn += 1;
            drop(state);
            self.changed.notify_all();
            self.answer(&request, deed, stream.get_mut())?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request, deed: Option<Deed>, mut stream: &mut dyn Stream) -> io::Result<()> {
        let stream = &mut stream;
        match deed {
            None => whole(&self.proper(request), stream),
            Some(Deed::Say(answer)) => whole(&answer, stream),
            Some(Deed::Turns(_)) => unreachable!("each turn is something to say"),
            Some(Deed::Echo) => whole(&echo(request), stream),
            Some(Deed::Hang) => {
                let waiting = |state: &mut State| matches!(state.deed, Some(Deed::Hang)) && !state.ended;
                drop(self.changed.wait_while(self.state(), waiting));
                whole(&self.proper(request), stream)
            }
            Some(Deed::Drip) => {
                let answer = self.proper(request);
                answer.write_head(stream)?;
                while self.still_drips() {
                    wire::write_piece(stream, b" ")?;
                }
                wire::write_piece(stream, &answer.body)?;
                wire::end_pieces(stream)
            }
            Some(Deed::HangUp) => Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Deed::Cut(bytes)) => {
                let answer = self.proper(request);
                answer.write_head(stream)?;
                wire::write_piece(stream, &answer.body[..answer.body.len().min(bytes)])?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Some(Deed::Huge(bytes)) => {
                Answer::ok("application/json", "").write_head(stream)?;
                wire::write_piece(stream, b"[0")?;
                let piece = b",0".repeat(32 << 10);
                for _ in 0..bytes / piece.len() {
                    wire::write_piece(stream, &piece)?;
                }
                wire::write_piece(stream, b"]")?;
                wire::end_pieces(stream)
            }
            Some(Deed::Parts(answer, parts)) => {
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

    /// Waits for the next drop, or for better behaviour.
    fn still_drips(&self) -> bool {
        let waiting = |state: &mut State| matches!(state.deed, Some(Deed::Drip)) && !state.ended;
        let waited = self.changed.wait_timeout_while(self.state(), DROP, waiting);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        timeout.timed_out()
    }

    /// The answer of a service that behaves.
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
