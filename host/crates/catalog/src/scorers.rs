//! The configured scorer: its failures, and the reloading of its file.

pub mod explanation;
mod watched_file;
pub mod options;
pub mod panel;

use guests::call::Broken;
use guests::engine::EngineInstance;
use guests::load::LoadError;
use guests::scorer::{Prepared, Scorer, ScorerWorld};
use options::{ScorerChoice, ScorerFile};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use watched_file::WatchedFile;

/// Consecutive failures after which a scorer is suspended.
const MAX_FAILURES: u32 = 3;

/// The configured scorer, whichever version of its file is loaded. Lives until the process ends.
pub struct Scorers {
    world: ScorerWorld,
    health: Mutex<Health>,
    /// Why the model is not used, and what helps.
    model_problem: Option<ModelProblem>,
    /// Missing for a bundled scorer.
    file: Option<Mutex<WatchedFile>>,
    /// Notified when an instance failed, so that another is prepared.
    failures: Notify,
}

/// What happened since the scorer was loaded.
struct Health {
    scorer: Arc<Scorer>,
    in_a_row: u32,
    /// The first failure.
    failure: Option<String>,
    /// Why a newer version of the file is not used.
    refusal: Option<String>,
}

/// Why a scorer that compares meanings has no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelProblem {
    /// None is installed.
    Missing,
    /// The installed one is not usable: a message, possibly with a hint.
    Unusable(String),
}

/// A problem of the scorer that did not stop anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorerProblem {
    /// Its name in this binary, or that of its file.
    pub name: String,
    /// A stable name, like those of other problems.
    pub code: &'static str,
    pub message: String,
    pub advice: String,
}

/// Loads a scorer; nothing for the engine's own. Compiles a component from a file unless it is cached.
pub fn load(world: &ScorerWorld, choice: &ScorerChoice) -> Result<Option<Scorer>, LoadError> {
    match choice {
        ScorerChoice::Keyword => Ok(None),
        ScorerChoice::Bundled(which) => world.bundled(*which).map(Some),
        ScorerChoice::Component(ScorerFile { path, sha256 }) => world.from_file(path, *sha256).map(Some),
    }
}

impl Scorers {
    /// Loads the configured scorer; nothing for the engine's own.
    pub fn open(
        world: ScorerWorld,
        choice: &ScorerChoice,
        model_problem: Option<ModelProblem>,
    ) -> Result<Option<Self>, LoadError> {
        // Before loading, so that a change meanwhile is noticed later.
        let file = match choice {
            ScorerChoice::Component(file) => Some(Mutex::new(WatchedFile::new(file.clone()))),
            ScorerChoice::Keyword | ScorerChoice::Bundled(_) => None,
        };
        let Some(scorer) = load(&world, choice)? else { return Ok(None) };
        tracing::info!("skills are ranked by the scorer `{}`", scorer.name);
        if let Some(problem) = &model_problem {
            tracing::warn!("{}", problem.message());
        }
        let health = Health { scorer: Arc::new(scorer), in_a_row: 0, failure: None, refusal: None };
        Ok(Some(Self { world, health: Mutex::new(health), model_problem, file, failures: Notify::new() }))
    }

    /// The current scorer; nothing while it is suspended.
    pub fn current(&self) -> Option<Arc<Scorer>> {
        let health = self.health();
        (health.in_a_row < MAX_FAILURES).then(|| Arc::clone(&health.scorer))
    }

    /// Returns a scorer that knows the skills of the engine: the one that followed it so far, or a new instance. Nothing when the
    /// scorer failed or is suspended. Fails only when the engine does.
    pub fn follow(&self, engine: &mut EngineInstance, before: Option<Prepared>) -> Result<Option<Prepared>, Broken> {
        let Some(current) = self.current() else {
            retire(before);
            return Ok(None);
        };
        let is_good = |prepared: &Prepared| prepared.knows(engine) && Arc::ptr_eq(&prepared.scorer, &current);
        let followed = match before {
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
        match followed {
            Ok(Ok(prepared)) => Ok(Some(prepared)),
            Ok(Err(failure)) => {
                self.failed(&current, &failure.to_string());
                Ok(None)
            }
            Err(broken) => {
                self.failed(&current, &format!("the engine broke while it handed over the skills: {broken}"));
                Err(broken)
            }
        }
    }

    /// Asks for scores. An instance that fails is dropped, and the engine's own scorer ranks instead.
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

    /// Makes another scorer the current one.
    pub fn adopt(&self, scorer: Arc<Scorer>) {
        *self.health() = Health { scorer, in_a_row: 0, failure: None, refusal: None };
    }

    /// Notes why a newer version of the file is not used. The previous one stays.
    pub fn refuse(&self, reason: &str) {
        self.health().refusal = Some(reason.to_owned());
        tracing::warn!("the scorer's file changed but is not used; the previous version stays: {reason}");
    }

    pub fn problems(&self) -> Vec<ScorerProblem> {
        let health = self.health();
        let problem = |code, message: &str, advice: &str| ScorerProblem {
            name: health.scorer.name.to_string(),
            code,
            message: message.to_owned(),
            advice: advice.to_owned(),
        };
        let is_suspended = health.in_a_row >= MAX_FAILURES;
        let failed = health.failure.as_ref().map(|failure| {
            let until = match (is_suspended, self.has_file()) {
                (true, true) => "; it is suspended until its file changes",
                (true, false) => "; it is suspended until the server restarts",
                (false, _) => "",
            };
            let message = format!("{failure}; skills were ranked by their keywords instead{until}");
            problem("scorer-failed", &message, "fix the scorer, or choose another with `matching.scorer`")
        });
        let refused = health.refusal.as_ref().map(|refusal| {
            let (message, advice) = refusal.split_once("\nhint: ").unwrap_or((refusal, "restore the file, or fix it"));
            problem("scorer-not-exchanged", &format!("the previous version stays: {message}"), advice)
        });
        let without_model = self.model_problem.as_ref().map(|own| problem(own.code(), &own.message(), own.advice()));
        failed.into_iter().chain(refused).chain(without_model).collect()
    }

    fn succeeded(&self, scorer: &Arc<Scorer>) {
        let mut health = self.health();
        if health.is_about(scorer) {
            health.in_a_row = 0;
        }
    }

    /// Logs only the first of many failures.
    fn failed(&self, scorer: &Arc<Scorer>, reason: &str) {
        let mut health = self.health();
        if !health.is_about(scorer) {
            return;
        }
        health.in_a_row += 1;
        tracing::debug!("consecutive failure {} of the scorer: {reason}", health.in_a_row);
        if health.failure.is_none() {
            tracing::warn!("the scorer `{}` failed, and the engine's own ranks instead: {reason}", scorer.name);
            health.failure = Some(reason.to_owned());
        }
        if health.in_a_row == MAX_FAILURES {
            tracing::info!("the scorer `{}` failed {MAX_FAILURES} times in a row and is suspended", scorer.name);
        }
        self.failures.notify_one();
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelProblem {
    fn code(&self) -> &'static str {
        match self {
            Self::Missing => "model-missing",
            Self::Unusable(_) => "model-unusable",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Missing => "there is no model, so `semantic` ranks as `hybrid` does".to_owned(),
            Self::Unusable(reason) => {
                let (reason, _) = reason.split_once("\nhint: ").unwrap_or((reason, ""));
                format!("the model cannot be used, so `semantic` ranks as `hybrid` does: {reason}")
            }
        }
    }

    fn advice(&self) -> &str {
        match self {
            Self::Missing => "run `skillcell model add wordllama`, or choose `matching.scorer: hybrid`",
            Self::Unusable(_) => "run `skillcell model add` again, and restart the server",
        }
    }
}

impl Health {
    /// Whether this is the current scorer, and not one that was replaced meanwhile or is suspended.
    fn is_about(&self, scorer: &Arc<Scorer>) -> bool {
        Arc::ptr_eq(&self.scorer, scorer) && self.in_a_row < MAX_FAILURES
    }
}

/// Drops an instance on a thread of its own, because freeing its memory takes a while.
fn retire(prepared: Option<Prepared>) {
    let Some(prepared) = prepared else { return };
    // If no thread can be started, it is dropped here.
    let _ = std::thread::Builder::new().name("drop scorer".to_owned()).spawn(move || drop(prepared));
}
