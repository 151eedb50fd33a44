//! What waits for the refresh task, and what the task does next. Knows neither threads nor time.

use super::schedule::Occasion;
use crate::rescan::Scope;
use std::collections::VecDeque;
use std::time::Instant;
use tokio::sync::oneshot;

/// Asks for what was on disk at some moment after `made`.
pub struct Request {
    scope: Scope,
    made: Instant,
    patience: Patience,
    begun: Option<oneshot::Sender<()>>,
    /// Missing when nothing waits for the answer any more.
    done: Option<oneshot::Sender<Outcome>>,
}

/// How long a [`Request`] may be left without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Not while the task is in a state that may last.
    Short,
    Long,
}

/// The answer to a [`Request`], in two steps.
pub struct Ticket {
    /// Resolves when a scan for this request begins, or when none is needed.
    pub begun: oneshot::Receiver<()>,
    /// Fails if the request is impatient, and the task may take long.
    pub done: oneshot::Receiver<Outcome>,
}

/// How a refresh ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// What was on disk is served.
    Served,
    /// It could not be loaded; the catalog stays as it was.
    Failed,
}

/// No generation begins while this lives.
pub struct Pause {
    _resume: oneshot::Sender<()>,
}

/// What the task is doing. The diagram is in the crate doc.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    /// Comparing the disk with the served generation.
    Scanning,
    /// Loading what changed into one slot; requests are answered from the other.
    Applying,
    /// Files are changing in bulk, and a scan would see half of it.
    Paused,
}

/// Why to leave `Idle`.
pub enum Next {
    Nothing,
    /// Until this resolves.
    Pause(oneshot::Receiver<()>),
    Scan(Scope),
}

#[derive(Default)]
pub struct Queue {
    state: State,
    waiting: Vec<Request>,
    pauses: VecDeque<oneshot::Sender<Pause>>,
    due: Option<Occasion>,
    /// What the current scan is for.
    batch: Batch,
}

#[derive(Default)]
struct Batch {
    requests: Vec<Request>,
    occasion: Option<Occasion>,
}

impl Queue {
    pub fn add(&mut self, mut request: Request) {
        let may_last = matches!(self.state, State::Applying | State::Paused);
        request.done = request.done.filter(|_| !may_last || request.patience == Patience::Long);
        self.waiting.push(request);
        merge_abandoned(&mut self.waiting);
    }

    pub fn add_pause(&mut self, granted: oneshot::Sender<Pause>) {
        self.pauses.push_back(granted);
    }

    pub fn add_occasion(&mut self, occasion: Occasion) {
        self.due = Some(occasion);
    }

    /// Whether the next occasion may be added.
    pub fn has_no_occasion(&self) -> bool {
        self.due.is_none()
    }

    /// Leaves `Idle` if there is a reason to. A pause comes first: what is scanned before it may be half of a checkout.
    pub fn next(&mut self, is_served: impl Fn(Instant, Scope) -> bool) -> Next {
        while let Some(granted) = self.pauses.pop_front() {
            let (resume, resumed) = oneshot::channel();
            if granted.send(Pause { _resume: resume }).is_ok() {
                self.state = State::Paused;
                return Next::Pause(resumed);
            }
        }
        for request in self.waiting.extract_if(.., |request| is_served(request.made, request.scope)) {
            request.finish(Outcome::Served);
        }
        self.batch = Batch { requests: std::mem::take(&mut self.waiting), occasion: self.due.take() };
        match self.batch.begin() {
            None => Next::Nothing,
            Some(scope) => {
                self.state = State::Scanning;
                Next::Scan(scope)
            }
        }
    }

    /// Ends a pause.
    pub fn resume(&mut self) {
        self.state = State::Idle;
    }

    /// The scan found something.
    pub fn apply(&mut self) {
        self.state = State::Applying;
    }

    /// Ends a scan, and what was made of it. Returns the occasion for it, and whether there is a new generation.
    pub fn finish(&mut self, outcome: Outcome) -> (Option<Occasion>, bool) {
        let was = std::mem::take(&mut self.state);
        let Batch { requests, occasion } = std::mem::take(&mut self.batch);
        for request in requests {
            request.finish(outcome);
        }
        (occasion, was == State::Applying)
    }

    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

impl Request {
    pub fn new(scope: Scope, made: Instant, patience: Patience) -> (Self, Ticket) {
        let ((begin, begun), (finish, done)) = (oneshot::channel(), oneshot::channel());
        (Self { scope, made, patience, begun: Some(begin), done: Some(finish) }, Ticket { begun, done })
    }

    fn is_abandoned(&self) -> bool {
        self.done.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    fn finish(self, outcome: Outcome) {
        if let Some(done) = self.done {
            let _ = done.send(outcome);
        }
    }
}

/// What nothing waits for any more is still served, but one request for it is enough.
fn merge_abandoned(waiting: &mut Vec<Request>) {
    let both = |one: Request, other: Request| {
        let (scope, made) = (one.scope.max(other.scope), one.made.max(other.made));
        Request { scope, made, ..one }
    };
    let abandoned = waiting.extract_if(.., |request| request.is_abandoned()).reduce(both);
    waiting.extend(abandoned);
}

impl Batch {
    /// Tells requests that their scan begins. Returns the widest scope that any of them needs; nothing if there is none.
    fn begin(&mut self) -> Option<Scope> {
        for begun in self.requests.iter_mut().filter_map(|request| request.begun.take()) {
            let _ = begun.send(());
        }
        let requested = self.requests.iter().map(|request| request.scope);
        requested.chain(self.occasion.map(Occasion::scope)).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn requests_that_nothing_waits_for_are_one_request_for_all_of_it() {
        let now = Instant::now();
        let made = |number: u64| now + Duration::from_millis(number);
        let (mut queue, mut tickets) = (Queue::default(), Vec::new());
        for (number, scope) in (0..).zip([Scope::Dirty, Scope::Full, Scope::DirtyThenFull].repeat(100)) {
            let (request, ticket) = Request::new(scope, made(number), Patience::Long);
            tickets.extend((number == 7).then_some(ticket));
            queue.add(request);
        }
        let left: Vec<_> = queue.waiting.iter().map(|request| (request.scope, request.made)).collect();
        assert_eq!(left, [(Scope::Full, made(7)), (Scope::Full, made(299))]);
        let abandoned: Vec<bool> = queue.waiting.iter().map(Request::is_abandoned).collect();
        assert_eq!(abandoned, [false, true]);
    }
}
