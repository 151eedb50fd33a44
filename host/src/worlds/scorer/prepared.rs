//! A running scorer that knows the skills of one engine.

use super::{LINES, Limits, Scorer, ScorerState};
use crate::bindings::scorer::Scorer as Guest;
use crate::bindings::types::{Scored, TextChange};
use crate::printable::printable_up_to;
use crate::runtime::call::{self, Broken};
use crate::worlds::engine::EngineInstance;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::ResourceAny;
use wasmtime::{Store, Trap};

/// Bytes of text that an engine hands over at once. Each time it goes through all its skills.
const FROM_ENGINE: u32 = 4 << 20;

/// Bytes of text that a scorer is told in one call. More of them, because one skill has more, give it more time.
const TOLD_AT_ONCE: usize = 64 << 10;

/// Most often that a call is given its time over, however much it is told: whoever starts the server waits for it.
const MOST_TIMES: usize = 4;

/// Most of a task that a scorer is shown, in bytes.
const LONGEST_TASK: usize = 1 << 20;

/// Most of a reason that is shown, in characters.
const LONGEST_REASON: usize = 300;

/// Until it fails: one instance with the skills of one engine. After a failure it must not be used again.
pub struct Prepared {
    /// What it is an instance of.
    pub scorer: Arc<Scorer>,
    store: Store<ScorerState>,
    guest: Guest,
    skills: ResourceAny,
    /// The engine whose numbers it knows skills by.
    engine: u64,
    /// How many skills it was told of.
    known: usize,
}

/// Why a scorer gave no answer that counts.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Broken(Broken),
    #[error("the scorer was stopped in `{function}` after {steps} steps")]
    Steps { function: &'static str, steps: u64 },
    #[error("the scorer gave {found} scores for {expected} skills")]
    WrongCount { expected: usize, found: usize },
    #[error("the scorer gave a skill the score {score}, and scores are from 0 to 1")]
    OutOfRange { score: f64 },
}

impl Scorer {
    /// An instance that knows every skill in the engine's catalog. Fails on its own when the engine does.
    pub fn prepare(self: &Arc<Self>, engine: &mut EngineInstance) -> Result<Result<Prepared, Failure>, Broken> {
        let mut prepared = match self.instantiate(engine.number()) {
            Ok(prepared) => prepared,
            Err(failure) => return Ok(Err(failure)),
        };
        Ok(prepared.listen(engine, true)?.map(|()| prepared))
    }

    /// An instance without any skill that no engine tells anything, to be tried out.
    pub fn alone(self: &Arc<Self>) -> Result<Prepared, Failure> {
        self.instantiate(u64::MAX)
    }

    fn instantiate(self: &Arc<Self>, engine: u64) -> Result<Prepared, Failure> {
        let state = ScorerState::new(Arc::clone(&self.name), self.limits.memory);
        let mut store = call::store(&self.runtime, state);
        store.set_hostcall_fuel(self.limits.answer);
        let fuel = begin(&mut store, &self.limits, self.limits.update_time, 1);
        let made = call::call(&self.runtime, &mut store, "constructor", |store| {
            let guest = self.ready.instantiate(&mut *store)?;
            let skills = guest.skillcell_plugin_scoring().prepared().call_constructor(&mut *store)?;
            Ok((guest, skills))
        });
        let (guest, skills) = made.map_err(|broken| failure(broken, fuel))?;
        Ok(Prepared { scorer: Arc::clone(self), store, guest, skills, engine, known: 0 })
    }
}

impl Prepared {
    /// Whether it knows the skills of this engine by their numbers.
    pub fn knows(&self, engine: &EngineInstance) -> bool {
        self.engine == engine.number()
    }

    /// How many skills it was told of.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Is told what changed in the engine's catalog since it was told last. Fails on its own when the engine does.
    pub fn follow(&mut self, engine: &mut EngineInstance) -> Result<Result<(), Failure>, Broken> {
        self.listen(engine, false)
    }

    fn listen(&mut self, engine: &mut EngineInstance, mut anew: bool) -> Result<Result<(), Failure>, Broken> {
        let mut told = Ok(());
        // To the end also after a failure, so that the engine's numbers stay good for another scorer that knows them.
        loop {
            let delta = engine.text_changes(std::mem::take(&mut anew), FROM_ENGINE)?;
            if told.is_ok() {
                told = pieces(&delta.changes).try_for_each(|piece| self.tell(piece));
            }
            self.known = delta.known as usize;
            if delta.complete {
                return Ok(told);
            }
        }
    }

    /// Is told changes that come from no engine, after which there are this many skills.
    pub fn take_in(&mut self, changes: &[TextChange], known: usize) -> Result<(), Failure> {
        self.known = known;
        pieces(changes).try_for_each(|piece| self.tell(piece))
    }

    fn tell(&mut self, changes: &[TextChange]) -> Result<(), Failure> {
        let bytes: usize = changes.iter().map(size).sum();
        let (skills, time) = (self.skills, self.scorer.limits.update_time);
        self.call("update", time, bytes.div_ceil(TOLD_AT_ONCE), |guest, store| {
            guest.skillcell_plugin_scoring().prepared().call_update(store, skills, changes)
        })
    }

    /// How well each skill fits a task, in the order of their numbers, with reasons that can be shown.
    pub fn score(&mut self, task: &str) -> Result<Vec<Scored>, Failure> {
        let mut answer = self.answer(task)?;
        for scored in &mut answer {
            scored.reason = printable_up_to(&scored.reason, LONGEST_REASON);
        }
        Ok(answer)
    }

    /// The same without the reasons.
    pub fn scores(&mut self, task: &str) -> Result<Vec<f64>, Failure> {
        Ok(self.answer(task)?.into_iter().map(|scored| scored.score).collect())
    }

    fn answer(&mut self, task: &str) -> Result<Vec<Scored>, Failure> {
        if self.known == 0 {
            return Ok(Vec::new());
        }
        let task = &task[..task.floor_char_boundary(LONGEST_TASK)];
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
            // There is a zero with a minus in front.
            scored.score += 0.0;
        }
        Ok(answer)
    }

    fn call<T>(
        &mut self,
        function: &'static str,
        time: Duration,
        times: usize,
        body: impl FnOnce(&Guest, &mut Store<ScorerState>) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        let Scorer { runtime, limits, .. } = &*self.scorer;
        let fuel = begin(&mut self.store, limits, time, times);
        let guest = &self.guest;
        call::call(runtime, &mut self.store, function, |store| body(guest, store))
            .map_err(|broken| failure(broken, fuel))
    }
}

/// Gives the next call its time and steps, a few times over if it is told a lot. Returns the steps.
fn begin(store: &mut Store<ScorerState>, limits: &Limits, time: Duration, times: usize) -> u64 {
    let times = u32::try_from(times.clamp(1, MOST_TIMES)).unwrap_or(u32::MAX);
    let state = store.data_mut();
    state.budget.begin_call(time.saturating_mul(times));
    state.lines.left = LINES;
    let fuel = limits.fuel.saturating_mul(times.into());
    store.set_fuel(fuel).expect("the compiler counts steps");
    fuel
}

fn failure(broken: Broken, steps: u64) -> Failure {
    match broken {
        Broken::Crashed { function, source, .. } if source.downcast_ref() == Some(&Trap::OutOfFuel) => {
            Failure::Steps { function, steps }
        }
        broken => Failure::Broken(broken),
    }
}

/// The changes in calls of a size that a scorer has time for.
fn pieces(changes: &[TextChange]) -> impl Iterator<Item = &[TextChange]> {
    let mut rest = changes;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |change: &&TextChange| {
            bytes += size(change);
            bytes <= TOLD_AT_ONCE
        };
        let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (piece, others) = rest.split_at(count);
        rest = others;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The bytes of a change that take time, with a little for what surrounds them.
fn size(change: &TextChange) -> usize {
    const AROUND: usize = 64;
    match change {
        TextChange::Gone(_) => AROUND,
        TextChange::Put(text) => {
            let words = text.keywords.iter().chain(&text.aliases).map(|word| word.len() + AROUND);
            AROUND + text.name.len() + text.path.len() + text.description.len() + text.body.len() + words.sum::<usize>()
        }
    }
}
