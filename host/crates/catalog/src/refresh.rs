//! The refresh task: the one place where generations begin. Everything else sends it messages.

mod schedule;

pub use schedule::RESCAN_EVERY;

use crate::apply::Difference;
use crate::rescan::Scope;
use crate::{Catalog, Inner};
use library::watch::{ChangeSignal, Watcher};
use schedule::{Occasion, Occasions};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinHandle};

/// What the task is asked to do.
pub enum Message {
    /// Serve what is on disk. From requests, `refresh_skills` and git.
    Refresh(Request),
    /// Begin no generation until the [`Pause`] is dropped. From git, while it changes many files.
    Pause(oneshot::Sender<Pause>),
    /// Follow the disk without being asked.
    Watch(Box<Watch>),
}

/// Asks for what was on disk at some moment after `made`.
pub struct Request {
    scope: Scope,
    made: Instant,
    begun: Option<oneshot::Sender<()>>,
    done: oneshot::Sender<Outcome>,
}

/// The answer to a [`Request`], in two steps.
pub struct Ticket {
    /// Resolves when a scan for this request begins, or when none is needed.
    pub begun: oneshot::Receiver<()>,
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

/// What tells the task that something changed, and what it reports to.
pub struct Watch {
    watcher: Watcher,
    /// Notified when the disk is quiet and everything on it is served.
    quiet: watch::Sender<()>,
    occasions: Occasions,
}

/// No generation begins while this lives.
pub struct Pause {
    _resume: oneshot::Sender<()>,
}

impl Catalog {
    /// Serves what is on disk now. Returns as soon as one engine does; the other follows in the background.
    pub async fn refresh(&self, scope: Scope) -> Outcome {
        self.request_refresh(scope, Instant::now()).done.await.unwrap_or(Outcome::Failed)
    }

    pub(crate) fn request_refresh(&self, scope: Scope, made: Instant) -> Ticket {
        let ((begin, begun), (finish, done)) = (oneshot::channel(), oneshot::channel());
        // The task ends only with the runtime; then nothing waits for the answer.
        let _ = self.messages.send(Message::Refresh(Request { scope, made, begun: Some(begin), done: finish }));
        Ticket { begun, done }
    }

    /// Follows the disk from now on: on events, after a debounce, and from time to time for what caused none.
    pub fn follow_disk(&self, watcher: Watcher, disturbances: ChangeSignal, quiet: watch::Sender<()>) {
        let watch = Watch { watcher, quiet, occasions: Occasions::new(disturbances) };
        let _ = self.messages.send(Message::Watch(Box::new(watch)));
    }

    /// Waits until no generation is being made, and keeps it so. Blocks the thread.
    pub fn pause(&self) -> Option<Pause> {
        let (grant, granted) = oneshot::channel();
        let _ = self.messages.send(Message::Pause(grant));
        granted.blocking_recv().ok()
    }
}

/// What the task is doing. The diagram is in the crate doc.
enum State {
    Idle,
    /// Comparing the disk with the served generation.
    Scanning {
        found: JoinHandle<Option<Difference>>,
        batch: Batch,
    },
    /// Loading what changed into one slot; requests are answered from the other.
    Applying {
        served: oneshot::Receiver<()>,
        batch: Batch,
    },
    /// Files are changing in bulk, and a scan would see half of it.
    Paused {
        resumed: oneshot::Receiver<()>,
    },
}

/// What one scan is for.
struct Batch {
    requests: Vec<Request>,
    occasion: Option<Occasion>,
}

/// The end of a state.
enum Step {
    Scanned(Result<Option<Difference>, JoinError>),
    Applied(Outcome),
    Resumed,
}

impl State {
    async fn end(&mut self) -> Step {
        match self {
            Self::Idle => std::future::pending().await,
            Self::Scanning { found, .. } => Step::Scanned(found.await),
            // The sender is dropped without a word when applying failed.
            Self::Applying { served, .. } => Step::Applied(served.await.map_or(Outcome::Failed, |()| Outcome::Served)),
            Self::Paused { resumed } => {
                let _ = resumed.await;
                Step::Resumed
            }
        }
    }
}

pub struct RefreshTask {
    inner: Arc<Inner>,
    messages: mpsc::UnboundedReceiver<Message>,
    state: State,
    waiting: Vec<Request>,
    pauses: VecDeque<oneshot::Sender<Pause>>,
    watch: Option<Box<Watch>>,
    due: Option<Occasion>,
}

impl RefreshTask {
    pub fn new(inner: Arc<Inner>, messages: mpsc::UnboundedReceiver<Message>) -> Self {
        let (waiting, pauses) = Default::default();
        Self { inner, messages, state: State::Idle, waiting, pauses, watch: None, due: None }
    }

    pub async fn run(mut self) {
        loop {
            if matches!(self.state, State::Idle) {
                self.begin();
            }
            let is_slow = matches!(self.state, State::Applying { .. } | State::Paused { .. });
            self.inner.is_refresh_slow.store(is_slow, Ordering::Release);
            tokio::select! {
                message = self.messages.recv() => match message {
                    Some(Message::Refresh(request)) => self.waiting.push(request),
                    Some(Message::Pause(granted)) => self.pauses.push_back(granted),
                    Some(Message::Watch(watch)) => self.watch = Some(watch),
                    None => return,
                },
                step = self.state.end() => self.advance(step),
                occasion = next_occasion(&mut self.watch), if self.due.is_none() => self.due = Some(occasion),
            }
        }
    }

    /// Leaves `Idle` if there is a reason to. A pause comes first: what is scanned before it may be half of a checkout.
    fn begin(&mut self) {
        while let Some(granted) = self.pauses.pop_front() {
            let (resume, resumed) = oneshot::channel();
            if granted.send(Pause { _resume: resume }).is_ok() {
                self.state = State::Paused { resumed };
                return;
            }
        }
        let published = self.inner.slots.published();
        let is_settled = self.inner.frozen && published.generation > 0;
        let is_covered = |request: &mut Request| is_settled || published.is_as_new_as(request.made, request.scope);
        for request in self.waiting.extract_if(.., is_covered) {
            let _ = request.done.send(Outcome::Served);
        }
        let mut batch = Batch { requests: std::mem::take(&mut self.waiting), occasion: self.due.take() };
        let Some(scope) = batch.begin() else { return };
        let inner = Arc::clone(&self.inner);
        let found = tokio::task::spawn_blocking(move || inner.rescan(scope));
        self.state = State::Scanning { found, batch };
    }

    fn advance(&mut self, step: Step) {
        let state = std::mem::replace(&mut self.state, State::Idle);
        match (state, step) {
            (State::Scanning { batch, .. }, Step::Scanned(Ok(Some(difference)))) => {
                let (done, served) = oneshot::channel();
                let inner = Arc::clone(&self.inner);
                tokio::task::spawn_blocking(move || {
                    if catch_unwind(AssertUnwindSafe(|| inner.apply(difference, done))).is_err() {
                        inner.fail("the server panicked while it loaded changed skills");
                    }
                });
                self.state = State::Applying { served, batch };
            }
            (State::Scanning { batch, .. }, Step::Scanned(Ok(None))) => self.finish(batch, Outcome::Served, false),
            (State::Scanning { batch, .. }, _) => {
                self.inner.fail("the server panicked while it scanned the roots");
                self.finish(batch, Outcome::Failed, false);
            }
            (State::Applying { batch, .. }, Step::Applied(outcome)) => self.finish(batch, outcome, true),
            // Only `Paused` is left.
            _ => {}
        }
    }

    fn finish(&mut self, batch: Batch, outcome: Outcome, is_new: bool) {
        for request in batch.requests {
            let _ = request.done.send(outcome);
        }
        let Some(watch) = &mut self.watch else { return };
        match batch.occasion {
            Some(occasion) if occasion == Occasion::Events || watch.occasions.is_quiet() => {
                watch.quiet.send_replace(());
            }
            // What a request found may be part of something that still goes on.
            None if is_new => watch.occasions.disturbed(Instant::now().into()),
            _ => {}
        }
        // A root that has just appeared is watched from now on.
        watch.watcher.watch();
    }
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

async fn next_occasion(watch: &mut Option<Box<Watch>>) -> Occasion {
    match watch {
        Some(watch) => watch.occasions.next().await,
        None => std::future::pending().await,
    }
}
