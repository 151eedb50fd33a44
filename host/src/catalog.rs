//! The catalog as requests see it: two engines, left and right, that answer from one generation.
//!
//! Changes go into one engine while the other answers; then they change places, and the same changes are replayed on the
//! second. A request takes whichever is free, so neither a rebuild nor a long search holds it up.

mod building;

use crate::bindings::types::Location;
use crate::library::scan::{self, Scan};
use crate::library::snapshot::Snapshot;
use crate::runtime::call::Broken;
use crate::worlds::engine::{EngineInstance, EngineWorld, Terms};
use building::Builder;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot, watch};

/// How often a request that finds its files changed is answered anew before the newest answer has to do.
const FRESH_TRIES: usize = 3;

#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

struct Shared {
    builder: Builder,
    seats: [Seat; 2],
    published: RwLock<Published>,
    /// Held by whoever brings changes in, until both engines have them.
    updating: Arc<Mutex<()>>,
    /// Whether a new generation is on its way that no engine serves yet.
    building: AtomicBool,
    /// Counts every change of who serves, so that a request can wait for one.
    turns: watch::Sender<u64>,
}

/// A place for an engine.
struct Seat {
    engine: Arc<Mutex<Option<Seated>>>,
    /// Whether requests may come here. Not while changes are brought in.
    serving: AtomicBool,
}

struct Seated {
    engine: EngineInstance,
    generation: u64,
}

/// What requests are answered from.
#[derive(Clone)]
struct Published {
    /// 0 before the first one.
    generation: u64,
    snapshot: Arc<Snapshot>,
    /// Why no engine could be built, if the last try failed.
    failure: Option<Arc<str>>,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Broken(#[from] Broken),
    #[error("no engine is running: {0}")]
    Down(Arc<str>),
}

/// An answer, and the state of the roots it was made from.
pub struct Answered<T> {
    pub answer: T,
    pub snapshot: Arc<Snapshot>,
}

impl Catalog {
    pub fn new(world: EngineWorld, terms: Terms) -> Self {
        let seat = || Seat { engine: Arc::default(), serving: AtomicBool::new(false) };
        let published = RwLock::new(Published { generation: 0, snapshot: Arc::default(), failure: None });
        let shared = Shared {
            builder: Builder { world, terms },
            seats: [seat(), seat()],
            published,
            updating: Arc::default(),
            building: AtomicBool::new(true),
            turns: watch::Sender::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Asks one engine a question. Waits only for the first generation, and for an engine that is free.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut EngineInstance) -> Result<T, Broken> + Send + 'static,
    ) -> Result<Answered<T>, AskError> {
        let (mut seat, number) = self.free_engine().await?;
        let snapshot = self.shared.published().snapshot;
        let asked = tokio::task::spawn_blocking(move || {
            let answer = seat.as_mut().map(|seated| question(&mut seated.engine));
            if !matches!(answer, Some(Ok(_))) {
                // What broke once cannot be trusted; its replacement is built from the same snapshot.
                *seat = None;
            }
            answer
        });
        let answer = asked.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        match answer {
            Some(Ok(answer)) => Ok(Answered { answer, snapshot }),
            Some(Err(broken)) => {
                tracing::error!("{broken}; a fresh engine takes over");
                self.replace(number);
                Err(broken.into())
            }
            None => unreachable!("only a seat with an engine is free"),
        }
    }

    /// Asks a question whose answer is made from a few files, and asks again if one of them changed on disk. An answer
    /// without sources, such as that there is no such skill, is given only after a look at everything.
    pub async fn ask_fresh<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance) -> Result<T, Broken> + Clone + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>>,
    ) -> Result<Answered<T>, AskError> {
        let mut answered = self.ask(question.clone()).await?;
        for _ in 0..FRESH_TRIES {
            let known = sources(&answered.answer).is_some_and(|files| answered.snapshot.holds(&files));
            if known || !self.changed().await {
                break;
            }
            self.bring_in().await;
            answered = self.ask(question.clone()).await?;
        }
        Ok(answered)
    }

    /// Asks a question about the whole catalog, and asks again if anything changed on disk. Does not wait for a generation
    /// that somebody else is building.
    pub async fn ask_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance) -> Result<T, Broken> + Clone + Send + 'static,
    ) -> Result<Answered<T>, AskError> {
        if self.is_building() {
            return self.ask(question).await;
        }
        // Nearly always nothing changed, so the answer is made while the disk is looked at.
        let (changed, answered) = tokio::join!(self.changed(), self.ask(question.clone()));
        if changed && !self.is_building() {
            self.bring_in().await;
            return self.ask(question).await;
        }
        answered
    }

    fn is_building(&self) -> bool {
        self.shared.building.load(Ordering::Acquire)
    }

    /// Whether anything on disk differs from what is served.
    async fn changed(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || shared.look().is_some()).await.unwrap_or(true)
    }

    /// Brings in what changed on disk, at first everything. Returns as soon as one engine serves it; the other follows in
    /// the background.
    pub async fn bring_in(&self) {
        let updating = Arc::clone(&self.shared.updating).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        let (done, served) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            shared.bring_in(done);
            drop(updating);
        });
        // The sender is dropped when there was nothing to do, which is just as good.
        let _ = served.await;
    }

    /// A serving engine that nobody uses.
    async fn free_engine(&self) -> Result<(OwnedMutexGuard<Option<Seated>>, usize), AskError> {
        let mut turns = self.shared.turns.subscribe();
        loop {
            turns.mark_unchanged();
            let serving = |number: usize| self.shared.seats[number].serving.load(Ordering::Acquire);
            if let (false, false, Some(failure)) = (serving(0), serving(1), self.shared.published().failure) {
                return Err(AskError::Down(failure));
            }
            let lock = |number: usize| Arc::clone(&self.shared.seats[number].engine).lock_owned();
            let (seat, number) = tokio::select! {
                biased;
                seat = lock(0), if serving(0) => (seat, 0),
                seat = lock(1), if serving(1) => (seat, 1),
                _ = turns.changed() => continue,
            };
            let generation = self.shared.published().generation;
            if seat.as_ref().is_some_and(|seated| seated.generation == generation) {
                return Ok((seat, number));
            }
        }
    }

    /// Builds a fresh engine for a seat whose engine broke.
    fn replace(&self, number: usize) {
        let shared = Arc::clone(&self.shared);
        shared.serve(number, false);
        tokio::spawn(async move {
            let updating = Arc::clone(&shared.updating).lock_owned().await;
            let filled = tokio::task::spawn_blocking(move || {
                shared.fill_empty_seats();
                drop(updating);
            });
            if let Err(panic) = filled.await {
                tracing::error!("no engine could be replaced: {panic}");
            }
        });
    }
}

impl Shared {
    fn published(&self) -> Published {
        self.published.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, published: Published) {
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = published;
    }

    fn serve(&self, number: usize, serving: bool) {
        self.seats[number].serving.store(serving, Ordering::Release);
        self.turns.send_modify(|turn| *turn += 1);
    }

    fn seat(&self, number: usize, engine: EngineInstance, generation: u64) {
        *self.seats[number].engine.blocking_lock() = Some(Seated { engine, generation });
        self.serve(number, true);
    }

    /// What changed on disk since the published generation. The same bytes with other times are no change.
    fn look(&self) -> Option<(Published, Scan)> {
        let before = self.published();
        let started = Instant::now();
        let terms = &self.builder.terms;
        let scan = scan::scan(&terms.roots, &before.snapshot, terms.file_limit)?;
        tracing::debug!("looked at the disk in {:?}: {} changes", started.elapsed(), scan.changes.len());
        if !scan.changes.is_empty() || before.generation == 0 {
            return Some((before, scan));
        }
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&published.snapshot, &before.snapshot) {
            published.snapshot = Arc::new(scan.snapshot);
        }
        None
    }

    /// Makes what changed a new generation: first on one engine, then on the other.
    fn bring_in(&self, done: oneshot::Sender<()>) {
        let Some((before, Scan { snapshot, changes })) = self.look() else { return self.fill_empty_seats() };
        let snapshot = Arc::new(snapshot);
        self.building.store(true, Ordering::Release);
        let generation = before.generation + 1;
        let first = usize::from(self.seats[0].engine.try_lock().is_err());
        let mut done = Some(done);
        for number in [first, 1 - first] {
            self.serve(number, false);
            let seated = self.seats[number].engine.blocking_lock().take();
            let current = seated.filter(|seated| seated.generation == before.generation).map(|seated| seated.engine);
            let started = Instant::now();
            let built = match current {
                Some(engine) => self.builder.update(engine, &snapshot, &changes),
                None => self.builder.build(&snapshot),
            };
            tracing::debug!("brought generation {generation} into engine {number} in {:?}", started.elapsed());
            match built {
                Ok(mut engine) => {
                    if done.is_some() {
                        self.builder.report(&mut engine, generation);
                        self.publish(Published { generation, snapshot: Arc::clone(&snapshot), failure: None });
                        self.building.store(false, Ordering::Release);
                    }
                    self.seat(number, engine, generation);
                    drop(done.take());
                }
                Err(broken) => return self.fail(&broken),
            }
        }
    }

    fn fill_empty_seats(&self) {
        let published = self.published();
        for number in 0..self.seats.len() {
            if self.seats[number].engine.blocking_lock().is_some() {
                continue;
            }
            match self.builder.build(&published.snapshot) {
                Ok(engine) => self.seat(number, engine, published.generation),
                Err(broken) => self.fail(&broken),
            }
        }
    }

    /// Nothing new can be served. Requests are answered by the engine that is left, or told why there is none.
    fn fail(&self, broken: &Broken) {
        tracing::error!("{broken}; the catalog stays as it was");
        self.building.store(false, Ordering::Release);
        self.publish(Published { failure: Some(broken.to_string().into()), ..self.published() });
        for (number, seat) in self.seats.iter().enumerate() {
            let usable = seat.engine.blocking_lock().is_some();
            self.serve(number, usable);
        }
    }
}
