//! Drives scripts and integrations: one instance for one run, on a separate thread, until it ends, hits a limit or is
//! cancelled.
//!
//! Time is measured by the clock, because these guests wait for the network.

use crate::executor::Executor;
use base::printable::printable_up_to;
use sandbox::limits::memory::Meter;
use sandbox::limits::time::RunEnded;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use wasmtime::{Engine, Store, Trap};

/// A guest yields after this much fuel, which takes well under 10 ms. All but CPython also yield at every tick.
const FUEL_BETWEEN_YIELDS: u64 = 2_000_000;

/// In characters.
const MAX_REASON_LENGTH: usize = 200;

/// How a guest is run.
pub(crate) struct Run<S: 'static> {
    /// Names the thread.
    pub name: &'static str,
    /// The engine that compiled the guest; CPython has one of its own.
    pub engine: Engine,
    pub executor: Arc<Executor>,
    pub time: Duration,
    pub fuel: u64,
    pub cancelled: CancellationToken,
    /// Counts the memory of the guest, in the state of its store.
    pub meter: fn(&mut S) -> &mut Meter,
}

/// How a run ended, what it used, and what it left behind.
#[derive(Debug)]
pub struct Outcome<T, L = ()> {
    pub end: End<T>,
    pub left: L,
    pub duration: Duration,
    pub fuel_used: u64,
    pub peak_memory: usize,
}

/// What ended a run.
#[derive(Debug)]
pub enum End<T> {
    Returned(T),
    Cancelled,
    OutOfTime,
    OutOfMemory,
    OutOfFuel,
    /// Why, on one line.
    Crashed(String),
}

/// The thread of a guest panicked or could not be started, which is a fault of the host.
#[derive(Debug, thiserror::Error)]
#[error("the guest's thread ended without a result: the log has the reason")]
pub struct Lost;

impl<S: Send + 'static> Run<S> {
    /// Runs `body` with a fresh store, on a separate thread, so that a busy guest does not delay the threads that answer
    /// requests. Returns before the memory of the guest is freed, with what `take` keeps of its state.
    pub async fn drive<T: Send + 'static, L: Send + 'static>(
        self,
        state: impl FnOnce() -> S + Send + 'static,
        body: impl AsyncFnOnce(&mut Store<S>) -> wasmtime::Result<T> + Send + 'static,
        take: fn(&mut S) -> L,
    ) -> Result<Outcome<T, L>, Lost> {
        let (sender, outcome) = oneshot::channel();
        let tokio = tokio::runtime::Handle::current();
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        let work = move || {
            lower_priority();
            let mut store = self.store(state());
            let outcome = tokio.block_on(self.drive_store(&mut store, body, take));
            let _ = sender.send(outcome);
        };
        thread.spawn(work).map_err(|_| Lost)?;
        outcome.await.map_err(|_| Lost)
    }

    /// Like [`Run::drive`], on this thread.
    pub async fn drive_here<T, L>(
        self,
        state: S,
        body: impl AsyncFnOnce(&mut Store<S>) -> wasmtime::Result<T>,
        take: fn(&mut S) -> L,
    ) -> Outcome<T, L> {
        let mut store = self.store(state);
        self.drive_store(&mut store, body, take).await
    }

    fn store(&self, state: S) -> Store<S> {
        let (mut store, meter) = (Store::new(&self.engine, state), self.meter);
        store.limiter(move |state| meter(state));
        store
    }

    async fn drive_store<T, L>(
        self,
        store: &mut Store<S>,
        body: impl AsyncFnOnce(&mut Store<S>) -> wasmtime::Result<T>,
        take: fn(&mut S) -> L,
    ) -> Outcome<T, L> {
        let Self { executor, time, fuel, cancelled, meter, .. } = self;
        let started = Instant::now();
        let ticking = executor.ticker.tick();
        let guest = async {
            store.set_fuel(fuel)?;
            store.fuel_async_yield_interval(Some(FUEL_BETWEEN_YIELDS))?;
            store.epoch_deadline_async_yield_and_update(1);
            body(store).await
        };
        let result = tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(End::Cancelled),
            result = tokio::time::timeout(time, guest) => result.map_err(|_| End::OutOfTime),
        };
        drop(ticking);
        let duration = started.elapsed();
        let end = match result {
            Err(end) => end,
            Ok(Ok(value)) => End::Returned(value),
            Ok(Err(error)) if error.is::<RunEnded>() && cancelled.is_cancelled() => End::Cancelled,
            Ok(Err(error)) if error.is::<RunEnded>() => End::OutOfTime,
            Ok(Err(_)) if meter(store.data_mut()).was_hit() => End::OutOfMemory,
            Ok(Err(error)) if error.downcast_ref() == Some(&Trap::OutOfFuel) => End::OutOfFuel,
            Ok(Err(error)) => End::Crashed(reason(&error)),
        };
        let fuel_used = fuel - store.get_fuel().unwrap_or(fuel).min(fuel);
        let peak_memory = meter(store.data_mut()).peak();
        Outcome { end, left: take(store.data_mut()), duration, fuel_used, peak_memory }
    }
}

/// Prefers the threads that answer requests if there are not enough cores for all.
pub fn lower_priority() {
    // On other systems this would affect the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 5);
}

/// Returns the root cause of a crash, on one line.
pub(crate) fn reason(error: &wasmtime::Error) -> String {
    let cause = error.root_cause().to_string();
    printable_up_to(cause.lines().next().unwrap_or_default().trim_end_matches('.'), MAX_REASON_LENGTH)
}
