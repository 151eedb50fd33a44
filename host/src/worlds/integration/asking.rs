//! One question: a thread, a store with limits, and what came of it.

use super::voice::Voice;
use super::{Integration, IntegrationState, Limits, Report};
use crate::bindings::integration::Integration as Guest;
use crate::bindings::query::{QueryError, Question};
use crate::printable::printable_up_to;
use crate::sandbox::gate::Gate;
use crate::sandbox::run::{self, Lost};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use wasmtime::{Store, Trap};

/// An integration comes up for air after this many steps, and at every tick.
const STEPS_BETWEEN_YIELDS: u64 = 2_000_000;

/// Most bytes that it hands to the host at once: bodies of requests, texts, and its answer.
const MOST_HANDED_OVER: usize = 4 << 20;

/// Most questions that it can suggest, and the longest of them, in characters: together they fit on one screen.
const MOST_QUESTIONS: usize = 40;
const LONGEST_QUESTION: usize = 120;

/// How a question ended.
#[derive(Debug)]
pub struct Asked {
    pub end: End,
    pub fuel_used: u64,
    pub peak_memory: usize,
}

#[derive(Debug)]
pub enum End {
    Answered(String),
    /// It says why not. Other questions, if it did not understand this one.
    NoAnswer(QueryError, Vec<String>),
    /// Whoever asked no longer wants it.
    Cancelled,
    OutOfTime,
    OutOfMemory,
    OutOfFuel,
    Crashed(String),
}

impl Integration {
    /// Asks on a thread of its own, with a fresh instance, until it answers, hits a limit, or is cancelled.
    pub async fn ask(
        &self,
        question: Question,
        gate: Gate,
        report: Report,
        limits: Limits,
        cancelled: CancellationToken,
    ) -> Result<Asked, Lost> {
        let integration = self.clone();
        run::apart("integration", move || async move {
            let question = question;
            let work = Work::Ask(&question);
            integration.finish(work, gate, report, limits, cancelled).await
        })
        .await
    }

    /// The questions that it understands.
    pub async fn questions(&self, gate: Gate, limits: Limits) -> Result<Result<Vec<String>, End>, Lost> {
        let integration = self.clone();
        let asked = run::apart("integration", move || async move {
            let silent: Report = Arc::new(|_| {});
            integration.finish(Work::Questions, gate, silent, limits, CancellationToken::new()).await
        });
        Ok(match asked.await?.end {
            End::NoAnswer(QueryError::NotUnderstood, questions) => Ok(questions),
            other => Err(other),
        })
    }

    async fn finish(
        &self,
        work: Work<'_>,
        gate: Gate,
        report: Report,
        limits: Limits,
        cancelled: CancellationToken,
    ) -> Asked {
        let voice = Voice::new(Arc::clone(&self.name), report);
        let state = IntegrationState::new(gate, voice, limits.memory);
        let mut store = Store::new(self.ready.engine(), state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(MOST_HANDED_OVER);
        let ticking = self.ticker.tick();
        let end = if let Err(error) = fuelled(&mut store, &limits) {
            crashed(&error)
        } else {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => End::Cancelled,
                ended = tokio::time::timeout(limits.time, self.call(&mut store, work)) => match ended {
                    Ok(Ok(end)) => end,
                    Ok(Err(_)) if store.data().meter.was_hit() => End::OutOfMemory,
                    Ok(Err(error)) if error.downcast_ref() == Some(&Trap::OutOfFuel) => End::OutOfFuel,
                    Ok(Err(error)) => crashed(&error),
                    Err(_) => End::OutOfTime,
                },
            }
        };
        drop(ticking);
        let fuel_used = limits.fuel - store.get_fuel().unwrap_or(limits.fuel).min(limits.fuel);
        Asked { end, fuel_used, peak_memory: store.data().meter.peak() }
    }

    async fn call(&self, store: &mut Store<IntegrationState>, work: Work<'_>) -> wasmtime::Result<End> {
        let guest = self.ready.instantiate_async(&mut *store).await?;
        let Work::Ask(question) = work else {
            return Ok(End::NoAnswer(QueryError::NotUnderstood, questions(&guest, store).await?));
        };
        Ok(match guest.skillcell_plugin_query().call_ask(&mut *store, question).await? {
            Ok(text) => End::Answered(text),
            Err(QueryError::NotUnderstood) => End::NoAnswer(QueryError::NotUnderstood, questions(&guest, store).await?),
            Err(error) => End::NoAnswer(error, Vec::new()),
        })
    }
}

enum Work<'question> {
    Ask(&'question Question),
    Questions,
}

async fn questions(guest: &Guest, store: &mut Store<IntegrationState>) -> wasmtime::Result<Vec<String>> {
    let all = guest.skillcell_plugin_query().call_questions(store).await?;
    Ok(all.iter().take(MOST_QUESTIONS).map(|question| printable_up_to(question, LONGEST_QUESTION)).collect())
}

fn fuelled(store: &mut Store<IntegrationState>, limits: &Limits) -> wasmtime::Result<()> {
    store.set_fuel(limits.fuel)?;
    store.fuel_async_yield_interval(Some(STEPS_BETWEEN_YIELDS))?;
    store.epoch_deadline_async_yield_and_update(1);
    Ok(())
}

/// The innermost reason, on one line.
fn crashed(error: &wasmtime::Error) -> End {
    let reason = error.root_cause().to_string();
    End::Crashed(printable_up_to(reason.lines().next().unwrap_or_default().trim_end_matches('.'), 200))
}
