//! One run: a thread, a store with limits, and what came of it.

use crate::runtime::ticker::Ticker;
use crate::sandbox::files::memory::Quota;
use crate::sandbox::limits::{LimitHit, Limits};
use crate::sandbox::meter::Meter;
use crate::sandbox::output::Written;
use crate::sandbox::runtimes::Guest;
use crate::sandbox::state::{Lent, ScriptState};
use crate::sandbox::stop::{Over, Stop};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use wasmtime::{Store, Trap};
use wasmtime_wasi::I32Exit;

/// CPython comes up for air after this many steps, which take well under 10 ms. Other guests do at every tick as well.
const STEPS_BETWEEN_YIELDS: u64 = 2_000_000;

/// What marks our own line in a script's output. Clients of other servers of skills know it.
const OURS: &str = "[skills-mcp] ";

/// Exit codes as a shell gives them: killed, and aborted.
const KILLED: i32 = 137;
const ABORTED: i32 = 134;

/// A script that is ready to run.
pub struct Job {
    pub guest: Guest,
    /// The script as the guest finds it.
    pub file: String,
    pub lent: Lent,
    pub limits: Limits,
    pub quota: Arc<Quota>,
    pub ticker: Arc<Ticker>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    pub exit_code: i32,
    pub stdout: Written,
    pub stderr: Written,
    pub duration: Duration,
    pub limit_hit: Option<LimitHit>,
    pub fuel_used: u64,
    pub peak_memory: usize,
    /// What the guest tried and was denied.
    pub denials: Vec<String>,
    /// Whoever asked no longer wants it.
    pub cancelled: bool,
}

/// The thread that ran a guest is gone without a word, which is a fault of the host.
#[derive(Debug, thiserror::Error)]
#[error("the guest's thread ended without a result: the log says why")]
pub struct Lost;

/// Runs a script on a thread of its own, until it ends, hits a limit, or is cancelled.
pub async fn run(job: Job, cancelled: CancellationToken) -> Result<Finished, Lost> {
    apart("script", || finish(job, cancelled)).await
}

/// Drives a guest on a thread of its own, so that a busy one takes no turn of those that answer requests.
pub async fn apart<T: Send + 'static, F: Future<Output = T>>(
    name: &str,
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T, Lost> {
    let (told, finished) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let work = move || {
        step_back();
        let _ = told.send(runtime.block_on(work()));
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|_| Lost)?;
    finished.await.map_err(|_| Lost)
}

/// Lets threads that answer requests go first when there are not enough cores for all.
fn step_back() {
    // Elsewhere this would be about the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 5);
}

/// What ended a guest.
enum End {
    Exited(i32),
    Broke(wasmtime::Error),
    OutOfTime,
    Cancelled,
}

async fn finish(job: Job, cancelled: CancellationToken) -> Finished {
    let Job { guest, file, lent, limits, quota, ticker } = job;
    let (stdout, stderr, denials) = (lent.stdout.clone(), lent.stderr.clone(), lent.denials.clone());
    let began = Instant::now();
    let stop = Stop { deadline: began + limits.time, cancelled: cancelled.clone() };
    let mut store = Store::new(guest.engine(), ScriptState::new(lent, Meter::new(limits.memory), stop));
    store.limiter(|state| &mut state.meter);
    let ticking = ticker.tick();
    let end = if let Err(error) = fuelled(&mut store, &limits) {
        End::Broke(error)
    } else {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => End::Cancelled,
            ended = tokio::time::timeout(limits.time, guest.call(&mut store, &file)) => match ended {
                Ok(Ok(code)) => End::Exited(code),
                Ok(Err(error)) => End::Broke(error),
                Err(_) => End::OutOfTime,
            },
        }
    };
    drop(ticking);
    let duration = began.elapsed();
    let end = match end {
        End::Broke(error) if error.is::<Over>() && cancelled.is_cancelled() => End::Cancelled,
        End::Broke(error) if error.is::<Over>() => End::OutOfTime,
        end => end,
    };
    let meter = &store.data().meter;
    let (exit_code, hit, message) = match &end {
        End::Exited(code) => (*code, None, None),
        End::OutOfTime => (KILLED, Some(LimitHit::Time), Some("Script killed: timeout exceeded.".to_owned())),
        End::Cancelled => (KILLED, None, Some("Script killed: the request was cancelled.".to_owned())),
        End::Broke(_) if meter.was_hit() => {
            let message = format!("Script killed: more than {} MiB of memory.", limits.memory >> 20);
            (KILLED, Some(LimitHit::Memory), Some(message))
        }
        End::Broke(error) => match error.downcast_ref::<I32Exit>() {
            // A number that does not fit is no success.
            Some(I32Exit(code)) => (u8::try_from(*code).unwrap_or(u8::MAX).into(), None, None),
            None if error.downcast_ref::<Trap>() == Some(&Trap::OutOfFuel) => {
                let message = format!("Script killed: more than {} steps.", limits.fuel);
                (KILLED, Some(LimitHit::Fuel), Some(message))
            }
            None => (ABORTED, None, Some(format!("Script crashed: {}.", reason(error)))),
        },
    };
    let (stdout, mut stderr) = (stdout.take(), stderr.take());
    let cut = stdout.cut || stderr.cut;
    if let Some(message) = message {
        if !stderr.text.is_empty() && !stderr.text.ends_with('\n') {
            stderr.text.push('\n');
        }
        stderr.text.push_str(OURS);
        stderr.text.push_str(&message);
    }
    Finished {
        exit_code,
        stdout,
        stderr,
        duration,
        limit_hit: hit.or(quota.was_hit().then_some(LimitHit::Scratch)).or(cut.then_some(LimitHit::Output)),
        fuel_used: limits.fuel - store.get_fuel().unwrap_or(limits.fuel).min(limits.fuel),
        peak_memory: store.data().meter.peak(),
        denials: denials.take(),
        cancelled: matches!(end, End::Cancelled),
    }
}

fn fuelled(store: &mut Store<ScriptState>, limits: &Limits) -> wasmtime::Result<()> {
    store.set_fuel(limits.fuel)?;
    store.fuel_async_yield_interval(Some(STEPS_BETWEEN_YIELDS))?;
    store.epoch_deadline_async_yield_and_update(1);
    Ok(())
}

/// The innermost reason, on one line.
fn reason(error: &wasmtime::Error) -> String {
    error.root_cause().to_string().lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}
