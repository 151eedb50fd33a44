//! Calls engines and scorers, synchronously.
//!
//! An instance of these worlds lives for many calls and never waits for anything, so a call runs on the blocking thread of
//! its caller, without the thread, the timeout and the yields of [`run`](crate::run). Its time is counted in ticks during
//! which it ran, not by the clock: a busy machine must not stop an engine. The [`Budget`] in the store's state holds the
//! limits.

use crate::budget::{Budget, Limit};
use crate::executor::Executor;
use crate::run::reason;
use wasmtime::{AsContextMut, Store, UpdateDeadline};

/// A call did not return. The instance must not be used again.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("the {guest} crashed in `{function}`: {}", reason(.source))]
    Crashed { guest: &'static str, function: &'static str, source: wasmtime::Error },
    #[error("the {guest} was stopped in `{function}` after {limit}")]
    Stopped { guest: &'static str, function: &'static str, limit: Limit },
}

/// The state of a store whose guest has a budget.
pub trait Budgeted {
    const GUEST: &'static str;
    fn budget(&mut self) -> &mut Budget;
}

/// Creates a store that stops its guest when the budget is used up.
pub fn store<S: Budgeted + 'static>(executor: &Executor, state: S) -> Store<S> {
    let mut store = Store::new(executor.engine(), state);
    store.limiter(|state| state.budget());
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut store| {
        Ok(if store.data_mut().budget().tick() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
    });
    store
}

/// Calls a guest. The caller has started its budget.
pub fn call<S: Budgeted + 'static, T>(
    executor: &Executor,
    store: &mut Store<S>,
    function: &'static str,
    body: impl FnOnce(&mut Store<S>) -> wasmtime::Result<T>,
) -> Result<T, Broken> {
    let _ticking = executor.ticker().tick();
    store.as_context_mut().set_epoch_deadline(1);
    body(store).map_err(|source| match store.data_mut().budget().hit() {
        Some(limit) => Broken::Stopped { guest: S::GUEST, function, limit },
        None => Broken::Crashed { guest: S::GUEST, function, source },
    })
}
