//! The scorer that the operator chose: how it behaves, and what becomes of its file.

pub mod explanation;
mod following;
pub mod known;
pub mod panel;
mod trouble;

pub use trouble::Trouble;

use crate::config::{ScorerChoice, ScorerFile};
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use crate::worlds::scorer::{LoadError, Prepared, Scorer, ScorerWorld};
use following::Following;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Failures in a row after which a scorer rests.
const MOST_FAILURES: u32 = 3;

/// Until the process ends: the chosen scorer, whichever file it is from.
pub struct Scorers {
    world: ScorerWorld,
    conduct: Mutex<Conduct>,
    /// Where its file is, and what was seen there. Missing for one in this binary.
    following: Option<Mutex<Following>>,
    /// Told when an instance failed, so that another can be prepared.
    failures: Notify,
}

/// How the scorer behaved since it was loaded.
struct Conduct {
    scorer: Arc<Scorer>,
    in_a_row: u32,
    /// Why it failed first.
    failure: Option<String>,
    /// Why a newer file is not used.
    refusal: Option<String>,
}

/// Loads what was chosen; nothing for the engine's own. Compiles a component from a file, unless that was done before.
pub fn load(world: &ScorerWorld, choice: &ScorerChoice) -> Result<Option<Scorer>, LoadError> {
    match choice {
        ScorerChoice::Keyword => Ok(None),
        ScorerChoice::Bundled(which) => world.bundled(*which).map(Some),
        ScorerChoice::Component(ScorerFile { path, sha256 }) => world.from_file(path, *sha256).map(Some),
    }
}

impl Scorers {
    /// Loads what was chosen; nothing for the engine's own.
    pub fn open(world: ScorerWorld, choice: &ScorerChoice) -> Result<Option<Self>, LoadError> {
        // What changes while it is loaded is noticed later.
        let following = match choice {
            ScorerChoice::Component(file) => Some(Mutex::new(Following::new(file.clone()))),
            ScorerChoice::Keyword | ScorerChoice::Bundled(_) => None,
        };
        let Some(scorer) = load(&world, choice)? else { return Ok(None) };
        tracing::info!("skills are ranked by the scorer `{}`", scorer.name);
        let conduct = Conduct { scorer: Arc::new(scorer), in_a_row: 0, failure: None, refusal: None };
        Ok(Some(Self { world, conduct: Mutex::new(conduct), following, failures: Notify::new() }))
    }

    /// The scorer that counts; nothing while it rests.
    pub fn current(&self) -> Option<Arc<Scorer>> {
        let conduct = self.conduct();
        (conduct.in_a_row < MOST_FAILURES).then(|| Arc::clone(&conduct.scorer))
    }

    /// A scorer that knows what the engine has now: the one that followed it so far, else a fresh one. Nothing when it failed or
    /// rests. Fails only when the engine does.
    pub fn follow(&self, engine: &mut EngineInstance, before: Option<Prepared>) -> Result<Option<Prepared>, Broken> {
        let Some(current) = self.current() else {
            retire(before);
            return Ok(None);
        };
        let is_good = |prepared: &Prepared| prepared.knows(engine) && Arc::ptr_eq(&prepared.scorer, &current);
        let told = match before {
            Some(mut prepared) if is_good(&prepared) => match prepared.follow(engine) {
                Ok(Ok(())) => Ok(Ok(prepared)),
                Ok(Err(failure)) => {
                    retire(Some(prepared));
                    Ok(Err(failure))
                }
                Err(broken) => Err(broken),
            },
            other => {
                retire(other);
                current.prepare(engine)
            }
        };
        match told {
            Ok(Ok(prepared)) => Ok(Some(prepared)),
            Ok(Err(failure)) => {
                self.failed(&current, &failure.to_string());
                Ok(None)
            }
            Err(broken) => {
                self.failed(&current, &format!("the engine could not tell it of the skills: {broken}"));
                Err(broken)
            }
        }
    }

    /// Asks for scores. An instance that fails is thrown away, and the engine's own scorer has to do.
    pub fn scores(&self, prepared: &mut Option<Prepared>, task: &str) -> Option<Vec<f64>> {
        if self.current().is_none() {
            retire(prepared.take());
        }
        let running = prepared.as_mut()?;
        match running.scores(task) {
            Ok(scores) => {
                self.succeeded(&running.scorer);
                Some(scores)
            }
            Err(failure) => {
                self.failed(&Arc::clone(&running.scorer), &failure.to_string());
                retire(prepared.take());
                None
            }
        }
    }

    /// Waits until an instance failed.
    pub async fn failure(&self) {
        self.failures.notified().await;
    }

    /// Makes another scorer the one that counts.
    pub fn adopt(&self, scorer: Arc<Scorer>) {
        *self.conduct() = Conduct { scorer, in_a_row: 0, failure: None, refusal: None };
    }

    /// Notes why a newer file is not used. The one before goes on.
    pub fn refuse(&self, reason: &str) {
        self.conduct().refusal = Some(reason.to_owned());
        tracing::warn!("the scorer's file changed and is not used; the one before goes on: {reason}");
    }

    fn succeeded(&self, scorer: &Arc<Scorer>) {
        let mut conduct = self.conduct();
        if conduct.is_about(scorer) {
            conduct.in_a_row = 0;
        }
    }

    /// Tells it once, however often it happens.
    fn failed(&self, scorer: &Arc<Scorer>, reason: &str) {
        let mut conduct = self.conduct();
        if !conduct.is_about(scorer) {
            return;
        }
        conduct.in_a_row += 1;
        tracing::debug!("failure {} of the scorer in a row: {reason}", conduct.in_a_row);
        if conduct.failure.is_none() {
            tracing::warn!("the scorer `{}` failed, and the engine's own ranks in its place: {reason}", scorer.name);
            conduct.failure = Some(reason.to_owned());
        }
        if conduct.in_a_row == MOST_FAILURES {
            tracing::info!("the scorer `{}` failed {MOST_FAILURES} times in a row and rests", scorer.name);
        }
        self.failures.notify_one();
    }

    fn conduct(&self) -> MutexGuard<'_, Conduct> {
        self.conduct.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conduct {
    /// Whether this is the scorer that counts, and not one that was replaced meanwhile or rests already.
    fn is_about(&self, scorer: &Arc<Scorer>) -> bool {
        Arc::ptr_eq(&self.scorer, scorer) && self.in_a_row < MOST_FAILURES
    }
}

/// Lets an instance go. Giving back its memory takes a while, and nobody waits for that.
fn retire(prepared: Option<Prepared>) {
    let Some(prepared) = prepared else { return };
    let name = "scorer's end".to_owned();
    // Without a thread to spare it happens here.
    let _ = std::thread::Builder::new().name(name).spawn(move || drop(prepared));
}
