//! The one way to call a guest: with a deadline, and with a typed answer when it breaks.

use crate::runtime::Runtime;
use crate::runtime::budget::{Budget, Limit};
use wasmtime::{AsContextMut, Store, UpdateDeadline};

/// A guest did not come back from a call. Its instance must not be used again.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("the {guest} crashed in `{function}`: {}", summary(.source))]
    Crashed { guest: &'static str, function: &'static str, source: wasmtime::Error },
    #[error("the {guest} was stopped in `{function}` after {limit}")]
    Stopped { guest: &'static str, function: &'static str, limit: Limit },
}

/// State of a store whose guest has a budget.
pub trait Budgeted {
    const GUEST: &'static str;
    fn budget(&mut self) -> &mut Budget;
}

/// A store whose guest is stopped when its budget is used up.
pub fn store<S: Budgeted + 'static>(runtime: &Runtime, state: S) -> Store<S> {
    let mut store = Store::new(runtime.engine(), state);
    store.limiter(|state| state.budget());
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut store| {
        Ok(if store.data_mut().budget().is_over() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
    });
    store
}

/// Calls a guest. The caller has set its budget.
pub fn call<S: Budgeted + 'static, T>(
    runtime: &Runtime,
    store: &mut Store<S>,
    function: &'static str,
    body: impl FnOnce(&mut Store<S>) -> wasmtime::Result<T>,
) -> Result<T, Broken> {
    let _ticking = runtime.ticker.tick();
    store.as_context_mut().set_epoch_deadline(1);
    body(store).map_err(|source| match store.data_mut().budget().hit() {
        Some(limit) => Broken::Stopped { guest: S::GUEST, function, limit },
        None => Broken::Crashed { guest: S::GUEST, function, source },
    })
}

/// The innermost reason, on one line.
fn summary(error: &wasmtime::Error) -> String {
    error.root_cause().to_string().lines().next().unwrap_or_default().to_owned()
}
