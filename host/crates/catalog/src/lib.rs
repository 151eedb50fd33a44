//! The catalog: all skills of all roots, answered from one immutable generation that follows the disk.
//!
//! Owns the two engines and the generation they serve ([`left_right`]), when and how the next one is made ([`refresh`],
//! [`rescan`], [`apply`], [`building`]), answers that are never older than the question ([`read_through`]), and the scorers
//! ([`scorers`], [`scoring`]). Must not know MCP, scripts or what a skill looks like: questions and answers are
//! the engine's.
//!
//! Start reading here, then [`refresh`]. One task makes all generations; the timer, the watcher, requests, `refresh_skills`
//! and git only send it messages:
//!
//! ```text
//!                         Refresh, timer or events
//!              ┌───────┐ ─────────────────────────► ┌──────────┐
//!   Pause      │       │                            │          │
//!  ┌────────── │ Idle  │ ◄───── nothing changed ─── │ Scanning │
//!  ▼           │       │                            │          │
//! ┌────────┐   │       │                            └──────────┘
//! │ Paused │ ─►│       │ ◄── served, or failed ─┐        │ something changed
//! └────────┘   └───────┘                        │        ▼
//!   resumed                                  ┌──────────────┐
//!                                            │   Applying   │
//!                                            └──────────────┘
//! ```
//!
//! `Applying` updates the slot that is idle while the other one answers, publishes the generation, and ends; the second slot
//! then replays the same changes in the background. Requests that arrive in any state but `Idle` wait for the next scan, unless
//! they are impatient: `Applying` and `Paused` may last. A frozen catalog leaves `Idle` once.

mod left_right;
mod building;
mod refresh;
mod rescan;
mod apply;
mod read_through;
mod skills;
mod listing;
mod hidden;
mod cache;
mod searching;
mod scoring;
pub mod scorers;

pub use cache::{Index, Listed};
pub use hidden::HiddenSkills;
pub use refresh::{Outcome, Pause, RESCAN_EVERY};
pub use rescan::Scope;
pub use scoring::Ranker;
pub use skills::Served;

use crate::scorers::Scorers;
use base::printable::quoted;
use bindings::catalog::{LookupError, Settings};
use building::Builder;
use cache::Cache;
use guests::call::Broken;
use guests::engine::{EngineInstance, EngineWorld, Terms};
use left_right::{Lease, LeftRight, Loaded, Published};
use library::snapshot::Snapshot;
use library::sync_cookie::SyncCookies;
use refresh::{Message, RefreshTask};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::sync::{Mutex, Notify, mpsc, watch};

/// How often a question is asked again because its files changed meanwhile. Then the last answer has to do.
const FRESH_TRIES: usize = 3;

/// A handle to the catalog. Cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    inner: Arc<Inner>,
    messages: mpsc::UnboundedSender<Message>,
}

struct Inner {
    builder: Builder,
    slots: LeftRight,
    /// Held while slots are changed.
    changing_slots: Mutex<()>,
    scorers: Option<Scorers>,
    /// Whether the first generation is the only one.
    frozen: bool,
    /// Knows dirty paths. Without it every scan is a full one.
    cookies: OnceLock<Arc<SyncCookies>>,
    cache: Cache,
    /// Notified when skills were searched.
    searched: Notify,
    news: watch::Sender<News>,
}

/// Totals since the start, sent with every generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct News {
    pub generation: u64,
    /// Changed files and folders.
    pub changes: u64,
    /// How many of them concern folder skills.
    pub skill_files: u64,
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
    /// Starts the refresh task, so it must be called inside a tokio runtime. A `frozen` catalog keeps its first generation.
    pub fn new(world: EngineWorld, terms: Terms, scorers: Option<Scorers>, frozen: bool) -> Self {
        let inner = Arc::new(Inner {
            builder: Builder { world, terms },
            slots: LeftRight::new(),
            changing_slots: Mutex::default(),
            scorers,
            frozen,
            cookies: OnceLock::new(),
            cache: Cache::default(),
            searched: Notify::new(),
            news: watch::Sender::new(News::default()),
        });
        let (messages, received) = mpsc::unbounded_channel();
        tokio::spawn(RefreshTask::new(Arc::clone(&inner), received).run());
        let catalog = Self { inner, messages };
        tokio::spawn(catalog.clone().keep_searchable());
        catalog
    }

    /// Lets scans skip what certainly did not change.
    pub fn trust(&self, cookies: Arc<SyncCookies>) {
        let _ = self.inner.cookies.set(cookies);
    }

    /// Notified with every generation.
    pub fn news(&self) -> watch::Receiver<News> {
        self.inner.news.subscribe()
    }

    /// Why the last refresh failed, if it did.
    pub fn failure(&self) -> Option<Arc<str>> {
        self.inner.slots.published().failure
    }

    /// Asks one engine a question. Waits only for the first generation and for an engine that is not in use.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        self.ask_slot(move |loaded, published| question(&mut loaded.engine, &published.snapshot)).await
    }

    async fn ask_slot<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Loaded, &Published) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        let lease = self.inner.slots.lease().await.map_err(AskError::Down)?;
        Ok(self.ask_lease(lease, question).await?)
    }

    async fn ask_lease<T: Send + 'static>(
        &self,
        lease: Lease,
        question: impl FnOnce(&mut Loaded, &Published) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, Broken> {
        let catalog = self.clone();
        let asked = tokio::task::spawn_blocking(move || catalog.ask_now(lease, question));
        asked.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// Asks on this thread, which must be one that may block unless the answer takes microseconds.
    fn ask_now<T>(
        &self,
        mut lease: Lease,
        question: impl FnOnce(&mut Loaded, &Published) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let published = lease.published.clone();
        question(lease.loaded(), &published).inspect_err(|broken| {
            tracing::warn!("{broken}; a new engine replaces it");
            self.inner.slots.clear(lease);
            self.change_slots(Inner::fill_empty_slots);
        })
    }

    /// Asks a question about the whole catalog, and asks again if anything changed on disk.
    pub async fn ask_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        self.rank_all(move |ranker, snapshot| question(ranker.engine, snapshot)).await
    }

    /// Like [`ask_all`](Self::ask_all), for an answer that is ordered by how well skills fit.
    pub async fn rank_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        let generation = || self.inner.slots.published().generation;
        let arrived = Instant::now();
        self.first_generation().await?;
        for _ in 0..FRESH_TRIES {
            let before = generation();
            // Nearly always nothing changed, so the answer is made during the scan.
            let caught_up = self.catch_up(arrived, Scope::Dirty);
            let (_, answer) = tokio::join!(caught_up, self.rank(question.clone()));
            if generation() == before {
                return answer;
            }
        }
        self.rank(question).await
    }

    /// What the operator and the `config.yaml` of a root add up to, with that file as it is on disk now.
    pub async fn settings_of(&self, root: u32) -> Result<Settings, AskError> {
        self.ask_fresh(move |engine, _| engine.settings_of(root), |settings| Some(settings.sources.clone())).await
    }

    /// Waits for the first generation, so that there is one to compare the disk with.
    async fn first_generation(&self) -> Result<(), AskError> {
        if self.inner.slots.published().generation == 0 { self.ask(|_, _| Ok(())).await } else { Ok(()) }
    }

    /// Changes slots in the background, one such change after the other.
    fn change_slots(&self, change: impl FnOnce(&Inner) + Send + 'static) {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || {
            let _turn = inner.changing_slots.blocking_lock();
            change(&inner);
        });
    }
}

/// Says that a name finds no skill, and which ones might be meant.
pub fn no_skill(name: &str, error: &LookupError) -> String {
    match error {
        LookupError::Unknown(close) if close.is_empty() => {
            format!("no skill is called `{name}`\nhint: no other name is close; list the skills, or search them")
        }
        LookupError::Unknown(close) => format!("no skill is called `{name}`\nhint: close names are {}", quoted(close)),
        LookupError::Several(names) => {
            format!("several skills are called `{name}`: {}\nhint: use one of these full names", quoted(names))
        }
    }
}
