//! The refresh task: the one place where generations begin. Everything else sends it messages.

mod schedule;

pub use schedule::RESCAN_EVERY;

use crate::rescan::Scope;
use crate::{Catalog, Inner};
use library::watch::{ChangeSignal, Watcher};
use schedule::{Occasion, Occasions};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot, watch};

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
        self.request_refresh(scope, Instant::now(), Patience::Long).done.await.unwrap_or(Outcome::Failed)
    }

    pub(crate) fn request_refresh(&self, scope: Scope, made: Instant, patience: Patience) -> Ticket {
        let ((begin, begun), (finish, done)) = (oneshot::channel(), oneshot::channel());
        let request = Request { scope, made, patience, begun: Some(begin), done: Some(finish) };
        // The task ends only with the runtime; then nothing waits for the answer.
        let _ = self.messages.send(Message::Refresh(request));
        Ticket { begun, done }
    }

    /// Follows the disk from now on: on events, after a debounce, and from time to time for what caused none.
    pub fn follow_disk(&self, watcher: Watcher, disturbances: ChangeSignal, quiet: watch::Sender<()>) {
        let watch = Watch { watcher, quiet, occasions: Occasions::new(Some(disturbances)) };
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
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Comparing the disk with the served generation.
    Scanning,
    /// Loading what changed into one slot; requests are answered from the other.
    Applying,
    /// Files are changing in bulk, and a scan would see half of it.
    Paused,
}

/// What one scan is for.
struct Batch {
    requests: Vec<Request>,
    occasion: Option<Occasion>,
}

pub struct RefreshTask {
    inner: Arc<Inner>,
    messages: mpsc::UnboundedReceiver<Message>,
    waiting: Vec<Request>,
    pauses: VecDeque<oneshot::Sender<Pause>>,
    watch: Option<Box<Watch>>,
    due: Option<Occasion>,
}

impl RefreshTask {
    pub fn new(inner: Arc<Inner>, messages: mpsc::UnboundedReceiver<Message>) -> Self {
        let (waiting, pauses) = Default::default();
        Self { inner, messages, waiting, pauses, watch: None, due: None }
    }

    /// Runs until nothing can send messages any more.
    pub async fn run(mut self) {
        while self.leave_idle().await.is_some() {}
    }

    /// Leaves `Idle` if there is a reason to, and returns to it. A pause comes first: what is scanned before it may be half of a
    /// checkout.
    async fn leave_idle(&mut self) -> Option<()> {
        while let Some(granted) = self.pauses.pop_front() {
            let (resume, resumed) = oneshot::channel();
            if granted.send(Pause { _resume: resume }).is_ok() {
                let _ = self.stay(State::Paused, resumed).await?;
                return Some(());
            }
        }
        let published = self.inner.slots.published();
        let is_settled = self.inner.frozen && published.generation > 0;
        let is_covered = |request: &mut Request| is_settled || published.is_as_new_as(request.made, request.scope);
        for request in self.waiting.extract_if(.., is_covered) {
            request.finish(Outcome::Served);
        }
        let mut batch = Batch { requests: std::mem::take(&mut self.waiting), occasion: self.due.take() };
        let Some(scope) = batch.begin() else { return self.receive(State::Idle).await };
        let (inner, applying) = (Arc::clone(&self.inner), Arc::clone(&self.inner));
        let scan = tokio::task::spawn_blocking(move || inner.rescan(scope));
        match self.stay(State::Scanning, scan).await? {
            Ok(Some(difference)) => {
                let (done, served) = oneshot::channel();
                tokio::task::spawn_blocking(move || {
                    if catch_unwind(AssertUnwindSafe(|| applying.apply(difference, done))).is_err() {
                        applying.fail("the server panicked while it loaded changed skills");
                    }
                });
                // The sender is dropped without a word when applying failed.
                let outcome = self.stay(State::Applying, served).await?.map_or(Outcome::Failed, |()| Outcome::Served);
                self.finish(batch, outcome, true);
            }
            Ok(None) => self.finish(batch, Outcome::Served, false),
            Err(_) => {
                self.inner.fail("the server panicked while it scanned the roots");
                self.finish(batch, Outcome::Failed, false);
            }
        }
        Some(())
    }

    /// Receives messages until the end of a state.
    async fn stay<T>(&mut self, state: State, end: impl Future<Output = T>) -> Option<T> {
        let mut end = pin!(end);
        loop {
            tokio::select! {
                ended = &mut end => return Some(ended),
                received = self.receive(state) => received?,
            }
        }
    }

    /// Waits for a message or an occasion. Cancel-safe. Returns nothing when there can be no more messages.
    async fn receive(&mut self, state: State) -> Option<()> {
        tokio::select! {
            message = self.messages.recv() => match message? {
                Message::Refresh(request) => self.enqueue(request, state),
                Message::Pause(granted) => self.pauses.push_back(granted),
                Message::Watch(watch) => self.watch = Some(watch),
            },
            occasion = next_occasion(&mut self.watch), if self.due.is_none() => self.due = Some(occasion),
        }
        Some(())
    }

    fn enqueue(&mut self, mut request: Request, state: State) {
        let may_last = matches!(state, State::Applying | State::Paused);
        request.done = request.done.filter(|_| !may_last || request.patience == Patience::Long);
        self.waiting.push(request);
        merge_abandoned(&mut self.waiting);
    }

    fn finish(&mut self, batch: Batch, outcome: Outcome, is_new: bool) {
        for request in batch.requests {
            request.finish(outcome);
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

impl Request {
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

async fn next_occasion(watch: &mut Option<Box<Watch>>) -> Occasion {
    match watch {
        Some(watch) => watch.occasions.next().await,
        None => std::future::pending().await,
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
        let (mut waiting, mut receivers) = (Vec::new(), Vec::new());
        for (number, scope) in (0..).zip([Scope::Dirty, Scope::Full, Scope::DirtyThenFull].repeat(100)) {
            let (done, receiver) = oneshot::channel();
            receivers.extend((number == 7).then_some(receiver));
            waiting.push(Request {
                scope,
                made: made(number),
                patience: Patience::Long,
                begun: None,
                done: Some(done),
            });
            merge_abandoned(&mut waiting);
        }
        let left: Vec<_> = waiting.iter().map(|request| (request.scope, request.made)).collect();
        assert_eq!(left, [(Scope::Full, made(7)), (Scope::Full, made(299))]);
        assert_eq!(waiting.iter().map(Request::is_abandoned).collect::<Vec<_>>(), [false, true]);
    }
}
