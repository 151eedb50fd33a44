//! The catalog as requests see it: two engines that answer from one generation.
//!
//! Changes go into one engine while the other answers; then they change places, and the same changes are replayed on the
//! second. A request takes whichever is free, so neither a rebuild nor a long search holds it up.

mod alone;
mod bringing;
mod building;
mod found;
mod fresh;
pub mod keeping;
mod listing;
mod looking;
mod namesakes;
mod pair;
mod pause;
mod ranking;
mod remembered;
mod scoring;
mod settings;
mod skills;
mod waiting;

pub use looking::Look;
pub use ranking::Ranker;
pub use remembered::{Index, Listed};
pub use skills::Served;

use crate::bindings::catalog::LookupError;
use crate::library::snapshot::Snapshot;
use crate::library::witness::Witness;
use crate::printable::quoted;
use crate::runtime::call::Broken;
use crate::scorers::Scorers;
use crate::worlds::engine::{EngineInstance, EngineWorld, Terms};
use bringing::Difference;
use building::Builder;
use found::Found;
use looking::Looking;
use pair::{Pair, Published, Seated};
use remembered::Remembered;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, Semaphore, oneshot, watch};
use waiting::Waiting;

/// How often a request that finds its files changed is answered anew before the newest answer has to do.
const FRESH_TRIES: usize = 3;

#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

struct Shared {
    builder: Builder,
    pair: Pair,
    /// What ranks skills in place of the engines, if somebody chose that.
    scorers: Option<Scorers>,
    /// Held by whoever brings changes in, until both engines have them.
    updating: Arc<Mutex<()>>,
    /// Whether somebody looks for changes to bring in, or brings them in, and no engine serves them yet.
    building: AtomicBool,
    /// Whether the first generation is the only one.
    frozen: AtomicBool,
    looking: Looking,
    /// Held while a request brings in, perhaps in the background, what it found changed.
    catching_up: Arc<Mutex<()>>,
    /// Turns for small engines.
    alone: Arc<Semaphore>,
    /// What the last look found, for whoever brings it in.
    found: Found<Difference>,
    remembered: Remembered,
    news: watch::Sender<News>,
}

/// What happened since the start, for whoever tells clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct News {
    pub generation: u64,
    /// Changes of files and folders that were brought in.
    pub changes: u64,
    /// How many of them may be a `SKILL.md`.
    pub skill_files: u64,
}

/// What came of bringing in changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brought {
    /// They are served, or somebody else was faster and may have looked earlier.
    Served,
    /// Everything stays as it was.
    Failed,
    /// Somebody else is still at it.
    Not,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Broken(#[from] Broken),
    #[error("no engine is running: {0}")]
    Down(Arc<str>),
}

impl Catalog {
    pub fn new(world: EngineWorld, terms: Terms, scorers: Option<Scorers>) -> Self {
        let shared = Shared {
            builder: Builder { world, terms },
            pair: Pair::new(),
            scorers,
            updating: Arc::default(),
            building: AtomicBool::new(false),
            frozen: AtomicBool::new(false),
            looking: Looking::default(),
            catching_up: Arc::default(),
            alone: Arc::new(Semaphore::new(alone::AT_ONCE)),
            found: Found::default(),
            remembered: Remembered::default(),
            news: watch::Sender::new(News::default()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Spares looks at what certainly did not change.
    pub fn trust(&self, witness: Arc<Witness>) {
        self.shared.looking.trust(witness);
    }

    /// From now on the catalog stays as it is, or as its first generation will be, whatever happens on disk.
    pub fn freeze(&self) {
        self.shared.frozen.store(true, Ordering::Release);
    }

    /// Asks one engine a question. Waits only for the first generation, and for an engine that is free.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        self.ask_of(move |seated, published| question(&mut seated.engine, &published.snapshot)).await
    }

    /// The same for a question that has to know which generation answers it.
    async fn ask_of<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Seated, &Published) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        let mut free = self.shared.pair.free().await.map_err(AskError::Down)?;
        let shared = Arc::clone(&self.shared);
        let asked = tokio::task::spawn_blocking(move || {
            let published = free.published.clone();
            question(free.seated(), &published).inspect_err(|broken| {
                tracing::warn!("{broken}; a fresh engine takes over");
                // What broke once cannot be trusted.
                shared.pair.clear(free);
            })
        });
        let answer = asked.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        if answer.is_err() {
            self.replace_broken();
        }
        Ok(answer?)
    }

    /// Tells when a generation is served.
    pub fn news(&self) -> watch::Receiver<News> {
        self.shared.news.subscribe()
    }

    /// Waits for the first generation, and brings in what changed on disk since the last look.
    async fn look_first(&self) -> Result<(), AskError> {
        let mut waiting = Waiting::new();
        self.first_generation().await?;
        self.catch_up(&mut waiting, Look::Stirred).await;
        Ok(())
    }

    /// Asks a question about the whole catalog, and asks again if anything changed on disk.
    pub async fn ask_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        self.rank_all(move |ranker, snapshot| question(ranker.engine, snapshot)).await
    }

    /// The same for a question whose answer is in the order in which skills fit.
    pub async fn rank_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        let generation = || self.shared.pair.published().generation;
        let mut waiting = Waiting::new();
        self.first_generation().await?;
        for _ in 0..FRESH_TRIES {
            let before = generation();
            // Nearly always nothing changed, so the answer is made while the disk is looked at.
            let caught_up = self.catch_up(&mut waiting, Look::Stirred);
            let (_, answer) = tokio::join!(caught_up, self.rank(question.clone()));
            if generation() == before {
                return answer;
            }
        }
        self.rank(question).await
    }

    /// Files may have changed while the first generation was built, so there must be one to compare with.
    async fn first_generation(&self) -> Result<(), AskError> {
        if self.shared.pair.published().generation == 0 { self.ask(|_, _| Ok(())).await } else { Ok(()) }
    }

    /// Looks at the disk and brings in what changed, at first everything. Returns as soon as one engine serves it; the other
    /// follows in the background.
    pub async fn bring_in(&self, look: Look) -> Brought {
        self.bring_in_unless(None, look, std::future::pending()).await
    }

    /// The same for somebody who at some time has waited long enough for others that bring in something, and who may have
    /// looked already: does nothing if the generation that was found outdated is no longer served.
    async fn bring_in_unless(&self, outdated: Option<u64>, look: Look, enough: impl Future<Output = ()>) -> Brought {
        let updating = Arc::clone(&self.shared.updating).lock_owned();
        let mut news = self.news();
        let updating = tokio::select! {
            updating = updating => updating,
            // Whoever brings that in goes on until the other engine has it too.
            Ok(_) = news.wait_for(|news| outdated.is_some_and(|outdated| news.generation > outdated)) => {
                return Brought::Served;
            }
            () = enough => return Brought::Not,
        };
        if outdated.is_some_and(|generation| generation != self.shared.pair.published().generation) {
            return Brought::Served;
        }
        let shared = Arc::clone(&self.shared);
        let (done, served) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let found = shared.found.take().filter(|_| outdated.is_some());
            if catch_unwind(AssertUnwindSafe(|| shared.bring_in(found, look, done))).is_err() {
                shared.fail("the server panicked while it brought in changes");
            }
            drop(updating);
        });
        // The sender is dropped when it failed.
        served.await.map_or(Brought::Failed, |()| Brought::Served)
    }

    /// Why nothing new could be served the last time, if it could not.
    pub fn failure(&self) -> Option<Arc<str>> {
        self.shared.pair.published().failure
    }

    fn is_building(&self) -> bool {
        self.shared.building.load(Ordering::Acquire)
    }

    fn is_frozen(&self) -> bool {
        self.shared.frozen.load(Ordering::Acquire)
    }

    fn replace_broken(&self) {
        let shared = Arc::clone(&self.shared);
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

/// Says that a name finds no skill, and which ones might be meant.
pub fn no_skill(name: &str, error: &LookupError) -> String {
    match error {
        LookupError::Unknown(close) if close.is_empty() => {
            format!(
                "no skill is called `{name}`\nhint: no other name is close; look at the list of skills, or search them"
            )
        }
        LookupError::Unknown(close) => format!("no skill is called `{name}`\nhint: close names are {}", quoted(close)),
        LookupError::Several(names) => {
            format!("several skills are called `{name}`: {}\nhint: use one of these full names", quoted(names))
        }
    }
}
