//! The catalog as requests see it: two engines that answer from one generation.
//!
//! Changes go into one engine while the other answers; then they change places, and the same changes are replayed on the
//! second. A request takes whichever is free, so neither a rebuild nor a long search holds it up.

mod building;
mod looking;
mod pair;
mod remembered;
mod skills;

pub use remembered::Index;
pub use skills::Served;

use crate::bindings::catalog::{Change, LookupError};
use crate::bindings::types::Location;
use crate::library::scan::{self, Scan};
use crate::library::snapshot::{Freshness, Snapshot};
use crate::library::stillness::Stillness;
use crate::printable::quoted;
use crate::runtime::call::Broken;
use crate::worlds::engine::{EngineInstance, EngineWorld, Terms};
use building::Builder;
use looking::{Look, Looking};
use pair::{Pair, Published};
use remembered::Remembered;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, oneshot, watch};

/// How often a request that finds its files changed is answered anew before the newest answer has to do.
const FRESH_TRIES: usize = 3;

/// Longest that a question about everything waits for changes that somebody else is bringing in.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

struct Shared {
    builder: Builder,
    pair: Pair,
    /// Held by whoever brings changes in, until both engines have them.
    updating: Arc<Mutex<()>>,
    /// Whether a new generation is on its way that no engine serves yet.
    building: AtomicBool,
    looking: Looking,
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
    /// All that was on disk at that moment.
    Everything,
    /// Somebody else was faster, and may have looked earlier.
    Nothing,
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
    pub fn new(world: EngineWorld, terms: Terms) -> Self {
        let shared = Shared {
            builder: Builder { world, terms },
            pair: Pair::new(),
            updating: Arc::default(),
            building: AtomicBool::new(false),
            looking: Looking::default(),
            remembered: Remembered::default(),
            news: watch::Sender::new(News::default()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Spares looks at the disk when nothing changed there.
    pub fn trust(&self, stillness: Arc<Stillness>) {
        self.shared.looking.trust(stillness);
    }

    /// Asks one engine a question. Waits only for the first generation, and for an engine that is free.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        self.ask_of(move |engine, published| question(engine, &published.snapshot)).await
    }

    /// The same for a question that has to know which generation answers it.
    async fn ask_of<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut EngineInstance, &Published) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, AskError> {
        let mut free = self.shared.pair.free().await.map_err(AskError::Down)?;
        let shared = Arc::clone(&self.shared);
        let asked = tokio::task::spawn_blocking(move || {
            let published = free.published.clone();
            question(free.engine(), &published).inspect_err(|broken| {
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

    /// Asks a question whose answer is made from a few files, and asks again if one of them changed on disk. An answer
    /// without sources, such as that there is no such skill, is given only after a look at everything.
    pub async fn ask_fresh<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        for _ in 0..FRESH_TRIES {
            let (question, sources) = (question.clone(), sources.clone());
            let roots = Arc::clone(&self.shared.builder.terms.roots);
            let checked = self.ask_of(move |engine, Published { generation, snapshot, .. }| {
                let answer = question(engine, snapshot)?;
                let files = sources(&answer);
                let freshness = files.map_or(Freshness::SameFiles, |files| snapshot.freshness(&roots, &files));
                Ok((answer, freshness, *generation))
            });
            let (answer, freshness, generation) = checked.await?;
            if self.is_good_enough(freshness, generation).await {
                return Ok(answer);
            }
        }
        self.ask(question).await
    }

    /// Whether an answer of this generation can be given that was made from files in this state. Brings in what changed if
    /// not.
    async fn is_good_enough(&self, freshness: Freshness, generation: u64) -> bool {
        match freshness {
            Freshness::Current => return true,
            // Something else changed, and somebody is bringing it in: a request does not wait for them.
            Freshness::SameFiles if self.is_building() => return true,
            Freshness::SameFiles | Freshness::Changed => {}
        }
        match self.outdated(Look::Always).await {
            // The look was at the generation that is served now, and the answer may be from the one before.
            None => generation == self.shared.pair.published().generation,
            Some(outdated) => {
                self.bring_in_all(outdated).await;
                false
            }
        }
    }

    /// Tells when a generation is served.
    pub fn news(&self) -> watch::Receiver<News> {
        self.shared.news.subscribe()
    }

    /// Waits for the first generation, and brings in what changed on disk since the last look.
    async fn look_first(&self) -> Result<(), AskError> {
        self.first_generation().await?;
        if let Some(outdated) = self.outdated(Look::OnlyIfStirred).await {
            self.bring_in_all(outdated).await;
        }
        Ok(())
    }

    /// Asks a question about the whole catalog, and asks again if anything changed on disk.
    pub async fn ask_all<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        let generation = || self.shared.pair.published().generation;
        self.first_generation().await?;
        let before = generation();
        // Nearly always nothing changed, so the answer is made while the disk is looked at.
        let (outdated, answer) = tokio::join!(self.outdated(Look::OnlyIfStirred), self.ask(question.clone()));
        if outdated.is_none() && generation() == before {
            return answer;
        }
        if let Some(outdated) = outdated {
            self.bring_in_all(outdated).await;
        }
        self.ask(question).await
    }

    /// Files may have changed while the first generation was built, so there must be one to compare with.
    async fn first_generation(&self) -> Result<(), AskError> {
        if self.shared.pair.published().generation == 0 { self.ask(|_, _| Ok(())).await } else { Ok(()) }
    }

    /// Brings in everything that changed on disk before now, within reason.
    async fn bring_in_all(&self, outdated: u64) {
        let everything = async {
            let mut outdated = Some(outdated);
            for _ in 0..FRESH_TRIES {
                // What somebody else brought in meanwhile may be from before the change that was seen here.
                if outdated.is_none() || self.bring_in(outdated).await == Brought::Everything {
                    return;
                }
                outdated = self.outdated(Look::Always).await;
            }
        };
        let _ = tokio::time::timeout(LONGEST_WAIT, everything).await;
    }

    /// Brings in what changed on disk, at first everything. Returns as soon as one engine serves it; the other follows in
    /// the background. Does nothing if the generation that was found outdated is no longer served.
    pub async fn bring_in(&self, outdated: Option<u64>) -> Brought {
        let updating = Arc::clone(&self.shared.updating).lock_owned().await;
        if outdated.is_some_and(|generation| generation != self.shared.pair.published().generation) {
            return Brought::Nothing;
        }
        let shared = Arc::clone(&self.shared);
        let (done, served) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            if catch_unwind(AssertUnwindSafe(|| shared.bring_in(done))).is_err() {
                shared.fail("the server panicked while it brought in changes");
            }
            drop(updating);
        });
        // The sender is dropped when there was nothing to do, which is just as good.
        let _ = served.await;
        Brought::Everything
    }

    fn is_building(&self) -> bool {
        self.shared.building.load(Ordering::Acquire)
    }

    /// The generation that is served, if anything on disk differs from it.
    async fn outdated(&self, look: Look) -> Option<u64> {
        let shared = Arc::clone(&self.shared);
        let watchable = || self.shared.pair.published().snapshot.is_watchable();
        let look = if look == Look::OnlyIfStirred && watchable() { look } else { Look::Always };
        self.shared.looking.share(look, move || shared.look().map(|(before, _)| before.generation)).await
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

impl Shared {
    /// What changed on disk since the published generation. The same bytes with other times are no change; they are only
    /// noted, so that the next look need not read them.
    fn look(&self) -> Option<(Published, Scan)> {
        let before = self.pair.published();
        let started = Instant::now();
        let terms = &self.builder.terms;
        let scan = scan::scan(&terms.roots, &before.snapshot, terms.file_limit)?;
        tracing::debug!("looked at the disk in {:?}: {} changes", started.elapsed(), scan.changes.len());
        if scan.changes.is_empty() && before.generation > 0 {
            self.pair.renew_snapshot(&before.snapshot, scan.snapshot);
            return None;
        }
        Some((before, scan))
    }

    /// Makes what changed a new generation: first on one engine, then on the other.
    fn bring_in(&self, done: oneshot::Sender<()>) {
        let Some((before, Scan { snapshot, changes })) = self.look() else { return self.fill_empty_seats() };
        let snapshot = Arc::new(snapshot);
        let generation = before.generation + 1;
        self.building.store(true, Ordering::Release);
        tracing::debug!("bringing in generation {generation}");
        let mut done = Some(done);
        for number in self.pair.order() {
            let started = Instant::now();
            let seated = self.pair.take(number).filter(|seated| seated.generation == before.generation);
            let built = match seated {
                Some(seated) => self.builder.update(seated.engine, &snapshot, &changes),
                None => self.builder.build(&snapshot),
            };
            let mut engine = match built {
                Ok(engine) => engine,
                Err(broken) => return self.fail(&broken.to_string()),
            };
            tracing::debug!("brought generation {generation} into engine {number} in {:?}", started.elapsed());
            let first = done.is_some();
            if first {
                self.builder.report(&mut engine, generation);
                self.pair.publish(Published { generation, snapshot: Arc::clone(&snapshot), failure: None });
                self.building.store(false, Ordering::Release);
            }
            self.pair.seat(number, engine, generation);
            if first {
                self.tell(generation, &changes);
            }
            drop(done.take());
        }
    }

    fn tell(&self, generation: u64, changes: &[Change]) {
        // A folder that comes, goes or has other entries may have gained or lost one.
        let may_be_skill_file = |change: &&Change| match change {
            Change::File(file) => file.path.rsplit('/').next() == Some("SKILL.md"),
            Change::Folder(listing) => listing.files.iter().any(|file| file == "SKILL.md"),
            Change::FolderGone(_) => true,
        };
        let skill_files = changes.iter().filter(may_be_skill_file).count() as u64;
        self.news.send_modify(|news| {
            news.generation = generation;
            news.changes += changes.len() as u64;
            news.skill_files += skill_files;
        });
    }

    fn fill_empty_seats(&self) {
        let published = self.pair.published();
        for number in self.pair.empty_seats() {
            match self.builder.build(&published.snapshot) {
                Ok(engine) => self.pair.seat(number, engine, published.generation),
                Err(broken) => self.fail(&broken.to_string()),
            }
        }
    }

    /// Nothing new can be served. Requests are answered by the engine that is left, or told why there is none.
    fn fail(&self, reason: &str) {
        tracing::error!("{reason}; the catalog stays as it was");
        self.building.store(false, Ordering::Release);
        self.pair.publish(Published { failure: Some(reason.into()), ..self.pair.published() });
        self.pair.wake();
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
