//! A running scorer with the skills of one engine.

use super::{Limits, MAX_LOG_LINES, Scorer, ScorerState};
use crate::call::{self, Broken};
use crate::engine::EngineInstance;
use base::printable::printable_up_to;
use bindings::scorer::Scorer as Guest;
use bindings::types::{Scored, TextChange};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::ResourceAny;
use wasmtime::{Store, Trap};

/// Bytes of text in one batch from the engine, which visits all its skills for each batch.
const ENGINE_BATCH_BYTES: u32 = 4 << 20;

/// Bytes of text in one `update`. A single larger skill gets proportionally more time and fuel.
const UPDATE_BYTES: usize = 64 << 10;

/// Limits how much more time and fuel a large `update` gets, because the start of the server waits for it.
const MAX_UPDATE_FACTOR: usize = 4;

/// In bytes; the rest of a task is ignored.
const MAX_TASK_LENGTH: usize = 1 << 20;

/// In characters; the rest of a reason is cut off.
const MAX_REASON_LENGTH: usize = 300;

/// One instance with the skills of one engine. After a failure it must not be used again.
pub struct Prepared {
    pub scorer: Arc<Scorer>,
    store: Store<ScorerState>,
    guest: Guest,
    skills: ResourceAny,
    /// The number of the engine, which numbers the skills.
    engine: u64,
    known: usize,
}

/// Why a scorer has no valid answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Broken(Broken),
    #[error("the scorer was stopped in `{function}` after {fuel} units of fuel")]
    OutOfFuel { function: &'static str, fuel: u64 },
    #[error("the scorer gave {found} scores for {expected} skills")]
    WrongCount { expected: usize, found: usize },
    #[error("the scorer gave a skill the score {score}, and scores are from 0 to 1")]
    OutOfRange { score: f64 },
}

impl Scorer {
    /// Starts an instance with every skill of an engine. The outer error is a failure of the engine.
    pub fn prepare(self: &Arc<Self>, engine: &mut EngineInstance) -> Result<Result<Prepared, Failure>, Broken> {
        let mut prepared = match self.instantiate(engine.number()) {
            Ok(prepared) => prepared,
            Err(failure) => return Ok(Err(failure)),
        };
        Ok(prepared.sync(engine, true)?.map(|()| prepared))
    }

    /// Starts an instance without skills, which belongs to no engine.
    pub fn prepare_empty(self: &Arc<Self>) -> Result<Prepared, Failure> {
        self.instantiate(u64::MAX)
    }

    fn instantiate(self: &Arc<Self>, engine: u64) -> Result<Prepared, Failure> {
        let state = ScorerState::new(Arc::clone(&self.name), self.limits.memory, self.model.clone());
        let mut store = call::store(&self.executor, state);
        store.set_hostcall_fuel(self.limits.answer);
        let fuel = start_call(&mut store, &self.limits, self.limits.update_time, 1);
        let made = call::call(&self.executor, &mut store, "constructor", |store| {
            let guest = self.ready.instantiate(&mut *store)?;
            let skills = guest.skillcell_plugin_scoring().prepared().call_constructor(&mut *store)?;
            Ok((guest, skills))
        });
        let (guest, skills) = made.map_err(|broken| failure(broken, fuel))?;
        Ok(Prepared { scorer: Arc::clone(self), store, guest, skills, engine, known: 0 })
    }
}

impl Prepared {
    /// Whether it has the skills of this engine.
    pub fn knows(&self, engine: &EngineInstance) -> bool {
        self.engine == engine.number()
    }

    /// The number of skills it has.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Applies what changed in the engine since the last call. The outer error is a failure of the engine.
    pub fn follow(&mut self, engine: &mut EngineInstance) -> Result<Result<(), Failure>, Broken> {
        self.sync(engine, false)
    }

    fn sync(&mut self, engine: &mut EngineInstance, mut restart: bool) -> Result<Result<(), Failure>, Broken> {
        let mut updated = Ok(());
        // Even after a failure the engine is read to the end, so that its numbers stay valid for other scorers.
        loop {
            let delta = engine.text_changes(std::mem::take(&mut restart), ENGINE_BATCH_BYTES)?;
            if updated.is_ok() {
                updated = batches(&delta.changes).try_for_each(|batch| self.update(batch));
            }
            self.known = delta.known as usize;
            if delta.complete {
                return Ok(updated);
            }
        }
    }

    /// Applies changes that come from no engine. `known` is the number of skills after them.
    pub fn apply(&mut self, changes: &[TextChange], known: usize) -> Result<(), Failure> {
        self.known = known;
        batches(changes).try_for_each(|batch| self.update(batch))
    }

    fn update(&mut self, changes: &[TextChange]) -> Result<(), Failure> {
        let bytes: usize = changes.iter().map(size).sum();
        let (skills, time) = (self.skills, self.scorer.limits.update_time);
        self.call("update", time, bytes.div_ceil(UPDATE_BYTES), |guest, store| {
            guest.skillcell_plugin_scoring().prepared().call_update(store, skills, changes)
        })
    }

    /// Scores each skill for a task, in the order of their numbers, with reasons that can be shown.
    pub fn score(&mut self, task: &str) -> Result<Vec<Scored>, Failure> {
        let mut answer = self.answer(task)?;
        for scored in &mut answer {
            scored.reason = printable_up_to(&scored.reason, MAX_REASON_LENGTH);
        }
        Ok(answer)
    }

    /// Scores each skill for a task, without reasons.
    pub fn scores(&mut self, task: &str) -> Result<Vec<f64>, Failure> {
        Ok(self.answer(task)?.into_iter().map(|scored| scored.score).collect())
    }

    fn answer(&mut self, task: &str) -> Result<Vec<Scored>, Failure> {
        if self.known == 0 {
            return Ok(Vec::new());
        }
        let task = &task[..task.floor_char_boundary(MAX_TASK_LENGTH)];
        let (skills, time) = (self.skills, self.scorer.limits.time);
        let mut answer = self.call("score", time, 1, |guest, store| {
            guest.skillcell_plugin_scoring().prepared().call_score(store, skills, task)
        })?;
        let (expected, found) = (self.known, answer.len());
        if found != expected {
            return Err(Failure::WrongCount { expected, found });
        }
        for scored in &mut answer {
            if !(0.0..=1.0).contains(&scored.score) {
                return Err(Failure::OutOfRange { score: scored.score });
            }
            // Turns -0 into 0.
            scored.score += 0.0;
        }
        Ok(answer)
    }

    fn call<T>(
        &mut self,
        function: &'static str,
        time: Duration,
        factor: usize,
        body: impl FnOnce(&Guest, &mut Store<ScorerState>) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        let Scorer { executor, limits, .. } = &*self.scorer;
        let fuel = start_call(&mut self.store, limits, time, factor);
        let guest = &self.guest;
        call::call(executor, &mut self.store, function, |store| body(guest, store))
            .map_err(|broken| failure(broken, fuel))
    }
}

/// Sets the limits of the next call, multiplied by `factor`. Returns its fuel.
fn start_call(store: &mut Store<ScorerState>, limits: &Limits, time: Duration, factor: usize) -> u64 {
    let factor = u32::try_from(factor.clamp(1, MAX_UPDATE_FACTOR)).unwrap_or(u32::MAX);
    let state = store.data_mut();
    state.budget.start_call(time.saturating_mul(factor));
    state.log.lines_left = MAX_LOG_LINES;
    let fuel = limits.fuel.saturating_mul(factor.into());
    store.set_fuel(fuel).expect("the compiler counts fuel");
    fuel
}

fn failure(broken: Broken, fuel: u64) -> Failure {
    match broken {
        Broken::Crashed { function, source, .. } if source.downcast_ref() == Some(&Trap::OutOfFuel) => {
            Failure::OutOfFuel { function, fuel }
        }
        broken => Failure::Broken(broken),
    }
}

/// Splits changes into batches for one `update` each.
fn batches(changes: &[TextChange]) -> impl Iterator<Item = &[TextChange]> {
    let mut bytes = changes.first().map_or(0, size);
    changes.chunk_by(move |_, next| {
        let fits = bytes + size(next) <= UPDATE_BYTES;
        bytes = if fits { bytes + size(next) } else { size(next) };
        fits
    })
}

/// The size of a change, in bytes, with a little for its structure.
fn size(change: &TextChange) -> usize {
    const OVERHEAD: usize = 64;
    match change {
        TextChange::Gone(_) => OVERHEAD,
        TextChange::Put(text) => {
            let words = text.keywords.iter().chain(&text.aliases).map(|word| word.len() + OVERHEAD);
            let texts = text.name.len() + text.path.len() + text.description.len() + text.body.len();
            OVERHEAD + texts + words.sum::<usize>()
        }
    }
}
