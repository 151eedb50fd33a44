//! The refresh task: the one place where generations begin. Everything else sends it messages.

mod queue;
mod schedule;

pub use queue::{Outcome, Patience, Pause, Request, Ticket};
pub use schedule::RESCAN_EVERY;

use crate::rescan::Scope;
use crate::{Catalog, Inner};
use library::watch::{ChangeSignal, Watcher};
use queue::{Next, Queue};
use schedule::{Occasion, Occasions};
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

/// What tells the task that something changed, and what it reports to.
pub struct Watch {
    watcher: Watcher,
    /// Notified when the disk is quiet and everything on it is served.
    quiet: watch::Sender<()>,
    occasions: Occasions,
}

impl Catalog {
    /// Serves what is on disk now. Returns as soon as one engine does; the other follows in the background.
    pub async fn refresh(&self, scope: Scope) -> Outcome {
        self.request_refresh(scope, Instant::now(), Patience::Long).done.await.unwrap_or(Outcome::Failed)
    }

    pub(crate) fn request_refresh(&self, scope: Scope, made: Instant, patience: Patience) -> Ticket {
        let (request, ticket) = Request::new(scope, made, patience);
        // The task ends only with the runtime; then nothing waits for the answer.
        let _ = self.messages.send(Message::Refresh(request));
        ticket
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

pub struct RefreshTask {
    inner: Arc<Inner>,
    messages: mpsc::UnboundedReceiver<Message>,
    queue: Queue,
    watch: Option<Box<Watch>>,
}

impl RefreshTask {
    pub fn new(inner: Arc<Inner>, messages: mpsc::UnboundedReceiver<Message>) -> Self {
        Self { inner, messages, queue: Queue::default(), watch: None }
    }

    /// Runs until nothing can send messages any more.
    pub async fn run(mut self) {
        while self.leave_idle().await.is_some() {}
    }

    /// Leaves `Idle` if there is a reason to, and returns to it.
    async fn leave_idle(&mut self) -> Option<()> {
        let published = self.inner.slots.published();
        let is_settled = self.inner.frozen && published.generation > 0;
        match self.queue.next(|made, scope| is_settled || published.is_as_new_as(made, scope)) {
            Next::Nothing => self.receive().await,
            Next::Pause(resumed) => {
                let _ = self.stay(resumed).await?;
                self.queue.resume();
                Some(())
            }
            Next::Scan(scope) => self.refresh(scope).await,
        }
    }

    async fn refresh(&mut self, scope: Scope) -> Option<()> {
        let (inner, applying) = (Arc::clone(&self.inner), Arc::clone(&self.inner));
        let scan = tokio::task::spawn_blocking(move || inner.rescan(scope));
        match self.stay(scan).await? {
            Ok(Some(difference)) => {
                self.queue.apply();
                let (done, served) = oneshot::channel();
                tokio::task::spawn_blocking(move || {
                    if catch_unwind(AssertUnwindSafe(|| applying.apply(difference, done))).is_err() {
                        applying.fail("the server panicked while it loaded changed skills");
                    }
                });
                // The sender is dropped without a word when applying failed.
                let outcome = self.stay(served).await?.map_or(Outcome::Failed, |()| Outcome::Served);
                self.finish(outcome);
            }
            Ok(None) => self.finish(Outcome::Served),
            // The runtime shuts down, and did not begin the scan.
            Err(stopped) if stopped.is_cancelled() => return None,
            Err(_) => {
                self.inner.fail("the server panicked while it scanned the roots");
                self.finish(Outcome::Failed);
            }
        }
        Some(())
    }

    /// Receives messages until the end of a state.
    async fn stay<T>(&mut self, end: impl Future<Output = T>) -> Option<T> {
        let mut end = pin!(end);
        loop {
            tokio::select! {
                ended = &mut end => return Some(ended),
                received = self.receive() => received?,
            }
        }
    }

    /// Waits for a message or an occasion. Cancel-safe. Returns nothing when there can be no more messages.
    async fn receive(&mut self) -> Option<()> {
        tokio::select! {
            message = self.messages.recv() => match message? {
                Message::Refresh(request) => self.queue.add(request),
                Message::Pause(granted) => self.queue.add_pause(granted),
                Message::Watch(watch) => self.watch = Some(watch),
            },
            occasion = next_occasion(&mut self.watch), if self.queue.has_no_occasion() => self.queue.add_occasion(occasion),
        }
        Some(())
    }

    fn finish(&mut self, outcome: Outcome) {
        let (occasion, is_new) = self.queue.finish(outcome);
        let Some(watch) = &mut self.watch else { return };
        if watch.occasions.finished(occasion, is_new, Instant::now().into()) {
            watch.quiet.send_replace(());
        }
        // A root that has just appeared is watched from now on.
        watch.watcher.watch();
    }
}

async fn next_occasion(watch: &mut Option<Box<Watch>>) -> Occasion {
    match watch {
        Some(watch) => watch.occasions.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod simulation;
